"""What is taken as a moment, and what is refused, in one clear sentence and without a trace."""

import hashlib
import time
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, git, make_vault, opened, write_files
from vault_mcp.errors import BadArgument, NotFound, VaultError
from vault_mcp.tools.doctor import examine
from vault_mcp.tools.finding import Finding
from vault_mcp.tools.graph import entities
from vault_mcp.tools.graph import reading as graph
from vault_mcp.tools.history import blame, looking, reading, restoring
from vault_mcp.tools.history.moments import moment_of, seconds, written
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

OWNER = Caller("Ann Person", person=True)


def hostile(folder: Path) -> list[str]:
    """Give words that would make a careless Git do something else."""
    pwn = folder / "pwn"
    return [
        f"--output={pwn}",
        f"-O{folder}/x",
        "--ext-diff",
        "--no-index",
        "-h",
        "--exec-path=/tmp",
        f"HEAD --output={pwn}",
        f"--since=1; touch {pwn}",
        f"$(touch {pwn})",
        f"HEAD\n--output={pwn}",
        "../../../../etc/hostname",
        "refs/../../config",
        "HEAD@{upstream}:../x",
        ":/secret",
        "HEAD:../outside.md",
        "a\u0000b",
        "HEAD",
        "main",
        "HEAD~2",
        "abc123",
        "g" * 40,
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v", {"n.md": "one\n"})


def state(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file() and "vault-mcp" not in path.parts)
    told = git(root, "rev-parse", "HEAD") + git(root, "status", "--porcelain")
    return told + "".join(
        f"{path}{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files if ".git" not in path.parts
    )


def test_revisions_that_are_options_or_paths_are_refused_everywhere(root: Path, tmp_path: Path) -> None:
    (root / ".git/refs/heads").joinpath("--output=pwn2").write_text(git(root, "rev-parse", "HEAD"))
    with opened(root) as vault:
        before = state(root)
        for word in hostile(tmp_path):
            calls: list[Any] = [
                lambda w=word: looking.history_show(vault, CLAUDE, w),
                lambda w=word: looking.history_diff(vault, CLAUDE, w),
                lambda w=word: looking.history_diff(vault, CLAUDE, "2020-01-01", w),
                lambda w=word: looking.history_log(vault, CLAUDE, since=w),
                lambda w=word: looking.history_log(vault, CLAUDE, before=w),
                lambda w=word: blame.history_blame(vault, CLAUDE, "n", at=w),
                lambda w=word: reading.history_read(vault, CLAUDE, "n", w),
                lambda w=word: restoring.history_restore(vault, CLAUDE, "n", w),
                lambda w=word: restoring.history_undo(vault, CLAUDE, change=w),
                lambda w=word: restoring.history_undo(vault, CLAUDE, since=w),
            ]
            for call in calls:
                with pytest.raises((BadArgument, NotFound)) as refused:
                    call()
                assert str(tmp_path) not in str(refused.value) or word in str(refused.value)
                assert "\n" not in str(refused.value)
        assert state(root) == before
    assert not (tmp_path / "pwn").exists()


def test_paths_that_lead_out_of_the_vault_tell_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret\n")
    with opened(root) as vault:
        for word in ("../outside.md", "/../outside.md", "..", ".git/config", "a\0b", "%2e%2e/outside.md"):
            with pytest.raises(VaultError):
                reading.history_read(vault, CLAUDE, word, "now")
            with pytest.raises(VaultError):
                restoring.history_restore(vault, CLAUDE, word, "now")
            with pytest.raises(VaultError):
                looking.history_log(vault, CLAUDE, note=word)


def test_filters_that_look_like_options_are_words_and_find_nothing(root: Path, tmp_path: Path) -> None:
    with opened(root) as vault:
        for word in hostile(tmp_path):
            told: Any = looking.history_log(vault, CLAUDE, agent=word)
            assert told["changes"] == [] or not word.strip()
            looking.history_log(vault, CLAUDE, tool=word)
            looking.history_log(vault, CLAUDE, session=word)
            looking.history_log(vault, CLAUDE, text=word)
    assert not (tmp_path / "pwn").exists()


@pytest.mark.parametrize(
    ("said", "ago"),
    [("2 weeks ago", 14 * 86_400), ("an hour ago", 3600), ("3 Days  ago", 3 * 86_400), ("now", 0)],
)
def test_so_long_ago_is_a_moment(said: str, ago: int) -> None:
    at = seconds(said)
    assert at is not None
    assert abs(time.time() - ago - at) <= 2


def test_a_time_is_the_last_change_up_to_it(root: Path) -> None:
    with opened(root) as vault, vault.remembering() as reader:
        head = git(root, "rev-parse", "HEAD").strip()
        now = moment_of(reader, "now", "at")
        assert now.commit is not None
        assert now.commit.sha == head
        assert moment_of(reader, "2001-01-01", "at").seq == 0
        by_digits = moment_of(reader, head[:7].upper(), "at")
        assert by_digits.commit == now.commit
        with pytest.raises(NotFound, match="no change"):
            moment_of(reader, "f" * 40, "at")


def test_a_commit_dated_in_the_future_hides_nothing_that_came_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "v"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    begun = written(int(time.time()) - 7_200)
    for name, at in (("early", begun), ("ahead", "2099-05-06T07:08:09Z"), ("late", begun)):
        write_files(root, {f"{name}.md": "---\nentity: t\n---\n"})
        monkeypatch.setenv("GIT_AUTHOR_DATE", at)
        monkeypatch.setenv("GIT_COMMITTER_DATE", at)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", name)
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    ahead = git(root, "rev-parse", "HEAD~1").strip()
    with opened(root) as vault:
        entities.create_entities(vault, CLAUDE, [{"name": "A", "entityType": "t", "observations": ["a1"]}])
        assert _names(vault, "now") == ["A", "ahead", "early", "late"]
        assert _names(vault, "1 hour ago") == ["ahead", "early", "late"]
        assert _names(vault, ahead) == ["ahead", "early"]
    (found,) = [finding for finding in _looked_at(root) if finding.check == "clock"]
    assert f"{ahead[:12]} (2099-05-06)." in found.text
    assert found.level == "note"


def _names(vault: Vault, as_of: str) -> list[str]:
    told: Any = graph.read_graph(vault, CLAUDE, as_of=as_of)
    return sorted(entity["name"] for entity in told["entities"])


def _looked_at(root: Path) -> list[Finding]:
    vault = Vault.open(str(root), follow=False)
    try:
        return examine(vault)
    finally:
        vault.close()


def test_a_vault_without_a_commit_has_an_empty_past(tmp_path: Path) -> None:
    root = tmp_path / "v"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    with opened(root) as vault:
        told: Any = looking.history_log(vault, CLAUDE)
        assert told == {"changes": []}
        entities.create_entities(vault, CLAUDE, [{"name": "A", "entityType": "t", "observations": ["a1"]}])
        assert len(_changes(vault)) == 1


def _changes(vault: Vault) -> list[Any]:
    told: Any = looking.history_log(vault, CLAUDE)
    return list(told["changes"])


def test_a_path_in_another_script_is_told_as_it_is(root: Path) -> None:
    with opened(root) as vault:
        write_files(root, {"日本.md": "1\n"})
        vault.noticed(None)
        assert _changes(vault)[0]["paths"] == ["日本.md"]
        told: Any = looking.history_show(vault, CLAUDE, _changes(vault)[0]["change"])
        assert "b/日本.md" in told["diff"]
        assert len(looking.history_log(vault, CLAUDE, note="日本.md")["changes"]) == 1  # type: ignore[arg-type]  # a list
