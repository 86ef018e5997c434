"""Bring in the memory folder of another server: `<key>.json` files become keys, all in one commit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument, VaultError
from vault_mcp.tools.keys import find, writing
from vault_mcp.tools.told import refuse_unstorable

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.vault import Vault

Progress = Callable[[int, int], None]
"""Called with (done, in all) while an import goes on."""

ENDING = ".json"
LARGEST = 16 * 1024 * 1024
"""Bytes of one file; none that a note could hold is larger."""


@dataclass(slots=True)
class KeyImportReport:
    """What an import did.

    Attributes:
        commit: the commit that holds it; None when every key was there with its value.
        written: keys that are new.
        replaced: keys that had another value before.
        same: keys that had this value already.
        problems: a sentence for each file that was left out.
        others: files that are none of `<key>.json`, which were left where they are.
    """

    commit: str | None = None
    written: int = 0
    replaced: int = 0
    same: int = 0
    problems: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def import_keys(
    vault: Vault,
    folder: str,
    *,
    by: str,
    source: str = "",
    progress: Progress | None = None,
    dry_run: bool = False,
) -> KeyImportReport:
    """Bring the `<key>.json` files of a folder into the vault in one commit.

    The key is the file's name, or what the file itself says. A JSON string is the value; an object of `value`
    and perhaps `key` gives these; any other JSON is the value as it is written.

    Args:
        vault: where the keys go.
        folder: a folder outside the vault; links in it are not followed.
        by: in whose name it is committed.
        source: what to call the folder in the commit; else its own name.
        progress: told from time to time how many files are done.
        dry_run: only say what would be done.

    Raises:
        BadArgument: the folder cannot be listed.
    """
    report = KeyImportReport()
    names = _files_of(folder, report)
    subject = source or os.path.basename(os.path.abspath(folder))
    with vault.change("import", by=by, subject=subject) as change:
        for number, name in enumerate(names, 1):
            try:
                _take(change, folder, name, report)
            except VaultError as error:
                report.problems.append(f"{name}: {error}")
            if progress and (number % 200 == 0 or number == len(names)):
                progress(number, len(names))
        if dry_run:
            change.pending.clear()
    report.commit = change.receipt.commit
    return report


def _files_of(folder: str, report: KeyImportReport) -> list[str]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise BadArgument(f"{folder} cannot be listed ({error.strerror}). Name a folder of files.") from None
    names = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.name.endswith(ENDING) and entry.is_file(follow_symlinks=False):
            names.append(entry.name)
        else:
            report.others.append(entry.name)
    return names


def _take(change: Change, folder: str, name: str, report: KeyImportReport) -> None:
    key, value = _entry(folder, name)
    refuse_unstorable(value.replace("\0", ""), "value")
    _, old = writing.put(change, find.checked(key), value)
    if old is None:
        report.written += 1
    elif old == value:
        report.same += 1
    else:
        report.replaced += 1


def _entry(folder: str, name: str) -> tuple[str, str]:
    """Read (key, value) from one file."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            raw = file.read(LARGEST + 1)
        text = raw.decode("utf-8-sig")
        said = json.loads(text)
    except OSError as error:
        raise BadArgument(f"It cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise BadArgument("It is no JSON in UTF-8.") from None
    key = name[: -len(ENDING)]
    if isinstance(said, dict) and isinstance(said.get("value"), str):
        own = said.get("key")
        if said.keys() <= {"key", "value"} and (own is None or isinstance(own, str)):
            return own or key, said["value"]
    return key, said if isinstance(said, str) else text
