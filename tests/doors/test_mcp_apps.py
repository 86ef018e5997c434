"""The timeline and the graph as MCP Apps: offered beside the tools they show, and whole in one document."""

import re
from pathlib import Path

import pytest
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID

from tests.serving import serve
from tests.vaults import make_vault
from vault_mcp.doors.mcp_apps import MIME, Apps, app_meta, app_resources, read_app
from vault_mcp.doors.page_files import APPS, app_html
from vault_mcp.tools.families import whole_catalog

TOOLS = {"history_log": "ui://vault/timeline.html", "read_graph": "ui://vault/graph.html"}


def test_the_apps_are_called_as_the_protocol_calls_them() -> None:
    assert (Apps.identifier, MIME) == (EXTENSION_ID, APP_MIME_TYPE)
    assert app_meta("create_entities") is None
    assert app_meta("history_log") == {
        "ui": {"resourceUri": TOOLS["history_log"]},
        "ui/resourceUri": TOOLS["history_log"],
    }


def test_a_server_offers_the_apps_of_its_tools(tmp_path: Path) -> None:
    with serve(make_vault(tmp_path / "v")) as server:
        capabilities = server.greet()["capabilities"]
        assert EXTENSION_ID in capabilities.get("extensions", {EXTENSION_ID: {}})
        shown = server.ask("tools/list")["result"]["tools"]
        assert {one["name"]: one["_meta"]["ui"]["resourceUri"] for one in shown if one.get("_meta")} == TOOLS
        listed = {one["uri"]: one["mimeType"] for one in server.ask("resources/list")["result"]["resources"]}
        for uri in TOOLS.values():
            assert listed[uri] == MIME
            (content,) = server.ask("resources/read", {"uri": uri})["result"]["contents"]
            assert (content["mimeType"], content["uri"]) == (MIME, uri)
            assert content["text"].startswith("<!doctype html>")


def test_the_app_of_a_tool_that_is_not_offered_is_not_either() -> None:
    whole = whole_catalog()
    assert [str(one.uri) for one in app_resources(whole)] == list(TOOLS.values())
    assert app_resources(whole.pick(["keys"])) == []
    assert read_app("ui://vault/other.html") is None


@pytest.mark.parametrize("name", APPS)
def test_an_app_is_one_document_that_asks_for_nothing(name: str) -> None:
    html = app_html(name)
    assert not re.search(r"^\s*(?:import|export)\s", html, re.MULTILINE)
    assert set(re.findall(r"https?://[^\s\"')]+", html)) <= {
        f"https://d3js.org/d3-{part}/" for part in ("dispatch", "quadtree", "timer", "force")
    }
    assert not re.search(r"\s(?:src|href)=\"", html)
    assert html.count("<script") == html.count("</script>")
    own = html.partition('<script type="module">')[2]
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", own, re.MULTILINE)
    assert len(names) == len(set(names)), "two files that are put together share a name"
