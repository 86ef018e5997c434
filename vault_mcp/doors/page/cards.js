// One change as a card: who, what, when, its facts in words. Knows no network; `acts` are its buttons.

import { h } from "./dom.js";
import { noteLink } from "./links.js";
import { changedWords, did, face, many, when } from "./words.js";

const SHOWN = 6;

const KIND = { type: "is a", text: "", value: "value" };

function words(kind, text) {
  if (kind === "relation") {
    const [type, ...rest] = text.split(" -> ");
    return [h("span", { class: "relation" }, type), " → ", rest.join(" -> ")];
  }
  if (kind === "type") return [KIND.type, " ", text];
  return text;
}

function plain(kind, text) {
  return kind === "relation" ? text.replace(" -> ", " → ") : text;
}

// Of two facts that one agent added in one second, the one set aside may be told as edited into the other.
function apart(change) {
  const added = [...(change.added || [])], removed = [...(change.removed || [])];
  const edited = (change.edited || []).filter((fact) => {
    const aside = added.some((one) => one.kind === "superseded" && one.note === fact.note && one.text === fact.old);
    if (!aside) return true;
    removed.push({ note: fact.note, kind: fact.kind, text: fact.old });
    added.unshift({ note: fact.note, kind: fact.kind, text: fact.new });
    return false;
  });
  return { added, edited, removed };
}

// A fact that was superseded left the list of what holds: that is one step, not a loss and a gain.
function steps(change) {
  const { added, edited, removed } = apart(change);
  const rows = [];
  for (const fact of added) {
    if (fact.kind === "superseded") {
      const at = removed.findIndex((one) => one.note === fact.note && one.text === fact.text);
      if (at >= 0) {
        removed.splice(at, 1);
        rows.push({ note: fact.note, mark: "gone", sign: "⤳", said: "No longer holds", content: fact.text });
        continue;
      }
    }
    rows.push({ note: fact.note, mark: "plus", sign: "+", said: "Added", content: words(fact.kind, fact.text) });
  }
  for (const fact of edited) {
    rows.push({ note: fact.note, mark: "edit", sign: "~", said: "Changed", content: changedWords(plain(fact.kind, fact.old), plain(fact.kind, fact.new)) });
  }
  for (const fact of removed) {
    rows.push({ note: fact.note, mark: "minus", sign: "−", said: "Removed", content: h("del", null, words(fact.kind, fact.text)) });
  }
  for (const move of change.moved || []) {
    rows.push({ note: move.to, mark: "edit", sign: "→", said: "Moved", content: ["from ", h("del", null, move.from), " to ", h("ins", null, move.to)] });
  }
  for (const file of change.files || []) {
    if (!rows.some((row) => row.note === file.note)) {
      rows.push({ note: file.note, mark: file.what === "deleted" ? "minus" : "edit", sign: file.what === "deleted" ? "−" : "·", said: "", content: file.what });
    }
  }
  const order = [...new Set(rows.map((row) => row.note))];
  return rows.sort((a, b) => order.indexOf(a.note) - order.indexOf(b.note));
}

export function facts(change, at, { most = SHOWN } = {}) {
  const rows = steps(change);
  const several = new Set(rows.map((row) => row.note)).size > 1;
  let shown = "";
  const list = h("ul", { class: "facts" }, rows.map((row, number) => {
    const head = several && row.note !== shown && h("span", { class: "of" }, noteLink(row.note, at));
    shown = row.note;
    return h("li", { class: row.mark, hidden: number >= most }, head,
      h("span", { class: "sign", "aria-hidden": "true" }, row.sign),
      row.said && h("span", { class: "unseen" }, `${row.said}: `), h("span", { class: "said" }, row.content));
  }));
  if (rows.length <= most) return [list];
  const more = h("button", { class: "quiet more", type: "button", onclick: () => {
    const first = list.children[most];
    for (const row of list.children) row.hidden = false;
    more.remove();
    first.tabIndex = -1;
    first.focus();
  } }, `Show ${rows.length - most} more`);
  return [list, more];
}

export function card(change, { person = "", at = "", acts = [], most } = {}) {
  const [verb, about] = did(change);
  const paths = change.paths || [];
  const one = paths.length === 1 && !change.more_paths;
  const heading = h("h3", null,
    h("b", null, change.by), change.by === person && h("span", { class: "you" }, "you"), " ",
    verb, " ", one ? noteLink(paths[0], at, about) : h("span", { class: "about" }, about));
  const why = [change.by_hand ? "by hand" : change.tool && `with ${change.tool}`,
    change.session && `session ${change.session}`,
    (change.more_files || change.more_facts) && `${many((change.more_files || 0) + (change.more_facts || 0), "more part")} in the full change`]
    .filter(Boolean).join(" · ");
  return h("article", { class: "change", "data-change": change.change },
    face(change.by, { byHand: change.by_hand }),
    h("div", { class: "body" },
      h("div", { class: "line" }, heading, when(change.at, { clock: true })),
      h("p", { class: "why" }, why),
      facts(change, at, { most }),
      h("div", { class: "acts" }, acts)));
}

export function diff(text) {
  return h("pre", { class: "diff", tabindex: "0", "aria-label": "Difference by lines" },
    text.replace(/\n$/, "").split("\n").map((line) => {
      const mark = /^(\+\+\+|---|diff |index |new file|deleted file|similarity|rename )/.test(line) ? "head"
        : line.startsWith("@@") ? "hunk" : line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : "";
      return h("span", { class: mark || undefined }, `${line}\n`);
    }));
}
