"""What is wrong with a vault, and what to do about it: found by looking, nothing is changed.

What the notes say is read from the files, so that it can be held against what the index says.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from vault_mcp.adopt import adopt, missing_lines
from vault_mcp.errors import VaultError
from vault_mcp.follow import LONGEST_NOTE, is_note
from vault_mcp.notes import links, names
from vault_mcp.storage import files, paths
from vault_mcp.storage.git.history import is_merge
from vault_mcp.storage.git.status import Uncommitted, uncommitted
from vault_mcp.storage.index import IndexDamaged
from vault_mcp.storage.watcher import Watcher
from vault_mcp.tools.stamps import disagreements
from vault_mcp.tools.survey import Progress, Survey, look_through
from vault_mcp.vault import Vault

WATCHES_WAIT = 10.0
"""Seconds in which the system must have taken the watches on all folders."""

Level = Literal["fine", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Attributes:
        check: what was looked at, in a word or two.
        level: "problem" wants somebody to act, "note" is worth knowing, "fine" is as it should be.
        text: what is the case, a sentence.
        do: what to do about it, a sentence; "" where nothing has to be done.
        path: the file or folder it is about, as it can be printed; "" for the whole vault.
        fix: what `fix` would do by itself: "lines", "index" or "commit".
    """

    check: str
    level: Level
    text: str
    do: str = ""
    path: str = ""
    fix: Literal["", "lines", "index", "commit"] = ""


def examine(vault: Vault, progress: Progress | None = None) -> list[Finding]:
    """Look at everything and give what was found, the repository first. Nothing is changed.

    Args:
        vault: the vault; one that follows the files by itself may be ahead of what is told.
        progress: told now and then how many files were read.
    """
    survey = look_through(vault.root, progress or (lambda done: None))
    return [
        *_repository(vault),
        *_watching(vault),
        *_lines(vault),
        *_index(vault, survey),
        *_files(survey),
        *_clashes(survey),
        *_notes(survey),
        *_twins(survey),
        *_relations(survey),
        *_stamps(vault),
        *_waiting(vault),
    ]


def mend(vault: Vault, found: Iterable[Finding]) -> list[str]:
    """Do what findings say can be done without a person; give what was done, a sentence each.

    Raises:
        VaultError: the repository must not be written, or the disk says no.
    """
    wanted = {finding.fix for finding in found}
    done = []
    if "lines" in wanted:
        added = adopt(vault.root, trusted=vault.options.trusted).added
        done += [f"Added to {name}: {', '.join(lines)}." for name, lines in added.items()]
    if "index" in wanted:
        vault.reindex()
        done.append("Made the index anew.")
    if "commit" in wanted:
        waiting = [file.path for file in uncommitted(vault.repository.program) if _ours(file)]
        with vault.repository.writing(vault.options.lock_wait) as writer:
            vault.catch_up(writer)
            vault.owed.update(waiting)
            vault.look_again(writer)
        done.append(f"Committed in the name of {vault.person.name}: {_listed(waiting)}.")
    return done


# -- the stamps


def _stamps(vault: Vault) -> Iterator[Finding]:
    """Hold stamps against Git, as far as the index knows the past."""
    try:
        if vault.index.empty:
            return
        if vault.index.history_head != vault.repository.head():
            text = "The stamps were not compared with Git: the index has not read all of history yet."
            yield Finding("stamp", "note", text, "A running server reads it by itself; then look again.")
            return
        merges = functools.cache(functools.partial(is_merge, vault.repository.program))
        with vault.index.reading() as reader:
            for found in disagreements(reader, merges):
                do = "Take the stamp off the line if it is wrong; Git then tells whose it is."
                yield Finding("stamp", "note", found.text, do, paths.shown(found.path))
    except IndexDamaged:
        return


# -- the files


def _files(survey: Survey) -> Iterator[Finding]:
    for path, why in survey.unreadable.items():
        yield Finding("file", "problem", why, path=paths.shown(path))
    for path in survey.odd_names:
        yield Finding(
            "name",
            "problem",
            "The name is not UTF-8, so the file is passed over.",
            "Rename it.",
            paths.shown(path),
        )
    for path, stat in survey.stats.items():
        original = paths.conflict_copy_of(path)
        if original is not None:
            yield Finding(
                "conflict copy",
                "problem",
                f"A sync program put this copy beside {paths.shown(original)}.",
                "Take over what is missing there, then delete the copy.",
                paths.shown(path),
            )
        if is_note(path) and LONGEST_NOTE < stat.size < files.TOO_LARGE:
            yield Finding(
                "note",
                "problem",
                f"It is larger than {LONGEST_NOTE:,} bytes, so it is kept but not read as a note.",
                "Split it.",
                paths.shown(path),
            )


