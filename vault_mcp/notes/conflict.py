"""The note that keeps, beside another, what two machines made of it and only a person can decide."""

from __future__ import annotations

from collections.abc import Iterable

from vault_mcp.notes.merge_facts import Piece
from vault_mcp.notes.scalars import quoted

CONFLICT = "conflict-with"
"""The property by which a conflict note is known: a link to the note it stands beside."""


def conflict_note(path: str, change: str, pieces: Iterable[Piece], copy: str = "") -> str:
    """Return the text of a conflict note.

    Args:
        path: The note, or other file, that it stands beside.
        change: The first digits of the change that holds the other version.
        pieces: What was left to a person.
        copy: Where the other version of a file lies that cannot be merged.
    """
    name = path.rpartition("/")[2].removesuffix(".md")
    target = path.removesuffix(".md")
    plain = not any(sign in target for sign in '#^[]|"\\')
    link = f"[[{target}|{name}]]" if plain else f"`{path}`"
    about = f'"[[{target}]]"' if plain else f"{quoted(path)}"
    lines = ["---", f"{CONFLICT}: {about}", f'change: "{change}"', "---", ""]
    lines += [
        f"Two machines changed {link} at the same time, in a way that only a person can decide. The note "
        f"stands as one of them has it; here is what the other has, in change {change}. Take over what is "
        "missing, then delete this note.",
        "",
    ]
    if copy:
        lines += [f"The other version is in [[{copy}]].", ""]
    for piece in pieces:
        fence = "````"
        while fence in piece.theirs:
            fence += "`"
        what = "Text" if piece.what == "text" else f"Property {piece.what}"
        words = piece.theirs.rstrip("\r\n") if piece.theirs.strip() else "(deleted)"
        lines += [f"## {what}", "", f"{fence}markdown", *words.splitlines(), fence, ""]
    return "\n".join(lines)
