"""The watcher on real folders: what a person, an editor or Git does, and what is told of it."""

import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.storage.watcher.telling import QUIET, Telling, Watch, settle
from tests.waiting import wait_until
from vault_mcp.storage.watcher import Told, Watcher


def test_an_edit_is_told_of_once(root: Path, watch: Watch) -> None:
    watcher, telling = watch()
    (root / "n.md").write_text("lion\n")
    (root / "sub" / "new.md").write_text("tiger\n")
    wait_until(lambda: telling.paths == {"n.md", "sub/new.md"})

    assert settle(telling, root) == {"n.md", "sub/new.md"}
    assert telling.comparisons == 0
    assert len(telling.held["n.md"]) == 1
    assert watcher.mode == "events"
    assert watcher.alive


def test_a_deleted_file_is_told_of(root: Path, watch: Watch) -> None:
    _, telling = watch()
    (root / "n.md").unlink()
    wait_until(lambda: telling.paths == {"n.md"})

    assert telling.held["n.md"] == [None]


def test_vims_backup_save_is_one_change_of_the_note(root: Path, watch: Watch) -> None:
    _, telling = watch()
    (root / "4913").write_text("")
    (root / "4913").unlink()
    (root / "n.md").rename(root / "n.md~")
    (root / "n.md").write_text("new\n")
    (root / "n.md~").unlink()
    wait_until(lambda: telling.paths)

    assert settle(telling, root) == {"n.md"}
    assert telling.held["n.md"] == [b"new\n"]


def test_an_atomic_save_from_a_hidden_folder_is_told_of(root: Path, watch: Watch) -> None:
    (root / ".git" / "vault-mcp").mkdir(parents=True)
    _, telling = watch()
    (root / ".git" / "vault-mcp" / "temporary").write_text("new\n")
    (root / ".git" / "vault-mcp" / "temporary").rename(root / "sub" / "n.md")
    wait_until(lambda: telling.paths == {"sub/n.md"})

    assert telling.held["sub/n.md"] == [b"new\n"]


def test_a_renamed_file_is_told_of_under_both_names(root: Path, watch: Watch) -> None:
    _, telling = watch()
    (root / "n.md").rename(root / "sub" / "m.md")

    wait_until(lambda: telling.paths == {"n.md", "sub/m.md"})


def test_a_file_that_is_truncated_first_is_told_of_when_it_has_text_again(root: Path, watch: Watch) -> None:
    _, telling = watch()
    with (root / "n.md").open("w") as note:
        assert settle(telling, root, "one.md") == set()  # the truncated file would have rested by now
        note.write("new lion\n")
    wait_until(lambda: "n.md" in telling.paths)

    assert telling.held["n.md"] == [b"new lion\n"]


def test_a_file_that_stays_empty_is_told_of_after_a_while(root: Path, watch: Watch) -> None:
    _, telling = watch()
    began = time.monotonic()
    (root / "n.md").write_text("")
    wait_until(lambda: telling.paths == {"n.md"})

    assert 1.9 < telling.at[-1] - began < 4
    assert telling.held["n.md"] == [b""]


def test_five_hundred_files_made_and_deleted_leave_the_watcher_well(root: Path, watch: Watch) -> None:
    watcher, telling = watch()
    for number in range(500):
        (root / f"t{number}.md").write_text("x")
        (root / f"t{number}.md").unlink()
    others = settle(telling, root)

    assert others <= {f"t{number}.md" for number in range(500)}
    assert telling.trouble == []
    assert watcher.alive


def test_a_folder_moved_in_is_told_of_with_its_files_and_then_watched(
    root: Path, tmp_path: Path, watch: Watch
) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "x.md").write_text("lion\n")
    (tmp_path / "in" / "deep" / "y.md").write_text("lion\n")
    _, telling = watch()
    (tmp_path / "in").rename(root / "in")
    wait_until(lambda: telling.paths == {"in/x.md", "in/deep/y.md"})

    telling.forget()
    (root / "in" / "deep" / "y.md").write_text("tiger\n")
    wait_until(lambda: telling.paths == {"in/deep/y.md"})


def test_a_folder_moved_out_means_that_anything_may_have_changed(
    root: Path, tmp_path: Path, watch: Watch
) -> None:
    (root / "sub" / "x.md").write_text("lion\n")
    _, telling = watch()
    (root / "sub").rename(tmp_path / "gone")
    wait_until(lambda: telling.comparisons == 1)

    (tmp_path / "gone" / "x.md").write_text("no longer ours\n")
    assert settle(telling, root) == set()


