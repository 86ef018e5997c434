// One note: its facts with who said each and when, its text, and what it is linked with.

import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { address, noteLink, prose } from "./links.js";
import { listing } from "./timeline.js";
import { changedWords, colourOf, face, many, when } from "./words.js";

function author(line) {
  return { by: line.edited_by || line.added_by || "unknown", hand: line.edited_by ? line.edited_by_hand : line.by_hand };
}

function blame(line, page) {
  const added = line.added_by && h("span", { class: "who" }, face(line.added_by, { byHand: line.by_hand }), line.added_by, " ",
    h("a", { href: address("change", { change: line.added_in || line.change }) }, when(line.added_at)));
  const edited = line.edited_by && h("span", { class: "who" }, "edited by ", face(line.edited_by, { byHand: line.edited_by_hand }), line.edited_by, " ",
    h("a", { href: address("change", { change: line.edited_in || line.change }) }, when(line.edited_at)));
  const aside = line.kind === "superseded" && h("span", { class: "who" }, h("a", { href: address("change", { change: line.change }) }, "when it was set aside"));
  return h("div", { class: "blame" }, added, edited, aside);
}

function fact(line, page) {
  const before = line.before && h("details", { class: "before" }, h("summary", null, "what it said before"),
    h("p", null, changedWords(line.before, line.text)));
  return h("li", { class: `fact ${colourOf(author(line).by)}` },
    h("div", { class: "text" }, line.kind === "relation" ? relation(line.text, page) : prose(line.text, page.at)),
    blame(line, page), before);
}

function relation(text, page) {
  const [type, ...rest] = text.split(" -> ");
  const name = rest.join(" -> ");
  return [h("span", { class: "relation" }, type), " → ", h("a", { href: address("note", { note: name, at: page.at }) }, name)];
}

// Lines of prose that one change brought stand together, with its author once.
function written(lines, page) {
  const blocks = [];
  let last = null;
  for (const line of lines) {
    if (!last || last.change !== line.change || last.by !== line.added_by) {
      last = { change: line.change, by: line.added_by, lines: [] };
      blocks.push(last);
    }
    last.lines.push(line);
  }
  return h("div", { class: "prose" }, blocks.map((block) => h("div", { class: `block ${colourOf(block.by || "?")}` },
    h("div", { class: "text" }, block.lines.map((line) => {
      const heading = /^#{1,6} /.test(line.text);
      return h("p", { class: heading ? "heading" : undefined }, prose(heading ? line.text.replace(/^#+ /, "") : line.text, page.at));
    })), blame(block.lines[0], page))));
}

function parted(lines) {
  const rest = lines.filter((line) => line.kind === "text");
  let properties = [];
  if (rest.length && rest[0].line === 1 && rest[0].text.trim() === "---") {
    const end = rest.findIndex((line, number) => number > 0 && line.text.trim() === "---");
    if (end > 0) properties = rest.splice(0, end + 1).slice(1, -1);
  }
  const own = new Set(["## Observations", "## Relations", "## Superseded"]);
  return { properties, text: rest.filter((line) => !own.has(line.text.trim())),
    facts: lines.filter((line) => line.kind === "observation"), relations: lines.filter((line) => line.kind === "relation"),
    superseded: lines.filter((line) => line.kind === "superseded") };
}

function shares(lines) {
  const counts = new Map();
  for (const line of lines) counts.set(author(line).by, (counts.get(author(line).by) || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const strip = h("div", { class: "strip", "aria-hidden": "true" }, sorted.map(([by, count]) => {
    const part = h("span", { class: colourOf(by) });
    part.style.flexGrow = count;
    return part;
  }));
  return h("div", { class: "shares" }, strip, h("ul", null, sorted.map(([by, count]) =>
    h("li", { class: colourOf(by) }, h("span", { class: "dot", "aria-hidden": "true" }), by, h("span", { class: "count" }, ` ${count}`)))));
}

function ends(title, rows, page, empty) {
  return h("section", null, h("h2", null, title),
    rows.length ? h("ul", { class: "ends" }, rows.map((row) => h("li", null,
      h("span", { class: "relation" }, row.relation), " ",
      row.note ? noteLink(row.note, page.at, row.name) : h("span", { class: "missing", title: "No such note yet" }, row.name))))
      : h("p", { class: "why" }, empty));
}

function section(title, lines, page, attributes) {
  return lines.length ? h("section", attributes, h("h2", null, title), h("ul", { class: "facts-of" }, lines.map((line) => fact(line, page)))) : null;
}

export async function note(page, asked) {
  let told;
  try {
    told = await ask("note", { note: asked.note, at: page.moment });
  } catch (error) {
    if (error.status !== 404) throw error;
    return absent(page, asked, error);
  }
  const parts = parted(told.lines);
  const lines = [...parts.facts, ...parts.relations, ...parts.superseded, ...parts.text];
  const kind = told.kind === "entity" ? told.type : told.kind;
  const made = told.added_by && h("p", { class: "why" }, "begun by ", told.added_by, " ", when(told.added_at));
  const past = listing(page, { note: told.note }, { limit: 5 });
  past.ready.catch((error) => put(past.foot, h("p", { class: "wrong" }, error.message)));
  return { title: told.name, content: h("div", { class: "wide note-page" },
    h("div", { class: "head" }, h("div", null, h("p", { class: "kind" }, kind || "note", told.archived && " · archived"), h("h1", null, told.name),
      h("p", { class: "path" }, told.note), (told.aliases || []).length > 0 && h("p", { class: "why" }, "also called ", told.aliases.join(", ")),
      (told.tags || []).length > 0 && h("p", null, told.tags.map((tag) => h("span", { class: "chip" }, `#${tag}`))), made),
      shares(lines)),
    (told.problems || []).map((problem) => h("p", { class: "wrong" }, problem)),
    h("div", { class: "columns" },
      h("div", null,
        section("Facts", parts.facts, page),
        section("Relations", parts.relations, page),
        section("No longer holds", parts.superseded, page, { class: "past" }),
        parts.text.length > 0 && h("section", null, h("h2", null, "Text"), written(parts.text, page)),
        parts.properties.length > 0 && h("details", { class: "properties" }, h("summary", null, many(parts.properties.length, "property", "properties")),
          h("pre", { tabindex: "0" }, parts.properties.map((line) => `${line.text}\n`))),
        told.left_out && h("p", { class: "why" }, "The note goes on; its file has all of it.")),
      h("aside", { "aria-label": "Links" },
        ends("Links to", [...(told.links || []), ...(told.missing || [])], page, "Nothing yet."),
        ends("Linked from", told.backlinks || [], page, "Nothing yet."))),
    h("section", { class: "changes-of" }, h("h2", { class: "title" }, "Its changes"), past.list, past.foot,
      h("p", null, h("a", { href: address("timeline", { note: told.note, at: page.at }) }, "All changes of this note")))) };
}

async function absent(page, asked, error) {
  const past = listing(page, { note: asked.note }, { limit: 10 });
  let known = true;
  await past.ready.catch(() => { known = false; });
  return { title: "Not there", content: h("div", { class: "narrow" }, h("div", { class: "head" }, h("h1", null, "Not there")),
    h("p", null, page.at ? "This note was not in the memory on that day." : "No note is called so now.", " ", h("span", { class: "why" }, error.message)),
    known && [h("h2", null, "What is known of it"), past.list, past.foot]) };
}
