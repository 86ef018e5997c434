// A graph on a canvas: drawn, moved, magnified, walked through by keys. Knows no network.

import { h } from "./dom.js";

const TYPES = 8;
const NAMES = 90;
const WALK = { ArrowLeft: Math.PI, ArrowRight: 0, ArrowUp: -Math.PI / 2, ArrowDown: Math.PI / 2 };

export function typesOf(nodes) {
  const counts = new Map();
  for (const node of nodes) counts.set(node.type || "note", (counts.get(node.type || "note") || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const places = [0, 2, 1, 4, 3, 5, 8, 9];
  return sorted.map(([type, count], rank) => ({ type, count, colour: rank < TYPES ? `c${places[rank]}` : "c7" }));
}

export class Drawing {
  // `chosen(index)` is called when a note is picked (-1 for none), `opened(index)` when it is to be opened.
  constructor({ nodes, edges }, { chosen, opened }) {
    this.nodes = nodes;
    this.edges = edges;
    this.chosen = chosen;
    this.opened = opened;
    this.places = null;
    this.view = { k: 1, x: 0, y: 0 };
    this.fitted = true;
    this.picked = -1;
    this.under = -1;
    this.hidden = new Set();
    this.near = nodes.map(() => new Set());
    for (const [from, to] of edges) { this.near[from].add(to); this.near[to].add(from); }
    const few = nodes.length <= 60 ? 1.45 : 1;
    this.radius = nodes.map((_, index) => few * Math.min(15, 3.4 + 1.25 * Math.sqrt(this.near[index].size)));
    this.order = [...nodes.keys()].sort((a, b) => this.near[b].size - this.near[a].size);
    this.kinds = typesOf(nodes);
    const colours = new Map(this.kinds.map((kind) => [kind.type, kind.colour]));
    this.colour = nodes.map((node) => colours.get(node.type || "note"));
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-roledescription": "graph",
      "aria-label": `Graph of ${nodes.length} notes. Arrow keys go from note to note, Enter opens, plus and minus magnify, 0 shows all.` });
    this.context = this.canvas.getContext("2d");
    this.listen();
  }

  // -- from outside

  arrive() {
    this.themed();
    this.watching = new ResizeObserver(() => this.resized());
    this.watching.observe(this.canvas.parentElement);
    this.onThemed = () => { this.themed(); this.draw(); };
    window.addEventListener("themed", this.onThemed);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", this.onThemed);
    this.resized();
  }

  leave() {
    if (!this.watching) return;
    this.watching.disconnect();
    window.removeEventListener("themed", this.onThemed);
    this.scheme.removeEventListener("change", this.onThemed);
  }

  place(places) {
    this.places = places;
    if (this.fitted) this.fit();
    else this.draw();
  }

  pick(index, { centre = false } = {}) {
    this.picked = index;
    if (centre && index >= 0 && this.places) {
      this.fitted = false;
      this.view.k = Math.max(this.view.k, 0.9);
      this.view.x = this.width / 2 - this.places[index * 2] * this.view.k;
      this.view.y = this.height / 2 - this.places[index * 2 + 1] * this.view.k;
    }
    this.draw();
    this.chosen(index);
  }

  show(type, shown) {
    if (shown) this.hidden.delete(type);
    else this.hidden.add(type);
    this.draw();
  }

  fit() {
    if (!this.places || !this.nodes.length || !this.width) return;
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (let i = 0; i < this.nodes.length; i++) {
      const x = this.places[i * 2], y = this.places[i * 2 + 1];
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
    const edge = this.nodes.length < 80 ? 64 : 30;
    const k = Math.min(2, (this.width - 2 * edge) / Math.max(1, right - left), (this.height - 2 * edge) / Math.max(1, bottom - top));
    this.view = { k, x: this.width / 2 - (k * (left + right)) / 2, y: this.height / 2 - (k * (top + bottom)) / 2 };
    this.fitted = true;
    this.draw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const k = Math.min(8, Math.max(0.02, this.view.k * factor));
    const real = k / this.view.k;
    this.view = { k, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real };
    this.fitted = false;
    this.draw();
  }

  // -- drawing

  themed() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    this.ink = { paper: read("--paper"), ink: read("--ink"), soft: read("--soft"), accent: read("--accent"), sans: read("--sans") };
    for (let i = 0; i < 10; i++) this.ink[`c${i}`] = read(`--c${i}`);
  }

  resized() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.ratio = ratio;
    if (this.fitted) this.fit();
    else this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  visible(index) { return !this.hidden.has(this.nodes[index].type || "note"); }

  paint() {
    if (!this.places || !this.width || !this.ink) return;
    const { context: c, places, view: { k, x, y } } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    const focus = this.under >= 0 ? this.under : this.picked;
    const lit = focus >= 0 ? this.near[focus] : null;
    const scale = Math.max(0.5, Math.min(1.7, Math.sqrt(k) * 1.05));
    const many = this.edges.length > 1200;

    const line = (edges, colour, width, alpha) => {
      c.beginPath();
      for (const [from, to] of edges) {
        if (!this.visible(from) || !this.visible(to)) continue;
        c.moveTo(places[from * 2] * k + x, places[from * 2 + 1] * k + y);
        c.lineTo(places[to * 2] * k + x, places[to * 2 + 1] * k + y);
      }
      c.strokeStyle = colour;
      c.globalAlpha = alpha;
      c.lineWidth = width;
      c.stroke();
    };
    const rest = lit ? 0.12 : many ? 0.24 : 0.42;
    line(this.edges, this.ink.soft, many ? 0.7 : 1, rest);
    if (lit) line(this.edges.filter(([from, to]) => from === focus || to === focus), this.ink.accent, 1.6, 0.9);

    const dots = (indices, alpha) => {
      const groups = new Map();
      for (const index of indices) {
        if (!this.visible(index)) continue;
        const colour = this.colour[index];
        if (!groups.has(colour)) groups.set(colour, []);
        groups.get(colour).push(index);
      }
      c.globalAlpha = alpha;
      for (const [colour, group] of groups) {
        c.beginPath();
        for (const index of group) {
          const px = places[index * 2] * k + x, py = places[index * 2 + 1] * k + y, r = this.radius[index] * scale;
          if (px < -20 || py < -20 || px > this.width + 20 || py > this.height + 20) continue;
          c.moveTo(px + r, py);
          c.arc(px, py, r, 0, 2 * Math.PI);
        }
        c.fillStyle = this.ink[colour];
        c.fill();
        if (k > 0.35) { c.strokeStyle = this.ink.paper; c.lineWidth = 1.2; c.stroke(); }
      }
    };
    if (lit) {
      dots(this.nodes.keys(), 0.2);
      dots([...lit, focus], 1);
    } else dots(this.nodes.keys(), 1);
    if (focus >= 0) {
      c.globalAlpha = 1;
      c.beginPath();
      c.arc(places[focus * 2] * k + x, places[focus * 2 + 1] * k + y, this.radius[focus] * scale + 4, 0, 2 * Math.PI);
      c.strokeStyle = this.ink.accent;
      c.lineWidth = 2;
      c.stroke();
    }
    this.names(focus, lit, scale);
  }

  // Names where there is room, those with the most links first.
  names(focus, lit, scale) {
    const { context: c, places, view: { k, x, y } } = this;
    const taken = [];
    c.textAlign = "center";
    c.textBaseline = "top";
    c.lineJoin = "round";
    let told = 0;
    const tell = (index, always) => {
      if (!this.visible(index)) return;
      const px = places[index * 2] * k + x, py = places[index * 2 + 1] * k + y;
      if (px < 0 || py < 0 || px > this.width || py > this.height) return;
      const strong = index === focus;
      const full = this.nodes[index].name;
      const name = full.length > 34 && !strong ? `${full.slice(0, 32)}…` : full;
      c.font = `${strong ? 600 : 500} ${strong ? 13.5 : 12}px ${this.ink.sans}`;
      const width = c.measureText(name).width;
      const top = py + this.radius[index] * scale + 3;
      const box = [px - width / 2 - 4, top - 1, px + width / 2 + 4, top + 16];
      if (!always && taken.some((one) => one[0] < box[2] && one[2] > box[0] && one[1] < box[3] && one[3] > box[1])) return;
      taken.push(box);
      c.globalAlpha = lit && !strong && !lit.has(index) ? 0.25 : 1;
      c.lineWidth = 3.5;
      c.strokeStyle = this.ink.paper;
      c.strokeText(name, px, top);
      c.fillStyle = this.ink.ink;
      c.fillText(name, px, top);
      told++;
    };
    if (focus >= 0) tell(focus, true);
    if (lit) {
      for (const index of this.order) if (lit.has(index) && told < 40) tell(index, false);
      return;
    }
    for (const index of this.order) {
      if (told >= NAMES) break;
      if (this.nodes.length > 120 && this.radius[index] * scale < 4.2 && k < 1) break;
      tell(index, false);
    }
  }

  // -- the hand and the keys

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  find(px, py) {
    if (!this.places) return -1;
    const { k, x, y } = this.view;
    let best = -1, least = 16 * 16;
    for (let i = 0; i < this.nodes.length; i++) {
      const dx = this.places[i * 2] * k + x - px, dy = this.places[i * 2 + 1] * k + y - py;
      const far = dx * dx + dy * dy;
      if (far < least && this.visible(i)) { least = far; best = i; }
    }
    return best;
  }

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, this.at(event));
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const [px, py] = this.at(event);
      const last = fingers.get(event.pointerId);
      if (!last) {
        const under = this.find(px, py);
        if (under !== this.under) { this.under = under; canvas.classList.toggle("over", under >= 0); this.draw(); }
        return;
      }
      const others = [...fingers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const [, [ox, oy]] = others[0];
        this.zoom(Math.hypot(px - ox, py - oy) / Math.max(1, Math.hypot(last[0] - ox, last[1] - oy)), ox, oy);
      } else {
        this.view.x += px - last[0];
        this.view.y += py - last[1];
        this.fitted = false;
        this.draw();
      }
      moved += Math.abs(px - last[0]) + Math.abs(py - last[1]);
      fingers.set(event.pointerId, [px, py]);
    });
    const lift = (event) => {
      const held = fingers.delete(event.pointerId);
      if (event.type === "pointerup" && held && moved < 5) this.pick(this.find(...this.at(event)));
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", () => { if (this.under >= 0) { this.under = -1; this.draw(); } });
    canvas.addEventListener("dblclick", () => { if (this.picked >= 0) this.opened(this.picked); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...this.at(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in WALK) this.walk(WALK[event.key]);
      else if (event.key === "Enter" && this.picked >= 0) this.opened(this.picked);
      else if (event.key === "+" || event.key === "=") this.zoom(1.3);
      else if (event.key === "-") this.zoom(1 / 1.3);
      else if (event.key === "0") this.fit();
      else if (event.key === "Escape" && this.picked >= 0) this.pick(-1);
      else return;
      event.preventDefault();
    });
  }

  // From the picked note to the nearest one that way; a linked one counts as nearer.
  walk(angle) {
    if (!this.places) return;
    if (this.picked < 0) {
      const first = this.order.find((index) => this.visible(index));
      if (first !== undefined) this.pick(first, { centre: this.view.k > 1 });
      return;
    }
    const x = this.places[this.picked * 2], y = this.places[this.picked * 2 + 1];
    let best = -1, least = Infinity;
    for (let i = 0; i < this.nodes.length; i++) {
      if (i === this.picked || !this.visible(i)) continue;
      const dx = this.places[i * 2] - x, dy = this.places[i * 2 + 1] - y;
      const off = Math.abs(Math.atan2(Math.sin(Math.atan2(dy, dx) - angle), Math.cos(Math.atan2(dy, dx) - angle)));
      if (off > Math.PI / 3) continue;
      const far = Math.hypot(dx, dy) * (1 + off) * (this.near[this.picked].has(i) ? 0.4 : 1);
      if (far < least) { least = far; best = i; }
    }
    if (best < 0) return;
    this.pick(best);
    const { k, x: ox, y: oy } = this.view;
    const px = this.places[best * 2] * k + ox, py = this.places[best * 2 + 1] * k + oy;
    if (px < 30 || py < 30 || px > this.width - 30 || py > this.height - 30) this.pick(best, { centre: true });
  }
}

