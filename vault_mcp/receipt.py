"""What a change did, in facts: added, changed, removed, and whose words were replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vault_mcp.notes.note import Fact, Note, facts

Whose = Literal["person", "agent", "self"]


@dataclass(frozen=True, slots=True)
class FactIn:
    """One fact of one note."""

    note: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """One fact whose words were replaced in place."""

    note: str
    kind: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """Words that stood before this change: who wrote them, when (RFC 3339, "" unknown), whose they are."""

    text: str
    by: str
    at: str
    kind: Whose
    note: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of one change; `commit` is None when the call changed nothing."""

    commit: str | None
    at: str
    by: str
    tool: str
    subject: str = ""
    paths: tuple[str, ...] = ()
    added: tuple[FactIn, ...] = ()
    changed: tuple[Changed, ...] = ()
    removed: tuple[FactIn, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    versions: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """What one note gained, edited and lost between two of its texts."""

    added: tuple[Fact, ...]
    changed: tuple[tuple[Fact, Fact], ...]
    removed: tuple[Fact, ...]


def difference(old: Note | None, new: Note | None) -> Difference:
    """Pair the facts of two texts of one note.

    A removed and an added fact of one kind that carry the same added stamp are one edited fact; so are the
    single facts that a note has only one of (its text, its value, its type).
    """
    before = {(f.kind, f.text): f for f in (facts(old) if old else ())}
    after = {(f.kind, f.text): f for f in (facts(new) if new else ())}
    gone = [f for key, f in before.items() if key not in after]
    come = [f for key, f in after.items() if key not in before]
    changed: list[tuple[Fact, Fact]] = []
    if gone and come:
        waiting: dict[tuple[str, ...], list[Fact]] = {}
        for fact in gone:
            waiting.setdefault(_identity(fact), []).append(fact)
        for fact in list(come):
            partners = waiting.get(_identity(fact))
            if partners:
                partner = partners.pop(0)
                changed.append((partner, fact))
                gone.remove(partner)
                come.remove(fact)
    return Difference(tuple(come), tuple(changed), tuple(gone))


def _identity(fact: Fact) -> tuple[str, ...]:
    if fact.kind in ("text", "value", "type"):
        return (fact.kind,)
    if fact.stamp is None:
        return (fact.kind, "", fact.text)
    return (fact.kind, fact.stamp.added_at, fact.stamp.agent)


def moved_facts(told: Mapping[str, Difference]) -> set[tuple[str, str]]:
    """Give the facts, as (kind, text), that left one note of a change and came into another."""
    come: set[tuple[str, str]] = {(f.kind, f.text) for d in told.values() for f in d.added}
    return {(f.kind, f.text) for d in told.values() for f in d.removed if (f.kind, f.text) in come}


BODY_LINES = 40
"""Facts that a commit message spells out; the rest is in the diff."""


def in_lines(told: Mapping[str, Difference]) -> str:
    """Tell what a change did as the body of a commit message, a fact a line."""
    moved = moved_facts(told)
    lines: list[str] = []
    for d in told.values():
        lines += [f"+ {_line(f.text)}" for f in d.added if (f.kind, f.text) not in moved]
        lines += [f"~ {_line(o.text)} => {_line(n.text)}" for o, n in d.changed]
        lines += [f"- {_line(f.text)}" for f in d.removed if (f.kind, f.text) not in moved]
    if len(lines) > BODY_LINES:
        lines[BODY_LINES:] = [f"... and {len(lines) - BODY_LINES} more"]
    return "\n".join(lines)


def _line(text: str, most: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


TEXT_MOST = 1_000
"""Characters of a fact that a receipt repeats."""


def _shown(text: str) -> str:
    return text if len(text) <= TEXT_MOST else text[: TEXT_MOST - 1] + "…"


def as_record(receipt: Receipt, most: int = 50) -> dict[str, object]:
    """Give the receipt as the JSON object that tool results carry; each list holds at most `most` rows."""
    record: dict[str, object] = {
        "commit": receipt.commit,
        "edited_at": receipt.at,
        "edited_by": receipt.by,
        "added": [{"note": f.note, "kind": f.kind, "text": _shown(f.text)} for f in receipt.added[:most]],
        "changed": [
            {"note": c.note, "kind": c.kind, "old": _shown(c.old), "new": _shown(c.new)}
            for c in receipt.changed[:most]
        ],
        "removed": [{"note": f.note, "kind": f.kind, "text": _shown(f.text)} for f in receipt.removed[:most]],
        "replaced": [
            {"text": _shown(r.text), "by": r.by, "at": r.at, "kind": r.kind} for r in receipt.replaced[:most]
        ],
    }
    longest: Sequence[Sequence[object]] = (receipt.added, receipt.changed, receipt.removed, receipt.replaced)
    left = sum(max(0, len(rows) - most) for rows in longest)
    if left:
        record["left_out"] = left
    return record
