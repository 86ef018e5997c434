"""The local page in a real browser: what a person sees and does, by hand and by keyboard.

Needs the extra `browser` and a Chromium: Debian's, or the one that `playwright install chromium` brings.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.pages import Visitor, paged
from tests.vaults import CLAUDE, CURSOR, PERSON, authors, clean, git, make_vault, opened, write_files
from tests.waiting import wait_until
from vault_mcp.doors.page_files import app_html
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.tools.graph.observations import add_observations, edit_observation
from vault_mcp.tools.graph.reading import read_graph
from vault_mcp.tools.graph.relations import create_relations
from vault_mcp.tools.history.looking import history_log, history_show
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

pytestmark = pytest.mark.long

WAIT = 60_000
"""Milliseconds that a browser on a busy machine may take to show something."""

QUIET = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run")
VIEWS = ("#/", "#/graph", "#/note?note=Ada", "#/search?query=tea", "#/note?note=Nobody", "#/search")
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # Not among what every test run installs.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    root = tmp_path / "Lantern"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
            patch.setenv(name, "2026-01-05T12:00:00Z")
        root.mkdir()
        write_files(root, {"Plan.md": "# Plan\n\nAsk [[Ada]] about [[Nobody yet]].\n"})
        git(root, "init", "-q", "-b", "main")
        git(root, "config", "user.name", PERSON)
        git(root, "config", "user.email", "ann@example.org")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "the plan")
    make_vault(root)
    with opened(root) as vault:
        made = [{"name": "Ada", "entityType": "person", "observations": ["Likes tea"]}]
        made += [
            {"name": f"N{n}", "entityType": f"kind {n % 4}", "observations": [f"fact {n}"]} for n in range(30)
        ]
        create_entities(vault, CLAUDE, made)
        create_relations(vault, CURSOR, [{"from": "Ada", "to": "N1", "relationType": "knows"}])
        edit_observation(vault, CURSOR, "Ada", "Likes tea", "Likes green tea")
        vault.watch()
        yield vault


class Window:
    """One tab on the page, and everything that went wrong in it."""

    def __init__(self, browser: Any, visitor: Visitor, **more: object) -> None:
        self.context = browser.new_context(**more)
        self.context.set_default_timeout(WAIT)
        self.tab = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: set[str] = set()
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.tab.on("request", lambda request: self.asked.add(re.sub(r"(//[^/]*).*", r"\1", request.url)))
        self.origin = visitor.origin
        self.tab.goto(visitor.url)
        self.shown("timeline")

    def go(self, address: str) -> None:
        self.tab.goto("about:blank")
        self.tab.goto(f"{self.origin}/{address}")
        self.shown(re.sub(r"^#/(\w*).*", r"\1", address) or "timeline")

    def shown(self, view: str) -> None:
        self.tab.wait_for_selector(f"body[data-view={view}]")
        if view == "graph":
            self.tab.wait_for_selector("[data-drawn=done]")

    def has(self, text: str, within: str = "main") -> None:
        self.tab.locator(within).get_by_text(text).first.wait_for()


@pytest.fixture
def window(browser: Any, vault: Vault) -> Iterator[Window]:
    with paged(vault) as visitor:
        window = Window(browser, visitor)
        yield window
        window.context.close()
        missing = [said for said in window.wrong if "404" not in said]  # what a browser says of any refusal
        assert missing == []
        assert window.asked == {visitor.origin}


def test_a_change_is_undone_and_the_undo_is_undone_by_keyboard_alone(window: Window, vault: Vault) -> None:
    tab = window.tab
    before = git(vault.root, "rev-parse", "HEAD^{tree}")
    card = tab.locator("article.change").first
    assert "corrected a fact of" in card.inner_text()
    assert card.locator("ins").inner_text().strip() == "green"
    card.get_by_role("button", name="Undo").focus()
    tab.keyboard.press("Enter")
    card.get_by_role("button", name="Take it back").wait_for()
    tab.keyboard.press("Enter")
    tab.locator("article.change").first.get_by_text("took back").wait_for()
    assert authors(Path(vault.root))[0] == PERSON
    assert "Taken back" in tab.locator("#said").inner_text()
    card = tab.locator("article.change").first
    card.get_by_role("button", name="Undo").focus()
    tab.keyboard.press("Enter")
    card.get_by_role("button", name="Take it back").wait_for()
    tab.keyboard.press("Enter")
    wait_until(lambda: git(vault.root, "rev-parse", "HEAD^{tree}") == before, timeout=60)
    assert clean(Path(vault.root))


def test_an_undo_in_the_way_of_which_something_stands_offers_the_rest(window: Window, vault: Vault) -> None:
    add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["Swims", "Runs"]}])
    edit_observation(vault, CURSOR, "Ada", "Swims", "Swims daily")
    window.go("#/")
    card = window.tab.locator("article.change").nth(1)
    card.get_by_role("button", name="Undo").click()
    card.get_by_role("button", name="Take it back").click()
    card.get_by_text("Swims daily").wait_for()
    card.get_by_role("button", name="Undo the rest").click()
    window.has("took back")
    window.wrong.clear()  # the browser speaks of the 409 as of an error
    text = (Path(vault.root) / "entities/person/Ada.md").read_text(encoding="utf-8")
    assert "Swims daily" in text
    assert "Runs" not in text


def test_the_page_follows_the_vault(window: Window, vault: Vault) -> None:
    add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["Plays chess"]}])
    window.has("Plays chess")


def test_a_note_shows_who_said_what(window: Window) -> None:
    window.go("#/note?note=Ada")
    fact = window.tab.locator(".fact").first
    assert "Likes green tea" in fact.inner_text()
    assert {"claude-desktop", "edited by"} <= set(re.findall("claude-desktop|edited by", fact.inner_text()))
    fact.get_by_text("what it said before").click()
    assert fact.locator("ins").inner_text().strip() == "green"
    window.tab.locator("aside").get_by_role("link", name="Plan").click()
    window.tab.get_by_role("heading", level=1, name="Plan").wait_for()
    assert window.tab.locator(".missing").inner_text() == "Nobody yet"


def test_search_is_a_key_away(window: Window) -> None:
    window.tab.keyboard.press("/")
    window.tab.keyboard.type("green tea")
    window.tab.locator(".results").get_by_role("link", name="Ada").wait_for()
    assert window.tab.locator("mark").count() > 0
    window.tab.keyboard.press("Enter")
    window.tab.locator(".results").get_by_role("link", name="Ada").first.click()
    window.tab.get_by_role("heading", level=1, name="Ada").wait_for()


def test_the_slider_shows_the_whole_memory_as_of_a_day(window: Window) -> None:
    tab = window.tab
    tab.locator("#day").focus()
    tab.keyboard.press("Home")
    tab.get_by_role("heading", name="What had happened").wait_for()
    assert tab.locator("article.change").count() == 1
    assert "5 January 2026" in tab.locator("#day").get_attribute("aria-valuetext")
    tab.get_by_role("link", name="Graph").click()
    window.shown("graph")
    window.has("1 note,")
    window.go("#/note?note=Ada&at=2026-01-05")
    window.has("was not in the memory on that day")
    tab.get_by_role("button", name="Back to now").click()
    tab.get_by_role("heading", level=1, name="Ada").wait_for()


def test_the_graph_is_walked_by_keys(window: Window) -> None:
    window.go("#/graph")
    tab = window.tab
    tab.locator("canvas").focus()
    tab.keyboard.press("ArrowRight")
    picked = tab.locator(".picked")
    picked.wait_for()
    met = {picked.locator("h2").inner_text()}
    for key in ("ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight"):
        tab.keyboard.press(key)
        met.add(picked.locator("h2").inner_text())
    assert len(met) > 2
    tab.keyboard.press("Escape")
    picked.wait_for(state="hidden")
    tab.get_by_label("Find a note in the graph").fill("Ada")
    tab.keyboard.press("Enter")
    picked.get_by_role("link", name="Ada").wait_for()
    picked.get_by_role("button", name="N1").click()
    picked.get_by_role("link", name="N1").wait_for()
    tab.locator("canvas").focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", level=1, name="N1").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    browser: Any, vault: Vault, scheme: str, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 (not in every test run)

    with paged(vault) as visitor:
        window = Window(browser, visitor, color_scheme=scheme, viewport={"width": width, "height": 740})
        for view in VIEWS:
            window.go(view)
            if view == "#/":
                window.tab.get_by_role("button", name="Lines").first.click()
                window.tab.locator(".diff").wait_for()
                window.tab.get_by_role("button", name="Undo").first.click()
            if view == "#/graph":
                window.tab.locator("canvas").focus()
                window.tab.keyboard.press("ArrowRight")
            found = Axe().run(window.tab).response["violations"]
            assert [(view, one["id"], one["nodes"][0]["html"]) for one in found] == []
            wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            assert window.tab.evaluate(wide), view
        window.context.close()


def test_a_hostile_note_scripts_nothing(browser: Any, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    mallory = Caller("<b>mallory</b><script>window.hacked=1</script>")
    with opened(root) as vault:
        facts = [HOSTILE, "[a](javascript:window.hacked=1)", "[[x|<svg onload=window.hacked=1>]]"]
        create_entities(
            vault, mallory, [{"name": "Bad " + "x" * 90, "entityType": HOSTILE, "observations": facts}]
        )
        (root / "a<img src=x onerror=window.hacked=1>.md").write_text(
            f"# {HOSTILE}\n\n{HOSTILE}\n", encoding="utf-8"
        )
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", HOSTILE)
        with paged(vault) as visitor:
            window = Window(browser, visitor)
            window.has("window.hacked=1", ".timeline")
            window.tab.get_by_role("button", name="Lines").first.click()
            window.tab.locator(".diff").first.wait_for()
            for link in ("#/graph", "#/search?query=hacked", "#/note?note=Bad+" + "x" * 90):
                window.go(link)
            for note in window.tab.evaluate(
                "fetch('/api/graph').then(a => a.json()).then(g => g.nodes.map(n => n.note))"
            ):
                window.tab.evaluate(
                    "note => { location.hash = '#/note?' + new URLSearchParams({note}) }", note
                )
                window.tab.locator(".path").get_by_text(note, exact=True).wait_for()
            assert window.tab.evaluate("window.hacked") is None
            assert window.tab.locator("main img, main script, main svg").count() == 0
            window.tab.evaluate("try { document.body.innerHTML = '<b>' } catch { window.refused = 1 }")
            assert window.tab.evaluate("window.refused") == 1
            window.context.close()


# -- the apps, in a frame as a host makes one

FRAME = """(html) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width:100%;height:640px;border:0";
  window.calls = [];
  addEventListener("message", async (event) => {
    const said = event.data, tell = (message) => event.source.postMessage({jsonrpc: "2.0", ...message}, "*");
    if (said.method === "ui/initialize") {
      const hostContext = {theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"};
      const hostCapabilities = {serverTools: {}};
      tell({id: said.id, result: {protocolVersion: "2026-01-26", hostCapabilities, hostContext}});
    } else if (said.method === "ui/notifications/initialized") {
      window.show = (structuredContent) => tell({
        method: "ui/notifications/tool-result", params: {content: [], structuredContent},
      });
      done();
    } else if (said.method === "tools/call") {
      window.calls.push(said.params);
      tell({id: said.id, result: {content: [], structuredContent: window.answer}});
    }
  });
  frame.srcdoc = html;
  document.body.replaceChildren(frame);
})"""


def framed(browser: Any, name: str, **more: object) -> tuple[Any, Any]:
    tab = browser.new_context(**more).new_page()
    tab.set_default_timeout(WAIT)
    tab.wrong = []
    tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
    tab.evaluate(FRAME, app_html(name))
    return tab, tab.frame_locator("iframe")


def test_the_timeline_app_shows_a_result_and_asks_for_what_changed(browser: Any, vault: Vault) -> None:
    tab, app = framed(browser, "timeline", viewport={"width": 480, "height": 700})
    log: dict[str, Any] = history_log(vault, CLAUDE, limit=3)
    log["changes"][0]["subject"] += HOSTILE
    tab.evaluate("log => window.show(log)", log)
    card = app.locator("article.change").first
    card.get_by_text("window.hacked").wait_for()
    change = log["changes"][0]["change"]
    tab.evaluate("told => { window.answer = told }", history_show(vault, CLAUDE, change))
    card.get_by_role("button", name="What changed").click()
    assert card.locator("ins").first.inner_text().strip() == "green"
    assert tab.evaluate("window.calls") == [{"name": "history_show", "arguments": {"change": change}}]
    assert app.locator("article.change").count() == 3
    assert app.locator("img").count() == 0
    assert tab.wrong == []
    tab.context.close()


def test_the_graph_app_draws_a_result(browser: Any, vault: Vault) -> None:
    tab, app = framed(browser, "graph", color_scheme="dark", viewport={"width": 700, "height": 700})
    tab.evaluate("graph => window.show(graph)", read_graph(vault, CLAUDE))
    app.locator("canvas[data-drawn=done]").wait_for()
    app.get_by_text("31 entities, 1 relation").wait_for()
    app.locator("canvas").focus()
    tab.keyboard.press("ArrowRight")
    app.locator(".picked").get_by_role("heading", name="Ada").wait_for()
    app.locator(".picked").get_by_text("Likes green tea").wait_for()
    assert tab.wrong == []
    tab.context.close()
