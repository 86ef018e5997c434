// Elements from plain values. Text becomes text nodes and nothing else: no string is ever read as markup.

export function h(name, given, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of children.flat(4)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function put(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export function say(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}
