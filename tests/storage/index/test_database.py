"""The file under the index: made, shared, damaged, deleted."""

import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from tests.storage.index.build import entity, put
from tests.storage.index.conftest import Indexed
from vault_mcp.errors import StorageFailed
from vault_mcp.storage.index import FILE_NAME, Index, IndexDamaged


def named(index: Index, name: str) -> bool:
    with index.reading() as reader:
        return reader.entity(name) is not None


def test_a_new_index_is_empty_until_its_head_is_set(tmp_path: Path) -> None:
    index = Index.open(str(tmp_path / "index"))
    assert index.empty
    with index.writing() as writer:
        put(writer, entity("Ada"))
        writer.set_head("1" * 40)
    assert (index.empty, index.head) == (False, "1" * 40)
    index.close()
    again = Index.open(str(tmp_path / "index"))
    assert (again.empty, named(again, "Ada")) == (False, True)
    again.close()


@pytest.mark.parametrize(
    "content", [b"\0" * 4096, b"", b"not a database at all" * 300, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_no_index_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index").write_bytes(content)
    index = Index.open(str(tmp_path / "index"))
    assert index.empty
    with index.writing() as writer:
        put(writer, entity("Ada"))
    assert named(index, "Ada")
    index.close()


def test_an_index_of_another_version_or_shape_is_made_anew(indexed: Indexed, tmp_path: Path) -> None:
    for change in ("PRAGMA user_version = 999", "DROP TABLE state", "DROP TABLE units"):
        index = indexed(entity("Ada"))
        index.close()
        with sqlite3.connect(tmp_path / "index") as db:
            db.execute(change)
        db.close()
        again = Index.open(str(tmp_path / "index"))
        if change != "DROP TABLE units":
            assert again.empty
        else:
            with pytest.raises(IndexDamaged), again.reading() as reader:
                reader.search("ada", 1)
            again.mend()
            assert again.empty
        again.close()


def test_damage_met_while_open_is_told_once_and_mended(indexed: Indexed, tmp_path: Path) -> None:
    index = indexed(*(entity(f"e{n}", ["text " * 50]) for n in range(300)))
    index.upkeep()
    index.close()
    path = tmp_path / "index"
    other = Index.open(str(path))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(IndexDamaged), other.reading() as reader:
        assert len(list(reader.files())) + reader.search("text", 5).total < 0, "damage was not noticed"
    with pytest.raises(IndexDamaged):
        _ = other.head
    other.mend()
    assert other.empty
    assert not named(other, "e1")
    other.close()


def test_an_index_deleted_while_open_is_noticed_and_made_anew(indexed: Indexed, tmp_path: Path) -> None:
    index = indexed(entity("Ada"))
    for path in tmp_path.glob("index*"):
        path.unlink()
    with pytest.raises(IndexDamaged), index.reading():
        pytest.fail("a deleted index was read")
    index.mend()
    assert index.empty
    with index.writing() as writer:
        put(writer, entity("Bob"))
    assert (named(index, "Ada"), named(index, "Bob")) == (False, True)


def test_an_index_that_somebody_else_made_anew_is_taken_as_it_is(indexed: Indexed, tmp_path: Path) -> None:
    index = indexed(entity("Ada"))
    for path in tmp_path.glob("index*"):
        path.unlink()
    indexed(entity("Bob"))
    with pytest.raises(IndexDamaged):
        _ = index.head
    index.mend()
    assert (named(index, "Ada"), named(index, "Bob")) == (False, True)


def test_mending_anew_empties_a_sound_index(indexed: Indexed) -> None:
    index = indexed(entity("Ada"))
    index.mend(anew=True)
    assert index.empty


def test_a_cut_off_file_is_damage(indexed: Indexed, tmp_path: Path) -> None:
    indexed(*(entity(f"e{n}", ["text " * 50]) for n in range(300))).close()
    os.truncate(tmp_path / "index", 3 * 4096)
    index = Index.open(str(tmp_path / "index"))
    if not index.empty:
        with pytest.raises(IndexDamaged), index.reading() as reader:
            assert reader.search("text", 5).total < 0, "damage was not noticed"
        index.mend()
    assert index.empty
    index.close()


def test_indexes_of_other_versions_are_left_while_used_and_removed_later(tmp_path: Path) -> None:
    for name, age in (
        ("index-0.sqlite", 1e9),
        ("index-0.sqlite-wal", 1e9),
        ("index-999.sqlite", 0),
        ("index-x.sqlite", 1e9),
    ):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1.7e9 - age,) * 2 if age else None)
    Index.open(str(tmp_path / FILE_NAME)).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [FILE_NAME, "index-999.sqlite", "index-x.sqlite"]
    )


