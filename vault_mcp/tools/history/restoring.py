"""Steps back as steps forward: a note as it was, or changes undone, each as one new commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.change import Change, version_of
from vault_mcp.errors import AlreadyThere, BadArgument, NotFound, Stale
from vault_mcp.receipt import as_record
from vault_mcp.storage import paths
from vault_mcp.storage.git.history import been_at, parents_of
from vault_mcp.storage.index.lineages import NOW
from vault_mcp.storage.index.rows import Wanted
from vault_mcp.tools.history.moments import change_of, moment_of, written
from vault_mcp.tools.history.records import BY_PERSON, DIGITS, Json
from vault_mcp.tools.history.target import Then, lineages_of, path_of, then
from vault_mcp.tools.history.undoing import LINK, InTheWay, TakingBack, in_the_way
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.storage.index import CommitRow, Reader
    from vault_mcp.vault import Vault

MOST = 500
"""Changes that one call takes back."""

NAMED = 5
"""Facts in the way that a message names."""


def history_restore(vault: Vault, caller: Caller, note: str, at: str = "", if_version: str = "") -> Json:
    """Bring a note, a file or a folder back as it was, as one new change."""
    vault.read_past()
    with _change(vault, caller, "history_restore", note, if_version) as change, vault.snapshot() as reader:
        seq = moment_of(reader, at, "at").seq if at.strip() else _before_deletion(reader, note)
        folder = _folder(reader, note, seq)
        if folder:
            told = _restore_folder(change, reader, folder, seq)
        else:
            told = _restore_note(change, reader, then(vault, reader, note, seq), seq)
    return {**told, "receipt": as_record(change.receipt)}


def _before_deletion(reader: Reader, said: str) -> int:
    """Give the last commit at which something that was deleted since was there."""
    gone = [reader.last_place(lineage)[1] for lineage in lineages_of(reader, said)]
    if not any(gone):
        raise BadArgument(f"{said!r} is there now. Say with `at` from when it is to be brought back.")
    return max(gone) - 1


def _folder(reader: Reader, said: str, seq: int) -> list[tuple[str, int]]:
    """Give the files of a folder at a commit, where a path means a folder; else nothing."""
    if reader.note_named(said) is not None:
        return []
    path = path_of(said.strip())
    return reader.lineages_below(path, seq) if path else []


def _restore_note(change: Change, reader: Reader, found: Then, seq: int) -> Json:
    place = reader.lay(found.lineage) or found.path
    if paths.is_hidden(place):
        raise BadArgument(f"{place} belongs to another program, which brings it back itself.")
    change.expect(place)
    moved = place != found.path
    _see_that_free(change, place)
    change.write(place, found.raw, mode=_mode(change, reader, found.path, seq))
    told: Json = {"restored": [place], "version": version_of(found.raw)}
    if moved:
        told["message"] = f"It was {found.path} then and stays at {place}, where it was moved since."
    return told


def _restore_folder(change: Change, reader: Reader, folder: list[tuple[str, int]], seq: int) -> Json:
    """Put back every file of a folder; what came since stays, what was moved out stays where it is."""
    restored: list[str] = []
    left: list[str] = []
    for path, lineage in folder:
        place = reader.place(lineage, seq)
        elsewhere = reader.lay(lineage)
        if place.blob is None or paths.is_hidden(path):
            continue
        if elsewhere is not None and elsewhere != path:
            left.append(f"{path} was moved to {elsewhere} and stays there")
            continue
        raw = change.vault.repository.blob(place.blob)
        if change.read_bytes(path) != raw:
            _see_that_free(change, path)
            change.write(path, raw, mode=_mode(change, reader, path, seq))
            restored.append(path)
    told: Json = {"restored": restored}
    if left:
        told["left"] = left
    return told


def _see_that_free(change: Change, path: str) -> None:
    """See that a file can be put at a path.

    Raises:
        AlreadyThere: a folder is there now, or a file where one of its folders was.
    """
    there = "" if change.exists(path) else in_the_way(change, path)
    if there:
        raise AlreadyThere(
            f"{paths.shown(path)} {there}. Move that away, then call again. Nothing was saved."
        )


def _mode(change: Change, reader: Reader, path: str, seq: int) -> int | None:
    """Give Git's mode of a file then, for one that is not there now.

    Raises:
        BadArgument: it was a symbolic link.
    """
    commit = reader.commit_number(seq if seq != NOW else reader.last_seq)
    mode = change.vault.repository.mode_at(commit.sha, path) if commit else None
    if mode == LINK:
        raise BadArgument(
            f"{path} was a symbolic link, which the vault leaves alone. Bring it back with Git."
        )
    return None if change.exists(path) else mode


def history_undo(
    vault: Vault,
    caller: Caller,
    change: str = "",
    session: str = "",
    agent: str = "",
    since: str = "",
    on_conflict: str = "stop",
    if_version: str = "",
) -> Json:
    """Take back one change, those of a session, or an agent's since a moment, as one new change."""
    ways = [bool(change.strip()), bool(session.strip()), bool(since.strip())]
    if sum(ways) != 1 or (agent.strip() and not since.strip()):
        raise BadArgument(
            "Say one thing to undo: a change, a session, or since (with an agent, else your own)."
        )
    vault.read_past()
    with vault.snapshot() as reader:
        doomed = _doomed(vault, reader, caller, change, session, agent, since)
        _refuse_others(vault, caller, doomed)
    subject = _subject(doomed)
    with _change(vault, caller, "history_undo", subject, if_version) as doing:
        with vault.snapshot() as reader:
            taking = TakingBack(doing, reader)
            done = [row for row in doomed if taking.take_back(row)]
        if taking.obstacles and on_conflict == "stop":
            raise Stale(_in_the_way(taking.obstacles))
    result: Json = {
        "undone": [
            {"change": row.sha[:DIGITS], "by": row.author, "at": written(row.at), "subject": row.subject}
            for row in done
        ],
    }
    if taking.obstacles:
        result["skipped"] = [
            {"note": paths.shown(one.note), "text": one.text, "why": one.why} for one in taking.obstacles
        ]
    if doing.receipt.commit is None:
        why = (
            "All of it is in the way of later edits"
            if taking.obstacles
            else "Nothing of it is there any more"
        )
        result["message"] = f"{why}, so nothing was changed."
    return {**result, "receipt": as_record(doing.receipt)}


