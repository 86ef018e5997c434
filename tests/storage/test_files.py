"""Reading a real folder: what is there, what is passed over, and that no link is followed."""

import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_until
from vault_mcp.errors import NoteUnreadable, PathRefused, StorageFailed
from vault_mcp.storage import files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / ".git").mkdir(parents=True)
    return vault


def make(root: Path, **content: str) -> None:
    for path, text in content.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def walked(root: Path, under: str = "") -> list[str]:
    return sorted(path for path, _ in files.walk(str(root), under))


def test_a_file_is_read_with_its_exact_bytes_and_facts(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "b.md").write_bytes(b"caf\xe9\r\n\x00")

    found = files.read(str(root), "a/b.md")

    assert found is not None
    content, facts = found
    assert content == b"caf\xe9\r\n\x00"
    assert facts == files.stat(str(root), "a/b.md")
    on_disk = (root / "a" / "b.md").stat()
    assert (facts.size, facts.mtime_ns, facts.ino, facts.mode) == (
        7,
        on_disk.st_mtime_ns,
        on_disk.st_ino,
        on_disk.st_mode,
    )


def test_an_empty_file_and_a_large_one_are_read_whole(root: Path) -> None:
    make(root, **{"empty.md": "", "large.md": "0123456789abcdef\n" * 200_000})

    assert files.read(str(root), "empty.md") == (b"", files.stat(str(root), "empty.md"))
    found = files.read(str(root), "large.md")
    assert found is not None
    assert found[0] == (root / "large.md").read_bytes()


def test_what_is_no_file_reads_as_nothing(root: Path) -> None:
    make(root, **{"a.md": "x", "d/b.md": "x"})

    for path in ["nope.md", "no/folder/x.md", "a.md/x.md", "d", "x" * 300]:
        assert files.read(str(root), path) is None
        assert files.stat(str(root), path) is None


@pytest.mark.parametrize(
    "path", ["", "..", "../x", "a/../../x", "/etc/hostname", "a//b", "./a", "a\0b", "a\ud800"]
)
def test_a_path_that_was_never_checked_is_refused_here_too(root: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        files.read(str(root), path)


def test_no_link_is_followed_whether_file_or_folder(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make(outside, **{"secret.md": "SECRET"})
    make(root, **{"d/a.md": "x"})
    (root / "link.md").symlink_to("../outside/secret.md")
    (root / "inner.md").symlink_to("d/a.md")
    (root / "dead.md").symlink_to("nowhere.md")
    (root / "loop").symlink_to("loop")
    (root / "self").symlink_to(".")
    (root / "out").symlink_to(outside)

    for path in ["link.md", "inner.md", "dead.md", "loop", "self/d/a.md", "out/secret.md"]:
        assert files.read(str(root), path) is None
        assert files.stat(str(root), path) is None
        assert files.kind(str(root), path) == "link"
    assert walked(root) == ["d/a.md"]
    listing = files.listing(str(root), "")
    assert listing is not None
    assert [entry.path for entry in listing.entries] == ["d", "d/a.md"]
    assert files.listing(str(root), "out") is None
    assert walked(root, "out") == []


def test_the_vault_itself_may_be_reached_through_a_link(root: Path, tmp_path: Path) -> None:
    make(root, **{"a.md": "x"})
    (tmp_path / "door").symlink_to(root)

    assert files.read(str(tmp_path / "door"), "a.md") is not None
    assert walked(tmp_path / "door") == ["a.md"]


def test_pipes_devices_and_sockets_hold_nobody_up(root: Path) -> None:
    os.mkfifo(root / "p.md")
    (root / "d.md").mkdir()
    (root / "z.md").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "s.md"))
        kinds = {path: files.kind(str(root), path) for path in ["p.md", "d.md", "z.md", "s.md"]}

        assert kinds == {"p.md": "other", "d.md": "folder", "z.md": "link", "s.md": "other"}
        assert all(files.read(str(root), path) is None for path in kinds)
        assert walked(root) == []


def test_a_folder_swapped_for_a_link_while_reading_never_leads_out(root: Path, tmp_path: Path) -> None:
    make(root, **{"d/a.md": "inside"})
    make(tmp_path / "out", **{"a.md": "SECRET", "b.md": "SECRET"})
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "d").rename(root / "away")
            (root / "d").symlink_to(tmp_path / "out")
            (root / "d").unlink()
            (root / "away").rename(root / "d")

    swapping = threading.Thread(target=swap)
    read: list[bytes | None] = []
    names: set[str] = set()

    def look() -> bool:
        found = files.read(str(root), "d/a.md")
        read.append(found[0] if found else None)
        names.update(path for path, _ in files.walk(str(root)))
        return len(read) > 1000 and {b"inside", None} <= set(read)

    swapping.start()
    try:
        wait_until(look, 20, every=0)
    finally:
        stop.set()
        swapping.join()

    assert set(read) == {b"inside", None}
    assert names <= {"d/a.md", "away/a.md"}


