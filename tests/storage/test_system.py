"""What other systems do otherwise: each way by itself."""

import os
from pathlib import Path
from typing import Any

import pytest

from vault_mcp.storage import system
from vault_mcp.storage.git import flush
from vault_mcp.storage.git.wal import Log, Put, Record


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setattr(system, "pread", system.seek_and_read)
    monkeypatch.setattr(system, "pwrite", system.seek_and_write)


def record(number: int) -> Record:
    put = Put(f"{number}.md", "100644", None, b"\r\nline\n\x1a" * 40_000)
    return Record.of(f"{number:040x}", None, "refs/heads/main", b"tree\n\0", [put])


@pytest.mark.usefixtures("windows")
def test_the_log_is_kept_where_a_place_has_to_be_sought(tmp_path: Path) -> None:
    log, other = Log(str(tmp_path / "log")), Log(str(tmp_path / "log"))
    kept = [record(number) for number in range(3)]
    log.append(kept[0])
    other.append(kept[1])
    log.append(kept[2])
    log.append(record(9))
    log.retract()
    assert other.records() == kept
    log.empty()
    assert other.records() == []
    log.append(kept[1])
    assert other.records() == [kept[1]]
    for one in (log, other):
        one.close()


@pytest.mark.usefixtures("windows")
def test_a_file_that_somebody_has_open_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refusals = os.replace, iter(range(3))

    def open_elsewhere(*args: Any, **how: Any) -> None:
        if next(refusals, None) is not None:
            raise PermissionError(13, "open elsewhere")
        real(*args, **how)

    (tmp_path / "a").write_text("new")
    (tmp_path / "b").write_text("old")
    monkeypatch.setattr(os, "replace", open_elsewhere)
    system.replace(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "b").read_text() == "new"


@pytest.mark.usefixtures("windows")
def test_a_file_that_stays_open_is_refused_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_elsewhere(*args: str, **how: None) -> None:
        raise PermissionError(13, "open elsewhere")

    monkeypatch.setattr(system, "_PATIENCE", 0.1)
    monkeypatch.setattr(os, "replace", open_elsewhere)
    with pytest.raises(PermissionError):
        system.replace(str(tmp_path / "a"), str(tmp_path / "b"))


def test_every_file_is_opened_for_its_bytes() -> None:
    """Windows would write two bytes for each line end into what is not."""
    folder = Path(system.__file__).parents[1]
    files = [path for path in folder.rglob("*.py") if "os.open(" in path.read_text("utf-8")]
    assert len(files) > 8
    plain = {"folders.py", "flush.py"}  # they open folders alone, which Windows does not
    for path in files:
        text = path.read_text("utf-8")
        assert path.name in plain or "BINARY" in text or "os.devnull" in text, path


def test_a_log_that_cannot_be_emptied_is_not_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert flush.can_flush_all()
    monkeypatch.setattr(flush, "_call", None)
    assert flush.can_flush_all()
    monkeypatch.delattr(os, "sync")
    assert not flush.can_flush_all()
