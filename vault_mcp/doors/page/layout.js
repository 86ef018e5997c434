// Where the notes of a graph stand: the forces of d3-force, tuned by how many there are.

import "./vendor/d3-dispatch.min.js";
import "./vendor/d3-quadtree.min.js";
import "./vendor/d3-timer.min.js";
import "./vendor/d3-force.min.js";

// Steps after which the drawing rests. More notes settle with fewer: each step moves all of them.
export function stepsFor(count) {
  return count <= 300 ? 300 : count <= 1500 ? 220 : 140;
}

// `edges` are [from, to] by place; `before` gives x and y of each note, NaN where it has no place yet.
export function forces(count, edges, before) {
  const d3 = globalThis.d3;
  const degree = new Uint32Array(count);
  for (const [from, to] of edges) { degree[from]++; degree[to]++; }
  const nodes = Array.from({ length: count }, (_, index) => {
    const node = { index, degree: degree[index] };
    if (before && !Number.isNaN(before[index * 2])) { node.x = before[index * 2]; node.y = before[index * 2 + 1]; }
    return node;
  });
  seed(nodes, edges);
  const large = count > 600;
  const wide = count <= 60 ? 2.2 : 1; // few notes have room for their names
  const links = edges.map(([source, target]) => ({ source, target }));
  const simulation = d3.forceSimulation(nodes).stop()
    .alphaDecay(1 - Math.pow(0.001, 1 / stepsFor(count)))
    .velocityDecay(large ? 0.3 : 0.4)
    .force("link", d3.forceLink(links)
      .distance((link) => wide * (24 + 5 * Math.sqrt(Math.min(link.source.degree, link.target.degree))))
      .iterations(large ? 1 : 2))
    // A greatest distance would be quicker, but leaves rings where the force ends.
    .force("charge", d3.forceManyBody().strength((node) => -wide * wide * (30 + 8 * Math.sqrt(node.degree))).theta(large ? 1.5 : 0.9))
    .force("x", d3.forceX().strength((node) => node.degree ? (large ? 0.07 : 0.05 / wide) : 0.14))
    .force("y", d3.forceY().strength((node) => node.degree ? (large ? 0.1 : 0.075 / wide) : 0.2));
  if (!large) simulation.force("apart", d3.forceCollide((node) => 12 * wide + Math.sqrt(node.degree) * 2).iterations(1));
  return { simulation, nodes };
}

// A first place for each note beside what it is linked with: branches unfold instead of untangling.
function seed(nodes, edges) {
  const near = Array.from(nodes, () => []);
  for (const [from, to] of edges) { near[from].push(to); near[to].push(from); }
  const order = [...nodes.keys()].sort((a, b) => nodes[b].degree - nodes[a].degree);
  const spread = 34 * Math.sqrt(nodes.length);
  const golden = Math.PI * (3 - Math.sqrt(5));
  let heaps = 0;
  for (const start of order) {
    if (nodes[start].x !== undefined) continue;
    const far = nodes[start].degree ? spread * 0.5 * Math.sqrt(heaps / (heaps + 6)) : spread * Math.sqrt(0.75 + 0.25 * ((heaps % 97) / 97));
    nodes[start].x = far * Math.cos(heaps * golden);
    nodes[start].y = far * Math.sin(heaps * golden);
    heaps++;
    let ring = [start];
    for (let depth = 1; ring.length; depth++) {
      const following = [];
      for (const at of ring) {
        near[at].forEach((other, number) => {
          if (nodes[other].x !== undefined) return;
          const angle = golden * (other + number * 3);
          const length = 30 + 160 / depth;
          nodes[other].x = nodes[at].x + length * Math.cos(angle);
          nodes[other].y = nodes[at].y + length * Math.sin(angle);
          following.push(other);
        });
      }
      ring = following;
    }
  }
}

export function positions(nodes) {
  const places = new Float32Array(nodes.length * 2);
  for (const node of nodes) { places[node.index * 2] = node.x; places[node.index * 2 + 1] = node.y; }
  return places;
}
