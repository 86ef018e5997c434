"""The reading tools' `as_of`: the same questions, asked of the vault as it was."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.tools.history.moments import moment_of

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault


AHEAD = 60
"""Seconds by which the clock of whoever asks may be ahead of ours."""


@contextlib.contextmanager
def reading_at(vault: Vault, as_of: str, *, words: bool = False) -> Iterator[Reader]:
    """Give a snapshot of the vault as it was at a moment; of now where none is named.

    With `words` that of a moment can be asked for passages by their words.

    Raises:
        BadArgument: it is no moment, or one that is still to come.
        NotFound: no change begins with these digits.
    """
    if not as_of.strip():
        with vault.reading() as reader:
            yield reader
        return
    with vault.remembering() as reader:
        moment = moment_of(reader, as_of, "as_of")
    known = moment.commit.at if moment.commit else 0
    if moment.at > max(known, time.time() + AHEAD):
        raise BadArgument(
            f"as_of {as_of.strip()[:60]!r} is in the future, of which nothing is known yet. Leave it out "
            "to read the vault as it is now."
        )
    sha = moment.commit.sha if moment.commit else None
    with vault.bygones.reading(sha, moment.seq, words=words) as reader:
        yield reader
