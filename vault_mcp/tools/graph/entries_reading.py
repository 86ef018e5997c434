"""The graph tools that read, and those about the whole memory, as a client sees them."""

from vault_mcp.tools import schema as s
from vault_mcp.tools.graph import reading, shapes, taxonomy
from vault_mcp.tools.graph.shapes import graph_tool
from vault_mcp.tools.shapes import AS_OF, CURSOR, PAGE, RECEIPT
from vault_mcp.tools.tool import READS, Hints

READ_GRAPH = graph_tool(
    "read_graph",
    "Read the knowledge graph",
    """Read the knowledge graph page by page: entities in the order of their names, with their facts and
    the relations that start from them. since, before and agent keep the facts that match, and their
    entities. Use it to see all, or what was said in a span. A page is bounded and says how to go on; a bad
    date or cursor fails with what is wrong. By words use search_nodes; by name, open_nodes; by meaning,
    memory_recall; for what a span changed, history_diff.""",
    s.record(
        {
            "since": shapes.SINCE,
            "before": shapes.BEFORE,
            "agent": shapes.AGENT,
            "limit": s.integer("Entities a page.", default=100, minimum=1, maximum=1000),
            "include_superseded": shapes.SUPERSEDED,
            "as_of": AS_OF,
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "entities": shapes.OPENED,
            "relations": shapes.RELATIONS,
            **shapes.TOTAL,
            **PAGE,
        }
    ),
    READS,
    reading.read_graph,
)

SEARCH_NODES = graph_tool(
    "search_nodes",
    "Search the knowledge graph",
    """Search entities and notes for words in their names, types, facts and text, best first. Any part
    of a word matches (fas finds fast), in any order and script; "quoted words" are a phrase; a blank
    query gives everything. Gives the entities with their facts and relations, and the hits; a bad date
    or cursor fails. For a question, by meaning, use memory_recall; for known names, open_nodes; for
    keys, search_memory.""",
    s.record(
        {
            "query": s.text('Words, parts of words, or "quoted phrases".'),
            "since": shapes.SINCE,
            "before": shapes.BEFORE,
            "agent": shapes.AGENT,
            "limit": s.integer("Entities a page.", default=20, minimum=1, maximum=200),
            "expand": s.boolean("Also give entities that are closely related to the hits.", default=False),
            "include_superseded": shapes.SUPERSEDED,
            "as_of": AS_OF,
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "entities": shapes.OPENED,
            "relations": shapes.RELATIONS,
            "hits": s.array("rank, score, entityName, observation.", s.record({})),
            **shapes.TOTAL,
            **PAGE,
        }
    ),
    READS,
    reading.search_nodes,
    core=True,
)

OPEN_NODES = graph_tool(
    "open_nodes",
    "Open entities",
    """Open entities by exact name: all their facts, every relation that touches them, and the version that
    if_version takes elsewhere. Use it before you change an entity. A note that is no entity opens as type
    note, without facts. Names that are not there are listed in missing; a long answer is cut and says how
    to go on. When you do not know the exact name use search_nodes; for a note's whole text,
    memory_view.""",
    s.record(
        {
            "names": s.array("Exact names of the entities.", s.text()),
            "include_superseded": shapes.SUPERSEDED,
            "as_of": AS_OF,
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "entities": shapes.OPENED,
            "relations": shapes.RELATIONS,
            "missing": s.array("", s.text(), optional=True),
            **shapes.TOTAL,
            **PAGE,
        }
    ),
    READS,
    reading.open_nodes,
    core=True,
)

INITIALIZE_MEMORY = graph_tool(
    "initialize_memory",
    "Start or adopt a memory",
    """Archive all entities to start with an empty graph (fresh), or only report whose vault this is and
    change nothing (adopt, for clients that set up a memory first; no other tool needs it). Use fresh only
    when a person asks: it moves every entity to the archive folder in one Git commit; other notes stay,
    memory_recall still finds the archived, and history_undo takes it back. Fails, nothing saved, when a
    note cannot be moved. To remove single entities use delete_entities.""",
    s.record({"mode": s.choice("fresh archives all entities; adopt keeps everything.", ("fresh", "adopt"))}),
    s.record(
        {
            "status": s.text("fresh, adopted or unchanged."),
            "header": s.record({}, ""),
            "backup": s.text("Where the entities went.", nullable=True),
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True),
    taxonomy.initialize_memory,
)

EXPORT_TAXONOMY = graph_tool(
    "export_taxonomy",
    "Export the taxonomy",
    """Write the entity types, relation types and tags in use, with their counts, to taxonomy.json in the
    vault, in one Git commit; the file that was there is replaced, and history keeps it. Use it when the
    list shall lie in the vault as a file. When nothing is different, nothing is committed. Fails, nothing
    saved, when the file cannot be written. To know the types before create_entities, read the resource
    memory://taxonomy.""",
    s.NOTHING,
    s.record(
        {
            "path": s.text(""),
            "taxonomy_version": s.text(),
            "counts": s.record({}, ""),
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True, idempotent=True),  # the file that was there is replaced
    taxonomy.export_taxonomy,
)
