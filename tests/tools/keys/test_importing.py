"""A folder of `<key>.json` files becomes keys, all in one commit."""

import json
import os
from pathlib import Path

import pytest

from tests.vaults import CLAUDE, authors, clean, commits, make_vault, opened
from vault_mcp.errors import BadArgument
from vault_mcp.tools.keys.importing import import_keys
from vault_mcp.tools.keys.reading import list_memory_keys, read_memory
from vault_mcp.tools.keys.writing import write_memory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old memory"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, said: object) -> None:
    (folder / name).write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")


def test_every_file_becomes_a_key_in_one_commit_in_the_persons_name(root: Path, old: Path) -> None:
    put(old, "theme.json", "dark")
    put(old, "window.json", {"from": "21:00", "crates": [1, 2]})
    put(old, "wrapped.json", {"key": "user/name", "value": "Ann\r\n"})
    put(old, "value only.json", {"value": ""})
    put(old, "number.json", 7)
    (old / "bom.json").write_bytes(b'\xef\xbb\xbf"x"')
    told: list[tuple[int, int]] = []
    with opened(root) as vault:
        report = import_keys(vault, str(old), by="Ann Person", progress=lambda *done: told.append(done))
        assert json.loads(list_memory_keys(vault, CLAUDE)[0]) == [
            "bom", "number", "theme", "user/name", "value only", "window",
        ]  # fmt: skip
        assert read_memory(vault, CLAUDE, "theme") == "dark"
        assert read_memory(vault, CLAUDE, "user/name") == "Ann\r\n"
        assert read_memory(vault, CLAUDE, "value only") == ""
        assert read_memory(vault, CLAUDE, "window") == '{"from": "21:00", "crates": [1, 2]}'
        assert read_memory(vault, CLAUDE, "number") == "7"
    assert (report.written, report.replaced, report.same, report.problems, report.others) == (6, 0, 0, [], [])
    assert report.commit
    assert (commits(root)[0], authors(root)[0]) == ("import: old memory", "Ann Person")
    assert told == [(6, 6)]
    assert clean(root)


def test_a_second_time_only_what_differs_is_written(root: Path, old: Path) -> None:
    put(old, "a.json", "1")
    put(old, "b.json", "2")
    with opened(root) as vault:
        import_keys(vault, str(old), by="Ann")
        write_memory(vault, CLAUDE, "b", "mine")
        report = import_keys(vault, str(old), by="Ann")
        assert (report.written, report.replaced, report.same) == (0, 1, 1)
        assert read_memory(vault, CLAUDE, "b") == "2"
        before = commits(root)
        assert import_keys(vault, str(old), by="Ann").commit is None
    assert commits(root) == before


def test_what_cannot_be_read_is_told_and_costs_nothing_else(root: Path, old: Path) -> None:
    put(old, "good.json", "v")
    (old / "broken.json").write_text("{")
    (old / "latin.json").write_bytes(b'"caf\xe9"')
    (old / "half.json").write_text('"\\ud800"')
    (old / " .json").write_text('"blank key"')
    (old / "notes.md").write_text("a free file")
    (old / "folder.json").mkdir()
    (old / ".hidden.json").write_text('"x"')
    os.symlink("/etc/hostname", old / "link.json")
    with opened(root) as vault:
        report = import_keys(vault, str(old), by="Ann")
        assert list_memory_keys(vault, CLAUDE) == ('["good"]',)
    assert report.written == 1
    assert [problem.partition(":")[0] for problem in report.problems] == [
        " .json", "broken.json", "half.json", "latin.json",
    ]  # fmt: skip
    assert sorted(report.others) == ["folder.json", "link.json", "notes.md"]


def test_a_dry_run_says_what_would_be_done(root: Path, old: Path) -> None:
    put(old, "a.json", "1")
    before = commits(root)
    with opened(root) as vault:
        report = import_keys(vault, str(old), by="Ann", dry_run=True)
        assert (report.written, report.commit) == (1, None)
        assert list_memory_keys(vault, CLAUDE) == ("[]",)
    assert commits(root) == before
    assert clean(root)


def test_many_keys_share_no_folder_that_grows_without_end(root: Path, old: Path) -> None:
    for number in range(520):
        put(old, f"{number}.json", f"v{number}")
    with opened(root) as vault:
        assert import_keys(vault, str(old), by="Ann").written == 520
        assert read_memory(vault, CLAUDE, "519") == "v519"
    assert len(list((root / "keys").glob("*.md"))) == 500
    assert clean(root)


def test_a_folder_that_is_none_is_refused(root: Path, old: Path) -> None:
    with opened(root) as vault, pytest.raises(BadArgument, match="cannot be listed"):
        import_keys(vault, str(old / "nope"), by="Ann")
