"""How long the local page takes until a graph is drawn in a real browser, and what a frame costs.

    python -m benchmarks.page [--notes 10 5000] [--rounds 5]

Needs the extra `browser` and a Chromium. Each round opens the graph in a fresh tab: `drawn` is from the click
until every note and link stands on the screen in a first arrangement, `settled` until they rest, `frame` the
mean of 30 frames while the picture is moved. The limit beside them is an empty page of the same server.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from vault_mcp.adopt import adopt
from vault_mcp.doors.page_answers import Answers
from vault_mcp.doors.page_server import make_page
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

TYPES = ("person", "project", "decision", "book", "place", "tool", "event")
QUIET = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run")
FRAMES = """() => new Promise(done => {
  const canvas = document.querySelector("canvas"), began = performance.now();
  let count = 0;
  const step = () => {
    canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: count % 2 ? 9 : -9, clientX: 600, clientY: 400}));
    if (++count === 30) done((performance.now() - began) / 30); else requestAnimationFrame(step);
  };
  step();
})"""


def make_notes(root: Path, count: int) -> None:
    """Write notes in groups of about sixty, most links inside a group, a few between them."""
    chance = random.Random(3)
    groups: dict[int, list[int]] = {}
    for number in range(count):
        groups.setdefault(chance.randrange(max(1, count // 60)), []).append(number)
    for name, group in groups.items():
        for number in group:
            ends = {
                group[int(len(group) * chance.random() ** 2.2)] for _ in range(1 + (chance.random() < 0.45))
            }
            if chance.random() < 0.06:
                ends.add(chance.randrange(count))
            folder = root / "entities" / TYPES[name % len(TYPES)]
            folder.mkdir(parents=True, exist_ok=True)
            links = "".join(f"- knows [[Note {end}]]\n" for end in sorted(ends - {number}))
            text = f"---\nentity: {folder.name}\n---\n\n- Fact of {number}\n\n## Relations\n\n{links}"
            (folder / f"Note {number}.md").write_text(text, encoding="utf-8")


def measure(browser: Any, url: str, origin: str, rounds: int) -> dict[str, float]:
    """Give the medians of all rounds, in seconds; frames in milliseconds."""
    found: dict[str, list[float]] = {"empty": [], "drawn": [], "settled": [], "frame ms": []}
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.new_page().goto(url)
    for _ in range(rounds):
        tab = context.new_page()
        began = time.perf_counter()
        tab.goto(f"{origin}/#/search")
        tab.wait_for_selector("body[data-view=search]")
        found["empty"].append(time.perf_counter() - began)
        began = time.perf_counter()
        tab.get_by_role("link", name="Graph").click()
        tab.wait_for_selector("[data-drawn]")
        tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found["drawn"].append(time.perf_counter() - began)
        tab.wait_for_selector("[data-drawn=done]", timeout=120_000)
        found["settled"].append(time.perf_counter() - began)
        found["frame ms"].append(tab.evaluate(FRAMES))
        tab.close()
    context.close()
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (an extra)

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=[10, 5000])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        for count in given.notes:
            with tempfile.TemporaryDirectory(prefix="vault-mcp-page-") as folder:
                root = Path(folder, "vault")
                root.mkdir()
                subprocess.run(["git", "init", "-q", str(root)], check=True)
                make_notes(root, count)
                adopt(str(root))
                vault = Vault.open(str(root))
                page = make_page(Answers(vault, Caller("benchmark", person=True)))
                thread = threading.Thread(target=page.run)
                thread.start()
                try:
                    vault.wait_until_compared(600)
                    told = measure(browser, page.url, page.url.partition("/open/")[0], given.rounds)
                    figures = ", ".join(f"{name} {value:.2f}" for name, value in told.items())
                    print(f"{count} notes: {figures}")
                finally:
                    page.stop()
                    thread.join()
                    vault.close()
        browser.close()


if __name__ == "__main__":
    main()
