"""The reading tools' `as_of`: the same questions, asked of the vault as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_mcp.tools.history.moments import moment_of

if TYPE_CHECKING:
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault


@contextlib.contextmanager
def reading_at(vault: Vault, as_of: str, *, words: bool = False) -> Iterator[Reader]:
    """Give a snapshot of the vault as it was at a moment; of now where none is named.

    With `words` that of a moment can be asked for passages by their words.

    Raises:
        BadArgument: it is no moment.
        NotFound: no change begins with these digits.
    """
    if not as_of.strip():
        with vault.reading() as reader:
            yield reader
        return
    with vault.remembering() as reader:
        moment = moment_of(reader, as_of, "as_of")
    sha = moment.commit.sha if moment.commit else None
    with vault.bygones.reading(sha, moment.seq, words=words) as reader:
        yield reader
