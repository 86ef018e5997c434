"""What the vault knows of its notes without reading them: SQLite, derived, made anew at will."""

from vault_mcp.storage.index.database import FILE_NAME, Index, IndexDamaged
from vault_mcp.storage.index.descent import FileChange
from vault_mcp.storage.index.memories import MemoryRow, SessionRow
from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.recall import Scope, Standing, UnitRow, VectorNews, note_of
from vault_mcp.storage.index.replay import replay
from vault_mcp.storage.index.rows import (
    CommitRow,
    Count,
    FactVersion,
    FileRow,
    Filter,
    Findings,
    Found,
    Hit,
    KeyRow,
    NoteRow,
    ObservationRow,
    Page,
    RelationRow,
    Totals,
)
from vault_mcp.storage.index.storable import seen
from vault_mcp.storage.index.writer import IndexWriter

__all__ = [
    "FILE_NAME",
    "CommitRow",
    "Count",
    "FactVersion",
    "FileChange",
    "FileRow",
    "Filter",
    "Findings",
    "Found",
    "Hit",
    "Index",
    "IndexDamaged",
    "IndexWriter",
    "KeyRow",
    "MemoryRow",
    "NoteRow",
    "ObservationRow",
    "Page",
    "Reader",
    "RelationRow",
    "Scope",
    "SessionRow",
    "Standing",
    "Totals",
    "UnitRow",
    "VectorNews",
    "note_of",
    "replay",
    "seen",
]
