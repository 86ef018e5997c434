import os
from pathlib import Path

from vault_mcp.storage.git.kept import KeptFile


def test_a_file_is_read_again_when_it_was_replaced_or_changed(tmp_path: Path) -> None:
    path = tmp_path / "HEAD"
    kept = KeptFile(str(path))
    assert kept.content() is None

    path.write_text("one\n")
    assert kept.content() == "one"
    path.write_text("three\n")
    assert kept.content() == "three"
    path.unlink()
    assert kept.content() is None
    path.mkdir()
    assert kept.content() is None
    kept.close()


def test_a_replacement_is_noticed_though_size_and_time_are_the_same(tmp_path: Path) -> None:
    """Two commits within one tick of the clock, where the file system would use an inode's number again."""
    path, lock = tmp_path / "main", tmp_path / "main.lock"
    path.write_text("0000\n")
    kept = KeptFile(str(path))
    for number in range(1, 200):
        assert kept.content() == f"{number - 1:04}"
        lock.write_text(f"{number:04}\n")
        os.utime(lock, ns=(1, 1))
        os.replace(lock, path)

    assert kept.content() == "0199"
    kept.close()


def test_a_file_of_ours_is_known_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "main"
    kept = KeptFile(str(path))
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(fd, b"abc\n")

    kept.adopt(fd, "abc")

    assert kept.content() == "abc"
    kept.close()
    kept.close()
    assert kept.content() == "abc"
    kept.close()