def test_hidden_and_passing_files_are_walked_past(root: Path) -> None:
    make(
        root,
        **{
            "a.md": "",
            "sub/b.md": "",
            "4913/c.md": "",
            ".obsidian/app.json": "",
            "sub/.trash/x.md": "",
            ".gitignore": "",
            ".n.md.icloud": "",
            "n.md~": "",
            "4914": "",
            "x.tmp": "",
            "conflict-files-obsidian-git.md": "",
            "P.sync-conflict-20260101-120000-ABCDEFG.md": "",
            "GIT~1/config": "",
        },
    )

    assert walked(root) == [
        "4913/c.md",
        "4914",
        "P.sync-conflict-20260101-120000-ABCDEFG.md",
        "a.md",
        "sub/b.md",
    ]
    assert walked(root, "sub") == ["sub/b.md"]
    assert sorted(files.folders(str(root))) == ["", "4913", "sub"]


def test_repositories_inside_the_vault_are_not_entered(root: Path, tmp_path: Path) -> None:
    make(root, **{"a.md": "", "plain/b.md": "", "deep/own/c.md": "", "module/d.md": ""})
    subprocess.run(["git", "init", "-q", root / "deep" / "own"], check=True)
    (root / "module" / ".git").write_text("gitdir: ../.git/modules/module\n")

    assert walked(root) == ["a.md", "plain/b.md"]
    assert sorted(files.folders(str(root))) == ["", "deep", "plain"]
    assert files.within_nested(str(root), "deep/own/c.md")
    assert files.within_nested(str(root), "module/new/x.md")
    assert not files.within_nested(str(root), "plain/b.md")
    assert not files.within_nested(str(root), "a.md")


def test_names_that_are_no_utf8_are_walked_and_can_be_read(root: Path) -> None:
    with open(os.fsencode(root) + b"/bad\xff.md", "wb") as file:
        file.write(b"x")

    (path,) = walked(root)

    assert path == "bad\udcff.md"
    found = files.read(str(root), path)
    assert found is not None
    assert found[0] == b"x"


def test_decomposed_and_composed_names_stay_two_files(root: Path) -> None:
    make(root, **{"caf\u00e9.md": "one", "cafe\u0301.md": "two"})

    texts = {path: files.read(str(root), path) for path in walked(root)}

    assert {path: found[0] for path, found in texts.items() if found} == {
        "caf\u00e9.md": b"one",
        "cafe\u0301.md": b"two",
    }


def test_a_file_over_the_limit_is_refused_with_its_name(root: Path) -> None:
    make(root, **{"big.md": "x" * 1001, "fits.md": "x" * 1000})

    with pytest.raises(NoteUnreadable, match=r"big\.md is larger than 1,000 bytes"):
        files.read(str(root), "big.md", too_large=1000)
    assert files.read(str(root), "fits.md", too_large=1000) is not None


def test_a_file_that_grows_while_it_is_read_never_exceeds_the_limit(root: Path) -> None:
    make(root, **{"log.md": "x"})
    stop = threading.Event()

    def grow() -> None:
        with (root / "log.md").open("ab", buffering=0) as log:
            while not stop.is_set():
                log.write(b"x" * 1000)

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        wait_until(lambda: (root / "log.md").stat().st_size > 100_000)
        with pytest.raises(NoteUnreadable):
            files.read(str(root), "log.md", too_large=50_000)
    finally:
        stop.set()
        growing.join()


def test_facts_of_a_file_that_changes_while_it_is_read_are_not_newer_than_its_bytes(root: Path) -> None:
    make(root, **{"n.md": "0" * 100})
    stop = threading.Event()

    def save() -> None:
        count = 0
        while not stop.is_set():
            count += 1
            (root / "n.md").write_text(str(count % 10) * (100 + count % 50))

    saving = threading.Thread(target=save)
    saving.start()
    try:
        reads = [files.read(str(root), "n.md") for _ in range(500)]
    finally:
        stop.set()
        saving.join()
    last = files.read(str(root), "n.md")

    assert last is not None
    assert all(found is None or found[0] == last[0] for found in reads if found and found[1] == last[1])


