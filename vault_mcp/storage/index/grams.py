"""The trigram index over the folded text of every unit, and the small heap of units that wait to enter it.

Writing three letters at a time into FTS5 costs several times what the rest of a small change costs, so a new
unit first waits in `unsettled`, where a search looks through it directly; a removed one waits in
`settled_dead` with its text, which FTS5 needs to forget it. `settle` moves both in one go. Every hit is
checked against the text of `units`, so a unit that is gone, or that has other words by now, is never found by
its old ones.
"""

import sqlite3

from vault_mcp.storage.index.schema import MOST_ROWS

SETTLE_AT = 512
"""Units that may wait before a writer settles them itself."""

NAME_MARK = "\x02"
"""Stands before each word of a name in the trigram index, so that a name is found among many texts."""

# One more space at the end gives the last two characters of a text a trigram each that begins with them. A
# name is written twice: with its words marked, and plain.
WRITTEN = "CASE WHEN {} THEN replace(folded, ' ', '" + NAME_MARK + "') ELSE '' END || folded || ' '"
"""What the trigram index holds of a unit, in SQL; to be told when a unit is a name."""

_WRITTEN = WRITTEN.format(f"NOT id & {MOST_ROWS}")


def settle(db: sqlite3.Connection) -> None:
    """Bring the trigram index in step with `units`."""
    # What is removed goes first: a unit's number may be in use again.
    db.execute(f"INSERT INTO grams (grams, rowid, folded) SELECT 'delete', id, {_WRITTEN} FROM settled_dead")
    db.execute("DELETE FROM settled_dead")
    db.execute(
        "INSERT INTO grams (rowid, folded)"
        f" SELECT id, {_WRITTEN} FROM unsettled JOIN units USING (id) ORDER BY id"
    )
    db.execute("DELETE FROM unsettled")
