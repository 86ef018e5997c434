"""`vault-mcp import` and `vault-mcp export`: memories of other servers, in and out."""

import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict

import click

from vault_mcp.doors.cli_terminal import counted
from vault_mcp.doors.cli_vault import json_option, opened, progress, settings_of, vault_option
from vault_mcp.errors import AlreadyThere, BadArgument, StorageFailed
from vault_mcp.notes.jsonl import Graph, read_jsonl, write_jsonl
from vault_mcp.notes.memory_export import read_export
from vault_mcp.notes.memory_text import read_memory_text
from vault_mcp.notes.transcript import Transcript, is_transcript, read_transcript
from vault_mcp.tools.exchange import ImportReport, export_graph, import_graph
from vault_mcp.tools.keys.importing import KeyImportReport, import_keys
from vault_mcp.tools.memories.importing import MemoryImportReport, import_memories
from vault_mcp.tools.notes_importing import NotesImportReport, holds_notes, import_notes
from vault_mcp.vault import Vault

AGENT = "import"
"""Whose name stands at facts that name nobody."""

MOST = 20
"""Problems that are shown; --json gives all."""

STANDARD = "-"

TEXTS = (".txt", ".md", ".markdown")
"""Endings of files that are read as plain text, as Claude and ChatGPT write their memory out."""

FORMATS = ("auto", "text", "notes", "keys")

Report = ImportReport | KeyImportReport | MemoryImportReport | NotesImportReport


