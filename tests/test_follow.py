"""What others do to the vault is taken in: by hand, by Git, while we ran and while we did not."""

import itertools
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.ordinary import being_ordinary, folder_of_an_ordinary_user
from tests.vaults import CLAUDE, PERSON, authors, clean, commits, git, make_vault, opened, write_files
from tests.waiting import wait_until
from vault_mcp import follower
from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.repository import Repository
from vault_mcp.tools.graph import entities, observations, reading
from vault_mcp.vault import Options, Vault

ENTITY = "---\nentity: person\n---\n\n## Observations\n\n"


def found(vault: Vault, query: str) -> list[str]:
    result: Any = reading.search_nodes(vault, CLAUDE, query)
    return [e["note"] for e in result["entities"]]


def facts(vault: Vault, name: str) -> list[dict[str, Any]]:
    result: Any = reading.open_nodes(vault, CLAUDE, [name], include_superseded=True)
    return list(result["entities"][0]["observations"])


def test_edits_made_while_nothing_ran_are_committed_as_the_persons_before_anything_else(
    tmp_path: Path,
) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "1\n", "b.md": "2\n"})
    with opened(root) as vault:
        assert found(vault, "1") == ["a.md"]
    write_files(root, {"a.md": "lion\n", "new.md": "x\n"})
    (root / "b.md").unlink()
    with opened(root) as vault:
        assert found(vault, "lion") == ["a.md"]
        with vault.change("t", by="bot") as change:
            change.write("t.md", "t\n")
    assert authors(root)[:2] == ["bot", PERSON]
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["t.md"]
    assert git(root, "show", "--name-only", "--format=", "HEAD~1").split() == ["a.md", "b.md", "new.md"]
    assert commits(root)[1] == "hand-edit: a.md and 2 more"
    assert clean(root)


def test_a_start_gets_ready_for_the_first_write_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed = threading.Event()
    warm = Repository.warm

    def told(repository: Repository) -> None:
        warm(repository)
        warmed.set()

    monkeypatch.setattr(Repository, "warm", told)
    with opened(make_vault(tmp_path / "v", {"a.md": "1\n"})):
        assert warmed.wait(60)


@pytest.mark.parametrize(("most", "waits"), [(0, False), (100, True)])
def test_a_read_waits_for_the_opening_comparison_only_where_that_may_be_over_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, waits: bool
) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "1\n"})
    with opened(root) as vault:
        assert vault.wait_until_compared(60)
    monkeypatch.setattr(follower, "WORTH_WAITING", most)
    monkeypatch.setattr(follower, "OPENING_WAIT", 60.0)
    vault = Vault.open(str(root), follow=False)
    begins = threading.Event()
    compare_all = vault._follower._compare_all
    monkeypatch.setattr(vault._follower, "_compare_all", lambda: begins.wait(60) and compare_all())
    vault._follower.start()
    answered = threading.Event()

    def ask() -> None:
        assert found(vault, "1") == ["a.md"]
        answered.set()

    asker = threading.Thread(target=ask)
    asker.start()
    assert answered.wait(0.2 if waits else 50) != waits
    begins.set()
    asker.join()
    vault.close()
    assert answered.is_set()


def test_background_turns_let_a_waiting_call_in(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v", {"a.md": "1\n"})) as vault:
        vault.wait_until_compared(60)
        repository, written = vault.repository, threading.Event()

        def write() -> None:
            with vault.change("t", by="bot") as change:
                change.write("t.md", "t\n")
            written.set()

        with repository.writing(60):
            writer = threading.Thread(target=write)
            writer.start()
            wait_until(lambda: repository.wanted, 60)
        vault._follower._let_calls_in()  # what each turn begins with
        assert written.wait(60)
        writer.join()


def test_hand_edits_are_indexed_but_left_uncommitted_where_so_set(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "1\n"})
    head = git(root, "rev-parse", "HEAD")
    with opened(root, Options(hand_edits="leave")) as vault:
        write_files(root, {"a.md": "lion\n"})
        vault.noticed(frozenset({"a.md"}))
        assert found(vault, "lion") == ["a.md"]
        assert git(root, "rev-parse", "HEAD") == head
        with vault.change("t", by="bot") as change:
            change.write("a.md", "lion and bot\n")
    assert authors(root)[:2] == ["bot", PERSON]