@pytest.fixture
def closed() -> Iterator[Path]:
    """Give a vault with a folder and a file that may not be read, also to tests that run as the superuser."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root, **{"closed/a.md": "x", "open/b.md": "x", "shut.md": "x"})
        (root / "closed").chmod(0)
        (root / "shut.md").chmod(0)
        superuser = os.geteuid() == 0
        if superuser:
            root.chmod(0o755)
            os.seteuid(65534)
        try:
            yield root
        finally:
            if superuser:
                os.seteuid(0)
            (root / "closed").chmod(0o755)


def test_a_folder_that_cannot_be_listed_is_an_error_and_not_empty(closed: Path) -> None:
    with pytest.raises(StorageFailed, match=r"closed \(Permission denied\)"):
        list(files.walk(str(closed)))
    unreadable: list[str] = []
    found = {path for path, _ in files.walk(str(closed), unreadable=unreadable)}

    assert found == {"open/b.md", "shut.md"}
    assert unreadable == ["closed"]
    with pytest.raises(StorageFailed):
        files.read(str(closed), "closed/a.md")
    with pytest.raises(StorageFailed, match=r"shut\.md"):
        files.read(str(closed), "shut.md")


def test_a_folder_that_cannot_be_listed_is_one_to_watch_all_the_same(closed: Path) -> None:
    assert sorted(files.folders(str(closed))) == ["", "closed", "open"]


def test_a_vault_that_is_gone_is_an_error_and_not_empty(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    for ask in (
        lambda: list(files.walk(gone, unreadable=[])),
        lambda: files.read(gone, "a.md"),
        lambda: files.stat(gone, "a.md"),
    ):
        with pytest.raises(StorageFailed) as failed:
            ask()
        assert str(tmp_path) not in str(failed.value)


def test_a_listing_is_sorted_bounded_and_says_what_it_left_out(root: Path) -> None:
    make(
        root,
        **{f"f{i}.md": "xyz" for i in range(5)},
        **{"d/e/deep.md": "", "d/a.md": "12345", "d/.hidden": ""},
    )

    whole = files.listing(str(root), "")
    assert whole is not None
    assert [entry.path for entry in whole.entries] == ["d", "d/a.md", "d/e", *[f"f{i}.md" for i in range(5)]]
    assert [entry.is_folder for entry in whole.entries[:3]] == [True, False, True]
    assert whole.entries[1].size == 5
    assert whole.left_out == 0

    cut = files.listing(str(root), "", limit=3)
    assert cut is not None
    assert len(cut.entries) == 3
    assert cut.left_out == 5

    below = files.listing(str(root), "d", depth=1)
    assert below is not None
    assert [entry.path for entry in below.entries] == ["d/a.md", "d/e"]
    assert files.listing(str(root), "f1.md") is None
    assert files.listing(str(root), "nope") is None


def test_folders_come_before_what_they_hold(root: Path) -> None:
    make(root, **{"a/b/c/d.md": ""})

    seen = []
    for folder in files.folders(str(root)):
        seen.append(folder)
        if folder == "a/b":
            (root / "a" / "b" / "made meanwhile").mkdir()

    assert "a/b/made meanwhile" in seen


def test_files_that_vanish_during_the_walk_are_left_out(root: Path) -> None:
    make(root, **{f"d{i}/{j}.md": "" for i in range(20) for j in range(5)})
    found = []
    for path, _ in files.walk(str(root)):
        found.append(path)
        if len(found) == 1:
            for i in range(10):
                subprocess.run(["rm", "-r", root / f"d{i}"], check=True)

    assert len(found) >= 50


def test_a_file_that_an_editor_has_emptied_is_read_once_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    asked: list[int] = []

    def is_known(name: str, stat: files.FileStat) -> bool:
        asked.append(stat.size)
        path.write_bytes(b"new")
        return len(asked) == 3

    while not asked:  # a machine may sleep between the two lines
        path.write_bytes(b"")
        found = files.read_saved(str(tmp_path), "a.md", is_known)
    assert found is not None
    assert found[0] == b"new"
    assert asked[0] == 0


def never(path: str, stat: files.FileStat) -> bool:
    message = "nobody would wait for this file"
    raise AssertionError(message)


def test_a_file_that_is_known_or_older_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"")
    found = files.read_saved(str(tmp_path), "a.md", lambda path, stat: True)
    assert found is not None
    os.utime(path, (1, 1))
    found = files.read_saved(str(tmp_path), "a.md", never)
    assert found is not None
    assert found[0] == b""
    assert files.read_saved(str(tmp_path), "none.md", lambda path, stat: False) is None
