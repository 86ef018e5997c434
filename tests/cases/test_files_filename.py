"""Cases about names, for files and keys: any name has its own file, and none is taken for something else."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.direct import call, done, refused
from tests.vaults import clean, commits, git, make_vault, opened, write_files
from tests.waiting import HANGS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def test_NAME_02_both_unicode_forms_of_a_name_can_be_read_and_neither_is_overwritten(root: Path) -> None:
    composed, decomposed = "café.md", "cafe\u0301.md"
    write_files(root, {composed: "one zebra\n", decomposed: "two zebra\n"})
    with opened(root) as vault:
        assert "one zebra" in done(vault, "memory_view", path=composed)
        assert "two zebra" in done(vault, "memory_view", path=decomposed)
        done(vault, "memory_str_replace", path=decomposed, old_str="two", new_str="2")
        refused(vault, "memory_create", path=composed, file_text="x")
        refused(vault, "memory_rename", old_path=composed, new_path=decomposed)
    assert (root / composed).read_text() == "one zebra\n"
    assert (root / decomposed).read_text() == "2 zebra\n"


@pytest.mark.parametrize("key", ["", "   ", "\t\n"])
def test_NAME_09_a_blank_key_is_an_error_and_no_commit(root: Path, key: str) -> None:
    before = commits(root)
    with opened(root) as vault:
        assert "blank" in refused(vault, "write_memory", key=key, value="v")
    assert commits(root) == before


@pytest.mark.parametrize("key", [".", "..", "../..", "../x", "/", "//x"])
def test_NAME_09_a_key_of_dots_is_a_file_inside_the_vault(root: Path, key: str) -> None:
    around = sorted(os.listdir(root.parent))
    with opened(root) as vault:
        done(vault, "write_memory", key=key, value="v")
        assert done(vault, "read_memory", key=key) == "v"
    (path,) = [name for name in git(root, "ls-files").splitlines() if not name.startswith(".")]
    assert path.startswith("keys/")
    assert sorted(os.listdir(root.parent)) == around
    assert clean(root)


def test_NAME_15_names_that_look_like_options_are_names(root: Path) -> None:
    write_files(root, {"keep.md": "keep\n"})
    with opened(root) as vault:
        for path in ("--output=pwn.md", "-rf", "--", "-C", "$(touch pwn.md)", ";touch pwn.md"):
            done(vault, "memory_create", path=path, file_text="x\n")
            assert git(root, "show", "--format=", "--name-only", "HEAD").strip() == path
        done(vault, "memory_rename", old_path="-C", new_path="--help")
        done(vault, "memory_delete", path="-rf")
        done(vault, "write_memory", key="--force", value="-n")
        assert done(vault, "read_memory", key="--force") == "-n"
    assert not (root / "pwn.md").exists()
    assert not (root / "-rf").exists()
    assert (root / "keep.md").read_text() == "keep\n"
    assert git(root, "fsck", "--strict") == ""


@pytest.mark.skipif(os.name != "posix", reason="names are text there")
def test_NAME_18_a_name_that_is_not_utf_8_is_shown_escaped_and_holds_nothing_up(root: Path) -> None:
    (root / os.fsdecode(b"bad\xff.md")).write_text("x")
    began = time.monotonic()
    with opened(root) as vault:
        for _ in range(2):
            assert "bad\\xff.md" in done(vault, "memory_view", path="")
            assert done(vault, "list_memory_keys") == "[]"
    assert time.monotonic() - began < HANGS


NAMES = [
    *(
        "a/b",
        "a_b",
        "a-b",
        "a b",
        "a\\b",
        "A_B",
        "a.b",
        "a.json",
        "a",
        "ä",
        "a\u0308",
        "ключ",
        "k?",
        "k*",
        ".k",
    ),
    *("k.", "CON"),
]


def test_NAME_21_keys_that_would_share_a_file_do_not(root: Path) -> None:
    with opened(root) as vault:
        accepted = [key for key in NAMES if not call(vault, "write_memory", key=key, value=f"v:{key}").error]
        assert accepted == NAMES
        assert sorted(json.loads(done(vault, "list_memory_keys"))) == sorted(NAMES)
        assert {key: done(vault, "read_memory", key=key) for key in NAMES} == {
            key: f"v:{key}" for key in NAMES
        }
    paths = git(root, "ls-files", "keys").splitlines()
    assert len({path.casefold() for path in paths}) == len(NAMES)
