"""`vault-mcp search`: the notes that answer a question, as recall finds them, with found words in bold."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator

import click

from vault_mcp.doors.cli_vault import json_option, opened, settings_of, vault_option
from vault_mcp.notes.analyse import STOP_WORDS, terms, words
from vault_mcp.tools.memories.recalling import FAMILIES, memory_recall
from vault_mcp.tools.tool import Caller

CALLER = Caller("vault-mcp search")
SETTLE_WAIT = 60.0
"""Seconds that the command waits for hand edits to be taken in."""

WIDTH = 100
LINES = 6
"""Lines of one passage that are shown; --json gives the whole."""

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


@click.command(epilog='Example: vault-mcp search "when does the indexer ship?"')
@click.argument("query")
@vault_option
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many results."
)
@click.option(
    "--family", type=click.Choice(list(FAMILIES)), default="all", show_default=True, help="Where to look."
)
@click.option("--embeddings", type=click.Choice(["on", "off"]), help="Search by meaning too (default on).")
@json_option
def search(
    query: str, vault: str | None, limit: int, family: str, embeddings: str | None, as_json: bool
) -> None:
    """Search the notes by words and by meaning, best first.

    The exit code is 0 when something was found, and 1 when nothing was.
    """
    settings = settings_of(vault=vault, embeddings=embeddings)
    with opened(settings) as open_vault:
        open_vault.wait_until_compared(SETTLE_WAIT)
        open_vault.settle_words(1 << 30)
        found = memory_recall(open_vault, CALLER, query, limit=limit, family=family)
    results = found["results"]
    assert isinstance(results, list)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        for line in shown(results, query):
            click.echo(line)
        if "notice" in found:
            click.echo(f"vault-mcp: {found['notice']}", err=True)
    if not results:
        raise SystemExit(1)


def shown(results: list[dict[str, object]], query: str) -> Iterator[str]:
    """Give the lines for a person; a terminal shows the found words in bold, anything else without."""
    for number, one in enumerate(results):
        if number:
            yield ""
        told = [str(one[key]) for key in ("by", "stored_at") if one.get(key)]
        path = click.style(str(one["note"]), fg="cyan")
        yield f"{path}  {', '.join(told)}"
        lines = textwrap.wrap(str(one.get("passage") or one["text"]), WIDTH, replace_whitespace=True)
        cut = [*lines[:LINES], "…"] if len(lines) > LINES else lines
        yield from (f"  {highlighted(line, query)}" for line in cut)
        yield click.style(f"  {one['why']}", dim=True)


def highlighted(text: str, query: str) -> str:
    """Give a text with the words in bold that the query asks for, in whatever form they stand."""
    asked = set(terms(query)) - STOP_WORDS

    def mark(match: re.Match[str]) -> str:
        return click.style(match[0], bold=True) if asked.intersection(words(match[0])) else match[0]

    return _WORD.sub(mark, text)
