"""MCP Apps: the timeline and the graph as pages that a host may show beside a tool's result.

They add nothing that the result does not say: a client that knows no apps misses nothing.
"""

from mcp.server.extension import Extension
from mcp_types import Resource as ShownResource

from vault_mcp.doors.page_files import app_html
from vault_mcp.tools.catalog import Catalog

MIME = "text/html;profile=mcp-app"
PREFIX = "ui://vault/"

_APPS = {
    "history_log": ("timeline", "Timeline", "The changes that history_log found, each to be opened."),
    "read_graph": ("graph", "Graph", "The entities and relations that read_graph found, drawn."),
}
"""By the tool whose results each shows: its name, title and description."""


class Apps(Extension):
    """Says to clients that some tools have an app; the SDK's own class would take a start longer to load."""

    identifier = "io.modelcontextprotocol/ui"


def app_meta(tool: str) -> dict[str, object] | None:
    """Give the `_meta` of a tool that has an app; the flat key is what older hosts look for."""
    if tool not in _APPS:
        return None
    uri = f"{PREFIX}{_APPS[tool][0]}.html"
    return {"ui": {"resourceUri": uri}, "ui/resourceUri": uri}


def app_resources(catalog: Catalog) -> list[ShownResource]:
    """Give the apps of the tools that are offered."""
    return [
        ShownResource(
            uri=f"{PREFIX}{name}.html", name=f"{name}-app", title=title, description=text, mime_type=MIME
        )
        for tool, (name, title, text) in _APPS.items()
        if catalog.tool(tool) is not None
    ]


def read_app(uri: str) -> str | None:
    """Give the document of an app; None where the address is none."""
    for name, *_ in _APPS.values():
        if uri == f"{PREFIX}{name}.html":
            return app_html(name)
    return None
