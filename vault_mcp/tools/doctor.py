"""What is wrong with a vault, and what to do about it: found by looking, nothing is changed.

What the notes say is read from the files, so that it can be held against what the index says.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from vault_mcp.adopt import adopt, missing_lines
from vault_mcp.errors import VaultError
from vault_mcp.storage import files, paths
from vault_mcp.storage.git.history import is_merge
from vault_mcp.storage.git.status import Uncommitted, uncommitted
from vault_mcp.storage.index import IndexDamaged
from vault_mcp.storage.watcher import Watcher
from vault_mcp.tools.faults import faults
from vault_mcp.tools.finding import Finding, listed
from vault_mcp.tools.history.moments import written
from vault_mcp.tools.stamps import disagreements
from vault_mcp.tools.survey import Progress, Survey, look_through
from vault_mcp.vault import Vault

CLOCKS_NAMED = 3
"""Commits with a time to come that are named."""

WATCHES_WAIT = 10.0
"""Seconds in which the system must have taken the watches on all folders."""


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
        *_timeline(vault),
        *_clocks(vault),
        *faults(survey, vault.repository.ignored),
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
    if "timeline" in wanted:
        vault.timekeeping.forget()
        done.append("Began the timeline of the past anew.")
    if "commit" in wanted:
        waiting = [file.path for file in uncommitted(vault.repository.program) if _ours(file)]
        with vault.repository.writing(vault.options.lock_wait) as writer:
            vault.catch_up(writer)
            vault.owed.update(waiting)
            vault.look_again(writer)
        done.append(f"Committed in the name of {vault.person.name}: {listed(waiting)}.")
    if "upkeep" in wanted:
        vault.repository.tidy()
        done.append("Had Git pack what lay loose.")
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


# -- Git, the watcher, the index


def _repository(vault: Vault) -> Iterator[Finding]:
    try:
        for found in vault.repository.state():
            due = found.topic == "upkeep"
            do = "A running server sees to it. Or now: vault-mcp doctor --fix" if due else ""
            yield Finding(found.topic, found.level, found.text, do, fix="upkeep" if due else "")
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
        text = f"The index has other words than {listed(wrong)}."
        yield Finding("index", "problem", text, anew, fix="index")
    elif behind:
        few = f"Changed since: {listed(behind)}."
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


def _timeline(vault: Vault) -> Iterator[Finding]:
    for fault in vault.timekeeping.check()[:1]:
        yield Finding(
            "index",
            "problem",
            f"The timeline, from which the past is answered, is damaged: {fault}.",
            "Make it anew: vault-mcp doctor --fix",
            fix="timeline",
        )


def _clocks(vault: Vault) -> Iterator[Finding]:
    """Find commits whose time is still to come, as far as the index knows the past."""
    try:
        if vault.index.empty:
            return
        with vault.index.reading() as reader:
            ahead = reader.commits_ahead(int(time.time()), CLOCKS_NAMED + 1)
    except IndexDamaged:
        return
    if ahead:
        few = ", ".join(f"{row.sha[:12]} ({written(row.at)[:10]})" for row in ahead[:CLOCKS_NAMED])
        more = " and more" if len(ahead) > CLOCKS_NAMED else ""
        text = (
            f"Commits whose time is still to come: {few}{more}. Where moments are asked for, it is ignored."
        )
        yield Finding("clock", "note", text, "Set the clock of the machine that made them, if it is wrong.")


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
        elif not file.deleted and files.kind(vault.root, file.path) == "link":
            text = "It is a symbolic link, which the vault leaves alone, so it is not committed."
            yield Finding("history", "note", text, "Commit it with Git, or have Git ignore it.", shown)
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
