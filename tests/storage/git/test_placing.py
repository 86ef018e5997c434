import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.git.vaults import AGENT, Vault
from vault_mcp.errors import PathRefused, Stale, StorageFailed
from vault_mcp.storage import files
from vault_mcp.storage.git import placing, swap
from vault_mcp.storage.git.disk_words import storage_failed
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.objects import blob_id
from vault_mcp.storage.git.placing import Placing


def test_a_file_system_without_links_will_do(vault: Vault, way: str) -> None:
    vault.commit({"a.md": "A\n", "new/n.md": "n\n", "people/ada.md": None})
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", "agent\n")
        vault.save("a.md", "person\n")
        with pytest.raises(Stale):
            writer.commit({"a.md": write}, Message("x"), author=AGENT, at=1)

    assert vault.text("a.md") == "person\n"
    assert vault.status() == " M a.md\n"
    assert vault.leftovers() == []


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Placing]:
    (tmp_path / "vault/notes").mkdir(parents=True)
    (tmp_path / "state").mkdir()
    (tmp_path / "vault/notes/a.md").write_text("old\n")
    made = Placing(str(tmp_path / "vault"), str(tmp_path / "state"), os.stat(tmp_path).st_dev)
    yield made
    made.close()


def prepare(place: Placing, root: Path, path: str, content: bytes | None) -> None:
    found = files.read(str(root), path)
    place.prepare(path, content, found[1] if found else None, blob_id(found[0]) if found else None)


def test_files_are_replaced_added_and_taken_away_and_all_of_it_undone(
    place: Placing, tmp_path: Path, way: str
) -> None:
    root = tmp_path / "vault"
    (root / "b.md").write_text("b\n")
    before = os.stat(root / "notes/a.md")
    prepare(place, root, "notes/a.md", b"new\n")
    prepare(place, root, "b.md", None)
    prepare(place, root, "deep/er/c.md", b"c\n")

    place.place()

    assert (root / "notes/a.md").read_bytes() == b"new\n"
    assert not (root / "b.md").exists()
    assert (root / "deep/er/c.md").read_bytes() == b"c\n"
    place.undo()
    after = os.stat(root / "notes/a.md")
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (root / "b.md").read_bytes() == b"b\n"
    assert not (root / "deep").exists()
    assert list((tmp_path / "state").iterdir()) == []


