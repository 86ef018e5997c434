"""`vault-mcp doctor`: what is wrong with a vault, one line a finding."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import click

from vault_mcp.doors.cli_vault import json_option, opened, settings_of, vault_option
from vault_mcp.doors.settings import Settings
from vault_mcp.tools.doctor import examine, mend
from vault_mcp.tools.finding import Finding

MOST = 20
"""Findings of one kind that are shown unless all are asked for."""

SIGNS = {"fine": "ok", "note": "note", "problem": "WRONG"}


@click.command(epilog="Example: vault-mcp doctor --vault ~/notes --fix")
@vault_option
@json_option
@click.option(
    "--fix", is_flag=True, help="Do what needs no person: missing lines, index, hand edits, upkeep."
)
@click.option("--all", "everything", is_flag=True, help=f"Show more than {MOST} findings of one kind.")
def doctor(vault: str | None, as_json: bool, fix: bool, everything: bool) -> None:
    """Look whether everything is as it should be, and say what to do where it is not.

    Looks at the repository, the index, the watcher and every file. Changes nothing without --fix.
    The exit code is 0 when nothing is wrong (notes are worth knowing, no more), 1 when something is, and 2
    when the vault cannot be opened.
    """
    settings = settings_of(vault=vault)
    found, done = _examined(settings, fix=fix)
    found = [*(Finding("settings", "note", text) for text in settings.complaints), *found]
    wrong = sum(finding.level == "problem" for finding in found)
    if as_json:
        told = {
            "vault": settings.vault,
            "findings": [asdict(finding) for finding in found],
            "done": done,
            "problems": wrong,
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        for line in _lines(found, done, everything=everything):
            click.echo(line)
    sys.exit(1 if wrong else 0)


def _examined(settings: Settings, *, fix: bool) -> tuple[list[Finding], list[str]]:
    """Examine the vault; with `fix`, do what can be done and examine it again."""
    with opened(settings, follow=False) as vault:
        found = examine(vault)
        done = mend(vault, found) if fix else []
        return (examine(vault) if done else found), done


def _lines(found: Iterable[Finding], done: Iterable[str], *, everything: bool) -> Iterator[str]:
    for sentence in done:
        yield f"{'fixed':6}{sentence}"
    shown: Counter[tuple[str, str]] = Counter()
    for finding in found:
        kind = (finding.level, finding.check)
        shown[kind] += 1
        if everything or shown[kind] <= MOST:
            yield _line(finding)
    for (level, check), count in shown.items():
        if count > MOST and not everything:
            yield f"{SIGNS[level]:6}{check}: and {count - MOST} more; --all shows them."
    levels = Counter(finding.level for finding in found)
    if levels["problem"] or levels["note"]:
        yield f"{_counted(levels['problem'], 'problem')}, {_counted(levels['note'], 'note')}."
    else:
        yield "Everything is as it should be."


def _line(finding: Finding) -> str:
    where = f"{finding.path}: " if finding.path else ""
    return f"{SIGNS[finding.level]:6}{finding.check}: {where}{finding.text} {finding.do}".rstrip()


def _counted(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