def test_a_failed_write_leaves_no_trace(indexed: Indexed) -> None:
    index = indexed(entity("Ada"))

    def fail() -> None:
        with index.writing() as writer:
            put(writer, entity("Bob"))
            assert writer.reader.entity("Bob") is not None
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (named(index, "Ada"), named(index, "Bob"), index.head) == (True, False, "1" * 40)


def test_a_snapshot_does_not_move_while_others_write(indexed: Indexed) -> None:
    index = indexed(entity("Ada"))
    with index.reading() as reader:
        assert reader.entity("Bob") is None
        with index.writing() as writer:
            put(writer, entity("Bob"))
            writer.remove("entities/person/Ada.md")
        assert reader.entity("Bob") is None
        assert reader.entity("Ada") is not None
    assert (named(index, "Ada"), named(index, "Bob")) == (False, True)


def test_a_folder_that_is_missing_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot be opened"):
        Index.open(str(tmp_path / "missing" / "index"))


def test_a_closed_index_says_so(indexed: Indexed) -> None:
    index = indexed(entity("Ada"))
    index.close()
    with pytest.raises(StorageFailed, match="closed"):
        _ = index.head


def test_a_check_reads_the_whole_file(indexed: Indexed) -> None:
    assert indexed(entity("Ada")).check() == []


def test_readers_in_threads_see_whole_changes_only(indexed: Indexed) -> None:
    """A writer gives all entities one more observation at a time; no reader may see a mixture."""
    names = [f"e{n}" for n in range(5)]
    index = indexed(*(entity(name, ["0"]) for name in names))
    done = threading.Event()
    mixed: list[object] = []
    rounds = [0] * 3

    def read(number: int) -> None:
        while not done.is_set():
            with index.reading() as reader:
                found = [reader.entity(name) for name in names]
                counts = {reader.count_observations(row.id) for row in found if row}
            rounds[number] += 1
            if len(counts) != 1:
                mixed.append(counts)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for step in range(1, 40):
        with index.writing() as writer:
            put(writer, *(entity(name, [str(n) for n in range(step + 1)]) for name in names))
    done.set()
    for thread in threads:
        thread.join()
    assert mixed == []
    assert min(rounds) > 0


WRITER = """
    import sys
    from tests.storage.index.build import entity, put
    from vault_mcp.storage.index import Index
    index = Index.open(sys.argv[1])
    for n in range(60):
        with index.writing() as writer:
            put(writer, entity(f"{sys.argv[2]}{n}", ["shared"]))
    index.close()
"""


def test_two_processes_write_and_a_third_reads(indexed: Indexed, tmp_path: Path) -> None:
    index = indexed()
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path / "index")]
    with (
        subprocess.Popen([*command, "a"], cwd=Path(__file__).parents[3]) as one,
        subprocess.Popen([*command, "b"], cwd=Path(__file__).parents[3]) as two,
    ):
        seen = 0
        while one.poll() is None or two.poll() is None:
            with index.reading() as reader:
                total = reader.totals().entities
            assert total >= seen
            seen = total
    assert (one.returncode, two.returncode) == (0, 0)
    with index.reading() as reader:
        assert reader.totals().entities == 120
        assert reader.search("shared", 10).total == 120
    assert index.check() == []


def test_processes_that_open_a_missing_index_at_once_share_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path / "index")]
    with (
        subprocess.Popen([*command, "a"], cwd=Path(__file__).parents[3]) as one,
        subprocess.Popen([*command, "b"], cwd=Path(__file__).parents[3]) as two,
    ):
        assert (one.wait(60), two.wait(60)) == (0, 0)
    index = Index.open(str(tmp_path / "index"))
    with index.reading() as reader:
        assert reader.totals().entities == 120
    index.close()