def test_a_path_that_the_person_has_staged_is_left_alone_until_a_tool_must_write_it(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "1\n"})
    with opened(root) as vault:
        assert found(vault, "1") == ["a.md"]
        write_files(root, {"a.md": "staged\n"})
        git(root, "add", "a.md")
        head = git(root, "rev-parse", "HEAD")
        vault.noticed(None)
        assert git(root, "rev-parse", "HEAD") == head
        assert git(root, "status", "--porcelain") == "M  a.md\n"
        assert found(vault, "staged") == ["a.md"]
        with vault.change("t", by="bot") as change:
            change.write("a.md", "from the bot\n")
    assert authors(root)[:2] == ["bot", PERSON]
    assert git(root, "show", "HEAD~1:a.md") == "staged\n"
    assert clean(root)


def test_commits_from_outside_are_followed_without_one_of_ours(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "a\n", "b.md": "b\n"})
    with opened(root) as vault:
        assert found(vault, "b") == ["b.md"]
        write_files(root, {"b.md": "other\n", "c.md": "third\n"})
        git(root, "add", "-A")
        git(root, "commit", "-qm", "vault backup")
        assert found(vault, "other") == ["b.md"]
        assert found(vault, "third") == ["c.md"]
        assert commits(root)[0] == "vault backup"
        with vault.change("t", by="bot") as change:
            change.write("a.md", "A\n")
    assert git(root, "show", "HEAD:b.md") == "other\n"
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["a.md"]


def test_lines_of_a_commit_from_outside_are_dated_by_it(tmp_path: Path) -> None:
    stamped = "- green tea %%+2026-10-05T09:12:33Z claude%%\n"
    root = make_vault(tmp_path / "v", {"Ada.md": ENTITY + stamped})
    with opened(root) as vault:
        vault.read_past()
        mended = stamped.replace("green", "black")
        write_files(root, {"Ada.md": ENTITY + mended, "Bob.md": ENTITY + "- second\n- third\n"})
        git(root, "add", "-A")
        git(root, "commit", "-qm", "sync", "--author=Zed <zed@example.org>", "--date=2027-03-04T05:06:07Z")
        told = {fact["text"]: fact for name in ("Ada", "Bob") for fact in facts(vault, name)}
        assert {text: (fact["agent"], fact["added_at"]) for text, fact in told.items()} == {
            "black tea": ("claude", "2026-10-05T09:12:33Z"),
            "second": ("Zed", "2027-03-04T05:06:07Z"),
            "third": ("Zed", "2027-03-04T05:06:07Z"),
        }
        edit = told["black tea"]
        assert (edit["edited_by"], edit["edited_at"]) == ("Zed", "2027-03-04T05:06:07Z")
        vault.reindex()
        assert {fact["text"]: fact for name in ("Ada", "Bob") for fact in facts(vault, name)} == told


def test_more_undated_notes_than_fit_a_turn_are_all_dated_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mcp.storage.index.writer.DATED", 2)
    tea = ENTITY + "- green tea %%+2026-10-05T09:12:33Z claude%%\n"
    names = [f"N{number}" for number in range(9)]
    root = make_vault(tmp_path / "v", {f"{name}.md": tea for name in names})
    with opened(root) as vault:
        vault.read_past()
        write_files(root, {f"{name}.md": tea.replace("green", "black") for name in names})
        git(root, "add", "-A")
        git(root, "commit", "-qm", "sync", "--author=Zed <zed@example.org>")
        wait_until(lambda: {facts(vault, name)[0].get("edited_by") for name in names} == {"Zed"}, 60)


def test_a_note_that_was_copied_and_moved_away_goes_on_where_its_name_is(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"one/Ada.md": ENTITY + "- typed\n"})
    with opened(root) as vault:
        vault.read_past()
        (root / "two").mkdir()
        text = (root / "one/Ada.md").read_text("utf-8")
        (root / "one/Ada.md").rename(root / "two/Ada.md")
        write_files(root, {"one/A copy.md": text})
        git(root, "add", "-A")
        git(root, "commit", "-qm", "tidy", "--author=Zed <zed@example.org>")
        with vault.remembering() as reader:
            changes = {path: len(reader.log(9, path=path).rows) for path in ("two/Ada.md", "one/A copy.md")}
        assert changes == {"two/Ada.md": 2, "one/A copy.md": 1}
        assert facts(vault, "Ada")[0]["agent"] == PERSON


