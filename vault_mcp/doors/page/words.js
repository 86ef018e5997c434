// What the page says: times, names, what a tool did, and which words of a sentence changed.

import { h } from "./dom.js";

const COLOURS = 10;

export function colourOf(text) {
  let sum = 2166136261;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 16777619) >>> 0;
  return "c" + (((sum ^ (sum >>> 15)) >>> 0) % COLOURS);
}

const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const SHORT_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "medium" });

export function localDay(date) {
  const two = (n) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function dayOf(day) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date, 12);
}

export function dayAfter(day) {
  const date = dayOf(day);
  date.setDate(date.getDate() + 1);
  return localDay(date);
}

export function dayInWords(day) {
  const now = new Date();
  if (day === localDay(now)) return "Today";
  now.setDate(now.getDate() - 1);
  if (day === localDay(now)) return "Yesterday";
  return DAY.format(dayOf(day));
}

export function shortDay(day) {
  return SHORT_DAY.format(dayOf(day));
}

export function when(at, { clock = false } = {}) {
  const date = new Date(at);
  if (!at || isNaN(date)) return null;
  const short = clock ? CLOCK.format(date) : ago(date);
  return h("time", { datetime: at, title: FULL.format(date) }, short);
}

function ago(date) {
  const seconds = (Date.now() - date) / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 6 * 86400) return `${Math.floor(seconds / 86400)} d ago`;
  return SHORT_DAY.format(date);
}

export function face(by, { byHand = false } = {}) {
  const letters = (by || "?").replace(/[^\p{L}\p{N}]+/gu, " ").trim().split(" ");
  const initials = letters.slice(0, 2).map((word) => [...word][0] || "").join("").toUpperCase() || "?";
  return h("span", { class: `face ${colourOf(by || "?")}${byHand ? " hand" : ""}`, "aria-hidden": "true" }, initials);
}

const DID = {
  create_entities: "made", create_relations: "linked", add_observations: "added to",
  edit_observation: "corrected a fact of", supersede_observation: "replaced a fact of",
  rename_entity: "renamed", merge_entities: "merged", delete_entities: "deleted",
  delete_observations: "removed facts from", delete_relations: "unlinked", initialize_memory: "began the memory",
  memory_remember: "remembered", memory_update: "reworded", memory_forget: "forgot", memory_link: "linked",
  memory_link_batch: "linked", memory_consolidate: "summed up", memory_create: "created",
  memory_str_replace: "edited", memory_insert: "added lines to", memory_delete: "deleted", memory_rename: "moved",
  write_memory: "set", delete_memory: "deleted", history_restore: "brought back", history_undo: "took back",
  import: "imported", sync: "synchronised", "hand-edit": "edited",
};

export function did(change) {
  const prefix = `${change.tool}: `;
  const about = change.tool && change.subject.startsWith(prefix) ? change.subject.slice(prefix.length) : change.subject;
  // A memory's subject begins with its number, which says nothing to a person.
  return [DID[change.tool] || (change.tool ? change.tool.replaceAll("_", " ") : "committed"), about.replace(/^\d{16} /, "").replace(/\.md$/, "").replaceAll(" -> ", " → ")];
}

// The longest common run of words, by the usual table; long texts are told as old and new.
export function wordDiff(old, fresh) {
  const a = old.match(/\s+|[^\s]+/g) || [];
  const b = fresh.match(/\s+|[^\s]+/g) || [];
  if (a.length * b.length > 250000) return [["del", old], ["ins", fresh]];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j]
        ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const parts = [];
  const push = (kind, text) => {
    const last = parts[parts.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else parts.push([kind, text]);
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { push("same", a[i]); i++; j++; }
    else if (j >= b.length || (i < a.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) push("del", a[i++]);
    else push("ins", b[j++]);
  }
  return tidy(parts);
}

// A space kept between two changed words only makes the change harder to read.
function tidy(parts) {
  const shown = [];
  let del = "", ins = "";
  const flush = () => {
    if (del) shown.push(["del", del]);
    if (ins) shown.push(["ins", ins]);
    del = ins = "";
  };
  parts.forEach(([kind, text], at) => {
    if (kind === "del") del += text;
    else if (kind === "ins") ins += text;
    else if (!text.trim() && (del || ins) && at < parts.length - 1) { del += text; ins += text; }
    else { flush(); shown.push([kind, text]); }
  });
  flush();
  return shown;
}

export function changedWords(old, fresh) {
  return wordDiff(old, fresh).map(([kind, text]) => kind === "same" ? text : h(kind, null, text));
}

export function many(count, one, more = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
}
