// The timeline: every change of the memory, the newest first, each with its undo.

import { ask, undo } from "./api.js";
import { card, diff } from "./cards.js";
import { h, put, say } from "./dom.js";
import { address, nameOf } from "./links.js";
import { dayAfter, dayInWords, localDay } from "./words.js";

export function actsOf(change, page) {
  const whole = h("div", { class: "whole", hidden: true });
  const more = h("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: async () => {
    const open = more.getAttribute("aria-expanded") === "true";
    more.setAttribute("aria-expanded", String(!open));
    whole.hidden = open;
    if (open || whole.childElementCount) return;
    put(whole, h("p", { class: "waiting" }, "Reading…"));
    try {
      const told = await ask("change", { change: change.change });
      put(whole, told.diff ? diff(told.diff) : h("p", { class: "why" }, "No file differs."),
        told.diff_left_out && h("p", { class: "why" }, told.diff_left_out),
        h("p", { class: "why" }, "Commit ", h("code", null, told.change)));
    } catch (error) {
      put(whole, h("p", { class: "wrong" }, error.message));
    }
  } }, "Lines");
  const asking = h("div", { class: "asking", hidden: true });
  const back = h("button", { type: "button", class: "quiet undo", onclick: () => confirmUndo(change, asking, back, page) }, "Undo");
  return [!page.about.read_only && back, more,
    h("a", { class: "quiet", href: address("change", { change: change.change }), "aria-label": `Change ${change.change} on its own` }, change.change.slice(0, 7)),
    asking, whole];
}

function confirmUndo(change, place, button, page) {
  const close = () => { place.hidden = true; button.hidden = false; button.focus(); };
  const run = async (skip) => {
    put(place, h("p", null, "Taking it back…"));
    try {
      const told = await undo(change.change, skip);
      const commit = told.receipt.commit;
      close();
      say(told.message || `Taken back, as a new change in your name${told.skipped ? `; ${told.skipped.length} left as they are` : ""}.`);
      if (commit) page.changed();
    } catch (error) {
      const rest = error.status === 409;
      const no = h("button", { type: "button", class: "quiet", onclick: close }, "Leave it");
      put(place, h("p", { class: "wrong" }, rest ? error.message.replace(/ Call again with.*$/s, "") : error.message),
        rest && h("button", { type: "button", class: "firm", onclick: () => run(true) }, "Undo the rest"), no);
      no.focus();
    }
  };
  const yes = h("button", { type: "button", class: "firm", onclick: () => run(false) }, "Take it back");
  put(place, h("p", null, "Take this change back? That is a new change in your name, and can be undone too."),
    yes, h("button", { type: "button", class: "quiet", onclick: close }, "Keep it"));
  place.hidden = false;
  button.hidden = true;
  yes.focus();
}

export function listing(page, asked, { limit = 20 } = {}) {
  const list = h("div", { class: "timeline" });
  const foot = h("div", { class: "foot" });
  let day = "", group = null;
  const show = (changes) => {
    for (const change of changes) {
      const its = localDay(new Date(change.at));
      if (its !== day) {
        day = its;
        group = h("ol");
        list.append(h("section", { "aria-label": dayInWords(day) }, h("h2", null, dayInWords(day)), group));
      }
      group.append(h("li", null, card(change, { person: page.about.person, at: page.at, acts: actsOf(change, page) })));
    }
  };
  const fetchPage = async (cursor, focus) => {
    const told = await ask("changes", { ...asked, before: page.at ? `${dayAfter(page.at)}T00:00:00` : "", limit, cursor });
    const last = list.querySelector("section:last-child li:last-child");
    show(told.changes);
    if (focus && last) {
      const cards = [...list.querySelectorAll("li")];
      const next = cards[cards.indexOf(last) + 1];
      if (next) { next.tabIndex = -1; next.focus({ preventScroll: true }); }
    }
    if (!cursor && !told.changes.length) put(foot, h("p", { class: "waiting" }, "No change is like that."));
    else put(foot, told.next_cursor && h("button", { type: "button", onclick: () => fetchPage(told.next_cursor, true) }, "Older changes"));
  };
  return { list, foot, ready: fetchPage("", false) };
}

export async function timeline(page, asked) {
  const change = (name, value) => { location.hash = address("timeline", { ...asked, [name]: value }); };
  const who = h("select", { id: "who", onchange: () => change("agent", who.value) },
    h("option", { value: "" }, "Everyone"),
    page.about.authors.map((one) => h("option", { value: one.by, selected: one.by === asked.agent }, `${one.by} (${one.changes})`)));
  const text = h("input", { id: "holding", type: "search", value: asked.text || "", placeholder: "Words in changes", onchange: () => change("text", text.value.trim()) });
  const shown = listing(page, { agent: asked.agent, text: asked.text, note: asked.note, session: asked.session });
  const title = page.at ? "What had happened" : "What happened";
  await shown.ready;
  return { title: "Timeline", content: h("div", { class: "narrow" },
    h("div", { class: "head" }, h("h1", null, title),
      h("div", { class: "filters" },
        asked.note && h("a", { class: "chip", href: address("timeline", { ...asked, note: "" }) }, `only ${nameOf(asked.note)} ✕`),
        h("label", { for: "who", class: "unseen" }, "Whose changes"), who,
        h("label", { for: "holding", class: "unseen" }, "Changes that hold these words"), text)),
    shown.list, shown.foot) };
}

export async function single(page, asked) {
  const told = await ask("change", { change: asked.change });
  const acts = actsOf(told, page);
  const shown = card(told, { person: page.about.person, at: page.at, most: 500, acts: acts.filter((one) => !(one instanceof HTMLAnchorElement)) });
  return { title: `Change ${told.change.slice(0, 7)}`, content: h("div", { class: "narrow" },
    h("div", { class: "head" }, h("h1", null, "One change")),
    h("div", { class: "timeline" }, h("section", { "aria-label": dayInWords(localDay(new Date(told.at))) }, h("h2", null, dayInWords(localDay(new Date(told.at)))), shown)),
    told.left_out && h("p", { class: "why" }, told.left_out)) };
}
