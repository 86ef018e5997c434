"""The memory tools as a client sees them."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.graph.shapes import CURSOR, IF_VERSION, RECEIPT, WARNINGS
from vault_mcp.tools.memories import claims, consolidating, listing, recalling, walking, web, writing
from vault_mcp.tools.tool import ADDS, READS, Hints, Result, Tool


def memory_tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    result: s.Record,
    hints: Hints,
    run: Callable[..., Result],
    core: bool = False,
) -> Tool:
    """Give one entry of the family; the description's line breaks are only the source's."""
    return Tool(
        name=name,
        title=title,
        family="memories",
        description=" ".join(description.split()),
        inputs=inputs,
        result=result,
        hints=hints,
        run=run,
        in_core=core,
    )


MEMORY_ID = s.integer("Number of the memory, as memory_remember and memory_recall give it.", minimum=0)
END = "A memory's number, an entity's exact name, or a note's path."
TYPE = "semantic for lasting knowledge, episodic for what happened, procedural for how to do things."
TAGS = s.text()

MEMORY_REMEMBER = memory_tool(
    "memory_remember",
    "Remember a text",
    """Store a text as a new memory: one Markdown note with a number, session, importance and tags. The
    text is kept exactly, stamped with your name and the time, and the call is one Git commit; its
    vector is made afterwards in the background. Fails with nothing saved when the text is blank or
    importance is not 1 to 10. To change a memory use memory_update; for facts about a person or thing,
    add_observations; for a value under a key, write_memory.""",
    s.record(
        {
            "text": s.text("What to remember, in words that stand alone later."),
            "session_id": s.text(
                "The conversation or task this belongs to; any text, the same for all of it."
            ),
            "tags": s.array("Tags to find it by, without #.", TAGS, default=()),
            "memory_type": s.choice(TYPE, writing.TYPES, default="episodic"),
            "importance": s.integer("1 (trivial) to 10 (vital).", default=5, minimum=1, maximum=10),
        }
    ),
    s.record(
        {
            "status": s.text(),
            "memory_id": s.integer(),
            "collection": s.text(),
            "memory_type": s.text(),
            "importance": s.integer(),
            "session_id": s.text(),
            "note": s.text(),
            "message": s.text(),
            "warnings": WARNINGS,
            "receipt": RECEIPT,
        }
    ),
    Hints(),
    writing.memory_remember,
    core=True,
)

MEMORY_RECALL = memory_tool(
    "memory_recall",
    "Recall by words and meaning",
    """Recall what the memory holds on a question, by its words and by its meaning, best first: memories,
    facts of entities, notes and key values. Names and dates in the question count; filters apply before
    ranking. Each result gives the passage, its note, score, why it matched, who wrote it and when; a
    memory carries its id. Changes nothing. A bad date or cursor fails with what is wanted. For exact
    parts of words use search_nodes; for known entities, open_nodes.""",
    s.record(
        {
            "query": s.text("A question or words, in any language."),
            "session_id": s.text("Only memories of this session.", default=""),
            "memory_type": s.choice("Only memories of this type.", writing.TYPES, optional=True),
            "min_importance": s.integer(
                "Only memories of at least this importance.", optional=True, minimum=1, maximum=10
            ),
            "limit": s.integer("How many results a page.", default=5, minimum=1, maximum=100),
            "family": s.choice(
                "Where to look: all notes, memories, graph (entities), keys, or files (plain notes).",
                ("all", "memories", "graph", "keys", "files"),
                default="all",
            ),
            "since": s.text("Only what was written at or after this date or time (ISO 8601).", default=""),
            "before": s.text("Only what was written before this date or time (ISO 8601).", default=""),
            "sort": s.choice(
                "Order of what was found: best, newest or most important first.",
                ("relevance", "recent", "importance"),
                default="relevance",
            ),
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "query": s.text(),
            "session_id": s.text(),
            "memory_type": s.text(),
            "total_found": s.integer("Notes that words or meaning found, after the filters."),
            "results": s.array(
                "id (memories only), note, family, text, score, why, by, stored_at, and more.",
                s.record({}),
            ),
            "next_cursor": s.text(optional=True),
            "left_out": s.text(optional=True),
            "notice": s.text(optional=True),
        }
    ),
    READS,
    recalling.memory_recall,
    core=True,
)

MEMORY_UPDATE = memory_tool(
    "memory_update",
    "Update a memory",
    """Replace a memory's text in place, in one Git commit. Its number, links and history stay, so
    old_memory_id and new_memory_id are the same; its vector is made anew. Tags, importance and
    memory_type that you leave out stay as they are. Another session_id moves the memory to that
    session, and the result says so. Fails with nothing saved when the memory does not exist, the text
    is blank, or if_version is not current. To add a memory use memory_remember; to remove one,
    memory_forget.""",
    s.record(
        {
            "memory_id": MEMORY_ID,
            "new_text": s.text("The whole new text."),
            "session_id": s.text("The memory's session; another one moves it there."),
            "tags": s.array("New tags in place of the old; leave out to keep them.", TAGS, optional=True),
            "memory_type": s.choice("New type; leave out to keep it.", writing.TYPES, optional=True),
            "importance": s.integer(
                "New importance, 1 to 10; leave out to keep it.", optional=True, minimum=1, maximum=10
            ),
            "if_version": IF_VERSION,
        }
    ),
    s.record(
        {
            "status": s.text(),
            "old_memory_id": s.integer(),
            "new_memory_id": s.integer(),
            "memory_type": s.text(),
            "importance": s.integer(nullable=True),
            "session_id": s.text(),
            "changed": s.array("What is different now.", s.text()),
            "note": s.text(),
            "message": s.text(),
            "warnings": WARNINGS,
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True, idempotent=True),
    writing.memory_update,
)

MEMORY_FORGET = memory_tool(
    "memory_forget",
    "Forget a memory",
    """Delete one memory by its number, in one Git commit. The note leaves the vault and every search; Git
    history keeps it, and the answer names the commit to take back. Links to it in other notes stay as
    they are. An unknown number is no error: success is false and nothing is saved. Takes memories only:
    for entities use delete_entities, for files memory_delete, for keys delete_memory. To keep a memory
    but correct it, use memory_update.""",
    s.record({"memory_id": MEMORY_ID}),
    s.record(
        {"success": s.boolean(), "memory_id": s.integer(), "message": s.text(), "receipt": RECEIPT},
    ),
    Hints(destructive=True, idempotent=True),
    writing.memory_forget,
)

MEMORY_LIST_SESSIONS = memory_tool(
    "memory_list_sessions",
    "List sessions",
    """List every session that has memories, the one with the newest memory first, with how many memories
    each has, the beginning of its newest one, and when that was stored. Counts are exact. Reads the
    index, changes nothing; pages are bounded and say how to go on with cursor. A bad cursor fails with
    what is wanted. To read what a session holds, use memory_recall with its session_id; for keys,
    list_memory_keys.""",
    s.record(
        {
            "limit": s.integer("Sessions a page.", default=100, minimum=1, maximum=1000),
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "collection": s.text(),
            "session_count": s.integer("All sessions."),
            "sessions": s.array("session_id, observed_count, sample, last_stored.", s.record({})),
            "next_cursor": s.text(optional=True),
            "left_out": s.text(optional=True),
        }
    ),
    READS,
    listing.memory_list_sessions,
)

MEMORY_EXPLORE_HIERARCHY = memory_tool(
    "memory_explore_hierarchy",
    "Explore links up or down",
    """Walk the links and relations from one memory, entity or note: up gives everything that points to it,
    step by step with its distance; down gives what it points to, as a tree three steps deep. Circles
    end where they close, and no more than limit notes are met; what was left out is counted. Changes
    nothing. Fails when nothing has that number, name or path. To add a link use memory_link; to see one
    entity's relations, open_nodes.""",
    s.record(
        {
            "concept_id": s.identifier(END),
            "direction": s.choice("up: what points here. down: what this points to.", ("up", "down")),
            "limit": s.integer("Most notes to meet.", default=32, minimum=1, maximum=500),
        }
    ),
    s.record(
        {
            "concept": s.record({}, "Where the walk starts; downwards with its children."),
            "direction": s.text(),
            "parents": s.array("What points here, nearest first.", s.record({}), optional=True),
            "count": s.integer(),
            "left_out": s.text(optional=True),
        }
    ),
    READS,
    walking.memory_explore_hierarchy,
)

