r"""A memory note: properties, a text that comes back exactly, and relations below it.

    ---
    memory: episodic
    id: 2026100509123301
    importance: 7
    tags:
      - apollo
    created: 2026-10-05T09:12:33Z
    agent: claude-desktop
    ---

    Ada decided to ship the indexer first.

    ## Relations

    - about [[Ada Lovelace]]

The text is what stands between the front matter and the last heading ``## Relations``, without the white
space around it. A line of the text that looks like that heading is written with a backslash before its signs,
so the heading is always the note's own; what else a body cannot hold is escaped as `verbatim` says. A note
that a person wrote or mended reads the same way: all that stands above the relations is its text.
"""

import re
from collections.abc import Iterable

from vault_mcp.notes import verbatim
from vault_mcp.notes.frontmatter import FrontMatter, block, remove_property, set_property, split
from vault_mcp.notes.line import Stamp, relation_line

# As `sections` reads headings: up to three spaces before it, any number of signs behind it.
_HEADING = r"##[ \t]+relations(?:[ \t]+#+)?[ \t]*"
_RELATIONS = re.compile(rf"^ {{0,3}}{_HEADING}\r?$", re.MULTILINE | re.IGNORECASE)
_LOOKALIKE = re.compile(rf"^( {{0,3}})(?=\\*{_HEADING}$)", re.MULTILINE | re.IGNORECASE)
_ESCAPED = re.compile(rf"^( {{0,3}})\\(?=\\*{_HEADING}$)", re.MULTILINE | re.IGNORECASE)


def new_memory(
    text: str,
    *,
    type: str,
    id: int,
    importance: int,
    session: str,
    tags: Iterable[str],
    created: str,
    agent: str,
    speaker: str = "",
    relations: Iterable[tuple[str, str, Stamp | None]] = (),
) -> str:
    """Return a new memory note.

    Args:
        text: What is remembered; any text comes back from `memory_text` as it is.
        type: The property `memory`: episodic, semantic or procedural.
        id: Sixteen digits, below 2**53, that never change.
        importance: 1 to 10.
        session: The session it came from; an empty one is left out.
        tags: In their order; none are left out.
        created: When, `YYYY-MM-DDTHH:MM:SSZ`.
        agent: Who wrote it down.
        speaker: Who said it, where that is somebody else; an empty one is left out.
        relations: For each line its type, its wikilink as `links.written_link` gives it, and a stamp or None.
    """
    properties = {
        "memory": type,
        "id": id,
        "importance": importance,
        "session": session,
        "speaker": speaker,
        "tags": list(tags),
        "created": created,
        "agent": agent,
    }
    head = block({key: value for key, value in properties.items() if value not in ("", [])})
    lines = "".join(f"{relation_line(*relation)}\n" for relation in relations)
    return f"{head}\n{_body(text)}\n" + (f"\n## Relations\n\n{lines}" if lines else "")


def memory_text(note_text: str, front: FrontMatter | None = None) -> str:
    """Return the text of a memory note exactly; `front` is its front matter if known already."""
    start, end = _place(note_text, front)
    return verbatim.decode(_ESCAPED.sub(r"\1", verbatim.trimmed(note_text[start:end])))


def relations_start(note_text: str, front: FrontMatter | None = None) -> int | None:
    """Return the offset of the heading under which a memory's relations stand, or None without one.

    Whoever reads the relations starts there: what the text above it leaves open, a code fence or a comment,
    does not reach into them.
    """
    start = (front or split(note_text)).body_start
    headings = [heading.start() for heading in _RELATIONS.finditer(note_text, start)]
    return headings[-1] if headings else None


def replace_text(note_text: str, new: str) -> str:
    """Return the note with another text; front matter, relations and the space around the text stay."""
    front = split(note_text)
    start, end = _place(note_text, front)
    if memory_text(note_text, front) == new:
        return note_text
    newline = verbatim.newline_of(note_text)
    around = note_text[start:end]
    old = around.strip(verbatim.EDGES)
    before, _, after = around.partition(old) if old else (newline, "", newline * (1 + (end < len(note_text))))
    return note_text[:start] + before + _body(new).replace("\n", newline) + after + note_text[end:]


def set_fields(
    note_text: str,
    *,
    importance: int | None = None,
    tags: Iterable[str] | None = None,
    type: str | None = None,
    session: str | None = None,
) -> str:
    """Return the note with some of its properties changed, each in its own lines; None leaves one as it is.

    No tags, or an empty session, take the property away. Raises NoteUnreadable as `frontmatter.set_property`.
    """
    wanted = {"memory": type, "importance": importance, "session": session}
    fields: dict[str, object] = {**wanted, "tags": None if tags is None else list(tags)}
    for key, value in fields.items():
        if value in ("", []):
            note_text = remove_property(note_text, key)
        elif value is not None:
            note_text = set_property(note_text, key, value)
    return note_text


def _place(note_text: str, front: FrontMatter | None) -> tuple[int, int]:
    """Offsets of the text with the white space around it."""
    front = front or split(note_text)
    relations = relations_start(note_text, front)
    return front.body_start, len(note_text) if relations is None else relations


def _body(text: str) -> str:
    return _LOOKALIKE.sub(r"\1\\", verbatim.encode(text))
