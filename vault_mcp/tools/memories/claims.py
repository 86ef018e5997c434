"""A claim held against its premise, and the premise against what is remembered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_mcp.notes.analyse import STOP_WORDS, words
from vault_mcp.tools.graph.records import Json, not_blank
from vault_mcp.tools.memories.answers import Answer, answers
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

CITED = 5
"""Passages that are cited on either side."""

ON_TOPIC = 0.34
"""Share of the premise's words that a passage must hold to be cited at all."""

_DENIES = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|neither|nor|cannot|isn't|aren't|wasn't|weren't|don't|doesn't|"
    r"didn't|won't|can't|couldn't|shouldn't|kein\w*|nicht|nie|pas|jamais|nunca|nem)\b|不|没|沒|ない|않",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def memory_verify_claim(
    vault: Vault, caller: Caller, premise: str, conclusion: str, threshold: float = 0.36
) -> Json:
    """Score how near two texts are, and cite what the memory holds for and against the premise.

    trust = 1 / (1 + distance), the form of the peer's. The distance is 2 (1 - likeness), and the likeness is
    the mean of their shared words (Dice) and, with vectors, their cosine. A conclusion that denies what the
    premise says, or names another number, is one step (1.0) further away.
    """
    not_blank(premise, "premise")
    not_blank(conclusion, "conclusion")
    overlap = _dice(premise, conclusion)
    cosine = vault.meaning.likeness(premise, conclusion)
    likeness = overlap if cosine is None else (overlap + max(0.0, cosine)) / 2
    opposed = _opposed(premise, conclusion)
    distance = (1.0 - likeness) * 2 + (1.0 if opposed else 0.0)
    trust = 1.0 / (1.0 + distance)
    verified = trust > threshold and not opposed
    supporting, contradicting = _cited(vault, premise)
    return {
        "status": "VERIFIED" if verified else "REJECTED",
        "trust_score": round(trust, 4),
        "threshold": threshold,
        "lorentz_distance": None,
        "cosine_distance": None if cosine is None else round(1 - cosine, 4),
        "total_distance": round(distance, 4),
        "reason": _reason(opposed, trust, threshold, overlap),
        "vector_dimension": vault.meaning.dimensions,
        "supporting": [_citation(one) for one in supporting],
        "contradicting": [_citation(one) for one in contradicting],
    }


def _reason(opposed: str, trust: float, threshold: float, overlap: float) -> str:
    if opposed:
        return f"The conclusion {opposed}, which the premise does not."
    told = "near" if trust > threshold else "not near"
    return f"The two texts are {told} in words ({overlap:.0%} shared) and meaning."


def _meat(text: str) -> set[str]:
    return {word for word in words(text) if word not in STOP_WORDS}


def _dice(one: str, other: str) -> float:
    first, second = _meat(one), _meat(other)
    if not first or not second:
        return 0.0
    return 2 * len(first & second) / (len(first) + len(second))


def _opposed(premise: str, conclusion: str) -> str:
    """Say how a text speaks against another that is about the same; "" when it does not."""
    if bool(_DENIES.search(premise)) != bool(_DENIES.search(conclusion)):
        return "denies something" if _DENIES.search(conclusion) else "affirms what is denied"
    mine, theirs = set(_NUMBER.findall(conclusion)), set(_NUMBER.findall(premise))
    if mine and theirs and not mine & theirs:
        return f"says {', '.join(sorted(mine))}"
    return ""


def _cited(vault: Vault, premise: str) -> tuple[list[Answer], list[Answer]]:
    found = answers(vault, premise, 20).found
    wanted = _meat(premise)
    supporting: list[Answer] = []
    contradicting: list[Answer] = []
    for one in found:
        held = len(wanted & _meat(f"{one.unit.name} {one.unit.text}")) / max(1, len(wanted))
        if held < ON_TOPIC:
            continue
        against = one.unit.superseded or _opposed(one.unit.text, premise)
        (contradicting if against else supporting).append(one)
    return supporting[:CITED], contradicting[:CITED]


def _citation(one: Answer) -> Json:
    told: Json = {
        "note": one.unit.path,
        "text": one.unit.text[:500],
        "by": one.unit.by,
        "stored_at": one.unit.at,
        "score": round(one.ranked.score, 4),
    }
    if one.unit.memory_id is not None:
        told["id"] = one.unit.memory_id
    if one.unit.superseded:
        told["superseded"] = True
    return told