MEMORY_CONSOLIDATE = memory_tool(
    "memory_consolidate",
    "Consolidate memories",
    """Gather the memories on a topic into one summary memory that links to each of them, in one Git
    commit. Give summary_text; without it the sources' own first sentences are listed. archive_sources
    moves the sources to the archive folder in the same commit: they keep their numbers, can be found,
    and rank last. persist=false only shows what would be gathered. Nothing on the topic is an answer,
    nothing saved. To join entities use merge_entities; to change one memory, memory_update.""",
    s.record(
        {
            "topic_query": s.text("What the memories are about, as for memory_recall."),
            "limit": s.integer("Most memories to gather.", default=10, minimum=1, maximum=100),
            "summary_text": s.text("The summary, in your words.", default=""),
            "persist": s.boolean("Write the summary; false only shows.", default=True),
            "archive_sources": s.boolean("Move the gathered memories to the archive.", default=False),
        }
    ),
    s.record(
        {
            "status": s.text("consolidated, shown, or nothing_found."),
            "topic": s.text(),
            "consolidated_id": s.integer(nullable=True),
            "summary": s.text(),
            "source_count": s.integer(),
            "source_ids": s.array("", s.integer()),
            "persisted": s.boolean(),
            "archived_sources": s.boolean(),
            "consolidated_dimension": s.integer("Numbers of a vector; 0 without."),
            "frechet_mean_preview": s.array("The first of the sources' mean vector.", s.number()),
            "message": s.text(optional=True),
            "receipt": s.record({}, "What was committed, where something was.", optional=True),
        }
    ),
    Hints(destructive=True),
    consolidating.memory_consolidate,
)

