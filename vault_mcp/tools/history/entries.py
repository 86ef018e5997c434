"""The history tools as a client sees them."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.history import blame, looking, reading, restoring, since
from vault_mcp.tools.shapes import AS_OF, CURSOR, IF_VERSIONS, MOMENT, NOTE, PAGE, RECEIPT
from vault_mcp.tools.tool import READS, Hints, Result, Tool


def history_tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    result: s.Record,
    hints: Hints,
    run: Callable[..., Result],
    core: bool = False,
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
        in_core=core,
    )


THEN = MOMENT[0].upper() + MOMENT[1:]
CHANGES = s.array("change, at, by, tool, by_hand, subject, paths.", s.record({}))
DIFFERENCE = {
    "added": s.array("note, kind, text.", s.record({})),
    "edited": s.array("note, kind, old, new.", s.record({})),
    "removed": s.array("note, kind, text.", s.record({})),
    "files": s.array("Made, deleted, or changed beside facts: note, what.", s.record({})),
    "diff": s.text("Git's unified diff.", optional=True),
    "left_out": s.text(optional=True),
}

HISTORY_LOG = history_tool(
    "history_log",
    "List changes",
    """List changes of the whole memory, or of one note or folder also under its former names, the newest
    first: who, when, with which tool, what, and which files. Filters must all hold; tool hand-edit gives
    what a person typed. A time that cannot be read, or a name that never was, fails with what is wanted.
    For the facts and diff of one change use history_show; for who wrote each line, history_blame; for what
    is new to you, history_since.""",
    s.record(
        {
            "note": s.text(f"Only changes of {NOTE}; a folder's path takes all in it.", default=""),
            "agent": s.text("Only changes by this agent or person.", default=""),
            "tool": s.text("Only changes by this tool; hand-edit for a person's own.", default=""),
            "session": s.text("Only changes of this session.", default=""),
            "since": s.text(f"Only changes since {MOMENT}.", default=""),
            "before": s.text("Only changes before this moment.", default=""),
            "text": s.text("Only changes whose subject or facts hold this text.", default=""),
            "limit": s.integer("Changes a page.", default=20, minimum=1, maximum=200),
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
    """Show one change: who made it and when, the facts it added, edited and removed in words, the files
    it made, moved and deleted, and the diff, cut at 20,000 characters where it says so. Digits that
    begin no change, or several, fail with what to do. To find the change use history_log; for all that
    lies between two moments, history_diff; to take it back, history_undo.""",
    s.record({"change": s.text("7 or more hex digits, as history_log shows them.", min_length=1)}),
    s.record(
        {
            "change": s.text(),
            "by": s.text(),
            "at": s.text(),
            "moved": s.array("from, to.", s.record({}), optional=True),
            **DIFFERENCE,
        }
    ),
    READS,
    looking.history_show,
)

HISTORY_DIFF = history_tool(
    "history_diff",
    "Compare two moments",
    """Compare the memory, or one note through all its names, between two moments: facts gained,
    reworded and lost, files made and deleted, and the diff. What came and went in between does not
    show. The answer is bounded and says what it leaves out; a moment that cannot be read fails with
    what is wanted. For the single changes use history_log; for one of them, history_show; for what is
    new since your last look, history_since.""",
    s.record(
        {
            "since": s.text(f"From {MOMENT}.", min_length=1),
            "until": s.text("The later moment; now unless set.", default=""),
            "note": s.text(f"Only {NOTE}; a folder's path takes all in it.", default=""),
        }
    ),
    s.record({"changes": s.integer(""), **DIFFERENCE}),
    READS,
    looking.history_diff,
)

HISTORY_BLAME = history_tool(
    "history_blame",
    "Who wrote each line",
    """Tell for each fact and line of a note who added it and when, who edited it last, in which
    changes, and whether by a person's hand. Facts keep their story through renames, merges and moves,
    with the words they had before; text picks lines, at shows the note as it was. Blank lines are left
    out; a binary file, or what was never there, fails. For the changes of a note use history_log; for
    its text at a moment, history_read.""",
    s.record(
        {
            "note": s.text(f"{NOTE.capitalize()}.", min_length=1),
            "text": s.text("Only lines that hold this text exactly.", default=""),
            "at": AS_OF,
            "limit": s.integer("Lines a page.", default=200, minimum=1, maximum=1000),
            "cursor": CURSOR,
        }
    ),
    s.record(
        {
            "note": s.text(""),
            "lines": s.array(
                "line, text, kind, change, added_by, added_at, added_in, by_hand; after an edit or move "
                "edited_by, edited_at, edited_in, edited_by_hand, before, came_from.",
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
    """Read a note, entity, memory, key or file as it was at a moment: its text, where it lay, and the
    change that had made it so. It finds what was deleted or renamed since: names of that time are tried
    first, then today's. A long text is cut and says which offset goes on. What was not there then, and a
    binary file, fail and say so. For facts then use open_nodes with as_of, for the whole graph read_graph;
    to bring the note back, history_restore.""",
    s.record(
        {
            "note": s.text(f"{NOTE.capitalize()}.", min_length=1),
            "at": s.text(f"{THEN}.", min_length=1),
            "offset": s.integer("Characters of the text to skip.", default=0, minimum=0),
        }
    ),
    s.record(
        {
            "note": s.text("Path then."),
            "text": s.text(""),
            "change": s.text("", nullable=True),
            "last_change": s.record({}, "The note's own.", optional=True),
            "left_out": s.text(optional=True),
        }
    ),
    READS,
    reading.history_read,
)

HISTORY_SINCE = history_tool(
    "history_since",
    "What is new to you",
    """Tell what is new since you last called this: a person's own edits first, then other agents' changes;
    your own are counted. Use it at the start of a conversation. The first call ever gives the newest; what
    is beyond limit comes with the next call. It moves your mark, which is no commit; looking as another
    agent moves none. Fails when two processes of one agent look at once. To search all changes use
    history_log; to compare two moments, history_diff.""",
    s.record(
        {
            "agent": s.text("Whose news; yours unless set.", default=""),
            "limit": s.integer("Changes at most.", default=50, minimum=1, maximum=500),
            "own": s.boolean("Show your own changes too.", default=False),
            "keep_mark": s.boolean("Leave the mark where it is.", default=False),
        }
    ),
    s.record(
        {
            "agent": s.text(""),
            "by_hand": CHANGES,
            "by_agents": s.array("", s.record({})),
            "own": s.integer("How many are not shown."),
            "left_out": s.text(optional=True),
        }
    ),
    Hints(),
    since.history_since,
    core=True,
)

HISTORY_RESTORE = history_tool(
    "history_restore",
    "Bring back a note",
    """Bring a note, file or folder back as it was, also after it was deleted, as one Git commit in your
    name; history stays, so this can be undone. What was moved since keeps its place; in a folder, files
    that came later stay. The receipt names whose words were replaced. Fails, nothing saved, when it was
    not there then, or if_version is not current. To look first use history_read; to take back single
    changes, history_undo.""",
    s.record(
        {
            "note": s.text(f"{NOTE.capitalize()}, also of a folder.", min_length=1),
            "at": s.text(f"{THEN}. Leave out for what was deleted.", default=""),
            "if_version": IF_VERSIONS,
        }
    ),
    s.record(
        {
            "restored": s.array("Paths.", s.text()),
            "message": s.text(optional=True),
            "left": s.array("Files that stay where they are now.", s.text(), optional=True),
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True, idempotent=True),
    restoring.history_restore,
)

HISTORY_UNDO = history_tool(
    "history_undo",
    "Undo changes",
    """Take back one change, all of a session, or an agent's since a moment (give one of the three), as one
    new Git commit in your name, which can itself be undone. Later work stays: where it stands in the way
    the call fails, nothing saved, and names the facts; on_conflict skip leaves those and undoes the rest.
    Another's changes fail unless the owner allows it. To bring back one note as it was use
    history_restore; to find the change, history_log.""",
    s.record(
        {
            "change": s.text("7 or more hex digits, as history_log shows them.", default=""),
            "session": s.text("Or every change of this session.", default=""),
            "since": s.text(f"Or an agent's changes since {MOMENT}, which is undone too.", default=""),
            "agent": s.text("With since: whose changes, by exact name; your own unless set.", default=""),
            "on_conflict": s.choice(
                "Where later work stands in the way.",
                ("stop", "skip"),
                default="stop",
            ),
            "if_version": IF_VERSIONS,
        }
    ),
    s.record(
        {
            "undone": s.array("change, by, at, subject.", s.record({})),
            "skipped": s.array("note, text, why.", s.record({}), optional=True),
            "message": s.text(optional=True),
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
