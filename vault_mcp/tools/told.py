"""What a change did, in a line or two of plain text, for tools whose results are text."""

from vault_mcp.errors import BadArgument
from vault_mcp.notes.warnings import look_over
from vault_mcp.receipt import Receipt, Replaced

SHOWN = 200
"""Characters of replaced words that are shown; the whole of them is in Git."""

SHOWN_MOST = 3
"""Replaced facts that are shown."""


def counted(count: int, one: str, many: str = "") -> str:
    """Write a number of things: "1 link", "2 links", "no links"."""
    return f"{count or 'no'} {one if count == 1 else many or one + 's'}"


def committed(receipt: Receipt, *, words: bool = True) -> str:
    """Name the commit of a change, and with `words` the words of others that it replaced."""
    if receipt.commit is None:
        return "Nothing changed, so no commit was made."
    return "\n".join([f"Commit {receipt.commit[:12]}.", *(_replaced_of_others(receipt) if words else ())])


def _replaced_of_others(receipt: Receipt) -> list[str]:
    theirs = [words for words in receipt.replaced if words.kind != "self" and words.by]
    lines = [f"It replaced {replaced_words(words)}." for words in theirs[:SHOWN_MOST]]
    if len(theirs) > SHOWN_MOST:
        lines.append(f"It replaced {len(theirs) - SHOWN_MOST} more facts of others.")
    return lines


def replaced_words(words: Replaced) -> str:
    """Say what words stood there before, and as far as it is known who wrote them and when."""
    by = f", written by {words.by}" if words.by else ""
    by += " (a person)" if by and words.kind == "person" else ""
    at = f" at {words.at}" if words.at else ""
    return f"“{one_line(words.text)}”{by}{at}"


def remarked(text: str) -> str:
    """Say what a kept text looks like (a secret, instructions), in a line each, to go behind a reply."""
    return "".join(f"\nWarning: the text {warning.about}." for warning in look_over(text))


def one_line(text: str, most: int = SHOWN) -> str:
    """Give a text as one line of at most `most` characters, its white space simplified."""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most and len(text) <= 4 * most else flat[: most - 1] + "…"


def refuse_unstorable(text: str, name: str) -> None:
    """Refuse what no text file can hold: NUL, and halves of characters.

    Raises:
        BadArgument: `name`, the argument, holds one.
    """
    if "\0" in text:
        raise BadArgument(f"`{name}` holds a NUL character, which no text has. Leave it out.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadArgument(
            f"`{name}` holds half of a surrogate pair, which is no character. Send the whole character."
        ) from None
