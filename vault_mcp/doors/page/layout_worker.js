// Works out where the notes stand, beside the page, and tells it now and then.

import { forces, positions, stepsFor } from "./layout.js";

const FIRST = 500; // milliseconds until the first places are told
const NEXT = 90;

let turn = 0;

self.addEventListener("message", (event) => {
  const { count, edges, before, gentle } = event.data;
  const mine = ++turn;
  const { simulation, nodes } = forces(count, edges, before);
  if (gentle) simulation.alpha(0.3);
  let left = Math.ceil(stepsFor(count) * (gentle ? 0.83 : 1));
  const work = (longest) => {
    if (mine !== turn) return;
    const until = performance.now() + longest;
    while (left > 0 && performance.now() < until) { simulation.tick(); left--; }
    const places = positions(nodes);
    self.postMessage({ places, done: left <= 0 }, [places.buffer]);
    if (left > 0) setTimeout(() => work(NEXT), 0);
  };
  work(FIRST);
});
