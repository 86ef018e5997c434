// Search by words and by meaning, with why each note was found.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { noteLink } from "./links.js";
import { face, many, when } from "./words.js";

// What was found says which words found it; of a past day it is the words that were asked for.
function marked(text, query, why) {
  const found = / \(found: (.*)\)$/.exec(why || "");
  const said = found ? found[1] : why ? "" : query;
  const words = (said.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return text;
  return text.split(new RegExp(`((?:${words.join("|")})[\\p{L}\\p{N}]*)`, "giu")).map((part, number) => number % 2 ? h("mark", null, part) : part);
}

const FAMILY = { graph: "entity", memories: "memory", keys: "key", files: "note" };

export async function search(page, asked) {
  const query = (asked.query || "").trim();
  if (!query) {
    return { title: "Search", content: h("div", { class: "narrow" }, h("div", { class: "head" }, h("h1", null, "Search")),
      h("p", { class: "why" }, "Type above what you are looking for: words that stand in a note, or a question about what they mean.")) };
  }
  const told = await ask("search", { query, at: page.moment });
  const rows = told.results.map((one) => h("li", null, h("article", { class: "result" },
    h("h2", null, noteLink(one.note, page.at, one.name), " ", h("span", { class: "kind" }, FAMILY[one.family] || one.family),
      one.superseded && h("span", { class: "kind" }, " no longer holds"), one.archived && h("span", { class: "kind" }, " archived")),
    one.heading && h("p", { class: "why" }, one.heading),
    one.text && one.text !== one.name && h("p", { class: "passage" }, marked(one.text.length > 600 ? `${one.text.slice(0, 600)}…` : one.text, query, one.why)),
    h("p", { class: "why" }, one.by && [face(one.by), one.by, " ", when(one.stored_at)], one.why && ` · found by ${one.why}`))));
  return { title: `Search: ${query}`, content: h("div", { class: "narrow" },
    h("div", { class: "head" }, h("h1", null, rows.length ? `${many(told.total_found, "note")} for “${query}”` : `Nothing for “${query}”`)),
    page.at && h("p", { class: "why" }, "Of a past day, notes are found by their words."),
    h("ol", { class: "results" }, rows),
    told.notice && h("p", { class: "why" }, told.notice)) };
}