def test_switching_branches_and_back_is_followed(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "a\n"})
    git(root, "switch", "-qc", "big")
    write_files(root, {f"f{i}/n{j}.md": f"word{i}x{j}\n" for i in range(10) for j in range(30)})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "many")
    git(root, "switch", "-q", "main")
    with opened(root) as vault:
        assert found(vault, "word9x29") == []
        git(root, "switch", "-q", "big")
        vault.noticed(None)
        assert found(vault, "word9x29") == ["f9/n29.md"]
        git(root, "switch", "-q", "main")
        vault.noticed(None)
        assert found(vault, "word9x29") == []
        assert found(vault, "a") == ["a.md"]
    assert commits(root)[0] == "start"
    assert clean(root)


def test_a_rewritten_history_is_read_anew(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"A.md": ENTITY + "- typed\n"})
    with opened(root) as vault:
        wait_until(lambda: vault.index.history_head == git(root, "rev-parse", "HEAD").strip())
        git(root, "commit", "-q", "--amend", "--author=Bea <bea@example.org>", "-m", "start again")
        assert found(vault, "typed") == ["A.md"]
        wait_until(lambda: vault.index.history_head == git(root, "rev-parse", "HEAD").strip())
        assert facts(vault, "A")[0]["agent"] == "Bea"


def test_a_past_that_was_rebased_is_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_vault(tmp_path / "v", {"A.md": ENTITY + "- typed\n"})
    with opened(root) as vault:
        for number in range(12):
            rows = [{"name": f"N{number}", "entityType": "t", "observations": ["made"]}]
            entities.create_entities(vault, CLAUDE, rows)
        vault.read_past()
        old = git(root, "rev-parse", "HEAD")
        start = GitProgram.start
        passes: list[str] = []

        def counted(program: GitProgram, *words: str, **more: Any) -> subprocess.Popen[bytes]:
            passes.append(words[0])
            return start(program, *words, **more)

        monkeypatch.setattr(GitProgram, "start", counted)
        git(root, "-c", "user.name=Bea", "rebase", "-q", "--root", "--force-rebase", "--reset-author-date")
        assert git(root, "rev-parse", "HEAD") != old
        vault.read_past()
        assert passes.count("log") == 1
        assert len(passes) < 4  # nothing is asked commit by commit
        assert vault.index.history_head == vault.repository.head()
        with vault.remembering() as reader:
            assert [row.sha for row in reader.log(50).rows] == git(root, "rev-list", "HEAD").split()
        told = facts(vault, "A")
        vault.reindex()
        assert facts(vault, "A") == told


def test_unstamped_lines_are_dated_by_git_and_edited_words_are_the_persons(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"People/Bob.md": ENTITY + "- typed by hand\n"})
    with opened(root) as vault:
        observations.add_observations(vault, CLAUDE, [{"entityName": "Bob", "contents": ["from the agent"]}])
        path = root / "People/Bob.md"
        path.write_text(path.read_text().replace("- from the agent", "- from the agent, mended"))
        vault.noticed(frozenset({"People/Bob.md"}))
        wait_until(lambda: vault.index.history_head == vault.repository.head())
        first, second = facts(vault, "Bob")
    assert (first["text"], first["agent"]) == ("typed by hand", PERSON)
    at = git(root, "log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%ad", "HEAD~2").strip()
    assert first["added_at"][:16] == at[:16]
    assert (second["agent"], second["edited_by"]) == ("claude-desktop", PERSON)


def test_a_deleted_index_is_made_again_from_files_and_git(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        entities.create_entities(
            vault, CLAUDE, [{"name": "A", "entityType": "t", "observations": ["quoted zebra"]}]
        )
    before = commits(root)
    for damage in (b"", b"\0" * 4096):
        for file in (root / ".git/vault-mcp").glob("index.sqlite*"):
            file.unlink()
        if damage:
            (root / ".git/vault-mcp/index.sqlite").write_bytes(damage)
        with opened(root) as vault:
            assert found(vault, "zebra") == ["entities/t/A.md"]
            assert facts(vault, "A")[0]["agent"] == "claude-desktop"
    assert commits(root) == before
    assert clean(root)


def test_an_evicted_note_is_not_committed_as_deleted(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "zebra\n"})
    with opened(root) as vault:
        assert found(vault, "zebra") == ["n.md"]
        (root / "n.md").rename(root / ".n.md.icloud")
        vault.noticed(None)
        assert commits(root)[0] == "start"
        assert found(vault, "zebra") == ["n.md"]


