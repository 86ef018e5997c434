// Notes in an app: a frame inside a chat has nowhere to lead to, so a link is its words.

import { h } from "./dom.js";

export function noteLink(path, at, name) {
  return h("span", { class: "note", title: path }, name || path.split("/").pop().replace(/\.md$/i, ""));
}
