// Addresses inside the page, and notes' own wikilinks as such addresses.

import { h } from "./dom.js";

export function address(view, asked = {}) {
  const kept = Object.entries(asked).filter(([, value]) => value);
  const query = new URLSearchParams(kept).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

export function where() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path || "timeline", asked: Object.fromEntries(new URLSearchParams(query)) };
}

export function nameOf(path) {
  return path.split("/").pop().replace(/\.md$/i, "");
}

export function noteLink(path, at, name) {
  return h("a", { class: "note", href: address("note", { note: path, at }), title: path }, name || nameOf(path));
}

// A line of prose: its wikilinks lead on, all else is the text as it stands.
export function prose(text, at) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(/!?\[\[([^\[\]|#]+)(#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]/g)) {
    parts.push(text.slice(end, found.index));
    parts.push(h("a", { href: address("note", { note: found[1].trim(), at }) }, found[3] || found[1]));
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}
