"""The form of a text in which the index looks for substrings."""

import re

from vault_mcp.notes.fold import fold

_UNSEEN = re.compile(r"[\x00-\x20\x7f-\x9f\s]+")


def searchable(text: str) -> str:
    """Fold a text and let every run of white space and control characters be one space, none at the edges."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.lower().strip(" ")
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which SQLite cannot hold
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return _UNSEEN.sub(" ", fold(text)).strip(" ")


def padded(text: str) -> str:
    """Give the searchable form with a space at both ends: each word then has a boundary on both sides."""
    return f" {searchable(text)} "
