"""`vault-mcp log`, `show`, `diff`, `blame`, `restore` and `undo`: the past at the command line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from vault_mcp.doors.cli_terminal import for_shell
from vault_mcp.doors.cli_vault import json_option, opened, settings_of, vault_option
from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.notes.line import clean_agent
from vault_mcp.tools.history.blame import history_blame
from vault_mcp.tools.history.looking import history_diff, history_log, history_show
from vault_mcp.tools.history.reading import history_read
from vault_mcp.tools.history.restoring import history_restore, history_undo
from vault_mcp.tools.history.since import history_since
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

DIGITS = 12

Told = Mapping[str, Any]


@click.command(epilog='Example: vault-mcp log "Ada Lovelace" --since "2 weeks ago"')
@click.argument("note", default="")
@vault_option
@click.option("--agent", default="", metavar="NAME", help="Only changes by this agent or person.")
@click.option("--tool", default="", metavar="NAME", help="Only changes by this tool; hand-edit for yours.")
@click.option("--session", default="", metavar="ID", help="Only changes of this session.")
@click.option("--since", default="", metavar="WHEN", help='A time, "2 weeks ago", or digits of a change.')
@click.option("--before", default="", metavar="WHEN", help="Only changes before this.")
@click.option("--text", default="", help="Only changes whose subject or facts hold this text.")
@click.option("-n", "--limit", type=click.IntRange(1, 200), default=20, help="Changes at most: 20.")
@click.option("--cursor", default="", help="Where the page before ended.")
@click.option("--since-last", is_flag=True, help="What is new since you last asked this, your hand first.")
@click.option("-v", "--verbose", is_flag=True, help="Name the notes that each change touched, too.")
@json_option
def log(vault: str | None, as_json: bool, since_last: bool, limit: int, verbose: bool, **asked: str) -> None:
    """List the changes of the vault, or of one NOTE or folder through all its names, the newest first.

    Each has a line with its digits, its time, who made it and what it was. The digits are what `show`, `undo`
    and `diff` take as a CHANGE. NOTE is a path, or the name of an entity.
    WHEN is a time (2026-10-05, "2026-10-05 14:00"), "yesterday", "2 weeks ago", or digits of a change.
    """
    with opened(settings_of(vault=vault)) as open_vault:
        person = owner(open_vault)
        told: Any
        if since_last:
            told = history_since(open_vault, person, agent=asked["agent"], limit=limit)
            rows = [*told["by_hand"], *told["by_agents"]]
        else:
            told = history_log(open_vault, person, limit=limit, **asked)
            rows = told["changes"]
    lines = [line for row in rows for line in _change_lines(row, paths=verbose)]
    _print(told, lines or ["Nothing is new." if since_last else "No change was found."], as_json=as_json)


@click.command(epilog="Example: vault-mcp show 1a2b3c4   or: vault-mcp show Ada --at yesterday")
@click.argument("what")
@vault_option
@click.option("--at", default="", metavar="WHEN", help="Show the note WHAT as it was then.")
@json_option
def show(what: str, vault: str | None, at: str, as_json: bool) -> None:
    """Show the change WHAT (7 or more hex digits), or with --at a note as it was.

    A change is told in facts that came (+), went (-) or were edited (~), then in the notes that it touched,
    then in lines as Git shows them. With --at, WHAT is the path or the name of a note, now or then, and its
    text at that moment is printed.
    """
    with opened(settings_of(vault=vault)) as open_vault:
        person = owner(open_vault)
        told: Any
        if at:
            told = history_read(open_vault, person, note=what, at=at)
        else:
            try:
                told = history_show(open_vault, person, change=what)
            except (BadArgument, NotFound) as error:
                raise type(error)(f"{error} To see a note as it was, say when with --at.") from None
    lines = [told["text"].removesuffix("\n")] if at else [*_change_lines(told), *_difference_lines(told)]
    _print(told, lines, as_json=as_json)


@click.command(epilog='Example: vault-mcp diff "2 weeks ago" --note Ada')
@click.argument("since")
@click.argument("until", default="")
@vault_option
@click.option("--note", default="", help="Only this note, entity, key, or folder.")
@json_option
def diff(since: str, until: str, vault: str | None, note: str, as_json: bool) -> None:
    """Tell what the vault gained and lost from SINCE to UNTIL, or to now.

    First the facts that came (+), went (-) or were edited (~), then the notes that changed, then the lines as
    Git shows them. SINCE and UNTIL are times (2026-10-05), "yesterday", "2 weeks ago", or digits of a change.
    """
    with opened(settings_of(vault=vault)) as open_vault:
        told: Any = history_diff(open_vault, owner(open_vault), since=since, until=until, note=note)
    lines = list(_difference_lines(told))
    _print(told, lines or ["Nothing was gained or lost between the two."], as_json=as_json)


@click.command(epilog='Example: vault-mcp blame "Ada Lovelace"')
@click.argument("note")
@vault_option
@click.option("--text", default="", help="Only lines that hold this text.")
@click.option("--at", default="", metavar="WHEN", help="The note as it was then.")
@json_option
def blame(note: str, vault: str | None, text: str, at: str, as_json: bool) -> None:
    """Tell who wrote each line of a NOTE, who edited it last, and in which change.

    A fact that was renamed, merged or moved into this note is still its author's. NOTE is a path, or the name
    of an entity, or a key.
    """
    with opened(settings_of(vault=vault)) as open_vault:
        told: Any = history_blame(open_vault, owner(open_vault), note=note, text=text, at=at, limit=1000)
    _print(told, map(_blame_line, _rows(told["lines"])), as_json=as_json)


@click.command(epilog="Example: vault-mcp restore notes/plan.md --at yesterday")
@click.argument("note")
@vault_option
@click.option("--at", default="", metavar="WHEN", help="As it was then; else as it was before deletion.")
@json_option
def restore(note: str, vault: str | None, at: str, as_json: bool) -> None:
    """Bring a NOTE or folder back as it was, as one new commit in your name.

    What was edited by hand and not committed is committed first, so nothing is lost by it. NOTE is a path or
    a name, of a deleted note the one that it had.
    """
    with opened(settings_of(vault=vault)) as open_vault:
        told: Any = history_restore(open_vault, owner(open_vault), note=note, at=at)
    done = "restored" if told["receipt"]["commit"] else "as it was then already:"
    rows = [f"{done} {path}" for path in _rows(told["restored"])]
    _print(told, [*rows, *_rows(told.get("left", ())), *_committed(told)], as_json=as_json)


@click.command(epilog="Example: vault-mcp undo 1a2b3c4")
@click.argument("change", default="")
@vault_option
@click.option("--session", default="", metavar="ID", help="Every change of this session instead.")
@click.option("--since", default="", metavar="WHEN", help="Every change of --agent after this instead.")
@click.option("--agent", default="", metavar="NAME", help="With --since: whose changes; else your own.")
@click.option("--skip", is_flag=True, help="Leave facts that were edited later, and undo the rest.")
@json_option
def undo(change: str, vault: str | None, skip: bool, as_json: bool, **asked: str) -> None:
    """Take back a CHANGE, as one new commit in your name. What is undone can be undone again.

    Taken back is what the change did, fact by fact: what others wrote in the same notes since then stays.
    Where a fact that it brought has been edited later, it is refused, and --skip undoes the rest. CHANGE is
    the digits that `log` shows.
    """
    with opened(settings_of(vault=vault)) as open_vault:
        told: Any = history_undo(
            open_vault,
            owner(open_vault),
            change=change,
            on_conflict="skip" if skip else "stop",
            **asked,
        )
    rows = [f"undone: {row['change']} {row['subject']}" for row in told["undone"]]
    rows += [
        f"left as it is: “{row['text']}” in {row['note']} {row['why']}" for row in told.get("skipped", ())
    ]
    _print(told, [*rows, *_committed(told)], as_json=as_json)


def owner(vault: Vault) -> Caller:
    """Give the person at the command line as the caller: what they do is theirs, and needs no permission."""
    return Caller(clean_agent(vault.person.name), person=True)


# -- telling


def _print(told: Told, lines: Iterator[str] | Sequence[str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for line in lines:
        click.echo(line)
    for field in ("message", "left_out", "diff_left_out"):
        if told.get(field):
            click.echo(f"({for_shell(told[field])})")
    if told.get("next_cursor"):
        click.echo(f"(--cursor {told['next_cursor']})")


def _change_lines(row: Told, *, paths: bool = True) -> Iterator[str]:
    hand = " (by hand)" if row["by_hand"] else ""
    yield f"{row['change'][:DIGITS]}  {row['at']}  {row['by']}{hand}  {row['subject']}"
    if not paths:
        return
    more = f", and {row['more_paths']} more" if row.get("more_paths") else ""
    yield f"    {', '.join(row['paths'])}{more}"


def _difference_lines(told: Told) -> Iterator[str]:
    for fact in told["added"]:
        yield f"+ {fact['note']}: {fact['text']}"
    for fact in told["edited"]:
        yield f"~ {fact['note']}: {fact['old']} => {fact['new']}"
    for fact in told["removed"]:
        yield f"- {fact['note']}: {fact['text']}"
    for file in told["files"]:
        yield f"  {file['what']}: {file['note']}"
    if told.get("diff"):
        yield ""
        yield told["diff"].removesuffix("\n")


def _blame_line(row: Told) -> str:
    edited = ""
    if row.get("edited_by"):
        hand = " by hand" if row["edited_by_hand"] else ""
        edited = f", edited{hand} by {row['edited_by']} {row['edited_at']}"
    return f"{row['line']:>5}  {row['added_by']} {row['added_at']}{edited}  {row['change']}  {row['text']}"


def _committed(told: Told) -> Iterator[str]:
    receipt = told["receipt"]
    if receipt["commit"]:
        yield f"commit {receipt['commit'][:DIGITS]}"


def _rows(value: object) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else ()
