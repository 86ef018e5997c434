"""The file tools as a client sees them: six, and the same six as one tool for who asks for it by name."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.files import editing, moving, single, viewing
from vault_mcp.tools.shapes import AS_OF, IF_VERSION, IF_VERSIONS
from vault_mcp.tools.tool import READS, Hints, Result, Tool


def file_tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    hints: Hints,
    run: Callable[..., Result],
    *,
    by_name_only: bool = False,
) -> Tool:
    """Give one entry of the files family; the description's line breaks are only the source's."""
    return Tool(
        name=name,
        title=title,
        family="files",
        description=" ".join(description.split()),
        inputs=inputs,
        result=None,
        hints=hints,
        run=run,
        by_name_only=by_name_only,
    )


PATH = "Path of the file, relative to the vault, as in notes/plan.md."
RANGE = s.array(
    "First and last line to show, from 1, as in [10, 20]; [10, -1] goes to the end. Leave out for all.",
    s.integer("A line number."),
    default=(),
)

MEMORY_VIEW = file_tool(
    "memory_view",
    "View a memory file or folder",
    """View one file with line numbers, or list a folder two levels deep with sizes, as on the disk now
    or at as_of. A view is cut at 16,000 characters and says which view_range goes on. A path that leads
    nowhere fails and names files called alike; a binary file is listed, not shown. To find a note by
    its words use search_nodes; for an entity's facts, open_nodes; for the value of a key, read_memory.""",
    s.record(
        {
            "path": s.text(
                'Path of a file or folder, relative to the vault; "", / or /memories is its root.', default=""
            ),
            "view_range": RANGE,
            "as_of": AS_OF,
        }
    ),
    READS,
    viewing.memory_view,
)

MEMORY_CREATE = file_tool(
    "memory_create",
    "Create a memory file",
    """Create one new file that holds exactly the given text, with the folders it needs, as one Git commit
    in your name, which the reply names. A Markdown file is a note at once, found by every search. Fails,
    nothing saved, when something is at the path, or it is hidden, protected, outside the vault, or not
    valid on every system. To change a file use memory_str_replace or memory_insert; for a fact about
    somebody, add_observations.""",
    s.record(
        {
            "path": s.text("Path of the new file, relative to the vault, as in notes/plan.md."),
            "file_text": s.text("The whole text of the file, stored as it is."),
        }
    ),
    Hints(),
    editing.memory_create,
)

MEMORY_STR_REPLACE = file_tool(
    "memory_str_replace",
    "Replace text in a memory file",
    """Replace one exact passage of a file, or delete it by leaving new_str out; every other byte stays.
    One Git commit in your name; gives the lines around the edit. Fails, nothing saved, when the file is
    not there or no text, or old_str is empty, not there verbatim, or there more than once, with the
    lines named: give more of its surroundings. To add lines use memory_insert; to correct an entity's
    fact, edit_observation.""",
    s.record(
        {
            "path": s.text(PATH),
            "old_str": s.text("Exact text to replace; it must appear in the file once. May span lines."),
            "new_str": s.text("Text to put in its place; leave out to delete old_str.", default=""),
            "if_version": IF_VERSION,
        }
    ),
    Hints(destructive=True),
    editing.memory_str_replace,
)

MEMORY_INSERT = file_tool(
    "memory_insert",
    "Insert lines into a memory file",
    """Insert text as lines of their own into a file, behind the line you name: 0 puts it first, the
    file's line count last. Every other byte stays; one Git commit in your name; gives the lines around
    it. Fails, nothing saved, when the file is not there or no text, or the line is beyond its end. To
    change text that is there use memory_str_replace; for a new file, memory_create; for an entity's
    fact, add_observations.""",
    s.record(
        {
            "path": s.text(PATH),
            "insert_line": s.integer("Number of the line behind which to insert; 0 is before the first."),
            "insert_text": s.text("The lines to insert; a newline at the end may be left out."),
        }
    ),
    Hints(),
    editing.memory_insert,
)

MEMORY_DELETE = file_tool(
    "memory_delete",
    "Delete a memory file or folder",
    """Delete one file, or a folder with all that is in it, as one Git commit in your name; the reply
    says what was left. History keeps it, and history_restore brings it back; links to it lead nowhere.
    Fails, nothing deleted, when the path is not there, is the root, hidden or protected, or ignored by
    Git and so could not come back. To move a file use memory_rename; for a key, delete_memory; for an
    entity, delete_entities.""",
    s.record(
        {
            "path": s.text("Path of the file or folder to delete, relative to the vault."),
            "if_version": IF_VERSIONS,
        }
    ),
    Hints(destructive=True),
    moving.memory_delete,
)

MEMORY_RENAME = file_tool(
    "memory_rename",
    "Rename or move a memory file or folder",
    """Move or rename one file or folder, with the folders it needs, as one Git commit in your name.
    Links to what moved, in notes, properties and canvases, are rewritten so that they mean what they
    meant; the reply counts them. Fails, nothing saved, when old_path is not there, or new_path exists,
    lies inside it, or is no path that a vault can hold. To give an entity another name use
    rename_entity; to bring back what was deleted, history_restore.""",
    s.record(
        {
            "old_path": s.text("Path of the file or folder as it is, relative to the vault."),
            "new_path": s.text("Path that it shall have; nothing may be there yet."),
        }
    ),
    Hints(destructive=True),
    moving.memory_rename,
)

MEMORY = file_tool(
    "memory",
    "Memory files",
    """View, create, edit, rename and delete files of the vault, for a client that can take only one tool;
    where you have memory_view, memory_create and their like, use those. view takes path: a file, cut at
    16,000 characters, or a folder two levels deep. create takes file_text and never overwrites;
    str_replace needs old_str exactly once; insert takes insert_line and insert_text; rename old_path and
    new_path, and rewrites links; delete takes a folder with all in it. All but view are one Git commit,
    and history keeps what was there; what fails saves nothing.""",
    s.record(
        {
            "command": s.choice("What to do.", single.COMMANDS),
            "path": s.text("The file or folder: view, create, str_replace, insert, delete.", optional=True),
            "view_range": s.array(
                "view: first and last line to show, from 1; -1 is the end.",
                s.integer("A line number."),
                optional=True,
            ),
            "as_of": s.text("view: what was there then: a time or 7+ hex digits of a change.", optional=True),
            "file_text": s.text("create: the whole text of the new file.", optional=True),
            "old_str": s.text("str_replace: exact text, which must appear once.", optional=True),
            "new_str": s.text("str_replace: text to put in its place.", optional=True),
            "insert_line": s.integer("insert: the line behind which to insert; 0 is the top.", optional=True),
            "insert_text": s.text("insert: the lines to insert.", optional=True),
            "old_path": s.text("rename: the path as it is.", optional=True),
            "new_path": s.text("rename: the path that it shall have.", optional=True),
            "if_version": s.text("str_replace, delete: versions of the notes, if asked.", optional=True),
        }
    ),
    Hints(destructive=True),
    single.memory,
    by_name_only=True,
)

TOOLS = (
    MEMORY_VIEW,
    MEMORY_CREATE,
    MEMORY_STR_REPLACE,
    MEMORY_INSERT,
    MEMORY_DELETE,
    MEMORY_RENAME,
    MEMORY,
)
