"""What the page is told: the tools' own answers, put together for a person who looks around."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from typing import Any

from vault_mcp.errors import (
    BadArgument,
    NotFound,
    RepositoryRefused,
    Stale,
    StorageFailed,
    VaultBusy,
    VaultError,
)
from vault_mcp.tools.graph.drawing import draw_graph
from vault_mcp.tools.graph.neighbours import neighbours
from vault_mcp.tools.graph.reading import search_nodes
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.tools.history.blame import history_blame
from vault_mcp.tools.history.calendar import history_calendar
from vault_mcp.tools.history.looking import history_log, history_show, in_words
from vault_mcp.tools.history.moments import change_of, written
from vault_mcp.tools.history.restoring import history_undo
from vault_mcp.tools.memories.recalling import memory_recall
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

Json = dict[str, Any]
Asked = Mapping[str, str]

STALE_TRIES = 8

FILES = 12
"""Files of a change whose facts the timeline shows; the change's own page shows all."""

LINES = 2_000
"""Lines of a note that are shown."""

FOUND = 20
"""Results of one search."""


class Answers:
    """One vault, as the page asks for it. Safe to use from several threads.

    With `read_only` nothing can be undone.
    """

    def __init__(self, vault: Vault, person: Caller, *, read_only: bool = False) -> None:
        self._vault = vault
        self._person = person
        self._read_only = read_only

    def about(self, asked: Asked) -> Json:
        """Tell which vault this is, who its person is, and on which days it changed."""
        told = history_calendar(self._vault, self._person)
        return told | {
            "name": os.path.basename(self._vault.root) or self._vault.root,
            "person": self._person.agent,
            "read_only": self._read_only,
            "now": written(int(time.time())),
            "head": self._vault.repository.head(),
        }

    def changes(self, asked: Asked) -> Json:
        """Give a page of the timeline: changes with their facts in words, the newest first."""
        wanted = {
            name: asked[name]
            for name in ("note", "agent", "tool", "session", "since", "before", "text", "cursor")
            if asked.get(name)
        }
        told: Json = history_log(self._vault, self._person, limit=_count(asked, "limit", 20, 50), **wanted)
        with self._vault.remembering() as reader:
            for change in told["changes"]:
                row = change_of(reader, change["change"])
                left = in_words(self._vault, reader, row, change, FILES)
                change["more_files"] = max(0, len(change["paths"]) + change.get("more_paths", 0) - FILES)
                if left:
                    change["more_facts"] = left
        return told

    def change(self, asked: Asked) -> Json:
        """Give one change whole, with its diff."""
        return history_show(self._vault, self._person, asked.get("change", ""))

    def note(self, asked: Asked) -> Json:
        """Give one note: its lines with who wrote each, its properties, its links and backlinks."""
        said, at = asked.get("note", ""), asked.get("at", "")
        if not said.strip():
            raise BadArgument("Say which note.")
        told: Json = history_blame(self._vault, self._person, note=said, at=at, limit=LINES)
        told.pop("next_cursor", None)
        with reading_at(self._vault, at) as reader:
            row = reader.note_at(told["note"])
            if row is None:
                return told | {"name": told["note"].rpartition("/")[2], "kind": "file"}
            told |= {
                "name": row.name,
                "kind": row.kind,
                "type": row.type,
                "added_at": row.added_at,
                "added_by": row.agent,
                "aliases": list(row.aliases),
                "problems": list(row.problems),
                "archived": row.archived,
                "tags": list(reader.tags_of(row.id)),
            }
            return told | neighbours(self._vault, reader, row, then=bool(at.strip()))

    def search(self, asked: Asked) -> Json:
        """Find notes by words and by meaning; of another day by words alone."""
        query, at = asked.get("query", ""), asked.get("at", "")
        if at.strip():
            past: Json = search_nodes(self._vault, self._person, query, limit=FOUND, as_of=at)
            first: dict[str, str] = {}
            for hit in past["hits"]:
                first.setdefault(hit["entityName"], hit["observation"])
            results = [
                {
                    "name": one["name"],
                    "note": one["note"],
                    "family": one["entityType"],
                    "text": first.get(one["name"], ""),
                    "by": one["agent"],
                    "stored_at": one["added_at"],
                    "why": "",
                }
                for one in past["entities"]
            ]
            return {"results": results, "total_found": past["total"]["found"]}
        limit = _count(asked, "limit", FOUND, 100)
        found: Json = memory_recall(
            self._vault, self._person, query, limit=limit, family=asked.get("family") or "all"
        )
        return found

    def graph(self, asked: Asked) -> Json:
        """Give the graph to draw."""
        return draw_graph(self._vault, self._person, as_of=asked.get("at", ""))

    def undo(self, asked: Mapping[str, object]) -> Json:
        """Take a change back, in the person's name."""
        if self._read_only:
            raise BadArgument("The page was opened to read only, so nothing was undone.")
        change, skip = asked.get("change"), asked.get("skip", False)
        if not isinstance(change, str) or not isinstance(skip, bool):
            raise BadArgument("Say which change is to be undone, by its digits. Nothing was undone.")
        for _ in range(STALE_TRIES):
            with contextlib.suppress(_StaleOnce):
                return self._undo(change, skip=skip)
        return self._undo(change, skip=skip)

    def _undo(self, change: str, *, skip: bool) -> Json:
        try:
            return history_undo(
                self._vault, self._person, change=change, on_conflict="skip" if skip else "stop"
            )
        except Stale as error:
            if error.retry:
                raise _StaleOnce(str(error), retry=True) from error
            raise

    def signature(self) -> str:
        """Give what changes whenever the vault has; for whoever waits for news."""
        return self._vault.repository.head() or ""


class _StaleOnce(Stale):
    """A note changed under the call while it read: the call is made again."""


def _count(asked: Asked, name: str, usual: int, most: int) -> int:
    said = asked.get(name, "")
    if not said:
        return usual
    if not (said.isascii() and said.isdecimal() and 1 <= int(said[:9]) <= most):
        raise BadArgument(f"{name} has to be a number from 1 to {most}.")
    return int(said)


def status_of(error: VaultError) -> int:
    """Give the HTTP status that says what kind of error this is."""
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, Stale):
        return 409
    return 503 if isinstance(error, (RepositoryRefused, VaultBusy, StorageFailed)) else 400
