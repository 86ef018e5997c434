"""The fifteen graph tools, in the order a client sees them."""

from vault_mcp.tools.graph import entries_reading as reading
from vault_mcp.tools.graph import entries_writing as writing

TOOLS = (
    writing.CREATE_ENTITIES,
    writing.CREATE_RELATIONS,
    writing.ADD_OBSERVATIONS,
    writing.EDIT_OBSERVATION,
    writing.SUPERSEDE_OBSERVATION,
    writing.RENAME_ENTITY,
    writing.MERGE_ENTITIES,
    writing.DELETE_ENTITIES,
    writing.DELETE_OBSERVATIONS,
    writing.DELETE_RELATIONS,
    reading.READ_GRAPH,
    reading.SEARCH_NODES,
    reading.OPEN_NODES,
    reading.INITIALIZE_MEMORY,
    reading.EXPORT_TAXONOMY,
)
