"""Random sequences of file commands leave what a plain dictionary of texts would hold, commit by commit."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.errors import VaultError
from vault_mcp.tools.files import editing, moving
from vault_mcp.vault import Vault

Files = dict[str, str]
Step = tuple[str, tuple[object, ...]]

NAMES = ("a", "b.md", "c")
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
texts = st.text(st.sampled_from("ab\n"), max_size=6)
pieces = st.text(st.sampled_from("ab\n"), max_size=2)
steps = st.one_of(
    st.tuples(st.just("create"), st.tuples(paths, texts)),
    st.tuples(st.just("str_replace"), st.tuples(paths, pieces, texts)),
    st.tuples(st.just("insert"), st.tuples(paths, st.integers(-1, 4), texts)),
    st.tuples(st.just("delete"), st.tuples(paths)),
    st.tuples(st.just("rename"), st.tuples(paths, paths)),
)

DEEDS: dict[str, Callable[..., str]] = {
    "create": editing.memory_create,
    "str_replace": editing.memory_str_replace,
    "insert": editing.memory_insert,
    "delete": moving.memory_delete,
    "rename": moving.memory_rename,
}


class Refused(Exception):
    """The model says that this command must fail."""


def below(files: Files, path: str) -> list[str]:
    return [name for name in files if name == path or name.startswith(path + "/")]


def need_room(files: Files, path: str) -> None:
    parts = path.split("/")
    if below(files, path) or any("/".join(parts[:n]) in files for n in range(1, len(parts))):
        raise Refused


def create(files: Files, path: str, text: str) -> Files:
    need_room(files, path)
    return {**files, path: text}


def str_replace(files: Files, path: str, old: str, new: str) -> Files:
    if path not in files or not old or len(re.findall(f"(?={re.escape(old)})", files[path])) != 1:
        raise Refused
    return {**files, path: files[path].replace(old, new)}


def insert(files: Files, path: str, line: int, text: str) -> Files:
    lines = re.findall(r"[^\n]*\n|[^\n]+", files.get(path, ""))
    if path not in files or not 0 <= line <= len(lines):
        raise Refused
    if line < len(lines) or (lines and lines[-1].endswith("\n")):
        text = text if text.endswith("\n") else text + "\n"
    elif lines:
        text = "\n" + text
    return {**files, path: "".join([*lines[:line], text, *lines[line:]])}


def delete(files: Files, path: str) -> Files:
    doomed = below(files, path)
    if not doomed:
        raise Refused
    return {name: text for name, text in files.items() if name not in doomed}


def rename(files: Files, old: str, new: str) -> Files:
    moved = below(files, old)
    if not moved or new == old or new.startswith(old + "/"):
        raise Refused
    need_room(files, new)
    return {new + name[len(old) :] if name in moved else name: text for name, text in files.items()}


MODEL: dict[str, Callable[..., Files]] = {
    "create": create,
    "str_replace": str_replace,
    "insert": insert,
    "delete": delete,
    "rename": rename,
}


def on_disk(root: Path) -> Files:
    found = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        for file in files:
            path = Path(folder, file)
            if not file.startswith("."):
                found[path.relative_to(root).as_posix()] = path.read_bytes().decode()
    return found


def run(vault: Vault, root: Path, files: Files, step: Step) -> Files:
    """Do one step in the vault and in the model, compare them, and give what the files are now."""
    command, arguments = step
    before = int(git(root, "rev-list", "--count", "HEAD"))
    try:
        wanted = MODEL[command](files, *arguments)
    except Refused:
        wanted = None
    try:
        DEEDS[command](vault, CLAUDE, *arguments)
        refused = ""
    except VaultError as error:
        refused = str(error)
    note(f"{command} {arguments}: {refused or 'done'}")

    assert (wanted is None) == bool(refused)
    now = files if wanted is None else wanted
    assert on_disk(root) == now
    assert int(git(root, "rev-list", "--count", "HEAD")) == before + (now != files)
    assert git(root, "status", "--porcelain") == ""
    return now


@given(st.lists(steps, min_size=4, max_size=14))
@settings(max_examples=25)
def test_the_vault_is_what_the_commands_say(sequence: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder, "v"))
        files: Files = {}
        with opened(root) as vault:
            for step in sequence:
                files = run(vault, root, files, step)
            with vault.reading() as reader:
                assert sorted(row[0] for row in reader.files()) == sorted(files)
        assert git(root, "fsck", "--strict") == ""
        committed = git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
        assert sorted(name for name in committed if not name.startswith(".")) == sorted(files)
