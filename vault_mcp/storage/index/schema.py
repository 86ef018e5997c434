"""The tables of the index, and how their rows are numbered.

A note's rows are numbered `note << 24 | n`. One primary key then finds a row, keeps the rows of a note side
by side, and answers "all of this note" as a range, so that no second index has to be written. `n` is 0 for
what a note has once (its searched name); observations, passages and values share one count per note, since
each is also a unit of search under the same number.

Two floors. *Current* tables say what the files hold now; they are in step with the commit `state.head`.
*History* tables say what was there before, up to the commit `state.history_head`, which may lie behind.
"""

VERSION = 6
"""Raised whenever a table changes: an index of another version is thrown away and made anew."""

ARCHIVE = "archive/"
"""Notes under this folder are kept and can be found, but are no part of the graph."""

SHIFT = 24
MOST_ROWS = (1 << SHIFT) - 1
"""Rows that one note may have of each table."""

NAME, OBSERVATION, SUPERSEDED, PASSAGE, VALUE = range(5)
"""`units.role`: what of a note a search hits."""

GIT_ADDED, GIT_EDITED, BY_TOOL = 1, 2, 4
"""Bits of `from_git`: which of a line's dates come from Git and no stamp, and that a tool made the commit.

Where Git tells the last edit, `said_at` and `said_by` keep what the stamp says of an edit before it.
"""

SEGMENTS = 8
"""How many parts of a full-text index are merged into one. With 4, as SQLite has it, a new one takes a third
longer, and is asked no quicker."""

_DATES = """
  added_at TEXT, agent TEXT, edited_at TEXT, edited_by TEXT,
  from_git INTEGER NOT NULL, added INTEGER, edited INTEGER, said_at TEXT, said_by TEXT"""

NOTES = """
  kind TEXT NOT NULL, archived INTEGER NOT NULL, name_key TEXT NOT NULL,
  name TEXT NOT NULL, type TEXT NOT NULL, created TEXT, agent TEXT, added INTEGER, added_by TEXT,
  memory_id INTEGER, importance INTEGER, session TEXT NOT NULL, more TEXT"""
OBSERVATIONS = f"""
  id INTEGER PRIMARY KEY, position INTEGER NOT NULL, text TEXT NOT NULL, superseded INTEGER NOT NULL,{_DATES},
  touched INTEGER, more TEXT"""
RELATIONS = f"""
  id INTEGER PRIMARY KEY, position INTEGER NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, shown TEXT,
  stem_key TEXT NOT NULL,{_DATES}, more TEXT"""
LINKS = "id INTEGER PRIMARY KEY, stem_key TEXT NOT NULL"
TAGS = "id INTEGER PRIMARY KEY, tag TEXT NOT NULL"
PASSAGES = "id INTEGER PRIMARY KEY, position INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL"
UNITS = "id INTEGER PRIMARY KEY, role INTEGER NOT NULL, folded TEXT NOT NULL"
"""Columns, which the timeline has too (see `timeline_schema`)."""

GRAMS = f"""
CREATE VIRTUAL TABLE grams USING fts5 (
  folded, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1'
);
INSERT INTO grams (grams, rank) VALUES ('automerge', {SEGMENTS});
CREATE VIRTUAL TABLE gram_rows USING fts5vocab (grams, instance);
"""

CURRENT = f"""
CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  head TEXT, history_head TEXT,
  entities INTEGER NOT NULL, observations INTEGER NOT NULL, relations INTEGER NOT NULL,
  files INTEGER NOT NULL,
  unsettled INTEGER NOT NULL
);
INSERT INTO state VALUES (1, NULL, NULL, 0, 0, 0, 0, 0);

CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, folder TEXT NOT NULL, stem_key TEXT NOT NULL,
  blob TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  ino INTEGER NOT NULL, mode INTEGER NOT NULL
);
CREATE INDEX files_by_stem ON files (stem_key);
CREATE INDEX files_by_folder ON files (folder);

CREATE TABLE notes (id INTEGER PRIMARY KEY, {NOTES});
CREATE INDEX notes_by_name ON notes (kind, archived, name_key);
CREATE INDEX notes_by_memory ON notes (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX notes_by_session ON notes (session, memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE observations ({OBSERVATIONS});
CREATE INDEX observations_by_time ON observations (touched) WHERE touched IS NOT NULL;

CREATE TABLE relations ({RELATIONS});
CREATE INDEX relations_by_stem ON relations (stem_key);

CREATE TABLE links ({LINKS});
CREATE INDEX links_by_stem ON links (stem_key);

CREATE TABLE tags ({TAGS});

CREATE TABLE passages ({PASSAGES});

CREATE TABLE units ({UNITS});
CREATE TABLE unsettled (id INTEGER PRIMARY KEY);
CREATE TABLE settled_dead (id INTEGER PRIMARY KEY, folded TEXT NOT NULL);
{GRAMS}
"""

HISTORY = """
CREATE TABLE history_mark (mark TEXT NOT NULL);
INSERT INTO history_mark VALUES (hex(randomblob(8)));

CREATE TABLE commits (
  seq INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, latest INTEGER NOT NULL,
  author TEXT NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL, subject TEXT NOT NULL
);

CREATE TABLE places (
  id INTEGER PRIMARY KEY, lineage INTEGER NOT NULL, path TEXT NOT NULL, first_seq INTEGER NOT NULL,
  last_seq INTEGER
);
CREATE INDEX places_by_path ON places (path, last_seq);
CREATE INDEX places_by_lineage ON places (lineage);

CREATE TABLE lineage_commits (
  lineage INTEGER NOT NULL, seq INTEGER NOT NULL, blob TEXT, PRIMARY KEY (lineage, seq)
) WITHOUT ROWID;
CREATE INDEX lineage_commits_by_seq ON lineage_commits (seq);

CREATE TABLE sides (
  seq INTEGER NOT NULL, place INTEGER NOT NULL, sha TEXT NOT NULL UNIQUE, parent TEXT, at INTEGER NOT NULL,
  author TEXT NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL, subject TEXT NOT NULL, words TEXT NOT NULL,
  PRIMARY KEY (seq, place)
) WITHOUT ROWID;

CREATE TABLE side_files (
  seq INTEGER NOT NULL, place INTEGER NOT NULL, lineage INTEGER, old_path TEXT, old_blob TEXT, path TEXT,
  blob TEXT
);
CREATE INDEX side_files_by_change ON side_files (seq, place);

CREATE TABLE undated (path TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE facts (
  id INTEGER PRIMARY KEY, lineage INTEGER NOT NULL, kind TEXT NOT NULL, key INTEGER NOT NULL, text TEXT NOT
  NULL, stamp TEXT, first_seq INTEGER NOT NULL, last_seq INTEGER, added_seq INTEGER NOT NULL, edit_seq
  INTEGER, previous INTEGER, first_place INTEGER NOT NULL, added_place INTEGER NOT NULL, edit_place INTEGER
  NOT NULL
);
CREATE INDEX facts_by_lineage ON facts (lineage, key);
"""

HISTORY_TABLES = ("commits", "places", "lineage_commits", "facts", "sides", "side_files")
"""The tables of the past."""
