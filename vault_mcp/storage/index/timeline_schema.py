"""The tables of the timeline: those of the index, with the commits between which each row held.

A row holds from the commit `first_seq` until before `last_seq`, which is `FOREVER` while it holds. Commits
are numbered as the history tables number them, and a note has the number of its lineage. Nothing is ever
changed in a row but `last_seq`: a line whose stamp or place in the note changes has a new row from then on.
So the numbers of a note's rows (`note << 24 | n`) grow, and none is used twice.

Over them lie views with the names and columns of the index's own tables, which show what held at the commit
in `moment`. What asks the index asks them in the same words.

The two full-text indexes hold every unit that ever was; what they find is looked up in the views. `words` is
NULL for a unit that recall does not look at: the name of a memory. `length` is how many there are, and
`moments` has the sums of all, since what a word weighs depends on them.
"""

from collections.abc import Iterator

from vault_mcp.storage.index.schema import (
    GRAMS,
    LINKS,
    NOTES,
    OBSERVATIONS,
    PASSAGES,
    RELATIONS,
    TAGS,
    UNITS,
)
from vault_mcp.storage.index.words import ANALYSED

FOREVER = 1 << 61
"""A commit number behind every other."""

_HELD = f", first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL DEFAULT {FOREVER}"

TIMELINE = f"""
CREATE TABLE timeline (mark TEXT NOT NULL);
INSERT INTO timeline VALUES ('');

CREATE TABLE moments (
  seq INTEGER PRIMARY KEY, sha TEXT NOT NULL, entities INTEGER NOT NULL, observations INTEGER NOT NULL,
  relations INTEGER NOT NULL, files INTEGER NOT NULL, units INTEGER NOT NULL, words INTEGER NOT NULL
);
INSERT INTO moments VALUES (0, '', 0, 0, 0, 0, 0, 0);

CREATE TABLE past_files (
  number INTEGER PRIMARY KEY, id INTEGER NOT NULL, path TEXT NOT NULL, folder TEXT NOT NULL,
  stem_key TEXT NOT NULL{_HELD}
);
CREATE INDEX past_files_by_note ON past_files (id);
CREATE INDEX past_files_by_path ON past_files (path);
CREATE INDEX past_files_by_stem ON past_files (stem_key);
CREATE INDEX past_files_by_folder ON past_files (folder);

CREATE TABLE past_blobs (
  id INTEGER NOT NULL, seq INTEGER NOT NULL, blob TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (id, seq)
) WITHOUT ROWID;

CREATE TABLE past_notes (number INTEGER PRIMARY KEY, id INTEGER NOT NULL, {NOTES}{_HELD});
CREATE INDEX past_notes_by_note ON past_notes (id);
CREATE INDEX past_notes_by_name ON past_notes (kind, archived, name_key);
CREATE INDEX past_notes_by_memory ON past_notes (memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE past_observations ({OBSERVATIONS}{_HELD});
CREATE INDEX past_observations_by_time ON past_observations (touched) WHERE touched IS NOT NULL;

CREATE TABLE past_relations ({RELATIONS}{_HELD});
CREATE INDEX past_relations_by_stem ON past_relations (stem_key);

CREATE TABLE past_links ({LINKS}{_HELD});
CREATE INDEX past_links_by_stem ON past_links (stem_key);

CREATE TABLE past_tags ({TAGS}{_HELD});
CREATE TABLE past_passages ({PASSAGES}{_HELD});
CREATE TABLE past_units ({UNITS}, words TEXT, length INTEGER{_HELD});
CREATE VIRTUAL TABLE unit_words USING fts5 (
  words, content = 'past_units', content_rowid = 'id', tokenize = "{ANALYSED}"
);
CREATE VIRTUAL TABLE unit_terms USING fts5vocab (unit_words, row);
CREATE VIRTUAL TABLE unit_instances USING fts5vocab (unit_words, instance);
CREATE TABLE unsettled (id INTEGER PRIMARY KEY);
{GRAMS}
"""

LINES = ("observations", "relations", "links", "tags", "passages", "units")
"""Tables that have many rows for a note."""

_THEN = "first_seq <= (SELECT seq FROM moment) AND last_seq > (SELECT seq FROM moment)"
_BLOB = (
    "(SELECT {} FROM past_blobs b WHERE b.id = f.id AND b.seq <= (SELECT seq FROM moment)"
    " ORDER BY b.seq DESC LIMIT 1)"
)
_MODE = 0o100644
_VIEWED = {
    "notes": f"id, {', '.join(part.split()[0] for part in NOTES.split(','))}",
    **{
        name: ", ".join(part.split()[0] for part in columns.split(","))
        for name, columns in (
            ("observations", OBSERVATIONS),
            ("relations", RELATIONS),
            ("links", LINKS),
            ("tags", TAGS),
            ("passages", PASSAGES),
            ("units", UNITS),
        )
    },
}


def views() -> Iterator[str]:
    """Give the statements that make a connection show what held at the commit in its table `moment`."""
    yield "CREATE TEMP TABLE moment (seq INTEGER NOT NULL)"
    yield "INSERT INTO moment VALUES (0)"
    for name, columns in _VIEWED.items():
        yield f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM past_{name} WHERE {_THEN}"
    yield (
        "CREATE TEMP VIEW files AS SELECT f.id AS id, f.path AS path, f.folder AS folder,"
        f" f.stem_key AS stem_key, {_BLOB.format('b.blob')} AS blob, {_BLOB.format('b.size')} AS size,"
        f" 0 AS mtime_ns, 0 AS ctime_ns, 0 AS ino, {_MODE} AS mode FROM past_files f WHERE {_THEN}"
    )
    yield (
        "CREATE TEMP VIEW word_units AS SELECT id, words, length FROM past_units"
        f" WHERE words IS NOT NULL AND {_THEN}"
    )
    yield (
        "CREATE TEMP VIEW state AS SELECT 1 AS id, sha AS head, sha AS history_head, entities, observations,"
        " relations, files, 0 AS unsettled FROM moments WHERE seq = (SELECT seq FROM moment)"
    )