def _change(vault: Vault, caller: Caller, tool: str, subject: str, if_version: str) -> Change:
    return vault.change(
        tool,
        by=caller.agent,
        session=caller.session,
        subject=subject,
        if_version=if_version,
        person=caller.person,
    )


def _doomed(
    vault: Vault, reader: Reader, caller: Caller, change: str, session: str, agent: str, since: str
) -> list[CommitRow]:
    """Give the changes that are meant, the newest first."""
    if change.strip():
        row = change_of(reader, change)
        _refuse_forwarded(vault, reader, row)
        return [row]
    if session.strip():
        page = reader.find_changes(MOST, where=Wanted(session=session.strip()))
        missing = f"No change belongs to the session {session!r}."
    else:
        by = agent.strip() or caller.agent
        moment = moment_of(reader, since, "since")
        above = moment.seq - 1 if _names_change(reader, since) else moment.seq
        page = reader.find_changes(MOST, where=Wanted(agent=by, above=above))
        missing = f"{by} has made no change since then."
    merges = set(reader.with_sides(row.seq for row in page.rows))
    rows = [row for row in page.rows if row.place or row.seq not in merges]  # what it brought is among them
    if not rows:
        raise NotFound(f"{missing} See history_log for the changes there are.")
    if page.cursor:
        raise BadArgument(f"These are more than {MOST} changes. Undo them in parts, the newest first.")
    return rows


def _refuse_forwarded(vault: Vault, reader: Reader, row: CommitRow) -> None:
    """Refuse to undo a merge that another machine made: what came with it there is what was made here.

    Raises:
        BadArgument: with what to do instead.
    """
    if row.place or not reader.with_sides([row.seq]):
        return
    brought = {side.sha for side in reader.brought_by([row.seq], -1)}
    brought.update(parents_of(vault.repository.program, row.sha)[1:])
    if brought.intersection(been_at(vault.repository.program, vault.repository.branch())):
        raise BadArgument(
            f"Change {row.sha[:DIGITS]} is a merge that another machine made: it brought there what was made "
            "on this one, and undoing it would take that back. Nothing was saved. Undo the single changes; "
            "history_log lists them."
        )


def _names_change(reader: Reader, since: str) -> bool:
    """Say whether a moment was given as a change, which then is one of those to undo."""
    said = since.strip().lower()
    return bool(reader.commits_beginning(said, 1)) if len(said) >= 7 and said.isalnum() else False


def _refuse_others(vault: Vault, caller: Caller, doomed: list[CommitRow]) -> None:
    """Let an agent take back its own changes alone, unless the owner wants it otherwise."""
    if caller.person or vault.options.undo_others:
        return
    for row in doomed:
        if row.author != caller.agent or row.tool in BY_PERSON:
            raise BadArgument(
                f"Change {row.sha[:DIGITS]} is {row.author}'s, and here an agent undoes its own alone. "
                "The owner can undo it with `vault-mcp undo`, or set undo_others = true."
            )


def _subject(doomed: list[CommitRow]) -> str:
    first = doomed[0]
    if len(doomed) == 1:
        return f"{first.subject} ({first.sha[:DIGITS]})"
    return f"{len(doomed)} changes, {doomed[-1].sha[:DIGITS]} to {first.sha[:DIGITS]}"


def _in_the_way(obstacles: list[InTheWay]) -> str:
    named = [f"“{one.text}” in {paths.shown(one.note)} {one.why}" for one in obstacles[:NAMED]]
    more = f", and {len(obstacles) - NAMED} more" if len(obstacles) > NAMED else ""
    return (
        f"Later edits stand in the way: {'; '.join(named)}{more}. "
        'Call again with on_conflict "skip" to leave these and undo the rest.'
    )
