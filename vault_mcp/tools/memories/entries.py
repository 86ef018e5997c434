"""The memory tools as a client sees them."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.memories import claims, consolidating, listing, recalling, walking, web, writing
from vault_mcp.tools.shapes import AS_OF, CURSOR, IF_VERSION, PAGE, RECEIPT, WARNINGS
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


MEMORY_ID = s.integer("Number of the memory.", minimum=0)
END = "A memory's number, entity's exact name, or note's path."
TYPE = "semantic: lasting knowledge; episodic: what happened; procedural: how to."
TAGS = s.text()

MEMORY_REMEMBER = memory_tool(
    "memory_remember",
    "Remember a text",
    """Store a text as a new memory, one note with a number, session, importance and tags. The text is
    kept to the letter and stamped with your name and the time, in one Git commit; recall by meaning
    follows within moments. session_id keeps a conversation together, importance weighs in the order of
    recall. A blank text fails, nothing saved. For facts about a person or thing use add_observations;
    for a value under a key, write_memory; to change a memory, memory_update.""",
    s.record(
        {
            "text": s.text("What to remember, in words that stand alone later."),
            "session_id": s.text("The conversation or task this belongs to, in any words."),
            "tags": s.array("Tags to find it by, without #.", TAGS, default=()),
            "memory_type": s.choice(TYPE, writing.TYPES, default="episodic"),
            "importance": s.integer("1 (trivial) to 10 (vital).", default=5, minimum=1, maximum=10),
        }
    ),
    s.record(
        {
            "status": s.text(),
            "memory_id": s.integer(),
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
    """Recall what the memory holds on a question, by words and by meaning, best first: memories, facts of
    entities, notes and keys. Names and dates in the question count. Filters apply before ranking; session,
    type and importance leave memories only. Each result says why it was found; notice says when meaning is
    not ready yet. A bad date or cursor fails with what is wanted. For parts of words use search_nodes; for
    known entities, open_nodes.""",
    s.record(
        {
            "query": s.text("A question or words, in any language."),
            "session_id": s.text("Only memories of this session.", default=""),
            "memory_type": s.choice("Only memories of this type.", writing.TYPES, optional=True),
            "min_importance": s.integer(
                "Only memories at least this important.", optional=True, minimum=1, maximum=10
            ),
            "limit": s.integer("Results a page.", default=5, minimum=1, maximum=100),
            "family": s.choice(
                "Where to look; files are plain notes, graph the entities.",
                ("all", "memories", "graph", "keys", "files"),
                default="all",
            ),
            "since": s.text("Only what was written since then (ISO 8601; local without offset).", default=""),
            "before": s.text("Only what was written before then.", default=""),
            "sort": s.choice(
                "What comes first.",
                ("relevance", "recent", "importance"),
                default="relevance",
            ),
            "as_of": AS_OF,
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "total_found": s.integer("Notes found, after the filters."),
            "results": s.array(
                "id (of memories), note, family, text, score, why, by, stored_at.",
                s.record({}),
            ),
            **PAGE,
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
    """Replace the text of one memory in place, in one Git commit. Its number, links and history stay. What
    you leave out of tags, type and importance stays; another session_id moves the memory to that session.
    Fails, nothing saved, when the memory is not there, the text is blank, or if_version is not current.
    For a new memory use memory_remember; for a fact of an entity, edit_observation; to remove one,
    memory_forget.""",
    s.record(
        {
            "memory_id": MEMORY_ID,
            "new_text": s.text("The whole new text."),
            "session_id": s.text("The memory's session; another one moves it there."),
            "tags": s.array("Tags in place of the old.", TAGS, optional=True),
            "memory_type": s.choice("Another type.", writing.TYPES, optional=True),
            "importance": s.integer("Another importance, 1 to 10.", optional=True, minimum=1, maximum=10),
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
            "changed": s.array("", s.text()),
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
    """Delete one memory by its number, in one Git commit. It leaves the vault and every search; history
    keeps it, and the answer names the commit for history_undo. Links to it stay. A number that is not
    there is no error: success is false, nothing saved. Takes memories only: for entities use
    delete_entities, for files memory_delete, for keys delete_memory; to correct a memory,
    memory_update.""",
    s.record({"memory_id": MEMORY_ID, "if_version": IF_VERSION}),
    s.record(
        {"success": s.boolean(), "memory_id": s.integer(), "message": s.text(), "receipt": RECEIPT},
    ),
    Hints(destructive=True, idempotent=True),
    writing.memory_forget,
)

MEMORY_LIST_SESSIONS = memory_tool(
    "memory_list_sessions",
    "List sessions",
    """List every session that has memories, the one with the newest first: how many memories it has,
    exactly, the beginning of the newest, and when that was stored. Use it to find the session_id that
    memory_recall and history_log take. A page holds limit sessions and gives the cursor of the next; a
    cursor from elsewhere fails. For what a session holds use memory_recall; for what it changed,
    history_log; for keys, list_memory_keys.""",
    s.record(
        {
            "limit": s.integer("Sessions a page.", default=100, minimum=1, maximum=1000),
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "collection": s.text(),
            "session_count": s.integer(""),
            "sessions": s.array("session_id, observed_count, sample, last_stored.", s.record({})),
            **PAGE,
        }
    ),
    READS,
    listing.memory_list_sessions,
)

MEMORY_EXPLORE_HIERARCHY = memory_tool(
    "memory_explore_hierarchy",
    "Explore links up or down",
    """Walk the links and relations from one memory, entity or note. up gives all that points to it,
    nearest first with its distance; down gives what it points to, as a tree three steps deep. A circle
    ends where it closes; what is beyond limit is counted, not shown. Fails when nothing has that
    number, name or path. To find notes by words use search_nodes; for one entity's own relations,
    open_nodes; to add a link, memory_link.""",
    s.record(
        {
            "concept_id": s.identifier(END),
            "direction": s.choice("up to what points here, down to what this points to.", ("up", "down")),
            "limit": s.integer("Most notes to meet.", default=32, minimum=1, maximum=500),
        }
    ),
    s.record(
        {
            "concept": s.record({}, "Where it starts; down: with children."),
            "direction": s.text(),
            "parents": s.array("", s.record({}), optional=True),
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
    """Gather the memories that best answer a topic into one new summary memory that links to each, in one
    Git commit. Use it when many say much the same, first with persist=false, to see which would be taken.
    Without summary_text it lists their first sentences. archive_sources moves them to the archive: they
    keep their numbers and rank last; history_undo takes it all back. With none, or a blank topic, nothing
    is saved. To join entities use merge_entities.""",
    s.record(
        {
            "topic_query": s.text("What they are about, as for memory_recall."),
            "limit": s.integer("Most memories to gather.", default=10, minimum=1, maximum=100),
            "summary_text": s.text("The summary, in your words.", default=""),
            "persist": s.boolean("Write the summary; false only shows.", default=True),
            "archive_sources": s.boolean("Move the gathered memories to the archive.", default=False),
        }
    ),
    s.record(
        {
            "status": s.text("consolidated, shown, nothing_found."),
            "topic": s.text(),
            "consolidated_id": s.integer(nullable=True),
            "summary": s.text(),
            "source_count": s.integer(),
            "source_ids": s.array("", s.integer()),
            "persisted": s.boolean(),
            "archived_sources": s.boolean(),
            "consolidated_dimension": s.integer(""),
            "frechet_mean_preview": s.array("", s.number()),
            "message": s.text(optional=True),
            "warnings": s.array("", s.record({}), optional=True),
            "receipt": s.record({}, optional=True),
        }
    ),
    Hints(destructive=True),
    consolidating.memory_consolidate,
)

MEMORY_VERIFY_CLAIM = memory_tool(
    "memory_verify_claim",
    "Verify a claim",
    """Score how alike a premise and a conclusion from it are, and cite what the memory holds for and
    against the premise. Use it before you store a conclusion from a remembered fact. The verdict compares
    the two texts alone, by words and meaning (words only while vectors are off): VERIFIED when trust_score
    is above threshold; else, or where one denies the other, REJECTED. What is cited does not count: read
    it. To look up a statement use memory_recall.""",
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
            "supporting": s.array("", s.record({})),
            "contradicting": s.array("", s.record({})),
        }
    ),
    READS,
    claims.memory_verify_claim,
)

MEMORY_STATS = memory_tool(
    "memory_stats",
    "Count what the memory holds",
    """Count what the memory holds: memories in use and archived, sessions, entities, files, and the
    passages that have vectors or wait for them. Use it when memory_recall misses something: vectors.state
    says whether recall by meaning is complete, still being prepared (ask again later) or off (only words
    count). To list sessions use memory_list_sessions; for types and tags, read the resource
    memory://taxonomy.""",
    s.NOTHING,
    s.record(
        {
            "collection": s.text(),
            "host": s.text(),
            "status": s.text(),
            "approx_vector_count": s.integer(),
            "vectors": s.record({}, "state and counts."),
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
    "weight": s.number("Strength; other than 1 it is written into the line.", default=1.0, minimum=0.0),
}

MEMORY_LINK = memory_tool(
    "memory_link",
    "Link two notes",
    """Link one memory, entity or note to another by a typed relation, OWNS unless named: one stamped
    wikilink line in the first, in one Git commit. The same again changes nothing; another weight is
    another link. Fails, nothing saved, when an end is not there or the relation is blank. Use it where an
    end is known by number or path; between names, create_relations; for many, memory_link_batch; to take
    one out, delete_relations.""",
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
    """Link many memories, entities or notes by typed relations in one Git commit, each one stamped
    wikilink line in the note it starts from. With atomic, one missing end or blank relation fails the
    batch, nothing saved; without it such edges are skipped and listed. Links already there change
    nothing. For a single link use memory_link; between entities, create_relations; to walk what was
    linked, memory_explore_hierarchy.""",
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
            "edges": s.array("", s.record({})),
            "skipped": s.array("", s.record({})),
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
