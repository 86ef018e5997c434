"""The whole catalog, put together from its families."""

from vault_mcp.tools.catalog import Catalog
from vault_mcp.tools.files import entries as files
from vault_mcp.tools.graph import entries as graph
from vault_mcp.tools.history import entries as history
from vault_mcp.tools.keys import entries as keys
from vault_mcp.tools.memories import entries as memories
from vault_mcp.tools.prompts import PROMPTS
from vault_mcp.tools.resources import RESOURCES, TEMPLATES, latest_notes


def whole_catalog() -> Catalog:
    """Give every tool, resource, template and prompt."""
    tools = (*graph.TOOLS, *memories.TOOLS, *files.TOOLS, *keys.TOOLS, *history.TOOLS)
    return Catalog(tools, RESOURCES, PROMPTS, TEMPLATES, latest_notes)