def test_a_folder_renamed_inside_is_followed(root: Path, watch: Watch) -> None:
    (root / "sub" / "x.md").write_text("lion\n")
    _, telling = watch()
    (root / "sub").rename(root / "other")
    wait_until(lambda: telling.comparisons)

    telling.forget()
    (root / "other" / "x.md").write_text("tiger\n")
    wait_until(lambda: telling.paths == {"other/x.md"})


def test_folders_made_in_one_go_are_watched_to_the_last(root: Path, watch: Watch) -> None:
    _, telling = watch()
    deep = root / "/".join(f"d{number}" for number in range(20))
    deep.mkdir(parents=True)
    (deep / "x.md").write_text("lion\n")
    path = str((deep / "x.md").relative_to(root))
    wait_until(lambda: telling.paths == {path})

    telling.forget()
    (deep / "x.md").write_text("tiger\n")
    wait_until(lambda: telling.paths == {path})


def test_thousands_of_files_at_once_are_one_comparison(root: Path, watch: Watch) -> None:
    watcher, telling = watch(quiet=2.0)
    began = time.monotonic()
    for folder in range(50):
        (root / f"folder{folder}").mkdir()
        for number in range(100):
            (root / f"folder{folder}" / f"{number}.md").write_text("x\n")
    wait_until(lambda: telling.comparisons, 120)

    assert telling.at[-1] - began < 120
    assert telling.told in ([None], [None, None])  # two if the making itself paused for a while
    assert watcher.alive
    telling.forget()
    (root / "folder49" / "99.md").write_text("changed\n")
    wait_until(lambda: telling.paths == {"folder49/99.md"})


def test_link_loops_and_pipes_are_no_trouble(root: Path, watch: Watch) -> None:
    (root / "self").symlink_to(".")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe.md")
    watcher, telling = watch()
    os.mkfifo(root / "sub" / "pipe.md")
    (root / "sub" / "up").symlink_to("..")
    (root / "n.md").write_text("lion\n")
    wait_until(lambda: "n.md" in telling.paths)

    assert not {path for path in telling.paths if path.count("/") > 1}
    assert telling.trouble == []
    assert watcher.alive


def test_nothing_is_told_of_git_or_any_hidden_path(root: Path, watch: Watch) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    (root / ".obsidian").mkdir()
    _, telling = watch()
    for number in range(30):
        git("commit", "-q", "--allow-empty", "-m", str(number))
        (root / ".obsidian" / "workspace.json").write_text(str(number))
    git("gc", "-q")
    (root / ".git" / "x").write_text("")
    (root / "sub" / ".trash").mkdir()
    (root / "sub" / ".trash" / "a.md").write_text("thrown away\n")
    (root / ".n.md.icloud").write_text("")
    (root / ".gitignore").write_text(".trash\n")
    (root / "conflict-files-obsidian-git.md").write_text("")

    assert settle(telling, root) == set()
    assert telling.comparisons == 0


def test_a_repository_inside_the_vault_is_its_own_affair(root: Path, watch: Watch) -> None:
    (root / "own").mkdir()
    _, telling = watch()
    (root / "own" / ".git").mkdir()
    (root / "own" / "a.md").write_text("theirs\n")

    assert settle(telling, root) == set()


def test_reading_files_wakes_nobody(root: Path, watch: Watch) -> None:
    for number in range(300):
        (root / f"{number}.md").write_text("x\n")
    _, telling = watch()
    for _ in range(3):
        for file in root.glob("*.md"):
            file.read_bytes()

    assert settle(telling, root) == set()
    assert telling.comparisons == 0


def test_a_name_that_is_no_utf8_is_told_of(root: Path, watch: Watch) -> None:
    _, telling = watch()
    with open(os.fsencode(root) + b"/bad\xff.md", "wb") as file:
        file.write(b"x")

    wait_until(lambda: telling.paths == {"bad\udcff.md"})


def test_a_note_saved_without_pause_is_told_of_now_and_then(root: Path, watch: Watch) -> None:
    _, telling = watch(quiet=0.3, longest=0.6)
    saves = 0

    def save() -> bool:
        nonlocal saves
        saves += 1
        (root / "n.md").write_text(f"{saves}\n")
        return len(telling.told) == 3

    wait_until(save)
    last = f"{saves}\n".encode()
    wait_until(lambda: telling.held["n.md"][-1] == last)

    gaps = [later - earlier for earlier, later in zip(telling.at[:3], telling.at[1:3], strict=False)]
    assert all(gap > 0.4 for gap in gaps)
    assert saves > 20