def test_what_a_person_saved_at_the_last_instant_goes_back(
    place: Placing, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last look at the file and its replacement."""
    root = tmp_path / "vault"
    prepare(place, root, "notes/a.md", b"agent\n")
    real = swap.exchange

    def saved_before(*arguments: object) -> None:
        monkeypatch.setattr(placing, "exchange", real)
        (root / "notes/.a.md.swp").write_text("person\n")
        os.replace(root / "notes/.a.md.swp", root / "notes/a.md")
        real(*arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(placing, "exchange", saved_before)
    with pytest.raises(Stale):
        place.place()
    place.undo()

    assert (root / "notes/a.md").read_text() == "person\n"
    assert [entry.name for entry in (root / "notes").iterdir()] == ["a.md"]
    assert list((tmp_path / "state").iterdir()) == []


def test_a_file_changed_before_the_undo_is_somebody_elses_and_stays(
    place: Placing, tmp_path: Path, way: str
) -> None:
    root = tmp_path / "vault"
    prepare(place, root, "notes/a.md", b"agent\n")
    prepare(place, root, "notes/n.md", b"new\n")
    place.place()
    (root / "notes/a.md").write_text("person, later\n")
    (root / "notes/n.md").write_text("person, too\n")

    place.undo()

    assert (root / "notes/a.md").read_text() == "person, later\n"
    assert (root / "notes/n.md").read_text() == "person, too\n"
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize("moment", ["before", "between"])
@pytest.mark.parametrize("how", ["link", "moved away"])
def test_a_folder_swapped_while_writing_leads_no_file_out_of_the_vault(
    place: Placing, tmp_path: Path, moment: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("old\n")

    def swap_folder() -> None:
        os.rename(root / "notes", tmp_path / "moved")
        if how == "link":
            (root / "notes").symlink_to(outside)
        else:
            (root / "notes").mkdir()

    if moment == "before":
        seen = files.read(str(root), "notes/a.md")
        assert seen
        swap_folder()
        with pytest.raises((PathRefused, Stale)):
            prepare_and_place(place, seen[1], blob_id(seen[0]))
    else:
        prepare(place, root, "notes/a.md", b"agent\n")
        prepare(place, root, "notes/new.md", b"agent\n")
        swap_folder()
        with pytest.raises(Stale, match="moved or replaced"):
            place.place()
    place.undo()

    assert {entry.name: entry.read_text() for entry in outside.iterdir()} == {"a.md": "old\n"}
    assert {entry.name: entry.read_text() for entry in (tmp_path / "moved").iterdir()} == {"a.md": "old\n"}


def prepare_and_place(place: Placing, seen: files.FileStat, blob: str) -> None:
    place.prepare("notes/a.md", b"agent\n", seen, blob)
    place.place()


def test_no_file_lands_outside_while_a_folder_is_swapped_all_the_time(vault: Vault, tmp_path: Path) -> None:
    """A race for real: one thread swaps the folder for a link and back, another writes below it."""
    outside, other = tmp_path / "outside", tmp_path / "other"
    outside.mkdir()
    other.symlink_to(outside)
    stop = threading.Event()

    def swapping() -> None:
        while not stop.is_set():
            for _ in range(2):
                swap.exchange(str(vault.root / "people"), None, str(other), None)

    thread = threading.Thread(target=swapping)
    thread.start()
    outcomes = set()
    try:
        for number in range(150):
            try:
                vault.commit({f"people/n{number}.md": "x\n"})
                outcomes.add("written")
            except (PathRefused, Stale, StorageFailed) as error:
                outcomes.add(type(error).__name__)
    finally:
        stop.set()
        thread.join()

    assert list(outside.iterdir()) == []
    assert len(outcomes) > 1
    there = {path for path in vault.there() if path.startswith("people/n")}
    assert there == {path for path in vault.git("ls-files", "people").split() if "/n" in path}
    vault.assert_sound()


def test_where_the_state_lies_on_another_disk_bytes_wait_beside_the_file(
    vault: Vault, memory: Path, tmp_path: Path
) -> None:
    if os.stat(memory).st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no second file system here")
    shutil.move(vault.root / ".git", memory / "git")
    (vault.root / ".git").write_text(f"gitdir: {memory}/git\n")

    vault.commit({"a.md": "A\n", "new/n.md": "n\n", "people/ada.md": None})

    assert vault.there() == {".git": (vault.root / ".git").read_bytes(), "a.md": b"A\n", "b.md": b"b\n"} | {
        "new/n.md": b"n\n"
    }
    assert vault.status() == ""
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", "agent\n")
        vault.save("a.md", "person\n")
        with pytest.raises(Stale):
            writer.commit({"a.md": write}, Message("x"), author=AGENT, at=1)
    assert not [path for path in vault.there() if "vault-mcp" in path]


def test_a_batch_larger_than_the_folders_that_may_be_open_is_written_whole(vault: Vault) -> None:
    changes: dict[str, bytes | str | None] = {f"{number:03}/x/n.md": f"{number}\n" for number in range(450)}
    before = len(os.listdir("/proc/self/fd"))

    vault.commit(changes)

    assert len(os.listdir("/proc/self/fd")) <= before + 6
    assert len(vault.git("ls-files").split()) == 453
    vault.assert_sound()
    vault.commit(dict.fromkeys(changes))
    assert sorted(vault.there()) == ["a.md", "b.md", "people/ada.md"]
    vault.assert_sound()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (28, "No space left"),
        (122, "No space left"),
        (13, "Permission denied"),
        (30, "read-only"),
        (5, "refused"),
    ],
)
def test_an_error_of_the_disk_is_said_in_words_without_the_hosts_paths(code: int, said: str) -> None:
    error = OSError(code, os.strerror(code), "/home/somebody/vault/notes/a.md")

    words = str(storage_failed(error, "/home/somebody/vault"))

    assert said in words
    assert "somebody" not in words
