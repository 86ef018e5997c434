// The page itself: which view an address means, what day it shows, and what happens when the memory changes.

import { ask, listen } from "./api.js";
import { days } from "./days.js";
import { h, put, say } from "./dom.js";
import { graph } from "./graph.js";
import { address, where } from "./links.js";
import { note } from "./note.js";
import { search } from "./search.js";
import { single, timeline } from "./timeline.js";

const VIEWS = { timeline, change: single, note, search, graph };
const main = document.getElementById("main");
const query = document.getElementById("query");
const place = document.querySelector(".days");
const page = { about: null, at: "", moment: "", changed: () => refresh() };
let turn = 0;
let shown = null;
let hash = null;

async function show({ keep = false } = {}) {
  const mine = ++turn;
  const { view, asked } = where();
  const moved = hash !== location.hash;
  hash = location.hash;
  page.at = /^\d{4}-\d\d-\d\d$/.test(asked.at || "") ? asked.at : "";
  page.moment = page.at ? `${page.at}T23:59:59` : "";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.href = address(link.dataset.view === "timeline" ? "" : link.dataset.view, { at: page.at });
  }
  if (view === "search" && document.activeElement !== query) query.value = asked.query || "";
  if (view !== "search") query.value = "";
  drawDays();
  let told;
  try {
    told = await (VIEWS[view] || timeline)(page, asked);
  } catch (error) {
    told = { title: "Not shown", content: h("div", { class: "narrow" }, h("p", { class: "wrong" }, error.message)) };
  }
  if (mine !== turn) { if (told.leave) told.leave(); return; }
  if (shown && shown.leave) shown.leave();
  const scrolled = window.scrollY;
  const kept = main.contains(document.activeElement);
  shown = told;
  document.body.dataset.view = view;
  put(main, told.content);
  if (told.arrived) told.arrived();
  document.title = `${told.title} · ${page.about.name}`;
  if (keep) window.scrollTo(0, scrolled);
  else if (moved) {
    window.scrollTo(0, 0);
    if (kept) main.focus({ preventScroll: true });
  }
}

function drawDays() {
  if (place.contains(document.activeElement) && document.activeElement.id === "day" && place.dataset.at === page.at) return;
  const held = document.activeElement && document.activeElement.id === "day";
  place.dataset.at = page.at;
  days(place, page.about, page.at, (day) => {
    const { view, asked } = where();
    const next = address(view === "timeline" ? "" : view, { ...asked, at: day });
    place.dataset.at = day;
    history.replaceState(null, "", next);
    show({ keep: true });
  });
  if (held) document.getElementById("day").focus();
}

async function refresh() {
  page.about = await ask("about");
  place.dataset.at = "stale";
  drawDays();
  if (shown && shown.refresh) return shown.refresh();
  return show({ keep: true });
}

async function heard() {
  const busy = main.querySelector(".asking:not([hidden])") || main.querySelector("[aria-expanded=true]");
  if (page.at) return;
  if (!busy && window.scrollY < 200 && !main.contains(document.activeElement)) { await refresh(); return; }
  const old = main.querySelector(".fresh");
  if (old) return;
  main.prepend(h("button", { type: "button", class: "fresh", onclick: refresh }, "The memory has changed. Show it"));
  say("The memory has changed.");
}

// -- the shell

const THEMES = ["auto", "light", "dark"];
const theme = document.getElementById("theme");
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  theme.textContent = { auto: "Auto", light: "Light", dark: "Dark" }[name];
  theme.setAttribute("aria-label", `Colours: ${name}. Change them`);
  window.dispatchEvent(new Event("themed"));
}
theme.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  localStorage.setItem("theme", next);
  setTheme(next);
});
setTheme(THEMES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto");

let typing = 0;
query.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const next = address("search", { query: query.value.trim(), at: page.at });
    if (where().view === "search") { history.replaceState(null, "", next); show(); } else location.hash = next;
  }, 250);
});
query.form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  location.hash = address("search", { query: query.value.trim(), at: page.at });
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    query.focus();
    query.select();
  }
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", () => show());

try {
  page.about = await ask("about");
  document.getElementById("vault").textContent = page.about.name;
  await show();
  listen(heard);
} catch (error) {
  put(main, h("div", { class: "narrow" }, h("p", { class: "wrong" }, error.message)));
}
