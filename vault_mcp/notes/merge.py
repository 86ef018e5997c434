"""Two versions of a note made one, by what each changed of a third: property by property, fact by fact.

What one side changed holds against what the other left alone. Facts that either side added are kept, once
where both added the same; what a side deleted is gone, unless the other edited it; two edits of one fact are
both kept. Prose is merged by the line. Where only a person can decide (prose or one property changed on both
sides), our version stays, and what theirs says there is told beside it.

The merged text is read back: if it did not hold exactly the facts that it should, the whole note is left to a
person. Lines that nobody changed keep every byte.
"""

from __future__ import annotations

from vault_mcp.notes import frontmatter
from vault_mcp.notes.merge_facts import Piece
from vault_mcp.notes.merge_lines import Woven, merge_body
from vault_mcp.notes.merge_marks import CLOSE, MIDDLE, OPEN
from vault_mcp.notes.merge_properties import merge_properties
from vault_mcp.notes.note import Kind, kind_of

__all__ = ["Merged", "Piece", "has_marks", "merge"]

Merged = Woven


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Merge two texts of one note.

    Args:
        base: What both come from; empty where both made the note.
        ours: What stays where only a person can decide.
        theirs: The other one.
    """
    if ours == theirs or theirs == base:
        return Merged(ours, ours, ())
    if ours == base:
        return Merged(theirs, theirs, ())
    texts = (base, ours, theirs)
    fronts = [frontmatter.split(text) for text in texts]
    if any(front.problem for front in fronts) or any(map(has_marks, texts)):
        return merge_body(base, ours, theirs, "note", plain=True)
    properties = merge_properties(base, ours, theirs)
    kind = _kind(frontmatter.split(properties.text).properties, *(front.properties for front in fronts))
    body = merge_body(base, properties.text, theirs, kind)
    pieces = (*properties.pieces, *body.pieces)
    start = frontmatter.split(properties.text).body_start
    return Merged(body.text, properties.marked + body.marked[start:], pieces, whole=body.whole)


def _kind(*properties: dict[str, object]) -> Kind:
    kinds = [kind_of(each) for each in properties]
    return next((kind for kind in kinds if kind != "note"), "note")


def has_marks(text: str) -> bool:
    """Say whether a text has the marks of a merge that nobody finished."""
    lines = text.split("\n")
    return all(any(line.startswith(mark[:7]) for line in lines) for mark in (OPEN, MIDDLE, CLOSE))
