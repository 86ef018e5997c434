"""Cases about paths: no road leads out of the vault, and none into what no tool may touch."""

import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.direct import Answer, call, done, refused
from tests.vaults import clean, commits, git, make_vault, opened, write_files
from tests.waiting import HANGS
from vault_mcp.storage.git.swap import exchange
from vault_mcp.vault import Vault

SECRET = "SECRET\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with one note, a file beside it, and a folder whose name begins like its own."""
    write_files(tmp_path, {"outside.md": SECRET, "vault-evil/x.md": SECRET})
    return make_vault(tmp_path / "vault", {"a.md": "in\n"})


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    with opened(root) as vault:
        yield vault


def everything(vault: Vault, path: str) -> list[Answer]:
    """Try every file command on a path."""
    return [
        call(vault, "memory_view", path=path),
        call(vault, "memory_create", path=path, file_text="x"),
        call(vault, "memory_str_replace", path=path, old_str="SECRET", new_str="x"),
        call(vault, "memory_insert", path=path, insert_line=0, insert_text="x"),
        call(vault, "memory_delete", path=path),
        call(vault, "memory_rename", old_path="a.md", new_path=path),
        call(vault, "memory_rename", old_path=path, new_path="b.md"),
    ]


def unharmed(root: Path) -> bool:
    """Say whether the vault is as it was, and what lies around it too."""
    around = {
        path.relative_to(root.parent).as_posix()
        for path in root.parent.rglob("*")
        if root not in path.parents
    }
    return (
        (root / "a.md").read_text() == "in\n"
        and commits(root)[0] == "start"
        and clean(root)
        and (root.parent / "outside.md").read_text() == SECRET
        and (root.parent / "vault-evil/x.md").read_text() == SECRET
        and around - {"vault"} == {"outside.md", "vault-evil", "vault-evil/x.md"}
    )


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../outside.md",
            "x/../../outside.md",
            "..",
            "x/..",
            "x/../..",
            "./../outside.md",
            "....//outside.md",
        ),
        *("../vault-evil/x.md", "/memories/../outside.md", "/memories/../../outside.md", "%2e%2e/outside.md"),
        *(
            "..%2foutside.md",
            "%252e%252e/outside.md",
            "..\\outside.md",
            "a.md/../../outside.md",
            "/../outside.md",
        ),
    ],
)
def test_PATH_01_parent_segments_lead_nowhere(vault: Vault, root: Path, path: str) -> None:
    for answer in everything(vault, path):
        assert answer.error
        assert "SECRET" not in answer.text
    assert unharmed(root)


@pytest.mark.parametrize("path", ["/etc/hostname", "//etc/hostname", "/proc/self/environ", "/tmp", "/"])
def test_PATH_02_an_absolute_path_is_no_path_of_the_host(vault: Vault, root: Path, path: str) -> None:
    answers = everything(vault, path)
    assert [answer.error for answer in answers] == [path != "/"] + [True] * 6
    if path != "/":
        content = Path(path).read_bytes().decode("utf-8", "replace") if Path(path).is_file() else "\0"
        assert not any(content.strip() in answer.text for answer in answers if content.strip())
    assert unharmed(root)


def test_PATH_04_a_link_that_leads_out_is_not_followed(vault: Vault, root: Path) -> None:
    os.symlink("../outside.md", root / "link.md")
    assert "SECRET" not in refused(vault, "memory_view", path="link.md")
    refused(vault, "memory_str_replace", path="link.md", old_str="SECRET", new_str="x")
    assert done(vault, "search_memory", query="SECRET") == "[]"
    refused(vault, "memory_delete", path="link.md")
    refused(vault, "memory_rename", old_path="link.md", new_path="b.md")
    assert (root / "link.md").is_symlink()
    assert (root.parent / "outside.md").read_text() == SECRET


def test_PATH_05_nothing_is_made_below_a_link(vault: Vault, root: Path) -> None:
    out = root.parent / "out"
    out.mkdir()
    os.symlink("../out", root / "d")
    refused(vault, "memory_create", path="d/new.md", file_text="x")
    refused(vault, "memory_rename", old_path="a.md", new_path="d/a.md")
    refused(vault, "memory_create", path="d/sub/new.md", file_text="x")
    assert list(out.iterdir()) == []
    assert (root / "a.md").exists()


