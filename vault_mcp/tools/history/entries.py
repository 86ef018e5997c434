"""The history tools as a client sees them."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.history import blame, looking, reading, restoring, since
from vault_mcp.tools.tool import READS, Hints, Result, Tool


def history_tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    result: s.Record,
    hints: Hints,
    run: Callable[..., Result],
) -> Tool:
    """Give one entry of the history family; the description's line breaks are only the source's."""
    return Tool(
        name=name,
        title=title,
        family="history",
        description=" ".join(description.split()),
        inputs=inputs,
        result=result,
        hints=hints,
        run=run,
    )


MOMENT = (
    'a time (2026-10-05T09:12:33Z; no offset means local time), so long ago ("2 weeks ago"), '
    "or 7 or more hex digits of a change"
)
NOTE = "an exact name of an entity or note, the number of a memory, a key, or a path"
CURSOR = s.text("next_cursor of the page before; leave out for the first page.", default="")
CHANGES = s.array("change, at, by, tool, by_hand, subject and paths of each.", s.record({}))
PAGE = {
    "next_cursor": s.text("Pass it as cursor for the next page; absent on the last.", optional=True),
    "left_out": s.text("What this answer leaves out, in words.", optional=True),
}
DIFFERENCE = {
    "added": s.array("Facts that came: note, kind, text.", s.record({})),
    "edited": s.array("Facts in other words: note, kind, old, new.", s.record({})),
    "removed": s.array("Facts that went: note, kind, text.", s.record({})),
    "files": s.array("Files made, deleted, or changed beside facts: note, what.", s.record({})),
    "diff": s.text("The lines, as Git's unified diff.", optional=True),
    "left_out": s.text("What this answer leaves out, in words.", optional=True),
}
RECEIPT = s.record(
    {
        "commit": s.text("The commit that holds the change; null when nothing changed.", nullable=True),
        "replaced": s.array(
            "Words this change replaced: text, by, at, kind (person, agent, self).", s.record({})
        ),
    },
    "What was committed: commit, edited_by, edited_at, added, changed, removed, replaced.",
)

HISTORY_LOG = history_tool(
    "history_log",
    "List changes",
    """List the changes of the whole memory, or of one note or folder through all its names and places, the
    newest first: who, when, with which tool, what, and which files. Filters by author, tool, session, time
    and text narrow it. Changes nothing. A bad moment or a name that never was fails with what is wanted.
    For the facts and the diff of one change use history_show; for who wrote each line of a note,
    history_blame; for what is new to you, history_since.""",
    s.record(
        {
            "note": s.text(f"Only changes of this: {NOTE}; a folder's path takes all in it.", default=""),
            "agent": s.text("Only changes by this agent or person, by exact name.", default=""),
            "tool": s.text("Only changes by this tool; hand-edit for a person's own.", default=""),
            "session": s.text("Only changes of this session.", default=""),
            "since": s.text(f"Only changes at or after this: {MOMENT}.", default=""),
            "before": s.text("Only changes before this moment.", default=""),
            "text": s.text(
                "Only changes whose subject, or a fact that came or went, holds this text.", default=""
            ),
            "limit": s.integer("Changes a page; 20 unless set.", default=20, minimum=1, maximum=200),
            "cursor": CURSOR,
        }
    ),
    s.record({"changes": CHANGES, **PAGE}),
    READS,
    looking.history_log,
)

HISTORY_SHOW = history_tool(
    "history_show",
    "Show a change",
    """Show one change: who made it and when, the facts it added, edited and removed in words, the files it
    made, moved and deleted, and the diff. Changes nothing. The diff is cut at 20,000 characters and says
    so. Digits that begin no change, or several, fail with what to do. To find the change use history_log;
    for all that lies between two moments, history_diff; to take the change back, history_undo.""",
    s.record(
        {"change": s.text("The change: 7 or more hex digits, as history_log shows them.", min_length=1)}
    ),
    s.record(
        {
            "change": s.text("All digits of it."),
            "by": s.text("Who made it."),
            "at": s.text("When."),
            "moved": s.array("Files it moved: from, to.", s.record({}), optional=True),
            **DIFFERENCE,
        }
    ),
    READS,
    looking.history_show,
)

HISTORY_DIFF = history_tool(
    "history_diff",
    "Compare two moments",
    """Compare the memory, or one note through all its names, between two moments: the facts it gained,
    those in other words, those it lost, the files made and deleted, and the diff. What came and went
    between the two does not show. Changes nothing. The answer is bounded and says what it leaves out. A
    moment that cannot be read fails with what is wanted. For the single changes use history_log; for one
    change, history_show.""",
    s.record(
        {
            "since": s.text(f"The earlier moment: {MOMENT}.", min_length=1),
            "until": s.text("The later moment; now unless set.", default=""),
            "note": s.text(f"Only this: {NOTE}; a folder's path takes all in it.", default=""),
        }
    ),
    s.record({"changes": s.integer("Changes that lie between."), **DIFFERENCE}),
    READS,
    looking.history_diff,
)

HISTORY_BLAME = history_tool(
    "history_blame",
    "Who wrote each line",
    """Tell for each fact and line of a note who added it and when, who edited it last, in which changes,
    and whether it was typed by a person's hand. Facts keep their story through rename_entity,
    merge_entities and moves between notes, with the words they had before. Changes nothing. Blank lines
    are left out; a binary file fails, as it has no lines. For the changes of the note use history_log; for
    the note as it was, history_read.""",
    s.record(
        {
            "note": s.text(f"What to look at: {NOTE}.", min_length=1),
            "text": s.text("Only lines that hold this text exactly.", default=""),
            "at": s.text(f"The note as it was then: {MOMENT}. Now unless set.", default=""),
            "limit": s.integer("Lines a page; 200 unless set.", default=200, minimum=1, maximum=1000),
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "note": s.text("Path of the note."),
            "lines": s.array(
                "line, text, kind, change, added_by, added_at, added_in, by_hand; edited_by, edited_at, "
                "edited_in, edited_by_hand, before and came_from where there was an edit or a move.",
                s.record({}),
            ),
            **PAGE,
        }
    ),
    READS,
    blame.history_blame,
)

HISTORY_READ = history_tool(
    "history_read",
    "Read a note as it was",
    """Read a note, an entity, a memory, a key or a file as it was at a moment: its text, its facts or
    value, where it lay, and the change that had made it so. A name is first looked for as it was then,
    then as it is now. Deleted notes can be read too. Changes nothing. What was not there then, and a
    binary file, fail and say so. For the whole graph then use read_graph with as_of; to bring the note
    back, history_restore.""",
    s.record(
        {
            "note": s.text(f"What to read: {NOTE}.", min_length=1),
            "at": s.text(f"The moment: {MOMENT}.", min_length=1),
            "offset": s.integer("Characters of the text to skip; 0 unless set.", default=0, minimum=0),
        }
    ),
    s.record(
        {
            "note": s.text("Path it had."),
            "text": s.text("The file's text."),
            "change": s.text("The last change of the vault then.", nullable=True),
            "last_change": s.record({}, "The change that made the note what it was.", optional=True),
            "left_out": s.text("What this answer leaves out, in words.", optional=True),
        }
    ),
    READS,
    reading.history_read,
)

HISTORY_SINCE = history_tool(
    "history_since",
    "What is new to you",
    """Tell what changed since you last called this, a person's own edits first, then those of other agents;
    your own are counted. The vault keeps your mark, as a ref in Git and no commit, and moves it as far as
    the answer reaches, so the next call begins there. The first call gives the newest changes. Naming
    another agent shows what is new to that one and leaves its mark. Fails when two processes of one agent
    look at once. To search all changes use history_log.""",
    s.record(
        {
            "agent": s.text("Another agent, by exact name; you unless set.", default=""),
            "limit": s.integer("Changes at most; 50 unless set.", default=50, minimum=1, maximum=500),
            "own": s.boolean("Show your own changes too.", default=False),
            "keep_mark": s.boolean("Leave the mark where it is.", default=False),
        }
    ),
    s.record(
        {
            "agent": s.text("Whose look this is."),
            "by_hand": CHANGES,
            "by_agents": s.array("Changes made through tools, of the same shape.", s.record({})),
            "own": s.integer("Own changes that are not shown."),
            "left_out": s.text("What this answer leaves out, in words.", optional=True),
        }
    ),
    Hints(),
    since.history_since,
)

HISTORY_RESTORE = history_tool(
    "history_restore",
    "Bring back a note",
    """Bring a note, a file or a folder back as it was, also after it was deleted, as one Git commit in your
    name. History stays, so the step can itself be undone. A note that was moved since keeps its place; in
    a folder, files that came later stay. The receipt names whose words were replaced. Without at, what
    was deleted comes back as it was last. Fails with nothing saved when it was not there then. To look
    first use history_read; to take back single changes, history_undo.""",
    s.record(
        {
            "note": s.text(f"What to bring back: {NOTE}, also of a folder.", min_length=1),
            "at": s.text(f"The moment: {MOMENT}. Leave out for what was deleted.", default=""),
            "if_version": s.text(
                "The note's version that you read; if it has changed since, the call fails.", default=""
            ),
        }
    ),
    s.record(
        {
            "restored": s.array("Paths that were written.", s.text()),
            "message": s.text("What else is worth knowing.", optional=True),
            "left": s.array("Files that lie elsewhere now and stay there.", s.text(), optional=True),
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True, idempotent=True),
    restoring.history_restore,
)

HISTORY_UNDO = history_tool(
    "history_undo",
    "Undo changes",
    """Take back one change, all of a session, or an agent's since a moment, as one new Git commit in your
    name; works for every kind of note and file, and can itself be undone. You can undo your own changes;
    others' only where the owner has set so. Where later edits stand in the way, it says which facts, and
    with on_conflict skip it leaves these and undoes the rest; else nothing is saved. To bring back one
    note as it was use history_restore; to find the change, history_log.""",
    s.record(
        {
            "change": s.text("The change: 7 or more hex digits, as history_log shows them.", default=""),
            "session": s.text("Or every change of this session.", default=""),
            "since": s.text(
                f"Or every change of an agent after this moment: {MOMENT}, which is undone too.", default=""
            ),
            "agent": s.text("With since: whose changes, by exact name; your own unless set.", default=""),
            "on_conflict": s.choice(
                "stop changes nothing when later edits stand in the way; skip leaves those facts.",
                ("stop", "skip"),
                default="stop",
            ),
        }
    ),
    s.record(
        {
            "undone": s.array("The changes: change, by, at, subject.", s.record({})),
            "skipped": s.array("Facts left as they are: note, text, why.", s.record({}), optional=True),
            "message": s.text("What else is worth knowing.", optional=True),
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True),
    restoring.history_undo,
)

TOOLS = (
    HISTORY_LOG,
    HISTORY_SHOW,
    HISTORY_DIFF,
    HISTORY_BLAME,
    HISTORY_READ,
    HISTORY_SINCE,
    HISTORY_RESTORE,
    HISTORY_UNDO,
)
