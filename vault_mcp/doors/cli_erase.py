"""`vault-mcp erase`: a text or a note removed from all of history, by its owner."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from vault_mcp.doors.cli_vault import json_option, opened, settings_of, vault_option
from vault_mcp.erase import INSTEAD, Erased, Found, Wanted, find, paths_of_note, refuse_short
from vault_mcp.erase import erase as erase_it
from vault_mcp.errors import BadArgument, NotFound
from vault_mcp.storage import paths
from vault_mcp.tools.history.target import lineages_of

NAMED = 5
"""Notes that are named one by one."""


@click.command(epilog="Example: vault-mcp erase --text hunter2")
@click.argument("note", default="")
@vault_option
@click.option("--text", default="", metavar="TEXT", help="Erase this text instead; - reads it from stdin.")
@click.option(
    "--with", "instead", default=INSTEAD, metavar="WORDS", help=f"What stands there then: {INSTEAD}."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def erase(note: str, vault: str | None, text: str, instead: str, yes: bool, as_json: bool) -> None:
    """Remove a NOTE or file, or a text, from the vault and from all of its history. It cannot be undone.

    Everything else of history stays, under new names of its commits. No tool can do this: only you can.
    """
    if bool(note) == bool(text):
        raise BadArgument("Say what to erase: a note, or a text with --text.")
    if text == "-":
        text = sys.stdin.read().strip("\n")
    settings = settings_of(vault=vault)
    wanted = Wanted(text, (), instead)
    refuse_short(wanted)
    with opened(settings) as open_vault:
        if note:
            with open_vault.remembering() as reader:
                doomed = lineages_of(reader, note)
            wanted = Wanted("", paths_of_note(open_vault, doomed), instead)
        found = find(open_vault, wanted)
    if not found.any and not wanted.paths:
        raise NotFound("Nothing in the vault or in its history holds this text. Look for it with search.")
    for line in _question(wanted, found):
        click.echo(line, err=True)
    if not yes:
        click.confirm("Erase it?", abort=True, err=True)
    with opened(settings, follow=False) as open_vault:
        done = erase_it(open_vault, wanted, found)
    if as_json:
        click.echo(json.dumps(asdict(done), ensure_ascii=False, indent=2))
    else:
        for line in _told(done):
            click.echo(line)
    if done.left:
        raise SystemExit(1)


def _question(wanted: Wanted, found: Found) -> Iterator[str]:
    if wanted.paths:
        yield f"To be erased, with all their versions: {_listed(list(wanted.paths))}."
        yield "Its name may still stand in links and messages: erase that with --text."
    else:
        seen = found.seen
        yield f"The text stands in {_count(len(found.now), 'file')} now{_these(found.now)}."
        yield (
            f"In all of history it stands in {_count(seen.files, 'version')} of files, in names of files in "
            f"{_count(seen.folders, 'folder')}, {_count(seen.commits, 'commit')} and "
            f"{_count(seen.tags, 'tag')}."
        )
        if seen.binary:
            yield f"{_count(seen.binary, 'version')} of binary files hold it too and are left as they are."
    yield (
        "History is written anew: commits get new names, and reflogs and all that no branch or tag leads to "
        "go for good. Copy the folder first if you are in doubt."
    )
    if found.seen.signed:
        yield f"{_count(found.seen.signed, 'signature')} of commits and tags will be lost."


def _told(done: Erased) -> Iterator[str]:
    moved = done.rewritten
    yield f"Erased. {_count(len(done.now), 'file')} changed{_these(done.now)}."
    names = _count(len(moved.refs), "branch, tag or mark", "branches, tags and marks")
    yield f"{_count(moved.commits, 'commit')} got new names, and {names} moved to them."
    if done.signed:
        yield f"{_count(done.signed, 'signature')} of commits and tags are gone: sign anew."
    yield "The old objects, reflogs and the index are gone; the index is made anew at the next start."
    for remote in done.remotes:
        yield (
            f"{remote} still has the old history. Replace it with `git push --force --all {remote}` "
            f"and `git push --force --tags {remote}`, and ask its host to remove what it keeps besides."
        )
    yield (
        "Every other clone still has it too: delete each and clone anew. One that goes on with the old "
        "history brings it back with its next push. Copies and backups are untouched."
    )
    for line in done.left:
        yield f"LEFT: {line}"


def _count(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or f'{one}s'}"


def _these(names: list[str]) -> str:
    return f" ({_listed(names)})" if names else ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(paths.shown(name) for name in names[:NAMED]) + more
