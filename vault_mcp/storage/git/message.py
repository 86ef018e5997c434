"""Who and why: the identity lines and the text of a commit, safe against whatever words come in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

SUBJECT_LENGTH = 100

_SURROGATE = re.compile("[\ud800-\udfff]")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*\Z")
# What Git's own parser (git-interpret-trailers(1)) or a simpler one could take for a trailer or a divider.
_LIKE_TRAILER = re.compile(r"\s*(?:[\w.-]+\s*:|\(cherry picked from commit|---|Signed-off-by)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ident:
    """Somebody who authored or committed: shown by Git as `name <email>`."""

    name: str
    email: str

    def header(self, at: int) -> bytes:
        """Give the identity as it stands in a header or a reflog, at `at` (seconds since 1970, UTC)."""
        return b"%s %d +0000" % (_identity(self.name, self.email), max(at, 0))

    def clean_name(self) -> str:
        """Give the name without what would end it early; `git fsck` is silent about the rest."""
        return _clean_name(self.name)

    def clean_email(self) -> str:
        """Give the address without what would end it early."""
        return _clean_email(self.email)


VAULT = Ident("vault-mcp", "vault-mcp@vault-mcp.invalid")
"""The committer of every commit that names no other."""


@dataclass(frozen=True, slots=True)
class Message:
    """The words of a commit.

    `body` may hold any text: no line of it can be read as a trailer. `trailers` come last, one line each.
    """

    subject: str
    body: str = ""
    trailers: tuple[tuple[str, str], ...] = ()

    def render(self) -> bytes:
        """Give the message as Git stores it, with a final newline."""
        parts = [subject_line(self.subject)]
        if self.body and (body := _body(self.body)):
            parts.append(body)
        block = "\n".join(f"{key}: {one_line(text)}" for key, text in self.trailers if _named(key) and text)
        if block:
            parts.append(block)
        return ("\n\n".join(parts) + "\n").encode()

    def trailer(self, key: str) -> str:
        """Give the value of the first trailer with this key, or nothing."""
        return next((text for name, text in self.trailers if name == key), "")


def subject_line(text: str) -> str:
    """Cut a text to one clean line of at most 100 characters."""
    line = one_line(text)
    if len(line) > SUBJECT_LENGTH - 2:
        line = shortened(line, SUBJECT_LENGTH - 2 if line.startswith("---") else SUBJECT_LENGTH)
    # A line of dashes would end the message for those who look for trailers in a mail.
    return f"> {line}" if line.startswith("---") else line or "change"


def shortened(line: str, length: int) -> str:
    """Cut a line to so many characters, the last of them an ellipsis."""
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Turn line breaks and control characters into single spaces, and lone surrogates into U+FFFD."""
    if text.isascii() and text.isprintable():
        return text.strip()
    clean = "".join(" " if _breaks_line(char) else char for char in _SURROGATE.sub("\ufffd", text))
    return " ".join(clean.split())


def _breaks_line(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Zl", "Zp")


def _body(text: str) -> str:
    text = _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(f"> {line}" if _LIKE_TRAILER.match(line) else line for line in lines).strip("\n")


def _named(key: str) -> bool:
    if not _KEY.match(key):
        raise ValueError(f"not a trailer's name: {key!r}")
    return True


@lru_cache(maxsize=256)
def _identity(name: str, email: str) -> bytes:
    return f"{_clean_name(name)} <{_clean_email(email)}>".encode()


def _clean_name(name: str) -> str:
    return re.sub("[<>]", "", one_line(name)).strip() or "unknown"


def _clean_email(email: str) -> str:
    return re.sub(r"[<>\s]", "", one_line(email))
