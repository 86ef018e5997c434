// The slider over all days of the memory: how much happened on each, and which day is shown.

import { h, put } from "./dom.js";
import { dayInWords, dayOf, localDay, many, shortDay } from "./words.js";

const BARS = 240;

export function daysBetween(first, last) {
  return Math.round((dayOf(last) - dayOf(first)) / 86400000);
}

function dayAt(first, offset) {
  const date = dayOf(first);
  date.setDate(date.getDate() + offset);
  return localDay(date);
}

export function days(place, about, at, choose) {
  const today = localDay(new Date());
  const known = about.days;
  if (!known.length) { place.hidden = true; return; }
  const first = known[0].day < today ? known[0].day : today;
  const length = Math.max(1, daysBetween(first, today));
  const counts = new Map(known.map((one) => [one.day, one.changes]));
  const shown = at && at < today ? Math.min(length, Math.max(0, daysBetween(first, at))) : length;

  const bars = Math.min(BARS, length + 1);
  const heights = new Array(bars).fill(0);
  for (const { day, changes } of known) {
    const offset = Math.min(length, Math.max(0, daysBetween(first, day)));
    heights[Math.min(bars - 1, Math.floor((offset * bars) / (length + 1)))] += changes;
  }
  const highest = Math.max(1, ...heights);
  const strip = h("div", { class: "bars", "aria-hidden": "true" }, heights.map((count, number) => {
    const bar = h("span");
    bar.style.height = count ? `${Math.max(14, Math.round((100 * Math.sqrt(count)) / Math.sqrt(highest)))}%` : "0";
    bar.dataset.at = Math.floor((number * (length + 1)) / bars);
    return bar;
  }));

  const label = h("output", { for: "day" });
  const range = h("input", { id: "day", type: "range", min: 0, max: length, step: 1, "aria-label": "Show the memory as of this day" });
  range.value = shown;
  const tell = () => {
    const offset = Number(range.value);
    const day = dayAt(first, offset);
    const changes = counts.get(day) || 0;
    const now = offset === length;
    range.setAttribute("aria-valuetext", now ? "Now" : `${dayInWords(day)}, ${many(changes, "change")}`);
    put(label, now ? [h("b", null, "Now"), h("span", { class: "why" }, ` ${many(about.changes, "change")} since ${shortDay(first)}`)]
      : ["as of ", h("b", null, shortDay(day)), h("span", { class: "why" }, ` · ${changes ? many(changes, "change") : "no change"}`)]);
    for (const bar of strip.children) bar.classList.toggle("after", Number(bar.dataset.at) > offset);
    place.style.setProperty("--at", offset / length);
  };
  let timer = 0;
  range.addEventListener("input", () => {
    tell();
    clearTimeout(timer);
    timer = setTimeout(() => choose(Number(range.value) === length ? "" : dayAt(first, Number(range.value))), 180);
  });
  const now = h("button", { type: "button", class: "quiet", hidden: shown === length, onclick: () => choose("") }, "Back to now");
  tell();
  place.hidden = false;
  place.classList.toggle("then", shown !== length);
  if (first === today) { put(place, h("div", { class: "inner" }, h("div", { class: "told" }, label))); return; }
  put(place, h("div", { class: "inner" }, h("div", { class: "told" }, label, now), h("div", { class: "track" }, strip, range)));
}
