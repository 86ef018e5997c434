// The graph as an app: the entities and relations of one read_graph result, drawn.

import { Host } from "./app.js";
import { h, put } from "./dom.js";
import { Drawing, legend, told, tools } from "./drawing.js";
import { forces, positions, stepsFor } from "./layout.js";
import { many } from "./words.js";

let shown = null;

const host = new Host("vault-mcp-graph", ({ entities, relations, left_out: more }) => {
  if (!Array.isArray(entities)) return;
  const places = new Map();
  const nodes = [];
  const place = (name, type) => {
    if (!places.has(name)) { places.set(name, nodes.length); nodes.push({ name, type, note: name }); }
    return places.get(name);
  };
  for (const entity of entities) place(entity.name, entity.entityType || "note");
  const edges = (relations || []).map((one) => [place(one.from, "elsewhere"), place(one.to, "elsewhere"), one.relationType]);
  const facts = new Map(entities.map((entity) => [entity.name, (entity.observations || []).map((one) => one.text || one)]));
  if (shown) shown.leave();
  const aside = h("div", { class: "picked", "aria-live": "polite", hidden: true });
  const drawing = new Drawing({ nodes, edges }, { opened: () => {}, chosen: (index) => {
    aside.hidden = index < 0;
    put(aside, told(drawing, index), index >= 0 && h("ul", { class: "facts" }, (facts.get(nodes[index].name) || []).slice(0, 30).map((text) => h("li", null, h("span", { class: "sign" }, "·"), h("span", { class: "said" }, text)))));
  } });
  shown = drawing;
  put(document.getElementById("main"), h("div", { class: "graph" }, h("h1", { class: "unseen" }, "Graph"),
    h("div", { class: "stage" }, drawing.canvas), h("div", { class: "over left" }, legend(drawing)), tools(drawing), aside,
    h("p", { class: "sum" }, `${many(entities.length, "entity", "entities")}, ${many(edges.length, "relation")}`, more && `. ${more.split(":")[0]}.`)));
  drawing.arrive();
  const { simulation, nodes: moving } = forces(nodes.length, edges.map(([from, to]) => [from, to]), null);
  let left = stepsFor(nodes.length);
  const step = () => {
    if (shown !== drawing) return;
    const until = performance.now() + 20;
    while (left > 0 && performance.now() < until) { simulation.tick(); left--; }
    drawing.place(positions(moving));
    if (left > 0) setTimeout(step, 0);
    else drawing.canvas.dataset.drawn = "done";
  };
  if (nodes.length) step();
});
