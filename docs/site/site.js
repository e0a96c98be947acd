const top_ = document.currentScript.dataset.top, root = document.documentElement;

// The theme: the reader's choice, or that of the system.
const button = document.getElementById("theme");
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const setTheme = (theme) => { if (theme) root.dataset.theme = theme; button.textContent = dark() ? "Light" : "Dark"; };
setTheme(localStorage.getItem("theme"));
button.onclick = () => { const theme = dark() ? "light" : "dark"; localStorage.setItem("theme", theme); setTheme(theme); };

// The contents are closed on narrow screens.
if (matchMedia("(max-width: 55rem)").matches) document.querySelector("nav details").open = false;
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

// A button copies each block of code.
for (const pre of document.querySelectorAll("pre")) {
  const box = document.createElement("div"), copy = document.createElement("button");
  box.className = "code";
  copy.type = "button";
  copy.textContent = "Copy";
  copy.onclick = async () => { await navigator.clipboard.writeText(pre.innerText); copy.textContent = "Copied"; };
  pre.replaceWith(box);
  box.append(pre, copy);
}

// Cells name their column where a narrow screen shows each row as a list. Wide tables scroll instead.
for (const table of document.querySelectorAll("table")) {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  if (names.length > 5) continue;
  table.className = "stack";
  for (const cell of names.length > 2 ? table.querySelectorAll("tbody td") : []) if (cell.cellIndex && names[cell.cellIndex]) cell.dataset.column = names[cell.cellIndex];
}

// The search: each word must occur; titles of pages and headings count more than text. The index is loaded at the first use.
const input = document.querySelector("input"), hits = document.getElementById("hits");
let loading;
const load = () => loading ??= new Promise((done) => {
  const script = document.createElement("script");
  script.src = top_ + "search.js";
  script.onload = done;
  document.head.append(script);
});
input.onfocus = load;
input.oninput = async () => {
  await load();
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const score = (e) => words.reduce((sum, word) => {
    const points = (e.p.toLowerCase().includes(word) ? e.h ? 3 : 6 : 0) + ((e.h ?? "").toLowerCase().includes(word) ? 5 : 0) + (e.t.toLowerCase().includes(word) ? 1 : 0);
    return points ? sum + points : -1e9;
  }, 0);
  const found = words.length ? manual.map((e) => [score(e), e]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 12) : [];
  if (words.length && !found.length) {
    const unknown = words.find((word) => !manual.some((e) => [e.p, e.h ?? "", e.t].some((text) => text.toLowerCase().includes(word))));
    const item = document.createElement("li");
    item.textContent = (unknown ? `No page contains “${unknown}”.` : "No page contains all of these words.") + " Try another word, or fewer.";
    hits.replaceChildren(item);
  } else hits.replaceChildren(...found.map(([, e]) => {
    const item = document.createElement("li"), link = document.createElement("a"), excerpt = document.createElement("span");
    const at = Math.max(0, e.t.toLowerCase().indexOf(words[0]) - 40);
    link.href = top_ + e.u;
    link.textContent = e.h ? e.p + ": " + e.h : e.p;
    excerpt.textContent = e.t.slice(at, at + 110);
    link.append(excerpt);
    item.append(link);
    return item;
  }));
  hits.hidden = !words.length;
};
document.querySelector("form").onsubmit = (event) => { event.preventDefault(); hits.querySelector("a")?.click(); };
document.onkeydown = (event) => {
  if (event.key === "/" && event.target === document.body) { event.preventDefault(); input.focus(); }
  if (event.key === "Escape") hits.hidden = true;
};
