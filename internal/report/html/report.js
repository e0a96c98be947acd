// The tables of the report. All strings of the site reach the document as
// text nodes, form values, and attributes without a URL, except for the path of a source
// file, encoded, in the address that the caller of the report has given.
"use strict";
(() => {
  const perPage = 100, perPrint = 2000;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const format = (n) => n.toLocaleString("en-US");
  const plural = (n, noun) => format(n) + " " + (n === 1 ? noun : noun.replace(/y$/, "ie") + "s");

  // Columns. Row i of a column of strings has the value t[i[row]].
  const rows = data.rows;
  for (const column of Object.values(data)) {
    if (column && column.i !== undefined) {
      column.i = typeof column.i === "number" ? new Uint32Array(rows).fill(column.i) : Uint32Array.from(column.i);
    }
  }
  // A list of paths is a column with one row for each path.
  const asColumn = (paths) => ({ t: paths, i: Uint32Array.from(paths, (_, i) => i) });
  // lower and rank are computed when a search or a sort first needs them.
  const lower = (column) => (column.low ??= column.t.map((s) => s.toLowerCase()));
  const rank = (column) => {
    if (!column.rank) {
      const order = Array.from(column.t.keys()).sort((a, b) => (column.t[a] < column.t[b] ? -1 : column.t[a] > column.t[b] ? 1 : 0));
      column.rank = new Uint32Array(order.length);
      order.forEach((id, place) => { column.rank[id] = place; });
    }
    return column.rank;
  };
  const kinds = data.kind.t.map((s) => {
    const at = s.indexOf(" ");
    return { verdict: s.slice(0, at), code: s.slice(at + 1) };
  });

  const state = { view: "causes", query: "", code: "", error: true, warning: true, entry: -1, page: -1, target: -1, sort: -1, down: false, at: 0 };
  let printing = false;

  // matches returns the findings that pass every filter, in their order. A
  // row passes a word of the search if one of its strings contains the word,
  // which is tested once for each distinct string.
  const searched = [data.page, data.as, data.target, data.message, data.suggestion, data.source, data.kind, data.link];
  const words = () => state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = () => {
    const allowed = kinds.map((k) => (k.verdict === "error" ? state.error : state.warning) && (!state.code || k.code === state.code));
    const tests = words().map((word) => searched.map((column) => {
      const hit = Uint8Array.from(lower(column), (s) => s.includes(word));
      return hit.includes(1) ? { hit, i: column.i } : null;
    }).filter(Boolean));
    const found = new Uint32Array(rows);
    let n = 0;
    for (let row = 0; row < rows; row++) {
      if (!allowed[data.kind.i[row]] || (state.entry >= 0 && data.entry.i[row] !== state.entry) || (state.page >= 0 && data.page.i[row] !== state.page) || (state.target >= 0 && data.target.i[row] !== state.target)) continue;
      if (tests.every((columns) => columns.some((c) => c.hit[c.i[row]]))) found[n++] = row;
    }
    return found.subarray(0, n);
  };

  // grouped counts the findings for each value of a column.
  const grouped = (column, found) => {
    const size = column.t.length, groups = { errors: new Uint32Array(size), warnings: new Uint32Array(size), links: new Float64Array(size), pages: new Uint32Array(size), kind: new Int32Array(size).fill(-1), kinds: new Uint32Array(size) };
    const lastPage = new Int32Array(size).fill(-1);
    const ids = new Uint32Array(size);
    let n = 0;
    for (const row of found) {
      const id = column.i[row], kind = data.kind.i[row];
      if (groups.errors[id] + groups.warnings[id] === 0) ids[n++] = id;
      groups[kinds[kind].verdict === "error" ? "errors" : "warnings"][id]++;
      groups.links[id] += data.count.i[row];
      if (lastPage[id] !== data.page.i[row]) { lastPage[id] = data.page.i[row]; groups.pages[id]++; } // rows are sorted by page
      if (groups.kind[id] !== kind) { groups.kinds[id]++; groups.kind[id] = kind; }
    }
    groups.ids = ids.subarray(0, n);
    return groups;
  };

  // sorted sorts ids by their numbers, and keeps the order of equal ones.
  // Sorting one array of numbers is many times faster than a comparison function.
  const sorted = (ids, key, down) => {
    const n = ids.length, keys = new Float64Array(n);
    for (let i = 0; i < n; i++) keys[i] = (down ? -key(ids[i]) : key(ids[i])) * n + i;
    keys.sort();
    return Array.from(keys, (k) => ids[((k % n) + n) % n]);
  };

  const el = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const button = (text, act, className) => {
    const b = el("button", className, text);
    b.type = "button";
    b.addEventListener("click", act);
    return b;
  };
  // soft lets a path break after its slashes before it breaks anywhere else.
  const soft = (text) => text.split(/(?<=\/)(?=[^/])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
  const place = (file, line, column) => {
    const parts = soft(file);
    if (line) parts.push(el("span", "pos", ":" + line + (column ? ":" + column : "")));
    return parts;
  };
  const value = (column, row) => column.t[column.i[row]];
  const kindSpan = (kind) => [el("span", kind.verdict, kind.verdict), " ", el("span", "code", kind.code)];

  // The line of a place with the link marked, or how the built page has the link.
  const line = (row) => {
    const link = value(data.link, row), out = el("span", "line", link ? value(data.lead, row) : value(data.as, row));
    if (link) out.append(el("mark", "", link), value(data.tail, row));
    return out.textContent ? out : "";
  };
  const placeParts = (row) => {
    const source = value(data.source, row), built = place(value(data.page, row), data.line.i[row], data.column.i[row]);
    if (!source) return [...built, line(row)];
    const at = { file: source.split("/").map(encodeURIComponent).join("/"), line: data.sourceLine.i[row], column: data.sourceColumn.i[row] };
    let parts = place(source, at.line, at.column);
    if (data.linked.i[row]) {
      const a = el("a");
      at.column ||= 1;
      a.href = data.sourceLinks.replace(/\{(file|line|column)\}/g, (_, part) => at[part]);
      a.append(...parts);
      parts = [a];
    }
    const sub = el("span", "sub"), from = value(data.from, row);
    sub.append(from ? from + ", built: " : "built: ", ...built);
    return [...parts, line(row), sub];
  };
  const suggestion = (row, near) => {
    if (!near) return "";
    const before = value(data.before, row), hint = el("span", "hint", before);
    hint.append(el("b", "", near), before === "cure: " ? "" : "?");
    return hint;
  };
  const subs = (...texts) => texts.filter(Boolean).map((text) => el("span", "sub", text));
  const message = (row, near) => {
    const answer = value(data.answer, row);
    // What is related explains the suggestion.
    const related = near || !value(data.suggestion, row) ? value(data.related, row) : "";
    return [value(data.message, row), answer && el("span", "sub mono", answer), suggestion(row, near), ...subs(related)];
  };
  const entryName = (id) => {
    const row = data.entries[id].first, source = value(data.source, row);
    return (source ? [source, data.sourceLine.i[row], data.sourceColumn.i[row]] : [value(data.page, row), data.line.i[row], data.column.i[row]]).filter(Boolean).join(":");
  };
  // The other causes of an entry.
  const members = (id) => {
    const { common, members, rest } = data.entries[id];
    if (!members) return subs(common);
    const out = el("details"), list = el("ul");
    for (const { row, hint } of members) {
      const item = el("li", "mono");
      item.append(...placeParts(row).filter((part) => part.className !== "sub"), suggestion(row, hint));
      list.append(item);
    }
    if (rest) list.append(el("li", "", "and " + format(rest) + " more"));
    out.append(el("summary", "", common), list);
    return [out];
  };
  // The views: their columns with the width class, the sort key (descending by
  // default if down is set), and the content of the cell. An entry shows the finding
  // that describes it best, and opens the others.
  const causesView = (of) => {
    let g;
    const columns = of.map((column) => ({ ...column, key: (id) => column.key(data.entries[id].first), fill: (id) => column.fill(data.entries[id].first) }));
    columns[0].fill = (id) => {
      const out = kindSpan(kinds[data.kind.i[data.entries[id].first]]);
      return g.kinds[id] > 1 ? [...out, el("span", "sub", "and others")] : out;
    };
    columns[2].fill = (id) => [...message(data.entries[id].first, data.entries[id].hint), ...subs(...(data.entries[id].notes || [])), ...members(id)];
    columns.push({ name: "Links", width: "w-many", cell: "many", key: (id) => g.links[id], down: true, fill: (id) => {
      const links = plural(g.links[id], "link");
      if (g.errors[id] + g.warnings[id] === 1) return [links];
      const b = button(links, () => { state.entry = id; showDefault("findings"); $("query").focus(); });
      b.setAttribute("aria-label", links + ", show the findings of this entry");
      return g.pages[id] > 1 ? [b, el("span", "sub", "in " + plural(g.pages[id], "file"))] : [b];
    } });
    return { name: "Causes", noun: "entry", columns, make: (found) => (g = grouped(data.entry, found)).ids.sort() };
  };
  const views = {
    causes: null, // the first view, made of the columns of the next
    findings: {
      name: "All findings", noun: "finding",
      make: (found) => found,
      columns: [
        { name: "Code", width: "w-kind", cell: "kind", key: (row) => rank(data.kind)[data.kind.i[row]], fill: (row) => {
          const out = kindSpan(kinds[data.kind.i[row]]), n = data.count.i[row];
          return n > 1 ? [...out, " ", el("span", "sub", plural(n, "link"))] : out;
        } },
        { name: "Place", width: "", cell: "mono", key: (row) => row, fill: placeParts },
        { name: "Message", width: "w-message", cell: "", key: (row) => rank(data.message)[data.message.i[row]], fill: (row) => message(row, value(data.suggestion, row)) },
      ],
    },
    pages: groupView("By page", "page", data.page, "Page", (id) => { state.page = id; }),
    targets: groupView("By target", "target", data.target, "Target", (id) => { state.target = id; }),
    codes: groupView("By code", "code", data.kind, "Code", (id) => { state.code = kinds[id].code; }),
    orphans: listView("Orphans", "file", data.orphans),
    unreachable: listView("Unreachable", "page", data.unreachable),
  };
  views.causes = causesView(views.findings.columns);
  function groupView(name, noun, column, title, choose) {
    let g;
    const num = (label, of) => ({ name: label, width: "w-num num", cell: "num", label, key: (id) => of(id), down: true, fill: (id) => [of(id) ? format(of(id)) : el("span", "pos", "0")] });
    const columns = [
      { name: title, width: column === data.kind ? "w-kind" : "", cell: column === data.kind ? "kind" : "mono", key: (id) => rank(column)[id], fill: (id) => {
        const show = () => { choose(id); showDefault("findings"); $("query").focus(); };
        if (column === data.kind) return [kindSpan(kinds[id])[0], " ", button(kinds[id].code, show)];
        const b = button("", show);
        b.append(...soft(column.t[id] || "(the file itself)"));
        return [b];
      } },
    ];
    if (column === data.target) {
      columns.push({ name: "Code", width: "w-kind", cell: "kind", key: (id) => rank(data.kind)[g.kind[id]], fill: (id) => {
        const out = kindSpan(kinds[g.kind[id]]);
        return g.kinds[id] > 1 ? [...out, el("span", "sub", "and others")] : out;
      } });
    }
    if (column !== data.kind) columns.push(num("Errors", (id) => g.errors[id]), num("Warnings", (id) => g.warnings[id]));
    else {
      columns.push({ name: "Meaning", width: "w-meaning", cell: "", key: (id) => rank(data.kind)[id], fill: (id) => [data.meanings[id]] });
      columns.push(num("Findings", (id) => g.errors[id] + g.warnings[id]));
    }
    if (column !== data.page) columns.push(num("Pages", (id) => g.pages[id]));
    columns.push(num("Links", (id) => g.links[id]));
    return {
      name, noun, columns,
      make: (found) => {
        g = grouped(column, found);
        const ids = sorted(g.ids, (id) => id, false);
        if (column === data.target) return sorted(ids, (id) => g.pages[id], true);
        return sorted(sorted(ids, (id) => g.warnings[id], true), (id) => g.errors[id], true);
      },
    };
  }
  function listView(name, noun, paths) {
    if (!paths) return null;
    const column = asColumn(paths);
    return {
      name: name + " (" + format(paths.length) + ")", noun, plain: true,
      make: () => {
        const all = words();
        return column.i.filter((id) => all.every((word) => lower(column)[id].includes(word)));
      },
      columns: [{ name: "Path", width: "", cell: "mono", key: (id) => id, fill: (id) => soft(paths[id]) }],
    };
  }

  // showDefault shows a view in its default order.
  const showDefault = (name) => {
    state.view = name;
    state.sort = -1;
    state.at = 0;
    controls();
    show();
  };

  let shown = []; // ids in the order of the table
  let said = ""; // the text with their number
  const show = () => {
    const view = views[state.view];
    const found = view.plain ? null : matches();
    shown = view.make(found);
    const column = view.columns[state.sort];
    if (column) shown = sorted(shown, column.key, state.down);
    const n = shown.length;
    let text = view === views.findings || view.plain ? plural(n, view.noun) : plural(n, view.noun) + " with " + plural(found.length, "finding");
    if (found && found.length < rows) text += " of " + format(rows);
    said = text;
    if ($("count").textContent !== text) $("count").textContent = text; // screen readers announce changes
    head(view);
    body(view);
    remember();
  };

  const head = (view) => {
    const tr = el("tr");
    tr.setAttribute("role", "row");
    view.columns.forEach((column, i) => {
      const th = el("th", column.width);
      th.setAttribute("role", "columnheader");
      th.scope = "col";
      th.setAttribute("aria-sort", i !== state.sort ? "none" : state.down ? "descending" : "ascending");
      th.append(button(column.name, () => {
        state.down = i === state.sort ? !state.down : Boolean(column.down);
        state.sort = i;
        state.at = 0;
        show();
        $("head").querySelectorAll("button")[i].focus();
      }));
      tr.append(th);
    });
    $("head").replaceChildren(tr);
  };

  const body = (view) => {
    const size = printing ? perPrint : perPage;
    const first = printing ? 0 : state.at * perPage;
    const out = document.createDocumentFragment();
    for (const id of shown.slice(first, first + size)) {
      const tr = el("tr");
      tr.setAttribute("role", "row");
      for (const column of view.columns) {
        const td = el("td", column.cell);
        td.setAttribute("role", "cell");
        if (column.label) td.dataset.label = column.label;
        td.append(...column.fill(id).filter((part) => part !== ""));
        tr.append(td);
      }
      out.append(tr);
    }
    if (!shown.length) {
      const tr = el("tr"), td = el("td", "sub", rows === 0 || (view.plain && !state.query) ? "Nothing to list." : "Nothing matches the search and the filters.");
      tr.setAttribute("role", "row");
      td.setAttribute("role", "cell");
      td.colSpan = view.columns.length;
      tr.append(td);
      out.append(tr);
    }
    $("body").replaceChildren(out);
    pager();
  };

  // The buttons of the pager are made once, so that the focus stays on one.
  const pages = () => Math.max(1, Math.ceil(shown.length / perPage));
  const go = (to) => {
    const at = Math.min(Math.max(0, to), pages() - 1);
    if (at === state.at) return;
    state.at = at;
    body(views[state.view]);
    $("count").textContent = said + ", showing " + turn.where.textContent;
    remember();
  };
  const turn = {
    first: button("First", () => go(0)), previous: button("Previous", () => go(state.at - 1)),
    where: el("span"),
    next: button("Next", () => go(state.at + 1)), last: button("Last", () => go(pages() - 1)),
  };
  $("pager").append(...Object.values(turn));
  const pager = () => {
    const first = state.at * perPage;
    $("pager").hidden = shown.length <= perPage;
    turn.where.textContent = format(first + 1) + "–" + format(Math.min(shown.length, first + perPage)) + " of " + format(shown.length);
    for (const [name, end] of [["first", 0], ["previous", 0], ["next", pages() - 1], ["last", pages() - 1]]) {
      turn[name].setAttribute("aria-disabled", String(state.at === end));
    }
  };

  // controls shows the state in the controls.
  const controls = () => {
    const view = views[state.view];
    for (const b of $("views").children) b.setAttribute("aria-pressed", String(b.dataset.view === state.view));
    $("query").value = state.query;
    $("code").value = state.code;
    $("error").checked = state.error;
    $("warning").checked = state.warning;
    for (const id of ["code", "error", "warning"]) $(id).closest("label").hidden = Boolean(view.plain);
    const chips = [];
    for (const key of ["entry", "page", "target"]) {
      if (state[key] < 0 || view.plain) continue;
      const name = key === "entry" ? entryName(state[key]) : data[key].t[state[key]] || "(the file itself)";
      const b = button("only " + key + " " + name + " ✕", () => {
        state[key] = -1;
        showDefault(state.view);
        $("query").focus();
      });
      b.setAttribute("aria-label", "Show every " + key + " again, not only " + name);
      chips.push(b);
    }
    $("chips").replaceChildren(...chips);
  };

  // The state is in the fragment of the URL, so that a reload keeps it and a view
  // of the report can be shared. Browsers allow few such changes per second, so
  // it waits for a pause in typing.
  let pause = 0;
  const remember = () => {
    clearTimeout(pause);
    pause = setTimeout(writeHash, 300);
  };
  const writeHash = () => {
    const p = new URLSearchParams();
    if (state.view !== "causes") p.set("view", state.view);
    if (state.query) p.set("q", state.query);
    if (state.code) p.set("code", state.code);
    if (!state.error) p.set("error", "no");
    if (!state.warning) p.set("warning", "no");
    if (state.entry >= 0) p.set("entry", data.entry.t[state.entry]);
    if (state.page >= 0) p.set("page", data.page.t[state.page]);
    if (state.target >= 0) p.set("target", data.target.t[state.target]);
    if (state.sort >= 0) p.set("sort", state.sort + (state.down ? "-down" : ""));
    if (state.at > 0) p.set("at", state.at + 1);
    const hash = String(p) ? "#?" + p : location.hash.startsWith("#?") ? "#" : "";
    if (!hash || hash === location.hash) return;
    try {
      history.replaceState(null, "", hash);
    } catch {
      // The browser does not allow this for local files, or not so often.
    }
  };
  const recall = () => {
    if (!location.hash.startsWith("#?")) return;
    const p = new URLSearchParams(location.hash.slice(2));
    if (views[p.get("view")]) state.view = p.get("view");
    state.query = p.get("q") ?? "";
    state.code = kinds.some((k) => k.code === p.get("code")) ? p.get("code") : "";
    state.error = p.get("error") !== "no";
    state.warning = p.get("warning") !== "no";
    state.entry = p.has("entry") ? data.entry.t.indexOf(p.get("entry")) : -1;
    state.page = p.has("page") ? data.page.t.indexOf(p.get("page")) : -1;
    state.target = p.has("target") ? data.target.t.indexOf(p.get("target")) : -1;
    const sort = /^(\d)(-down)?$/.exec(p.get("sort") ?? "");
    state.sort = sort && Number(sort[1]) < views[state.view].columns.length ? Number(sort[1]) : -1;
    state.down = Boolean(sort && sort[2]);
    state.at = Math.max(0, (Number.parseInt(p.get("at"), 10) || 1) - 1);
  };

  for (const [name, view] of Object.entries(views)) {
    if (!view) { delete views[name]; continue; }
    const b = button(view.name, () => showDefault(name));
    b.dataset.view = name;
    $("views").append(b);
  }
  for (const code of [...new Set(kinds.map((k) => k.code))].sort()) {
    const option = el("option", "", code);
    option.value = code;
    $("code").append(option);
  }
  const filter = (change) => () => {
    change();
    state.at = 0;
    show();
  };
  $("query").addEventListener("input", filter(() => { state.query = $("query").value; }));
  $("code").addEventListener("change", filter(() => { state.code = $("code").value; }));
  for (const id of ["error", "warning"]) $(id).addEventListener("change", filter(() => { state[id] = $(id).checked; }));
  addEventListener("beforeprint", () => {
    printing = true;
    body(views[state.view]);
  });
  addEventListener("afterprint", () => {
    printing = false;
    body(views[state.view]);
  });

  recall();
  $("controls").hidden = false;
  $("note").hidden = true;
  $("lists").hidden = true;
  const wanted = state.at;
  state.at = 0;
  controls();
  show();
  go(wanted);
  performance.mark("sitelink-ready");
})();
