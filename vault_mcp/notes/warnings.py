"""What a reader should know about a text that is about to be kept: it is stored as asked all the same.

Three kinds: text that nearly repeats a fact of the same entity, text that reads as instructions to an
agent, and text that looks like a secret. Patterns name the shape of well-known credentials, never a value.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from vault_mcp.notes.fold import fold

WarningKind = Literal["near_duplicate", "instruction_like", "secret"]

NEAR = 0.6
"""Jaccard similarity of words and word pairs from which two facts count as nearly the same."""

LONGEST = 20_000
"""Characters of a text that are looked at; what follows is stored unread."""

_INSTRUCTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|rule|prompt|polic|guideline)",
        r"\b(?:you|assistant|agent|model)\s+(?:must|should|are to|have to|shall)\s+(?:now\s+)?"
        r"(?:call|run|execute|delete|send|reply|always|never)",
        r"^\s*(?:system|developer|assistant)\s*:",
        r"</?(?:system|memory|instructions?|tool_(?:call|result)s?|function_calls?)\b[^>]{0,80}>",
        r"\b(?:call|invoke|use|run)\s+(?:the\s+)?(?:tool\s+)?`?(?:delete|write|create|send|exec)_?\w*`?\s+"
        r"(?:tool|for all|on all|now)",
        r"\bdo not (?:tell|inform|mention|reveal)\b.{0,40}\b(?:user|human|anyone)",
    )
)

_SECRETS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
        ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})"),
        ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
        ("an API key", r"\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?[A-Za-z0-9_-]{20,}"),
        ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
        ("a signed token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("a password in an address", r"\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@]{1,64}:[^\s/@]{3,64}@"),
        (
            "a password",
            r"(?i)\b(?:password|passwd|pwd|secret|api[_-]?key|token)\b\s*(?:is|[:=])\s*(?!\(erased\))[^\s,;]{6,}",
        ),
    )
)

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextWarning:
    """One remark on one text; `about` is what it resembles, or what it looks like."""

    kind: WarningKind
    text: str
    about: str


def look_over(text: str, known: Iterable[str] = ()) -> Iterator[TextWarning]:
    """Tell what a text that is to be stored resembles, given the facts that its entity holds already."""
    seen = text[:LONGEST]
    twin = _nearest(seen, known)
    if twin is not None:
        yield TextWarning("near_duplicate", text, twin)
    if any(pattern.search(seen) for pattern in _INSTRUCTIONS):
        yield TextWarning(
            "instruction_like", text, "reads as instructions; they were stored as text, not followed"
        )
    secret = secret_in(seen)
    if secret is not None:
        yield TextWarning("secret", text, f"looks like {secret}; it stays in Git history even if deleted")


def secret_in(text: str) -> str | None:
    """Say what secret a text seems to hold, such as "a private key"; None where it holds none."""
    return next((name for name, pattern in _SECRETS if pattern.search(text)), None)


def _nearest(text: str, known: Iterable[str]) -> str | None:
    mine = _shingles(text)
    if not mine:
        return None
    best, twin = NEAR, None
    for other in known:
        if other == text:
            continue
        theirs = _shingles(other[:LONGEST])
        shared = len(mine & theirs)
        likeness = shared / (len(mine) + len(theirs) - shared) if shared else 0.0
        if likeness >= best:
            best, twin = likeness, other
    return twin


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(fold(text))
    return {(word,) for word in words} | set(pairwise(words))