def _clashes(survey: Survey) -> Iterator[Finding]:
    """Find paths that macOS or Windows would take for one: they differ in case or in Unicode form only."""
    folders = {path[:at] for path in survey.stats for at, sign in enumerate(path) if sign == "/"}
    for kind, found in (("folder", folders), ("file", set(survey.stats))):
        by_key = defaultdict(list)
        for path in sorted(found):
            by_key[paths.place_key(path)].append(path)
        for same in by_key.values():
            parents = {path.rpartition("/")[0] for path in same}
            if len(same) > 1 and len(parents) == 1:  # else it is the folders that clash
                yield Finding(
                    "name",
                    "problem",
                    f"{_listed(same)} differ only in case or Unicode form: one {kind} on macOS and Windows.",
                    "Rename all but one.",
                    paths.shown(same[0]),
                )


# -- the notes

_REPAIRS = (
    ("duplicate key", "Keep one of the lines."),
    ("conflict markers", "Choose what holds, and take the markers out."),
    ("front matter is not closed", "Close it with a line of three dashes."),
    ("code fence", "Close it, or take its sign out: it hides what follows."),
    ("more than one of", "Keep the property that says what the note is."),
)


def _notes(survey: Survey) -> Iterator[Finding]:
    for path in survey.not_utf8:
        yield Finding(
            "note",
            "problem",
            "It is not UTF-8 text, so it is kept but not read.",
            "Convert it to UTF-8.",
            paths.shown(path),
        )
    for path, note in survey.notes.items():
        for problem in note.problems:
            repair = next((do for sign, do in _REPAIRS if sign in problem), "Repair it in an editor.")
            text = f"It cannot be read in full: {problem}."
            yield Finding("note", "problem", text, repair, paths.shown(path))


def _twins(survey: Survey) -> Iterator[Finding]:
    called: dict[tuple[str, str], list[str]] = defaultdict(list)
    for note in survey.living():
        if note.kind == "entity":
            called["entity", names.name_key(note.name)].append(note.path)
        elif note.kind == "key":
            called["key", note.name].append(note.path)
        elif note.kind == "memory" and note.id is not None:
            called["memory", str(note.id)].append(note.path)
    for (kind, name), same in called.items():
        if len(same) > 1:
            stem = links.stem_key(names.file_stem(name))
            same.sort(key=lambda path: (links.stem_key(path) != stem, len(path), path))
            yield Finding(
                "twins",
                "problem",
                f"The {kind} {name!r} has {len(same)} notes, {_listed(same)}: tools mean the first.",
                "Join them, or give all but one another name.",
                paths.shown(same[0]),
            )


def _relations(survey: Survey) -> Iterator[Finding]:
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in survey.stats:
        by_stem[links.stem_key(path)].append(path)
    for note in survey.living():
        for relation in note.relations:
            candidates = by_stem.get(links.stem_key(relation.target), ())
            if links.resolve(relation.target, note.path, candidates) is None:
                yield Finding(
                    "relation",
                    "note",
                    f"'{relation.type} [[{relation.target}]]' leads to no note.",
                    "Write that note, or mend the link.",
                    paths.shown(note.path),
                )


# -- Git, the watcher, the index


def _repository(vault: Vault) -> Iterator[Finding]:
    try:
        for found in vault.repository.state():
            yield Finding(found.topic, found.level, found.text)
    except VaultError as error:
        yield Finding("repository", "problem", str(error))


def _watching(vault: Vault) -> Iterator[Finding]:
    troubles = list(vault.troubles)
    mode = vault.watching if vault.watching != "off" else _tried_to_watch(vault.root, troubles.append)
    if mode == "events":
        yield Finding("watcher", "fine", "Hand edits are noticed at once.")
    elif mode == "polling":
        yield Finding("watcher", "note", "Hand edits are noticed by looking again every few seconds.")
    else:
        yield Finding("watcher", "note", f"The watches were not set within {WATCHES_WAIT:g} s.")
    for trouble in dict.fromkeys(troubles):
        yield Finding("background", "note", trouble)


