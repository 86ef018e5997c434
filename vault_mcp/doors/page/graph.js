// The graph of the whole memory, with a way to find a note in it and what each is linked with.

import { ask } from "./api.js";
import { h, put, say } from "./dom.js";
import { Drawing, legend, told, tools } from "./drawing.js";
import { address, noteLink } from "./links.js";
import { many } from "./words.js";

const WORKER = "layout_worker.js";
const MATCHES = 12;

// Browsers that guard script addresses take this one alone.
const guard = globalThis.trustedTypes
  ? trustedTypes.createPolicy("page", { createScriptURL: (url) => { if (url !== WORKER) throw new TypeError("no such script"); return url; } })
  : { createScriptURL: (url) => url };

let known = new Map(); // note -> place, so that a note stays where it was when the day changes

export async function graph(page) {
  const given = await ask("graph", { at: page.moment });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const aside = h("div", { class: "picked", "aria-live": "polite" });
  const drawing = new Drawing(given, {
    chosen: (index) => {
      aside.hidden = index < 0;
      put(aside, told(drawing, index, index >= 0 && noteLink(given.nodes[index].note, page.at, given.nodes[index].name)),
        index >= 0 && h("button", { type: "button", class: "quiet close", "aria-label": "Pick nothing", onclick: () => { drawing.pick(-1); drawing.canvas.focus(); } }, "✕"));
    },
    opened: (index) => { location.hash = address("note", { note: given.nodes[index].note, at: page.at }); },
  });
  aside.hidden = true;
  const stage = h("div", { class: "stage" }, drawing.canvas);
  const content = h("div", { class: "graph" }, h("h1", { class: "unseen" }, "Graph"),
    stage, h("div", { class: "over left" }, finder(drawing), legend(drawing)), tools(drawing), aside,
    h("p", { class: "sum" }, `${many(given.nodes.length, "note")}, ${many(given.edges.length, "link")}`, given.left_out && `. ${given.left_out}`,
      !given.nodes.length && ". There is nothing to draw on this day."));
  let worker = null;
  return { title: "Graph", content,
    arrived: () => {
      drawing.arrive();
      if (!given.nodes.length) return;
      const before = new Float32Array(given.nodes.length * 2).fill(NaN);
      let placed = 0;
      given.nodes.forEach((node, index) => {
        const place = known.get(node.note);
        if (place) { before.set(place, index * 2); placed++; }
      });
      const gentle = placed > given.nodes.length / 2;
      if (gentle && placed === given.nodes.length) { drawing.place(before); content.dataset.drawn = "begun"; }
      worker = new Worker(guard.createScriptURL(WORKER), { type: "module" });
      worker.addEventListener("message", ({ data }) => {
        if (still && !data.done && drawing.places) return;
        drawing.place(data.places);
        given.nodes.forEach((node, index) => known.set(node.note, [data.places[index * 2], data.places[index * 2 + 1]]));
        content.dataset.drawn = data.done ? "done" : "begun";
        if (data.done) worker.terminate();
      });
      worker.addEventListener("error", () => say("The graph could not be laid out in this browser."));
      worker.postMessage({ count: given.nodes.length, edges: given.edges.map(([from, to]) => [from, to]), before, gentle });
    },
    leave: () => {
      if (worker) worker.terminate();
      drawing.leave();
    } };
}

function finder(drawing) {
  const matches = h("ul", { class: "matches", "aria-label": "Notes found in the graph" });
  const field = h("input", { type: "search", id: "in-graph", placeholder: "Find in the graph", autocomplete: "off", oninput: () => {
    const said = field.value.trim().toLowerCase();
    const found = said ? drawing.order.filter((index) => drawing.nodes[index].name.toLowerCase().includes(said)).slice(0, MATCHES) : [];
    put(matches, found.map((index) => h("li", null, h("button", { type: "button", class: "quiet", onclick: () => drawing.pick(index, { centre: true }) }, drawing.nodes[index].name))));
    if (said && !found.length) put(matches, h("li", { class: "why" }, "No note is called so."));
  }, onkeydown: (event) => {
    if (event.key === "Enter" && matches.querySelector("button")) { event.preventDefault(); matches.querySelector("button").click(); }
  } });
  return h("div", { class: "in-graph" }, h("label", { class: "unseen", for: "in-graph" }, "Find a note in the graph"), field, matches);
}
