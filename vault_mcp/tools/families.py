"""The whole catalog, put together from its families."""

from vault_mcp.tools.catalog import Catalog
from vault_mcp.tools.files import entries as files
from vault_mcp.tools.graph import entries as graph
from vault_mcp.tools.graph import prompts, reading, taxonomy
from vault_mcp.tools.history import entries as history
from vault_mcp.tools.keys import entries as keys
from vault_mcp.tools.memories import entries as memories
from vault_mcp.tools.tool import Resource

RESOURCES = (
    Resource(
        uri="memory://knowledge-graph",
        name="knowledge-graph",
        title="Knowledge graph",
        description="The first page of the knowledge graph, as read_graph gives it.",
        mime="application/json",
        run=reading.graph_text,
    ),
    Resource(
        uri="memory://taxonomy",
        name="taxonomy",
        title="Taxonomy",
        description="Entity types, relation types and tags of this memory, with counts.",
        mime="application/json",
        run=taxonomy.taxonomy_text,
    ),
)


def whole_catalog() -> Catalog:
    """Give every tool, resource and prompt."""
    tools = (*graph.TOOLS, *memories.TOOLS, *files.TOOLS, *keys.TOOLS, *history.TOOLS)
    return Catalog(tools, RESOURCES, prompts.PROMPTS)