MEMORY_VERIFY_CLAIM = memory_tool(
    "memory_verify_claim",
    "Verify a claim",
    """Check a conclusion against a premise, and the premise against what the memory holds. Scores how near
    the two texts are in words and meaning (VERIFIED above threshold, else, or when one text denies the
    other, REJECTED), says why, and cites the stored passages nearest to the premise, split into those
    that support it and those that seem to contradict it. Changes nothing. A likeness, not a proof: read
    what is cited. Blank texts fail. To look something up use memory_recall.""",
    s.record(
        {
            "premise": s.text("What is taken as given."),
            "conclusion": s.text("What is claimed to follow."),
            "threshold": s.number(
                "trust_score that a claim must exceed.", default=0.36, minimum=0.0, maximum=1.0
            ),
        }
    ),
    s.record(
        {
            "status": s.text("VERIFIED or REJECTED."),
            "trust_score": s.number(),
            "threshold": s.number(),
            "lorentz_distance": s.number(nullable=True),
            "cosine_distance": s.number(nullable=True),
            "total_distance": s.number(),
            "reason": s.text(),
            "vector_dimension": s.integer(),
            "supporting": s.array("Stored passages that agree.", s.record({})),
            "contradicting": s.array("Stored passages that seem to disagree.", s.record({})),
        }
    ),
    READS,
    claims.memory_verify_claim,
)

MEMORY_STATS = memory_tool(
    "memory_stats",
    "Count what the memory holds",
    """Count what the memory holds: memories in use and archived, sessions, entities, files, and how many
    passages have vectors or wait for them, with the model that makes them. Says whether recall by
    meaning is complete, still being prepared, or off. Reads the index, changes nothing, needs no
    arguments. To list sessions use memory_list_sessions; for types and tags with counts, read the
    resource memory://taxonomy.""",
    s.NOTHING,
    s.record(
        {
            "collection": s.text(),
            "host": s.text(),
            "status": s.text(),
            "approx_vector_count": s.integer(),
            "schema": s.record({}),
        }
    ),
    READS,
    listing.memory_stats,
)

EDGE = {
    "source_id": s.identifier(END),
    "target_id": s.identifier(END),
    "relation": s.text("What the first is to the second.", default="OWNS"),
    "weight": s.number("Strength; other than 1 it is written behind the relation.", default=1.0, minimum=0.0),
}

MEMORY_LINK = memory_tool(
    "memory_link",
    "Link two notes",
    """Link one memory, entity or note to another by a typed relation: one wikilink line in the first note,
    shown in Obsidian's graph and backlinks, stamped with your name and the time, in one Git commit. The
    same link again changes nothing. Fails with nothing saved when either end does not exist or the
    relation is blank. For many links at once use memory_link_batch; between entities by name,
    create_relations does the same.""",
    s.record(EDGE),
    s.record(
        {
            "status": s.text("linked or present."),
            "relation": s.text(),
            "from": s.text(optional=True),
            "to": s.text(optional=True),
            "receipt": RECEIPT,
        }
    ),
    ADDS,
    web.memory_link,
)

MEMORY_LINK_BATCH = memory_tool(
    "memory_link_batch",
    "Link many notes",
    """Link many memories, entities or notes by typed relations, all in one Git commit, each as one stamped
    wikilink line in the note it starts from. With atomic (the default) one missing end fails the whole
    batch, nothing saved; without it such edges are skipped and listed with what is missing. Links that
    are there already change nothing. For a single link use memory_link; to walk what was linked,
    memory_explore_hierarchy.""",
    s.record(
        {
            "edges": s.array("The links to make.", s.record(EDGE), min_items=1),
            "atomic": s.boolean("All or none.", default=True),
        }
    ),
    s.record(
        {
            "status": s.text(),
            "linked": s.integer(),
            "edges": s.array("Each edge with its status.", s.record({})),
            "skipped": s.array("Edges with a missing end.", s.record({})),
            "receipt": RECEIPT,
        }
    ),
    ADDS,
    web.memory_link_batch,
)

TOOLS = (
    MEMORY_REMEMBER,
    MEMORY_RECALL,
    MEMORY_UPDATE,
    MEMORY_FORGET,
    MEMORY_LIST_SESSIONS,
    MEMORY_EXPLORE_HIERARCHY,
    MEMORY_CONSOLIDATE,
    MEMORY_VERIFY_CLAIM,
    MEMORY_STATS,
    MEMORY_LINK,
    MEMORY_LINK_BATCH,
)
