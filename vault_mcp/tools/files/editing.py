"""Create a file, replace one passage of it, insert lines: one commit each, every other byte as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.follow import note_of
from vault_mcp.notes import frontmatter
from vault_mcp.tools.files import lines, places
from vault_mcp.tools.files.lines import Edited
from vault_mcp.tools.files.places import Place
from vault_mcp.tools.files.viewing import decoded, missing
from vault_mcp.tools.told import committed, refuse_unstorable, remarked
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

AROUND = 2
"""Lines shown before and behind an edit."""

SNIPPET = 4_000
"""Characters of the text shown after an edit."""

QUOTED = 500
"""Characters of a caller's own text that an error repeats."""

NUMBERS = 20
"""Lines with a repeated text that an error names."""

_KINDS = {"entity": "an entity", "memory": "a memory", "key": "the note of a key"}

MISSING = "Error: The path {} does not exist. Please provide a valid path."


def memory_create(vault: Vault, caller: Caller, path: str, file_text: str) -> str:
    """Make a new file that holds exactly this text."""
    refuse_unstorable(file_text, "file_text")
    places.refuse_without_name(path)
    with vault.change("memory_create", by=caller.agent, session=caller.session) as change:
        made = places.new(change, path, exists="Error: File {} already exists")
        change.subject = made
        change.write(made, file_text)
    return f"File created successfully at: {path}\n{committed(change.receipt)}{remarked(file_text)}"


def memory_str_replace(
    vault: Vault, caller: Caller, path: str, old_str: str, new_str: str = "", if_version: str = ""
) -> str:
    """Replace the one place where a text stands; without a new text it is deleted."""
    refuse_unstorable(new_str, "new_str")
    if not old_str:
        raise BadArgument(
            "`old_str` is empty. Give the exact text to replace; to add lines use memory_insert."
        )
    with vault.change(
        "memory_str_replace", by=caller.agent, session=caller.session, if_version=if_version
    ) as change:
        place, text = _text(change, path)
        change.expect(place.path)
        edited = lines.replace(text, _only_place(text, old_str, place.said), new_str)
        change.write(place.path, edited.text)
    if change.receipt.commit is None:
        return f"The file {place.said} reads so already. {committed(change.receipt)}"
    told = f"{committed(change.receipt)}{remarked(new_str)}{_unmade(place.path, text, edited.text)}"
    shown = f"Here is the snippet showing the change (with line numbers):\n{_snippet(edited)}"
    return f"The memory file has been edited. {shown}\n{told}"


def memory_insert(vault: Vault, caller: Caller, path: str, insert_line: int, insert_text: str) -> str:
    """Insert a text as lines of their own behind a line; 0 is before the first."""
    refuse_unstorable(insert_text, "insert_text")
    with vault.change("memory_insert", by=caller.agent, session=caller.session) as change:
        place, text = _text(change, path)
        count = len(lines.split_lines(text))
        if not 0 <= insert_line <= count:
            raise BadArgument(
                f"Error: Invalid `insert_line` parameter: {insert_line}. "
                f"It should be within the range of lines of the file: [0, {count}]."
            )
        edited = lines.insert(text, insert_line, insert_text)
        change.write(place.path, edited.text)
    if change.receipt.commit is None:
        return f"The file {place.said} reads so already. {committed(change.receipt)}"
    told = f"{committed(change.receipt, words=False)}{remarked(insert_text)}"
    told += _unmade(place.path, text, edited.text)
    return f"The file {place.said} has been edited.\n{_snippet(edited)}\n{told}"


def _unmade(path: str, before: str, after: str) -> str:
    """Warn, in a line behind a reply, that an edit left an entity, a memory or a key a plain file."""
    old, new = (note_of(path, text.encode()) for text in (before, after))
    if old is None or old.kind == "note" or (new is not None and new.kind == old.kind):
        return ""
    why = ""
    if not frontmatter.split(after).present:
        top = before.count("\n", 0, frontmatter.split(before).body_start)
        why = f", since front matter has to begin on the first line; its text begins behind line {top}"
    kind = _KINDS[old.kind]
    return f"\nWarning: this note is {kind} no longer{why}. To take the change back use history_undo."


def _text(change: Change, said: str) -> tuple[Place, str]:
    """Give the file that a path means, and its text as this change leaves it."""
    places.refuse_without_name(said)
    place = places.there(change.vault.root, said)
    raw = change.read_bytes(place.path) if place.kind == "file" else None
    if raw is None:
        raise missing(change.vault, place, MISSING)
    change.subject = place.path
    return place, decoded(raw, place.said)


def _only_place(text: str, sought: str, said: str) -> tuple[int, int]:
    found = lines.places(text, sought)
    shown = sought if len(sought) <= QUOTED else sought[:QUOTED] + "…"
    if not found:
        raise NotFound(
            f"No replacement was performed, old_str `{shown}` did not appear verbatim in {said}. "
            "Look at its text with memory_view."
        )
    if len(found) > 1:
        numbers = lines.line_numbers(text, found)
        named = ", ".join(map(str, numbers[:NUMBERS]))
        more = ", …" if len(numbers) > NUMBERS or len(found) == lines.OCCURRENCES else ""
        raise BadArgument(
            f"No replacement was performed. Multiple occurrences of old_str `{shown}` in lines: "
            f"{named}{more}. Please ensure it is unique."
        )
    return found[0]


def _snippet(edited: Edited) -> str:
    """Show the lines of an edit and those around it."""
    rows = lines.split_lines(edited.text)
    first = max(edited.first - AROUND, 1)
    shown, count = lines.numbered(rows[first - 1 : edited.last + AROUND], first, SNIPPET)
    if not count:
        return "The file is empty."
    wanted = min(edited.last + AROUND, len(rows))
    return shown if first + count > wanted else f"{shown}\n(and on to line {wanted})"