def test_what_the_listener_raises_is_reported_and_the_watcher_lives_on(root: Path, watch: Watch) -> None:
    telling = Telling(root)

    def listener(told: Told) -> None:
        telling(told)
        if told is not None and "n.md" in told:
            raise ValueError("cannot take that in")

    trouble: list[str] = []
    watcher = Watcher(str(root), listener, quiet=QUIET, first=0, every=0.5, on_trouble=trouble.append)
    watcher.start()
    try:
        wait_until(lambda: telling.comparisons)
        (root / "n.md").write_text("lion\n")
        wait_until(lambda: trouble)
        assert "ValueError: cannot take that in" in trouble[0]
        (root / "m.md").write_text("lion\n")
        wait_until(lambda: "m.md" in telling.paths)
        wait_until(lambda: telling.told[-1] is None)
        assert watcher.alive
    finally:
        watcher.stop()


def test_trouble_with_the_reporting_does_not_end_the_watcher(root: Path) -> None:
    telling = Telling(root)

    def listener(told: Told) -> None:
        telling(told)
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(root))

    said: list[str] = []

    def reporter(trouble: str) -> None:
        said.append(trouble)
        raise RuntimeError("nobody there")

    watcher = Watcher(str(root), listener, quiet=QUIET, first=0, every=0.2, on_trouble=reporter)
    watcher.start()
    try:
        wait_until(lambda: telling.comparisons > 2)
        assert watcher.alive
        assert len(said) == 1  # once, not at every comparison
        assert str(root) not in said[0]
    finally:
        watcher.stop()


def test_the_listener_is_never_called_twice_at_a_time(root: Path) -> None:
    calls = threading.Semaphore(1)
    collisions = []
    threads = set()
    count = 0

    def listener(told: Told) -> None:
        nonlocal count
        if not calls.acquire(blocking=False):
            collisions.append(told)
            return
        threads.add(threading.get_ident())
        for number in range(3):
            (root / f"made {number}.md").write_text(str(count))
        count += 1
        calls.release()

    watcher = Watcher(str(root), listener, quiet=0.02, longest=0.05, first=0, every=0.02)
    watcher.start()
    try:
        wait_until(lambda: count > 20, 20)
    finally:
        watcher.stop()

    assert collisions == []
    assert len(threads) == 1


def test_files_given_back_are_told_of_once_they_rest(root: Path, watch: Watch) -> None:
    watcher, telling = watch()
    many = {f"{number}.md" for number in range(3000)}
    watcher.look_again(many)
    wait_until(lambda: telling.paths == many)

    assert telling.comparisons == 0


def test_the_vaults_folder_may_be_replaced_by_another(root: Path, tmp_path: Path, watch: Watch) -> None:
    watcher, telling = watch()
    root.rename(tmp_path / "old")
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "x.md").write_text("lion\n")
    wait_until(lambda: telling.comparisons)
    telling.forget()
    (root / "sub" / "x.md").write_text("tiger\n")
    wait_until(lambda: telling.paths == {"sub/x.md"} or telling.comparisons)

    assert settle(telling, root, "sub/y.md") <= {"sub/x.md"}
    assert watcher.mode == "events"


def test_a_vault_that_is_deleted_is_compared_at_once(root: Path, watch: Watch) -> None:
    watcher, telling = watch()
    shutil.rmtree(root)
    wait_until(lambda: telling.comparisons)

    assert watcher.alive


def test_a_vault_that_comes_later_is_watched_from_then_on(tmp_path: Path) -> None:
    root = tmp_path / "later"
    telling = Telling(root)
    watcher = Watcher(str(root), telling, quiet=QUIET, first=0, every=0.3, on_trouble=telling.trouble.append)
    watcher.start()
    try:
        wait_until(lambda: telling.comparisons)
        wait_until(lambda: watcher.mode == "polling")
        assert len(telling.trouble) == 1
        root.mkdir()
        wait_until(lambda: watcher.mode == "events")
        (root / "n.md").write_text("lion\n")
        wait_until(lambda: telling.paths == {"n.md"})
    finally:
        watcher.stop()


def test_a_stopped_watcher_can_be_started_again(root: Path, watch: Watch) -> None:
    watcher, telling = watch()
    watcher.stop()
    watcher.stop()
    assert not watcher.alive
    (root / "n.md").write_text("unheard\n")
    watcher.start()
    wait_until(lambda: telling.comparisons)
    (root / "n.md").write_text("heard\n")

    wait_until(lambda: telling.paths == {"n.md"})


def test_a_listener_may_stop_the_watcher(root: Path) -> None:
    stopped = threading.Event()

    def listener(_: Told) -> None:
        watcher.stop()
        stopped.set()

    watcher = Watcher(str(root), listener, first=0)
    watcher.start()
    wait_until(stopped.is_set)
    wait_until(lambda: not watcher.alive)


def test_importing_the_watcher_does_not_import_watchdog() -> None:
    story = "import sys, vault_mcp.storage.watcher; print('watchdog' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", story],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
    )

    assert done.stdout == "False\n"
