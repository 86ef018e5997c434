"""Bring in a folder of Markdown notes, or a project of basic-memory, all in one commit.

Plain notes and every other file keep their bytes. A note of basic-memory becomes an entity
(`notes.basic_memory`), under the file name that its title gives, so that `[[Title]]` leads to it in Obsidian
too. A link is written anew only where it would lead elsewhere than it did: by a permalink, or to a note of
the vault that bears the same name. What the vault has under a path is never replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, PathRefused, VaultError
from vault_mcp.notes import basic_memory, links, names
from vault_mcp.notes.entity import set_name
from vault_mcp.storage import files, paths

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.notes.links import Link
    from vault_mcp.vault import Vault

Progress = Callable[[int, int], None]
"""Called with (done, in all) while an import goes on."""

_STEP = 100


@dataclass(slots=True)
class NotesImportReport:
    """What an import did, or would do.

    Attributes:
        commit: the commit it made; None when there was nothing new, and for a dry run.
        folder: where in the vault it lies.
        notes: how many plain notes are new.
        entities: how many entities are new, each a note of basic-memory.
        observations: how many facts those have.
        relations: how many relations those have.
        others: how many other files are new.
        present: how many files were there already, with the same content.
        links: how many links are written anew.
        problems: what was left out.
    """

    commit: str | None = None
    folder: str = ""
    notes: int = 0
    entities: int = 0
    observations: int = 0
    relations: int = 0
    others: int = 0
    present: int = 0
    links: int = 0
    problems: list[str] = field(default_factory=list)


def holds_notes(folder: str) -> bool:
    """Say whether a folder, or one in it, holds a Markdown note that is not hidden."""
    return any(_is_note(path) for path, _ in files.walk(folder))


def import_notes(
    vault: Vault,
    folder: str,
    *,
    by: str,
    source: str,
    into: str,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> NotesImportReport:
    """Bring the files of a folder into the vault.

    Args:
        vault: where they go.
        folder: a folder outside the vault; hidden files, links and repositories in it are passed over.
        by: in whose name it is committed.
        source: what to call the folder in the commit.
        into: the folder of the vault that they go to; "" is its root.
        progress: told from time to time how many files are done.
        dry_run: only say what would be done.

    Raises:
        BadArgument: the folder is the vault, or lies inside it.
        PathRefused: `into` can be no folder of the vault.
        StorageFailed: the folder cannot be listed.
    """
    if (os.path.realpath(folder) + os.sep).startswith(vault.root + os.sep):
        raise BadArgument("This folder is in the vault already. Its notes are part of it as they are.")
    report = NotesImportReport(folder=paths.inside(into))
    incoming = _read(folder, report)
    with vault.change("import", by=by, subject=source) as change:
        _Import(change, incoming, report).run(progress or (lambda done, total: None))
        if dry_run:
            change.pending.clear()
    report.commit = change.receipt.commit
    return report


@dataclass(slots=True)
class _File:
    """One file of the folder: its path there, its bytes, and what basic-memory says of it."""

    path: str
    raw: bytes
    text: str | None = None
    heading: basic_memory.Heading | None = None
    place: str = ""
    """Its path in the vault."""


def _read(folder: str, report: NotesImportReport) -> list[_File]:
    unreadable: list[str] = []
    found = []
    for path in sorted(path for path, _ in files.walk(folder, unreadable=unreadable)):
        try:
            path.encode()
            read = files.read(folder, path)
        except UnicodeEncodeError:
            report.problems.append(f"{paths.shown(path)} is left out: its name is not UTF-8.")
            continue
        except VaultError as error:
            report.problems.append(f"{path} is left out. {error}")
            continue
        if read is not None:
            found.append(_File(path, read[0]))
    report.problems += [
        f"{paths.shown(path)} cannot be listed; what is in it is left out." for path in unreadable
    ]
    for file in found:
        if _is_note(file.path):
            try:
                file.text = file.raw.decode()
            except UnicodeDecodeError:
                continue  # kept byte for byte, like any file that is no text
            file.heading = basic_memory.heading_of(file.text)
    if not any(file.heading and file.heading.permalink for file in found):
        for file in found:  # a title and a type alone are anybody's
            file.heading = None
    return found


class _Import:
    def __init__(self, change: Change, incoming: list[_File], report: NotesImportReport) -> None:
        self.change = change
        self.incoming = incoming
        self.report = report
        self.stems: dict[str, list[str]] = {}
        """Paths in the folder, by the key of the links that may mean them."""
        self.places: dict[str, str] = {}
        self.placed: dict[str, list[str]] = {}
        """Paths in the vault, likewise."""
        self.called: dict[str, str] = {}
        """Places by the title or permalink of a note."""

    def run(self, progress: Progress) -> None:
        """Find the place of every file first, so that links can be followed to it."""
        self.change.look_again()
        for file in self.incoming:
            self.stems.setdefault(links.stem_key(file.path), []).append(file.path)
        self._place_all()
        total = len(self.incoming)
        for number, file in enumerate(self.incoming, 1):
            if file.place:
                try:
                    self._put(file)
                except VaultError as error:
                    self.report.problems.append(f"{file.path} is left out. {error}")
            if number % _STEP == 0 or number == total:
                progress(number, total)

    # -- places

    def _place_all(self) -> None:
        taken: set[str] = set()
        for file in self.incoming:
            try:
                file.place = self._place(file, taken)
            except VaultError as error:
                self.report.problems.append(f"{file.path} is left out. {error}")
        ignored = self.change.vault.repository.ignored([file.place for file in self.incoming if file.place])
        for file in self.incoming:
            if file.place in ignored:
                self.report.problems.append(
                    f"{file.path} is left out: Git ignores {file.place} in the vault."
                )
                file.place = ""
            if not file.place:
                continue
            self.places[file.path] = file.place
            self.placed.setdefault(links.stem_key(file.place), []).append(file.place)
            if file.heading:
                for name in (file.heading.permalink, file.heading.title):
                    if name:
                        self.called.setdefault(_key(name), file.place)

    def _place(self, file: _File, taken: set[str]) -> str:
        """Give a path that every system can store and no other file of the folder has."""
        above, slash, name = file.path.rpartition("/")
        stem, dot, ending = name.rpartition(".")
        if file.heading and file.heading.title:
            stem, dot, ending = names.file_stem(file.heading.title), ".", "md"
        place = self._storable(f"{above}{slash}{stem}{dot}{ending}")
        above, slash, name = place.rpartition("/")
        stem, dot, ending = name.rpartition(".")
        number = 1
        while paths.place_key(place) in taken:
            number += 1
            place = f"{above}{slash}{stem} ({number}){dot}{ending}"
        taken.add(paths.place_key(place))
        return place

    def _storable(self, path: str) -> str:
        whole = f"{self.report.folder}/{path}" if self.report.folder else path
        try:
            return paths.inside(whole)
        except PathRefused:
            *above, name = path.split("/")
            stem, dot, ending = name.rpartition(".")
            cleaned = [
                *map(names.file_stem, above),
                f"{names.file_stem(stem or name)}{dot}{ending if stem else ''}",
            ]
            whole = "/".join(filter(None, (self.report.folder, *cleaned)))
            return paths.inside(whole)

    # -- contents

    def _put(self, file: _File) -> None:
        content = file.raw
        changed = 0
        if file.text is not None:
            text, changed = self._text(file, file.text)
            content = text.encode() if text != file.text else file.raw
        there = self.change.read_bytes(file.place)
        if there is not None:
            if there == content:
                self.report.present += 1
            else:
                self.report.problems.append(
                    f"{file.path} is left out: {file.place} is in the vault with other words, which stay."
                )
            return
        if files.kind(self.change.vault.root, file.place) is not None:
            raise BadArgument(f"Something that is no file stands at {file.place}.")
        self.change.write(file.place, content)
        self.report.links += changed
        self._count(file)

    def _text(self, file: _File, text: str) -> tuple[str, int]:
        changed = 0

        def new_target(link: Link) -> tuple[str, str | None] | None:
            nonlocal changed
            target = self._target(file, link)
            changed += target is not None
            return target

        if file.heading is not None:
            text = basic_memory.as_entity(text)
            stem = file.place.rpartition("/")[2][: -len(".md")]
            text = set_name(text, file.heading.title or stem, stem)
        return links.rewrite_links(text, new_target), changed

    def _target(self, file: _File, link: Link) -> tuple[str, str | None] | None:
        """Give what a link must say in the vault to mean what it meant in the folder; None where it does."""
        if not link.target:
            return None
        meant = links.resolve(link.target, file.path, self.stems.get(links.stem_key(link.target), ()))
        place = self.places.get(meant) if meant else None
        if meant is None and file.heading:
            place = self.called.get(_key(link.target))
        if place is None or self._resolved(link.target, file.place) == place:
            return None
        if link.markdown:
            return links.markdown_target(link, file.place, place), link.shown
        target = place.removesuffix(".md")
        stem = target.rpartition("/")[2]
        if self._resolved(stem, file.place) == place:
            target = stem
        return target, link.target if link.shown is None and not link.embed else link.shown

    def _resolved(self, target: str, place: str) -> str | None:
        key = links.stem_key(target)
        with self.change.vault.snapshot() as reader:
            return links.resolve(target, place, [*self.placed.get(key, ()), *reader.paths_with_stem(key)])

    def _count(self, file: _File) -> None:
        if file.heading is None:
            if file.text is None:
                self.report.others += 1
            else:
                self.report.notes += 1
            return
        note = self.change.note(file.place)
        self.report.entities += 1
        if note is not None:
            self.report.observations += len(note.observations)
            self.report.relations += len(note.relations)


def _key(name: str) -> str:
    return names.name_key(name).removesuffix(".md")


def _is_note(path: str) -> bool:
    return path[-3:].lower() == ".md"
