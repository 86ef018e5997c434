"""What is wrong with the files and notes of a vault, or worth knowing of them: for `doctor`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from vault_mcp.follow import LONGEST_NOTE, is_note
from vault_mcp.notes import links, names
from vault_mcp.notes.conflict import CONFLICT
from vault_mcp.storage import files, paths
from vault_mcp.tools.finding import Finding, listed

if TYPE_CHECKING:
    from vault_mcp.tools.survey import Survey

LARGE = 10 * 1024 * 1024
"""Bytes from which a file is worth a word: Git keeps every version of it."""

KEY_FILES = (
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.keystore",
)
"""Names that files with secrets go by."""


def faults(survey: Survey, ignored: Callable[[Iterable[str]], set[str]]) -> Iterator[Finding]:
    """Give what is found in the files and notes themselves; `ignored` gives those that Git ignores."""
    yield from _files(survey)
    yield from _large(survey, ignored)
    yield from _secrets(survey)
    yield from _clashes(survey)
    yield from _notes(survey)
    yield from _twins(survey)
    yield from _links(survey)


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


def _large(survey: Survey, ignored: Callable[[Iterable[str]], set[str]]) -> Iterator[Finding]:
    large = [path for path, stat in survey.stats.items() if LARGE <= stat.size < files.TOO_LARGE]
    for path in sorted(set(large) - (ignored(large) if large else set())):
        size = survey.stats[path].size // (1024 * 1024)
        text = f"It has {size} MiB, and Git keeps every version of it."
        yield Finding(
            "large file", "note", text, "Keep it elsewhere, or list it in .gitignore.", paths.shown(path)
        )


def _secrets(survey: Survey) -> Iterator[Finding]:
    kept = "Take it out, and change it where it is used: Git keeps what was committed."
    for path in survey.stats:
        name = path.rpartition("/")[2].lower()
        if path in survey.secrets:
            text = f"It holds what looks like {survey.secrets[path]}."
            yield Finding("secret", "note", text, kept, paths.shown(path))
        elif any(fnmatchcase(name, pattern) for pattern in KEY_FILES):
            text = "It has the name of a file with keys or passwords."
            yield Finding("secret", "note", text, kept, paths.shown(path))


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
                    f"{listed(same)} differ only in case or Unicode form: one {kind} on macOS and Windows.",
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
        if CONFLICT in note.properties:
            text = "A sync left it for you to decide: it holds what another machine made of a note."
            do = "Take over what is missing in the note that it links to, then delete it."
            yield Finding("conflict", "problem", text, do, paths.shown(path))
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
                f"The {kind} {name!r} has {len(same)} notes, {listed(same)}: tools mean the first.",
                "Join them, or give all but one another name.",
                paths.shown(same[0]),
            )


def _links(survey: Survey) -> Iterator[Finding]:
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in survey.stats:
        by_stem[links.stem_key(path)].append(path)

    def leads(target: str, note: str) -> bool:
        return links.resolve(target, note, by_stem.get(links.stem_key(target), ())) is not None

    do = "Write that note, or mend the link."
    for note in survey.living():
        related = {relation.target for relation in note.relations}
        for relation in note.relations:
            if not leads(relation.target, note.path):
                text = f"'{relation.type} [[{relation.target}]]' leads to no note."
                yield Finding("relation", "note", text, do, paths.shown(note.path))
        for target in dict.fromkeys(link.target for link in note.links):
            if target not in related and not leads(target, note.path):
                text = f"The link to '{paths.shown(target)}' leads to no file."
                yield Finding("link", "note", text, do, paths.shown(note.path))