def _tried_to_watch(root: str, on_trouble: Callable[[str], object]) -> str:
    watcher = Watcher(root, lambda told: None, first=3600, every=3600, on_trouble=on_trouble)
    watcher.start()
    try:
        ends, pause = time.monotonic() + WATCHES_WAIT, threading.Event()
        while watcher.mode == "off" and time.monotonic() < ends:
            pause.wait(0.02)
        return watcher.mode
    finally:
        watcher.stop()


def _lines(vault: Vault) -> Iterator[Finding]:
    for name, lines in missing_lines(vault.root).items():
        yield Finding(
            "lines",
            "note",
            f"{name} lacks {', '.join(lines)}.",
            "Add them: vault-mcp doctor --fix",
            name,
            "lines",
        )


def _index(vault: Vault, survey: Survey) -> Iterator[Finding]:
    anew = "Make it anew: vault-mcp reindex"
    try:
        faults = vault.index.check()
        if faults:
            yield Finding("index", "problem", f"The index is damaged: {faults[0]}.", anew, fix="index")
            return
        if vault.index.empty:
            yield Finding("index", "note", "There is no index yet. The next start of a server makes it.")
            return
        with vault.index.reading() as reader:
            known = {row[0]: row[1:] for row in reader.files()}
            totals = reader.totals()
            indexed = totals.entities, totals.observations, totals.relations
    except IndexDamaged:
        yield Finding("index", "problem", "The index is damaged.", anew, fix="index")
        return
    fresh = [path for path in survey.stats if path not in known]
    wrong, behind = _compared(survey, known, vault.repository.ignored(fresh))
    if wrong:
        text = f"The index has other words than {_listed(wrong)}."
        yield Finding("index", "problem", text, anew, fix="index")
    elif behind:
        few = f"Changed since: {_listed(behind)}."
        yield Finding(
            "index", "note", f"The index is behind. {few} The next start of a server takes them in."
        )
    elif (counted := survey.counts()) != indexed:
        text = "The index counts {} entities, {} observations and {} relations; the notes have {}, {} and {}."
        yield Finding("index", "problem", text.format(*indexed, *counted), anew, fix="index")
    else:
        yield Finding("index", "fine", f"The index is in step with the files ({len(known)}).")
    if unread := vault.commits_behind():
        yield Finding("index", "note", f"Commits that the index has still to read: {unread}.")


def _compared(
    survey: Survey, known: dict[str, tuple[str, int, int, int, int, int]], ignored: set[str]
) -> tuple[list[str], list[str]]:
    """Give the files that the index is wrong about, and those that changed since it looked."""
    wrong, behind = [], [path for path in known if path not in survey.stats]
    for path, blob in survey.blobs.items():
        if path in ignored:
            continue
        stat = survey.stats[path]
        facts = (stat.size, stat.mtime_ns, stat.ctime_ns, stat.ino, stat.mode)
        row = known.get(path)
        if row is None or row[1:] != facts:
            behind.append(path)
        elif row[0] != blob:
            wrong.append(path)
    return wrong, behind


def _waiting(vault: Vault) -> Iterator[Finding]:
    """Find what is not in history (yet)."""
    try:
        found = list(uncommitted(vault.repository.program))
    except VaultError as error:
        yield Finding("history", "problem", str(error))
        return
    left = vault.options.hand_edits == "leave"
    for file in found:
        shown = paths.shown(file.path)
        if file.deleted and _evicted(vault, file.path):
            text = "The file is only in the cloud, so it is kept but not read."
            yield Finding("evicted", "note", text, "Download it to have it read.", shown)
        elif file.staged:
            text = "You have staged it, so it is left for you to commit."
            yield Finding("history", "note", text, "Commit it when it is ready.", shown)
        elif not _ours(file):
            continue
        elif left:
            yield Finding("history", "note", "It is not committed: hand edits are left to you.", path=shown)
        else:
            text = "It is not committed yet. The next start of a server does so in your name."
            yield Finding("history", "note", text, "Or now: vault-mcp doctor --fix", shown, "commit")


def _ours(file: Uncommitted) -> bool:
    """Say whether it is for the vault to commit."""
    return not file.staged and not paths.is_hidden(file.path) and _utf8(file.path)


def _evicted(vault: Vault, path: str) -> bool:
    return files.stat(vault.root, paths.placeholder_for(path)) is not None


def _utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(found: Iterable[str], most: int = 3) -> str:
    shown = [paths.shown(path) for path in found]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more
