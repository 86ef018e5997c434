// The timeline as an app: the changes of one history_log result; what each did is asked for when it is opened.

import { Host } from "./app.js";
import { card, diff, facts } from "./cards.js";
import { h, put } from "./dom.js";
import { dayInWords, localDay } from "./words.js";

function opener(change) {
  const whole = h("div", { class: "whole", hidden: true });
  const button = h("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: async () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    whole.hidden = open;
    if (open || whole.childElementCount) return;
    try {
      const told = await host.call("history_show", { change: change.change });
      put(whole, facts(told, "", { most: 40 }), told.diff && diff(told.diff));
    } catch (error) {
      put(whole, h("p", { class: "wrong" }, error.message));
    }
  } }, "What changed");
  return [host.can.serverTools && button, h("span", { class: "quiet" }, change.change.slice(0, 7)), whole];
}

const host = new Host("vault-mcp-timeline", ({ changes, left_out: more }) => {
  if (!Array.isArray(changes)) return;
  const list = h("div", { class: "timeline" });
  let day = "", group = null;
  for (const change of changes) {
    const its = localDay(new Date(change.at));
    if (its !== day) {
      day = its;
      group = h("ol");
      list.append(h("section", { "aria-label": dayInWords(day) }, h("h2", null, dayInWords(day)), group));
    }
    group.append(h("li", null, card(change, { acts: opener(change) })));
  }
  put(document.getElementById("main"), h("div", { class: "narrow" }, h("h1", { class: "unseen" }, "Timeline"), list,
    !changes.length && h("p", { class: "waiting" }, "No change is like that."), more && h("p", { class: "why foot" }, "There are older changes.")));
});
