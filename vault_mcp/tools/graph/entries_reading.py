"""The graph tools that read, and those about the whole memory, as a client sees them."""

from vault_mcp.tools import schema as s
from vault_mcp.tools.graph import reading, shapes, taxonomy
from vault_mcp.tools.graph.shapes import graph_tool
from vault_mcp.tools.tool import ADDS, READS, Hints

READ_GRAPH = graph_tool(
    "read_graph",
    "Read the knowledge graph",
    """Read the knowledge graph page by page: entities by name with their observations, and the relations
    that start from them, filtered by time or author where asked. Reads the index, changes nothing and
    makes no commit. Each page is bounded and says how much is left and how to go on with cursor. A bad
    date fails with what is wanted. To find something by words use search_nodes; for entities you can
    name, open_nodes.""",
    s.record(
        {
            "since": shapes.SINCE,
            "before": shapes.BEFORE,
            "agent": shapes.AGENT,
            "limit": s.integer("Entities a page; 100 unless set.", default=100, minimum=1, maximum=1000),
            "include_superseded": shapes.SUPERSEDED,
            "as_of": shapes.AS_OF,
            "cursor": shapes.CURSOR,
        }
    ),
    s.record(
        {
            "entities": s.array("", shapes.ENTITY),
            "relations": s.array("", shapes.RELATION),
            **shapes.PAGE,
        }
    ),
    READS,
    reading.read_graph,
)

SEARCH_NODES = graph_tool(
    "search_nodes",
    "Search the knowledge graph",
    """Search entities and notes for words in names, types, observations and text, best first. Any part of
    a word matches (fas finds fast), several words match in any order, "quoted words" match as a phrase,
    every script works, and no character is special. Returns the entities with all their facts, the
    relations that touch them, and the hits with score. Changes nothing. A blank query gives everything,
    page by page. For known names use open_nodes; for key-value entries, search_memory.""",
    s.record(
        {
            "query": s.text('Words, parts of words, or "quoted phrases".'),
            "since": shapes.SINCE,
            "before": shapes.BEFORE,
            "agent": shapes.AGENT,
            "limit": s.integer("Entities a page; 20 unless set.", default=20, minimum=1, maximum=200),
            "expand": s.boolean("Also give entities that are closely related to the hits.", default=False),
            "include_superseded": shapes.SUPERSEDED,
            "as_of": shapes.AS_OF,
            "cursor": shapes.CURSOR,
        }
    ),
    s.record(
        {
            "entities": s.array("", shapes.ENTITY),
            "relations": s.array("", shapes.RELATION),
            "hits": s.array("rank, score, entityName and observation of each hit.", s.record({})),
            **shapes.PAGE,
        }
    ),
    READS,
    reading.search_nodes,
    core=True,
)

OPEN_NODES = graph_tool(
    "open_nodes",
    "Open entities",
    """Open entities by exact name, with all their observations and every relation that touches them,
    whatever stands at the other end. A note that is no entity opens as type note, without observations.
    Unknown names are listed in missing. Reads the index, changes nothing. Each entity comes with the
    version that if_version takes. Names match exactly, in any Unicode form; when you do not know the
    name, use search_nodes.""",
    s.record(
        {
            "names": s.array("Exact names of the entities.", s.text()),
            "include_superseded": shapes.SUPERSEDED,
            "as_of": shapes.AS_OF,
            "cursor": shapes.CURSOR,
        }
    ),
    s.record(
        {
            "entities": s.array("", shapes.ENTITY),
            "relations": s.array("", shapes.RELATION),
            "missing": s.array("Names that were not found.", s.text(), optional=True),
            **shapes.PAGE,
        }
    ),
    READS,
    reading.open_nodes,
    core=True,
)

INITIALIZE_MEMORY = graph_tool(
    "initialize_memory",
    "Start or adopt a memory",
    """Start the graph afresh, or adopt this vault as the memory's home. fresh moves every entity to the
    archive folder in one Git commit, so the graph is empty and nothing is lost: the notes stay there,
    memory_recall still finds them, and the commit can be undone. adopt only records the vault as yours.
    Returns the status and, for fresh, where the entities went. Fails with nothing saved when a note
    cannot be moved. To remove single entities use delete_entities.""",
    s.record({"mode": s.choice("fresh archives all entities; adopt keeps everything.", ("fresh", "adopt"))}),
    s.record(
        {
            "status": s.text("fresh, adopted or unchanged."),
            "header": s.record({}, "Name, place and start of this memory."),
            "backup": s.text("Folder that the entities were moved to, or null.", nullable=True),
            "receipt": shapes.RECEIPT,
        }
    ),
    Hints(destructive=True),
    taxonomy.initialize_memory,
)

EXPORT_TAXONOMY = graph_tool(
    "export_taxonomy",
    "Export the taxonomy",
    """Write the taxonomy of the memory, its entity types, relation types and tags with their counts, as
    JSON to taxonomy.json in the vault, in one Git commit; when it says the same as before, nothing is
    committed. Returns the path and the counts. Use it to keep types consistent before create_entities.
    To read it without writing, read the resource memory://taxonomy. Fails with nothing saved when the
    file cannot be written.""",
    s.NOTHING,
    s.record(
        {
            "path": s.text("Path of the file in the vault."),
            "taxonomy_version": s.text(),
            "counts": s.record({}, "Entities, observations and relations."),
            "receipt": shapes.RECEIPT,
        }
    ),
    ADDS,
    taxonomy.export_taxonomy,
)