@pytest.mark.parametrize("name", [".obsidian/workspace.json", ".trash/x.md", ".DS_Store"])
def test_files_of_other_programs_are_never_committed(tmp_path: Path, name: str) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        write_files(root, {name: "x"})
        vault.noticed(None)
        with vault.change("t", by="bot") as change:
            change.write("t.md", "t\n")
    assert name not in git(root, "log", "--all", "--name-only", "--format=").split()


def test_what_git_ignores_is_neither_committed_nor_shown(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    write_files(root, {".gitignore": "private/\n"})
    git(root, "commit", "-qam", "ignore")
    with opened(root) as vault:
        write_files(root, {"private/p.md": "secret zebra\n", "open.md": "zebra\n"})
        vault.noticed(None)
        vault.noticed(None)
        assert found(vault, "zebra") == ["open.md"]
    assert git(root, "log", "--all", "--name-only", "--format=", "--", "private").strip() == ""


BUSY = {
    "a detached HEAD": (["checkout", "-q", "--detach"], ["checkout", "-q", "main"]),
    "a bisect": (["bisect", "start"], ["bisect", "reset"]),
}


@pytest.mark.parametrize("state", BUSY)
def test_a_vault_that_must_not_be_written_is_read_and_hand_edits_are_committed_afterwards(
    tmp_path: Path, state: str
) -> None:
    enter, leave = BUSY[state]
    root = make_vault(tmp_path / "v", {"a.md": "lion\n", "gone.md": "bear\n"})
    git(root, *enter)
    before = commits(root)
    with opened(root) as vault:
        assert found(vault, "lion") == ["a.md"]
        with pytest.raises(RepositoryRefused), vault.change("t", by="bot") as change:
            change.write("t.md", "t\n")
        write_files(root, {"a.md": "tiger\n", "new.md": "wolf\n"})
        (root / "gone.md").unlink()
        vault.noticed(None)
        assert [found(vault, word) for word in ("tiger", "wolf", "bear")] == [["a.md"], ["new.md"], []]
        assert commits(root) == before
        git(root, *leave)
        vault.noticed(None)
    assert commits(root)[0] == "hand-edit: a.md and 2 more"
    assert authors(root)[0] == PERSON
    assert clean(root)


def test_a_folder_that_cannot_be_listed_keeps_its_notes_and_stops_no_others() -> None:
    with folder_of_an_ordinary_user() as place:
        root = make_vault(place / "v", {"a.md": "lion\n", "closed/b.md": "bear\n"})
        with being_ordinary(place), opened(root) as vault:
            assert vault.wait_until_compared(30)
            (root / "closed").chmod(0)
            write_files(root, {"a.md": "tiger\n"})
            vault.noticed(None)
            assert [found(vault, word) for word in ("tiger", "bear")] == [["a.md"], ["closed/b.md"]]
            assert vault.troubles == [
                "The folder closed cannot be listed, so its notes are left as they were known. "
                "Check its permissions."
            ]
            (root / "closed").chmod(0o755)
            assert commits(root)[0] == "hand-edit: a.md"


def test_a_file_that_is_saved_without_pause_stops_no_call_about_another(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"hand.md": "0\n"})
    done = threading.Event()

    def save() -> None:
        for number in itertools.count():
            (root / "hand.md").write_text(f"{number}\n" * 50)
            if done.is_set():
                return

    person = threading.Thread(target=save)
    with opened(root) as vault:
        person.start()
        try:
            # Names that are not there are looked for on the disk too, so hand edits are met on the way.
            for number in range(60):
                entities.create_entities(
                    vault, CLAUDE, [{"name": f"E{number}", "entityType": "t", "observations": ["o"]}]
                )
        finally:
            done.set()
            person.join()
        vault.noticed(None)
    assert len([subject for subject in commits(root) if subject.startswith("create_entities")]) == 60
    assert git(root, "show", "HEAD:hand.md") == (root / "hand.md").read_text()
    assert git(root, "status", "--porcelain") == ""