def test_PATH_07_dead_links_and_loops_cost_no_time(root: Path) -> None:
    os.symlink("nowhere.md", root / "dead.md")
    os.symlink("loop", root / "loop")
    os.symlink(".", root / "self")
    began = time.monotonic()
    with opened(root) as vault:
        assert "self" not in done(vault, "memory_view", path="")
        assert done(vault, "search_memory", query="x") == "[]"
        for path in ("dead.md", "loop", "self", "self/self/a.md"):
            refused(vault, "memory_view", path=path)
    assert time.monotonic() - began < HANGS


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".gitattributes",
            ".gitmodules",
            ".gitignore",
            "sub/.gitattributes",
            "sub/deep/.gitignore",
            ".git/config",
        ),
        *(
            ".GIT/config",
            ".git",
            "sub/.git/hooks/pre-commit",
            "git~1/config",
            ".vault-mcp.toml",
            ".Vault-MCP.toml",
        ),
        *(
            ".obsidian/app.json",
            "sub/.obsidian/x.json",
            ".obsidian",
            ".git\u200c/config",
            "/memories/.git/config",
        ),
    ],
)
def test_PATH_10_files_that_change_how_git_behaves_are_out_of_reach(
    vault: Vault, root: Path, path: str
) -> None:
    for answer in everything(vault, path):
        assert answer.error
    assert unharmed(root)


@pytest.mark.parametrize(
    "path", ["a\0.md", "a.md\0.png", "\0", "a\n.md", "a\x7f.md", "a\u2028.md", "\ud800.md"]
)
def test_PATH_11_a_path_with_a_control_character_is_an_error_and_no_fault(
    vault: Vault, root: Path, path: str
) -> None:
    for answer in everything(vault, path):
        assert answer.error
        assert "fault in the server" not in answer.text
    assert unharmed(root)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "..\\..\\x.md",
            "C:\\x.md",
            "C:x.md",
            "\\\\srv\\share\\x.md",
            "a.md:stream",
            "a.md::$DATA",
            "c:/x.md",
        ),
        *("nul", "CON.md", "com1.txt", "x.", "x ", "a*b.md", "what?.md", "<x>.md", 'a"b.md', "a|b.md"),
    ],
)
def test_PATH_12_what_another_system_would_read_otherwise_is_refused_on_every_one(
    vault: Vault, root: Path, path: str
) -> None:
    refused(vault, "memory_create", path=path, file_text="x")
    refused(vault, "memory_rename", old_path="a.md", new_path=path)
    assert unharmed(root)


def test_PATH_14_a_rename_goes_over_nothing(tmp_path: Path) -> None:
    files = {"a.md": "1\n", "b.md": "2\n", "d/c.md": "3\n"}
    root = make_vault(tmp_path / "v", files)
    with opened(root) as vault:
        for old, new in (
            ("a.md", "b.md"),
            ("a.md", "d"),
            ("d", "d/e"),
            ("a.md", "a.md"),
            ("nope.md", "x.md"),
        ):
            refused(vault, "memory_rename", old_path=old, new_path=new)
        assert {name: (root / name).read_text() for name in files} == files
        assert commits(root)[0] == "start"
        done(vault, "memory_rename", old_path="a.md", new_path="new/dir/a.md")
    assert commits(root)[:2] == ["memory_rename: a.md -> new/dir/a.md", "start"]
    assert git(root, "log", "--follow", "--format=%s", "new/dir/a.md").splitlines()[-1] == "start"
    assert clean(root)


def test_PATH_15_pipes_devices_and_folders_called_like_notes_hold_nothing_up(root: Path) -> None:
    os.mkfifo(root / "p.md")
    (root / "d.md").mkdir()
    os.symlink("/dev/zero", root / "z.md")
    began = time.monotonic()
    with opened(root) as vault:
        assert "d.md/" in done(vault, "memory_view", path="")
        assert done(vault, "search_memory", query="x") == "[]"
        refused(vault, "memory_view", path="p.md")
        refused(vault, "memory_view", path="z.md")
        assert done(vault, "memory_view", path="d.md").endswith("It is empty.")
        done(vault, "memory_create", path="t.md", file_text="still at work\n")
    assert time.monotonic() - began < HANGS


@pytest.mark.skipif(sys.platform != "linux", reason="only here two folders change places in one step")
def test_PATH_18_a_folder_swapped_for_a_link_leads_no_file_out(root: Path) -> None:
    out, folder, link = root.parent / "out", root / "d", root.parent / "link"
    out.mkdir()
    folder.mkdir()
    os.symlink(out, link)
    stop = threading.Event()
    pauses = itertools.cycle((0.0, 0.0, 0.001, 0.0, 0.02))  # so that some calls meet a folder that stays

    def swap() -> None:
        while not stop.wait(next(pauses)):
            exchange(str(link), None, str(folder), None)

    swapping = threading.Thread(target=swap)
    made = []
    with opened(root) as vault:
        swapping.start()
        try:
            for number in range(400):
                answer = call(vault, "memory_create", path=f"d/n{number}.md", file_text="x")
                assert "fault in the server" not in answer.text, answer.text
                if not answer.error:
                    made.append(f"n{number}.md")
        finally:
            stop.set()
            swapping.join(10)
    assert list(out.iterdir()) == []
    assert made
    real = folder if not folder.is_symlink() else link
    assert sorted(path.name for path in real.iterdir()) == sorted(made)