@click.command("import", epilog="Example: vault-mcp import ~/memory.jsonl --dry-run")
@click.argument("source", metavar="FILE")
@vault_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="auto",
    help="What FILE is, where that is not seen: text, a folder of notes, or one of keys.",
)
@click.option(
    "--into", metavar="FOLDER", help="Where in the vault a folder of notes goes. Else its own name."
)
@click.option("--agent", metavar="NAME", help=f"Whose name stands at facts that name nobody: {AGENT!r}.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
def import_(
    source: str,
    vault: str | None,
    form: str,
    into: str | None,
    agent: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Bring a memory that you have elsewhere into the vault, in one commit.

    What FILE is, is seen by itself:

    \b
      the file of the official memory server (memory.jsonl)
      the log of plain-text-memory
      JSON lines of memories, {"text", "session_id", "created", "speaker"}
      the JSON that mcp-memory-service and mem0 export
      memories.json of Claude's data export
      text (.txt, .md) that Claude or ChatGPT wrote its memory out as
      a folder of Markdown notes, or a project of basic-memory
      a folder of <key>.json files

    "-" reads standard input. What is in the vault already is not repeated, so an import can be repeated. What
    cannot be read costs itself alone, and is told. `vault-mcp undo` takes the whole import back.

    The exit code is 0 when all of it is in the vault, 1 when something was left out, 2 when nothing was done.
    """  # noqa: D301 - click wants the character itself
    settings = settings_of(vault=vault, agent=agent)
    by = settings.agent or AGENT
    name = "standard input" if source == STANDARD else os.path.basename(os.path.abspath(source))
    is_folder = os.path.isdir(source)
    if not is_folder and (form in ("notes", "keys") or into is not None):
        raise BadArgument(f"{source} is no folder. Name the folder that holds the files.")
    found = None if is_folder else _read(_content(source), source, name, form)
    notes = is_folder and (form == "notes" or (form == "auto" and holds_notes(source)))
    report: Report
    with opened(settings, make=not dry_run) as open_vault:
        if notes:
            report = _notes(
                open_vault, source, name, by, into=name if into is None else into, dry_run=dry_run
            )
        elif found is None:
            report = _keys(open_vault, source, by, dry_run=dry_run)
        elif isinstance(found, Transcript):
            report = _memories(open_vault, found, name, by, dry_run=dry_run)
        else:
            report = _graph(open_vault, found, name, by, dry_run=dry_run)
    if as_json:
        click.echo(json.dumps({"source": source, **asdict(report)}, ensure_ascii=False, indent=2))
    else:
        for line in _summary(name, report, dry_run=dry_run):
            click.echo(line)
    sys.exit(1 if report.problems else 0)


@click.command(epilog="Example: vault-mcp export memory.jsonl")
@click.argument("target", metavar="[FILE]", default=STANDARD)
@vault_option
@click.option(
    "--format", "form", type=click.Choice(["jsonl"]), default="jsonl", help="What the official server reads."
)
@click.option("--force", is_flag=True, help="Replace FILE where there is one.")
def export(target: str, vault: str | None, form: str, force: bool) -> None:
    """Write the graph as the file that the official memory server reads.

    Without FILE, or with "-", to standard output. The format knows entities, their observations and
    relations; when and by whom something was said, facts that hold no longer, memories and keys have no place
    in it and stay in the vault.
    """
    if target != STANDARD and os.path.lexists(target) and not force:
        raise AlreadyThere(f"{target} is there already. Choose another name, or replace it with --force.")
    with opened(settings_of(vault=vault)) as open_vault:
        graph = export_graph(open_vault)
    content = write_jsonl(graph).encode()
    if target == STANDARD:
        end = b"\n" if sys.stdout.isatty() else b""  # the file itself has none at its end
        sys.stdout.buffer.write(content + end)
        sys.stdout.buffer.flush()
    else:
        _write(target, content)
    told = f"{len(graph.entities)} entities and {len(graph.relations)} relations"
    print(f"vault-mcp: exported {told}", file=sys.stderr)


# -- reading


def _content(source: str) -> bytes:
    if source == STANDARD:
        return sys.stdin.buffer.read()
    try:
        # Looked at before it is opened: opening a pipe waits for whoever writes into it.
        if not stat.S_ISREG(os.stat(source).st_mode):
            raise BadArgument(f"{source} is no file and no folder. Name one, or - to read standard input.")
        with open(source, "rb") as file:
            return file.read()
    except OSError as error:
        raise BadArgument(f"{source} cannot be read ({error.strerror}). Name a file or a folder.") from error


def _read(content: bytes, source: str, name: str, form: str) -> Graph | Transcript:
    if form == "text" or (form == "auto" and name.lower().endswith(TEXTS)):
        transcript = read_memory_text(content, os.path.splitext(name)[0])
        if not transcript.memories:
            raise BadArgument(f"{source} holds no words in UTF-8.")
        return transcript
    if is_transcript(content):
        return read_transcript(content)
    exported = read_export(content)
    if exported is not None:
        return exported
    graph = read_jsonl(content)
    if not (graph.entities or graph.relations):
        raise BadArgument(_nothing(source, graph))
    return graph


def _nothing(source: str, graph: Graph) -> str:
    named = "Standard input" if source == STANDARD else source
    if not graph.problems:
        return f"{named} holds no entity and no relation."
    line, what = graph.problems[0]
    return f"{named} holds no entity and no relation. Line {line} {what}."


def _graph(vault: Vault, graph: Graph, name: str, by: str, *, dry_run: bool) -> ImportReport:
    total = len(graph.entities)
    # About half of the work is the commit, of which nothing is told before it is made.
    with progress("Import", 2 * total) as show:
        report = import_graph(
            vault, graph, by=by, source=name, progress=lambda done, _: show(done), dry_run=dry_run
        )
        show(2 * total)
    return report


def _memories(
    vault: Vault, transcript: Transcript, name: str, by: str, *, dry_run: bool
) -> MemoryImportReport:
    total = len(transcript.memories)
    with progress("Import", 2 * total) as show:
        report = import_memories(
            vault, transcript, by=by, source=name, progress=lambda done, _: show(done), dry_run=dry_run
        )
        show(2 * total)
    return report


def _notes(vault: Vault, folder: str, name: str, by: str, *, into: str, dry_run: bool) -> NotesImportReport:
    total = sum(len(names) for _, _, names in os.walk(folder))
    with progress("Import", 2 * total) as show:
        report = import_notes(
            vault,
            folder,
            by=by,
            source=name,
            into=into,
            progress=lambda done, _: show(done),
            dry_run=dry_run,
        )
        show(2 * total)
    return report


def _keys(vault: Vault, folder: str, by: str, *, dry_run: bool) -> KeyImportReport:
    total = sum(1 for _ in os.scandir(folder))
    with progress("Import", 2 * total) as show:
        report = import_keys(vault, folder, by=by, progress=lambda done, _: show(done), dry_run=dry_run)
        show(2 * total)
    return report


# -- telling


def _summary(name: str, report: Report, *, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield f"Nothing was saved. An import of {name} would do this:"
    elif report.commit:
        yield f"{name} is in the vault (commit {report.commit[:7]})."
    else:
        yield f"The vault has everything of {name} already."
    yield from (f"  {line}" for line in _counts(report))
    if report.problems:
        yield "  Something is left out or otherwise than the file has it:"
        yield from (f"    {problem}" for problem in report.problems[:MOST])
        if len(report.problems) > MOST:
            yield f"    and {len(report.problems) - MOST} more; --json shows all."


def _counts(report: Report) -> Iterator[str]:
    if isinstance(report, KeyImportReport):
        new = counted(report.written, "key")
        yield f"{new} new, {report.replaced} with another value, {report.same} as before"
        if report.others:
            were = "was left where it is" if len(report.others) == 1 else "were left where they are"
            yield f"{counted(len(report.others), 'other file')} {were}"
        return
    if isinstance(report, MemoryImportReport):
        new, sessions = counted(report.memories, "memory"), counted(report.sessions, "session")
        yield f"{new} new, {report.present} there already, in {sessions}"
        return
    if isinstance(report, NotesImportReport):
        notes, others = counted(report.notes, "note"), counted(report.others, "other file")
        yield f"{notes} and {others} new, {report.present} there already"
        if report.entities:
            yield (
                f"{counted(report.entities, 'entity')} new, with "
                f"{counted(report.observations, 'observation')} and {counted(report.relations, 'relation')}"
            )
        if report.links:
            yield f"{counted(report.links, 'link')} written anew, to lead where before"
        yield f"in the folder {report.folder}/" if report.folder else "in the root of the vault"
        return
    yield f"{counted(report.entities, 'entity')} new, {report.merged} there already"
    yield f"{counted(report.observations, 'observation')} and {counted(report.relations, 'relation')} added"
    if report.dangling:
        have, they_are = ("has", "it is") if report.dangling == 1 else ("have", "they are")
        yield f"{counted(report.dangling, 'relation')} {have} an end that is no note; {they_are} kept"
    if report.repeats:
        yield f"{counted(len(report.repeats), 'time')} the file repeats itself; that is kept once"


def _write(target: str, content: bytes) -> None:
    try:
        descriptor, fresh = tempfile.mkstemp(prefix=".export.", dir=os.path.dirname(os.path.abspath(target)))
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
            os.chmod(fresh, 0o666 & ~_umask())
            os.replace(fresh, target)
        except BaseException:
            os.unlink(fresh)
            raise
    except OSError as error:
        raise StorageFailed(
            f"{target} cannot be written ({error.strerror}). Choose another place."
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
