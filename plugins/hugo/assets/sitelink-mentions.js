for (const box of document.querySelectorAll('.sitelink-mentions[data-live]'))
  fetch(box.dataset.live + '?target=' + encodeURIComponent(box.dataset.page)).then(r => r.ok && r.json()).then(page => {
    const list = box.querySelector('ul'), known = [...list.querySelectorAll('a')].map(a => a.href);
    for (const m of page.mentions || []) {
      const a = document.createElement('a'), li = document.createElement('li');
      a.href = m.source;
      if (!/^https?:$/.test(a.protocol) || known.includes(a.href)) continue;
      a.rel = 'nofollow ugc';
      a.textContent = m.title || a.host;
      li.append(a);
      list.append(li);
      box.hidden = false;
    }
  }).catch(() => {});
