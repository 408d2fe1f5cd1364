// What makes the board quicker to use. Every page works without it; files lack filters then.
"use strict";

const root = document.documentElement;
const themes = ["system", "light", "dark"];

function storedTheme() {
  try { return localStorage.getItem("gpugate-theme") || "system"; } catch { return "system"; }
}

function showTheme(theme) {
  if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
  for (const name of document.querySelectorAll("[data-theme-name]")) name.textContent = theme;
}

function nextTheme() {
  const theme = themes[(themes.indexOf(storedTheme()) + 1) % themes.length];
  try { localStorage.setItem("gpugate-theme", theme); } catch { /* it holds for this page then */ }
  showTheme(theme);
}

root.dataset.script = "";
showTheme(storedTheme()); // before anything is painted

document.addEventListener("DOMContentLoaded", () => {
  const live = document.body.dataset.kind === "live";
  for (const element of document.querySelectorAll("[data-theme-toggle], .keys")) element.hidden = false;
  showTheme(storedTheme());
  document.querySelector("[data-theme-toggle]").addEventListener("click", nextTheme);
  document.addEventListener("keydown", onKey);
  listen(live ? askServer : filterHere);
  if (live) watchForNewer(); else for (const form of document.querySelectorAll(".filters")) form.hidden = false;
  // A closed <details> would print closed where the style cannot open it.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")].filter((each) => !each.hidden);
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
});

// Filters: typing and choosing answer at once.
function listen(answer) {
  let timer;
  document.addEventListener("input", (event) => {
    const form = event.target.closest(".filters");
    if (!form) return;
    clearTimeout(timer);
    timer = setTimeout(() => answer(form), event.target.type === "search" ? 150 : 0);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest(".filters");
    if (!form) return;
    event.preventDefault();
    clearTimeout(timer);
    answer(form);
  });
}

function queryOf(form) {
  const pairs = [...new FormData(form)].filter(([name, value]) => value && !(name === "sort" && value === "attention"));
  return new URLSearchParams(pairs).toString();
}

// The server answers with the whole page; only the list is taken from it, so that what is typed stays.
let asked = 0;
async function askServer(form) {
  const query = queryOf(form);
  const address = location.pathname + (query ? "?" + query : "");
  const mine = ++asked;
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== asked) return;
    history.replaceState(null, "", address);
    const [here, there] = [document, page].map((each) => each.querySelector("[data-filtered]"));
    const stays = "h2, .filters, [data-shown]"; // the last is spoken by screen readers when its text changes
    for (const old of [...here.children]) if (!old.matches(stays)) old.remove();
    for (const fresh of [...there.children]) if (!fresh.matches(stays)) here.append(document.adoptNode(fresh));
    here.querySelector("[data-shown]").textContent = there.querySelector("[data-shown]").textContent;
  } catch {
    if (mine === asked) location.assign(address);
  }
}

function filterHere(form) {
  const wanted = Object.fromEntries(new FormData(form));
  const text = (wanted.q || "").trim().toLowerCase();
  const has = (list, value) => !value || list.split(" ").includes(value);
  const rows = [...document.querySelectorAll("[data-row]")];
  let shown = 0;
  for (const row of rows) {
    const fits = row.dataset.search.includes(text)
      && (!wanted.mode || row.dataset.mode === wanted.mode)
      && has(row.dataset.states, wanted.state) && has(row.dataset.rules, wanted.rule);
    row.hidden = !fits;
    shown += fits;
  }
  document.querySelector("[data-shown]").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} on this page`;
}

// Keys: none of them while something is typed, none with a modifier.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.querySelector(".filters input[type=search]");
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "/" && search) { event.preventDefault(); search.focus(); search.select(); }
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "u") document.querySelector("[data-up]")?.click();
  else if (event.key === "t") nextTheme();
}

function move(by) {
  const stops = [...document.querySelectorAll("[data-row]:not([hidden])")].map((row) => row.querySelector("[data-open]"));
  const now = stops.indexOf(document.activeElement);
  const next = stops[now < 0 ? (by > 0 ? 0 : stops.length - 1) : now + by];
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
}

// Another scan may have been made, by this page or by another: say so, and leave the page alone.
function watchForNewer() {
  const { revision, status } = document.body.dataset;
  const look = async () => {
    if (document.hidden) return;
    try {
      const now = await (await fetch(status)).json();
      document.querySelector("[data-newer]").hidden = String(now.revision) === revision;
    } catch { /* the server has ended, or is busy: the next look tells */ }
  };
  document.querySelector("[data-newer] a").href = location.href;
  setInterval(look, 5000);
}
