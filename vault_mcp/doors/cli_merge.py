"""`vault-mcp merge-driver`: what Git calls for a note that two sides changed; it imports little."""

import os
import stat
import sys

import click

from vault_mcp.errors import BadArgument
from vault_mcp.notes.merge import merge
from vault_mcp.notes.merge_facts import Piece

SHOWN = 60


@click.command(epilog="Example: vault-mcp merge-driver base.md ours.md theirs.md")
@click.argument("base", type=click.Path(dir_okay=False))
@click.argument("ours", type=click.Path(dir_okay=False))
@click.argument("theirs", type=click.Path(dir_okay=False))
@click.argument("path", required=False, default="")
def merge_driver(base: str, ours: str, theirs: str, path: str) -> None:
    """Merge a note for Git, fact by fact and property by property.

    BASE, OURS and THEIRS are files that Git made; the result goes into OURS. Ends with 1, and with Git's
    marks in the file, where only a person can decide. `vault-mcp init` tells Git of this command.
    """
    texts = [_read(name) for name in (base, ours, theirs)]
    before, mine, other = texts
    if before is None or mine is None or other is None:
        click.echo(f"vault-mcp: {path or ours} is not UTF-8 text, so it is left as it is here.", err=True)
        sys.exit(1)
    merged = merge(before, mine, other)
    for piece in merged.pieces:
        click.echo(f"vault-mcp: {path or 'the note'}: {_told(piece)}", err=True)
    undecided = bool(merged.open)
    with open(ours, "wb") as file:
        file.write((merged.marked if undecided else merged.text).encode())
    sys.exit(1 if undecided else 0)


def _read(name: str) -> str | None:
    # Looked at before it is opened: opening a pipe waits for whoever writes into it.
    if stat.S_ISFIFO(os.stat(name).st_mode):
        raise BadArgument(f"{name} is a pipe and no file. Name the three files that Git made.")
    with open(name, "rb") as file:
        raw = file.read()
    try:
        return None if b"\0" in raw else raw.decode()
    except UnicodeDecodeError:
        return None


def _told(piece: Piece) -> str:
    ours, theirs = _short(piece.ours), _short(piece.theirs)
    if piece.kept == "both":
        return f"both sides changed one {piece.what}, so both are kept: {ours} and {theirs}"
    if piece.kept == "edit":
        return f"one side deleted what the other edited, so it is kept: {ours or theirs}"
    if piece.what == "text":
        return "both sides changed the same lines; choose"
    return f"both sides set the property {piece.what}: {ours} or {theirs}; choose"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= SHOWN else line[: SHOWN - 1] + "…") if line else ""