export function legend(drawing) {
  return h("ul", { class: "legend", "aria-label": "Kinds of notes" }, drawing.kinds.map((kind) => h("li", null,
    h("button", { type: "button", class: `quiet ${kind.colour}`, "aria-pressed": "true", onclick: (event) => {
      const button = event.currentTarget;
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      drawing.show(kind.type, shown);
    } }, h("span", { class: "dot", "aria-hidden": "true" }), kind.type, h("span", { class: "count" }, ` ${kind.count}`)))));
}

export function tools(drawing) {
  const button = (label, sign, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, sign);
  return h("div", { class: "tools" }, button("Magnify", "+", () => drawing.zoom(1.4)), button("Shrink", "−", () => drawing.zoom(1 / 1.4)),
    button("Show all", "⤢", () => drawing.fit()));
}

// What is told of the picked note: its links, each of which can be picked in turn.
export function told(drawing, index, heading) {
  if (index < 0) return [];
  const node = drawing.nodes[index];
  const out = [], back = [];
  for (const [from, to, kind] of drawing.edges) {
    if (from === index) out.push([to, kind]);
    else if (to === index) back.push([from, kind]);
  }
  const rows = (title, ends) => ends.length ? [h("h3", null, title), h("ul", { class: "ends" }, ends.slice(0, 60).map(([other, kind]) => h("li", null,
    h("span", { class: "relation" }, kind), " ",
    h("button", { type: "button", class: "as-link", onclick: () => drawing.pick(other, { centre: true }) }, drawing.nodes[other].name))),
    ends.length > 60 && h("li", { class: "why" }, `and ${ends.length - 60} more`))] : [];
  return [h("p", { class: "kind" }, node.type || "note"), h("h2", null, heading || node.name), rows("Links to", out), rows("Linked from", back),
    !out.length && !back.length && h("p", { class: "why" }, "Linked with nothing.")];
}

