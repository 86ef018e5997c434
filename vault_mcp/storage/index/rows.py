"""What the index answers with: plain rows, frozen, with text as it stands in the notes."""

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from vault_mcp.notes.line import Source, Stamp
from vault_mcp.notes.note import Kind
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index.descent import FileChange

Row = TypeVar("Row")

UnitKind = Literal["name", "observation", "passage", "value"]
"""What a search hits of a note: its name (with type, aliases, tags), a fact, a piece of prose, a value."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the index last saw it: its Git blob (40 or 64 hex digits) and what the disk told of it."""

    path: str
    blob: str
    stat: FileStat


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note without its lines. `id` holds only within one snapshot.

    `added_at` and `agent` are the note's own; for a note that a person made they are what Git tells, and None
    while that is not known. `archived` notes can be found, but are no part of the graph.
    """

    id: int
    path: str
    kind: Kind
    name: str
    type: str
    added_at: str | None
    agent: str | None
    archived: bool
    aliases: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """One observation with who added and edited it, from its stamp or else from Git; None: not known (yet).

    `stamped` says whether the line itself carries a stamp; `by_hand` whether its words are a person's: typed
    without a stamp, or changed by hand after it.
    """

    note: int
    text: str
    added_at: str | None
    agent: str | None
    edited_at: str | None
    edited_by: str | None
    superseded: bool
    stamped: bool
    by_hand: bool
    superseded_at: str = ""
    superseded_by: str = ""
    replacement: str | None = None
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One relation with both ends named. `to_path` is None while no file is what the link means: it dangles.

    `from_kind` and `to_kind` tell entities from other notes; `to_name` of a dangling one is the link's own
    words.
    """

    from_note: int
    from_path: str
    from_name: str
    from_kind: Kind
    from_archived: bool
    type: str
    to_note: int | None
    to_path: str | None
    to_name: str
    to_kind: Kind | None
    to_archived: bool
    target: str
    shown: str | None
    added_at: str | None
    agent: str | None
    stamped: bool

    @property
    def dangling(self) -> bool:
        """Whether no note is there yet that the link means."""
        return self.to_path is None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which stamps count: `since` inclusive, `before` exclusive (both in epoch seconds), `agent` exactly."""

    since: int | None = None
    before: int | None = None
    agent: str | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.before is not None or self.agent is not None


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, and the cursor from which the next ones follow; None when these were the last."""

    rows: tuple[Row, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Totals:
    """How much the graph holds (archived notes left out)."""

    entities: int
    observations: int
    relations: int
    files: int


@dataclass(frozen=True, slots=True)
class Count:
    """How often something occurs."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key with its value, exactly."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class CommitRow:
    """One commit of the first-parent chain. `at` is the author time in seconds since 1970.

    `seq` is its number along the chain, from 1; 0 in a row that was not read from the index. A commit that
    came with a merge has the merge's number, its hash in `came_with`; `place` counts those of one merge
    from 1, the oldest first.
    """

    sha: str
    parent: str | None
    at: int
    author: str
    tool: str = ""
    session: str = ""
    subject: str = ""
    seq: int = field(default=0, compare=False)
    came_with: str = field(default="", compare=False)
    place: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class SideChange:
    """A commit that came with a merge.

    `files` are (path before, blob before, path after, blob after), None where there was no file; `words` are
    the texts of the facts that came or went, one a line; `changes` tell of each path with its facts.
    """

    row: CommitRow
    files: tuple[tuple[str | None, str | None, str | None, str | None], ...]
    words: str
    changes: tuple[FileChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which commits are asked for; what is not given does not ask.

    Attributes:
        lineages: those that touched one of these notes.
        agent: those of this author, by exact name.
        tool: those of this tool.
        session: those of this session.
        since: those made at or after this second.
        before: those made before this second.
        text: those whose subject, or a fact that came or went, holds this text, case aside.
        above: those behind the commit of this number.
    """

    lineages: tuple[int, ...] | None = None
    agent: str = ""
    tool: str = ""
    session: str = ""
    since: int | None = None
    before: int | None = None
    text: str = ""
    above: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file was at one commit, and its bytes: both None where there was none."""

    path: str | None
    blob: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """What a commit did to one file: where it lay and what it held before and after."""

    lineage: int
    before: Place
    after: Place


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One version of a fact: its words and stamp from commit `first` until before commit `last`.

    Commits are numbered along the first-parent chain, from 1. `added` is the one that first brought the fact,
    `edited` the one that changed its words without the stamp telling so, `previous` the `id` of the version
    before, which may have stood in another note. Where one of these is a merge, the `..._place` says which of
    the commits that came with it did so; 0 for the merge itself.
    """

    id: int
    kind: str
    text: str
    stamp: Stamp | None
    first: int
    last: int | None
    added: int
    edited: int | None
    previous: int | None
    first_place: int = 0
    added_place: int = 0
    edited_place: int = 0
    lineage: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """One place in a note that a search hit; `rank` counts from 1 over all hits of a page of results.

    `text` is as it stands in the note: the name, the observation, the passage or the value.
    """

    rank: int
    score: float
    kind: UnitKind
    text: str
    observation: ObservationRow | None = None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A note that a search found. `hits` are its best ones, `more` says how many were left out."""

    note: NoteRow
    score: float
    hits: tuple[Hit, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """One page of a search.

    `total` counts the notes that match. When a term is so common that not all could be looked at, `exact` is
    false, `total` is an estimate, and only the `ranked` best candidates can be paged through.
    """

    found: tuple[Found, ...]
    total: int
    exact: bool
    ranked: int
    cursor: str | None
