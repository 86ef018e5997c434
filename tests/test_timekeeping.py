"""The timeline: made by the first question about the past, kept in step behind the calls, derived."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, git, make_vault, opened, write_files
from tests.waiting import HANGS, wait_until
from vault_mcp import timekeeping
from vault_mcp.storage.index import IndexDamaged
from vault_mcp.storage.index.timeline import FILE_NAME
from vault_mcp.timekeeping import Timekeeping
from vault_mcp.tools.files import editing
from vault_mcp.tools.graph import entities, observations, reading
from vault_mcp.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def create(vault: Vault, name: str, *facts: str) -> None:
    entities.create_entities(
        vault, CLAUDE, [{"name": name, "entityType": "person", "observations": list(facts)}]
    )


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def file_of(root: Path) -> Path:
    return root / ".git/vault-mcp" / FILE_NAME


def shown(vault: Vault, moment: str) -> dict[str, list[str]]:
    told: Any = reading.read_graph(vault, CLAUDE, as_of=moment)
    return {one["name"]: [fact["text"] for fact in one["observations"]] for one in told["entities"]}


def end_of(vault: Vault) -> int:
    """Give the number of the last commit in the timeline."""
    return vault.timekeeping._opened().end()[1]


def bygones(root: Path) -> int:
    return len(list((root / ".git/vault-mcp").glob("bygone-*.sqlite")))


def test_nobody_who_never_asks_about_the_past_has_a_timeline(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        reading.read_graph(vault, CLAUDE)
        assert not file_of(root).exists()
        assert not vault.timekeeping.catch_up()
        assert shown(vault, "now") == {"Ada": ["one"]}
        assert file_of(root).exists()


def test_a_long_past_is_taken_in_behind_the_calls(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        moment = head(root)
        for number in range(12):
            create(vault, f"E{number:02}", "x")
        monkeypatch.setattr(timekeeping, "NEAR", 3)
        monkeypatch.setattr(timekeeping, "TURN", 5)
        with monkeypatch.context() as slow:  # as if the background work had not come to it yet
            slow.setattr(Timekeeping, "catch_up", lambda self: False)
            assert shown(vault, moment) == {"Ada": ["one"]}
        assert bygones(root) == 1  # the answer did not wait for the timeline
        vault.history_behind()
        wait_until(lambda: vault.timekeeping.in_step, HANGS)
        for revision in git(root, "log", "-6", "--format=%H").split():
            assert "Ada" in shown(vault, revision)
        assert bygones(root) == 1


def test_one_commit_of_many_notes_is_taken_in_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timekeeping, "TURN", 5)
    monkeypatch.setattr(timekeeping, "AT_ONCE", 3)
    with opened(root) as vault:
        write_files(root, {f"n{number}.md": f"---\nentity: x\n---\n\n- f{number}\n" for number in range(17)})
        vault.noticed(None)
        moment = head(root)
        write_files(root, {f"n{number}.md": f"---\nentity: x\n---\n\n- g{number}\n" for number in range(17)})
        vault.noticed(None)
        git(root, "commit", "-q", "--allow-empty", "-m", "nothing")
        assert shown(vault, moment) == {f"n{number}": [f"f{number}"] for number in range(17)}
        while vault.timekeeping.catch_up():
            pass
        assert shown(vault, moment) == {f"n{number}": [f"f{number}"] for number in range(17)}
        assert shown(vault, "now") == {f"n{number}": [f"g{number}"] for number in range(17)}


def test_a_history_that_was_rewritten_is_followed(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        kept = head(root)
        create(vault, "Bob", "two")
        observations.add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["more"]}])
        assert shown(vault, "now") == {"Ada": ["one", "more"], "Bob": ["two"]}
        git(root, "reset", "-q", "--hard", kept)
        create(vault, "Cy", "three")
        assert shown(vault, head(root)) == {"Ada": ["one"], "Cy": ["three"]}
        found: Any = reading.search_nodes(vault, CLAUDE, "two more", as_of=head(root))
        assert found["entities"] == []
        assert shown(vault, kept) == {"Ada": ["one"]}


def test_a_past_that_is_numbered_anew_begins_a_new_timeline(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        moment = head(root)
        observations.add_observations(vault, CLAUDE, [{"entityName": "Ada", "contents": ["more"]}])
        assert shown(vault, moment) == {"Ada": ["one"]}
        with vault.index.writing() as index:
            index.reset_history()
        assert shown(vault, moment) == {"Ada": ["one"]}
        found: Any = reading.search_nodes(vault, CLAUDE, "one", as_of=moment)
        assert [hit["observation"] for hit in found["hits"]] == ["one"]


@pytest.mark.parametrize("harm", ["taken away", "damaged", "emptied"])
def test_the_file_may_be_thrown_away_at_any_moment(root: Path, harm: str) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        moment = head(root)
        create(vault, "Bob", "two")
        assert shown(vault, moment) == {"Ada": ["one"]}
        path = file_of(root)
        if harm == "taken away":
            for end in ("", "-wal", "-shm"):
                path.with_name(path.name + end).unlink(missing_ok=True)
        elif harm == "damaged":
            path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
            path.write_bytes(b"no database" * 1000)
        else:
            path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
            path.write_bytes(b"")
        if harm != "taken away":  # whoever is just reading what others overwrite is told to ask again
            with contextlib.suppress(IndexDamaged):
                shown(vault, moment)
        assert shown(vault, moment) == {"Ada": ["one"]}
        assert shown(vault, "now") == {"Ada": ["one"], "Bob": ["two"]}
    with opened(root) as vault:
        assert shown(vault, moment) == {"Ada": ["one"]}


def test_two_processes_keep_one_timeline(root: Path) -> None:
    with opened(root) as one, opened(root) as other:
        create(one, "Ada", "one")
        assert shown(other, "now") == {"Ada": ["one"]}
        create(other, "Bob", "two")
        assert shown(one, "now") == {"Ada": ["one"], "Bob": ["two"]}
        with one.remembering() as reader:
            last = reader.last_seq
        assert end_of(one) == end_of(other) == last


def test_links_out_of_the_vault_and_hidden_files_are_in_no_moment(root: Path) -> None:
    with opened(root) as vault:
        create(vault, "Ada", "one")
        (root / "link.md").symlink_to("entities/person/Ada.md")
        write_files(root, {".obsidian/hidden.md": "---\nentity: x\n---\n\n- h\n"})
        git(root, "add", "-f", "link.md", ".obsidian/hidden.md")
        git(root, "commit", "-q", "-m", "a link and a hidden note")
        assert shown(vault, head(root)) == {"Ada": ["one"]}


def test_a_file_that_becomes_a_note_of_another_kind_is_what_it_was(root: Path) -> None:
    with opened(root) as vault:
        write_files(root, {"a.md": "---\nentity: x\n---\n\n- fact\n"})
        vault.noticed(None)
        entity = head(root)
        write_files(root, {"a.md": "plain words\n"})
        vault.noticed(None)
        plain = head(root)
        editing.memory_create(vault, CLAUDE, "/memories/b.txt", "text\n")
        (root / "a.md").unlink()
        vault.noticed(None)
        assert shown(vault, entity) == {"a": ["fact"]}
        assert shown(vault, plain) == {}
        found: Any = reading.search_nodes(vault, CLAUDE, "words", as_of=plain)
        assert [one["name"] for one in found["entities"]] == ["a"]
        gone: Any = reading.search_nodes(vault, CLAUDE, "words", as_of="now")
        assert gone["entities"] == []
