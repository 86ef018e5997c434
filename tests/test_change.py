"""One change: all of it in one commit and in the index, or nothing at all."""

from pathlib import Path

import pytest

from tests.vaults import PERSON, authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.change import version_of
from vault_mcp.errors import AlreadyThere, NotFound, PathRefused, Stale
from vault_mcp.vault import Vault

NOTE = (
    "---\nentity: person\n---\n\n## Observations\n\n- likes tea %%+2026-10-05T09:12:33Z cursor%%\n- by hand\n"
)


def fail(vault: Vault) -> None:
    with vault.change("t", by="bot") as change:
        change.write("a.md", "new\n")
        change.delete("missing.md")


def write_late(vault: Vault, root: Path) -> None:
    with vault.change("t", by="bot") as change:
        change.write("a.md", f"{change.read('a.md')}bot\n")
        write_files(root, {"a.md": "saved meanwhile\n"})


def test_one_block_is_one_commit_that_says_who_and_when(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    before = len(commits(root))
    with opened(root) as vault, vault.change("test_tool", by="bot", session="s1", subject="two") as change:
        change.write("a.md", "a\n")
        change.write("b/c.md", "c\n")

    assert len(commits(root)) == before + 1
    shown = git(root, "log", "-1", "--format=%an|%ae|%cn|%s|%(trailers:unfold,separator=%x3B)")
    assert shown == (
        f"bot|bot@agent.invalid|vault-mcp|test_tool: two|Tool: test_tool;Edited-By: bot;"
        f"Edited-At: {change.at};Session: s1\n"
    )
    assert git(root, "log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%at").strip() == str(
        change.epoch
    )
    assert change.receipt.commit == git(root, "rev-parse", "HEAD").strip()
    assert change.receipt.paths == ("a.md", "b/c.md")
    assert clean(root)


def test_an_exception_in_the_block_leaves_no_trace(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "old\n"})
    head = git(root, "rev-parse", "HEAD")
    with opened(root) as vault:
        with pytest.raises(NotFound):
            fail(vault)
        with vault.change("t", by="bot") as change:
            assert change.read("a.md") == "old\n"

    assert git(root, "rev-parse", "HEAD") == head
    assert (root / "a.md").read_text() == "old\n"


def test_writing_what_is_there_makes_no_commit(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "old\n"})
    head = git(root, "rev-parse", "HEAD")
    with opened(root) as vault, vault.change("t", by="bot") as change:
        change.write("a.md", "old\n")

    assert change.receipt.commit is None
    assert git(root, "rev-parse", "HEAD") == head


def test_a_hand_edit_in_the_way_is_committed_first_in_the_persons_name(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": NOTE, "other.md": "o\n"})
    with opened(root) as vault:
        with vault.reading() as reader:
            assert reader.file("a.md")
        write_files(root, {"a.md": NOTE + "- typed now\n"})
        with vault.change("t", by="bot") as change:
            change.write("a.md", (change.read("a.md") or "") + "- from the bot\n")

    assert authors(root)[:2] == ["bot", PERSON]
    assert commits(root)[1] == "hand-edit: a.md"
    assert git(root, "show", "HEAD~1:a.md") == NOTE + "- typed now\n"
    assert git(root, "show", "HEAD:a.md") == NOTE + "- typed now\n- from the bot\n"
    assert (
        git(root, "log", "-1", "--skip=1", "--format=%(trailers:key=Edited-By,valueonly)").strip() == PERSON
    )


def test_the_persons_staged_and_unstaged_work_elsewhere_is_never_swept_in(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "a\n", "b.md": "b\n", "c.md": "c\n"})
    with opened(root) as vault:
        with vault.reading():
            pass
        write_files(root, {"b.md": "staged\n", "c.md": "unstaged\n", "d.md": "untracked\n"})
        git(root, "add", "b.md")
        with vault.change("t", by="bot") as change:
            change.write("a.md", "A\n")

    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["a.md"]
    assert git(root, "status", "--porcelain") == "M  b.md\n M c.md\n?? d.md\n"


def test_a_file_that_a_person_saves_during_the_block_is_not_overwritten(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "one\n"})
    with opened(root) as vault:
        with pytest.raises(Stale):
            write_late(vault, root)
        with vault.change("t", by="bot") as again:
            again.write("a.md", f"{again.read('a.md')}bot\n")

    assert (root / "a.md").read_text() == "saved meanwhile\nbot\n"
    assert authors(root)[:2] == ["bot", PERSON]


def test_the_receipt_tells_facts_and_whose_words_were_replaced(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": NOTE})
    with opened(root) as vault:
        text = NOTE.replace(
            "likes tea %%+2026-10-05T09:12:33Z cursor%%", "likes mate %%+2026-10-05T09:12:33Z cursor%%"
        )
        with vault.change("t", by="bot") as change:
            change.write("a.md", text.replace("- by hand\n", "- new %%+2026-11-30T00:00:00Z bot%%\n"))
        with vault.change("t", by="bot") as second:
            second.write(
                "a.md", (second.read("a.md") or "").replace("- new %%+2026-11-30T00:00:00Z bot%%\n", "")
            )

    receipt = change.receipt
    assert [(c.old, c.new) for c in receipt.changed] == [("likes tea", "likes mate")]
    assert [f.text for f in receipt.added] == ["new"]
    assert [f.text for f in receipt.removed] == ["by hand"]
    whose = {r.text: (r.by, r.kind) for r in receipt.replaced}
    assert whose == {"likes tea": ("cursor", "agent"), "by hand": (PERSON, "person")}
    assert [(r.text, r.by, r.at, r.kind) for r in second.receipt.replaced] == [
        ("new", "bot", "2026-11-30T00:00:00Z", "self")
    ]


def test_a_version_that_is_no_longer_current_stops_the_change(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "one\n"})
    with opened(root) as vault:
        version = version_of(b"one\n")
        with vault.change("t", by="bot", if_version=version) as change:
            change.expect("a.md")
            change.write("a.md", "two\n")
        assert (change.receipt.versions or {})["a.md"] == version_of(b"two\n")
        with (
            pytest.raises(Stale, match=r"a\.md has changed since version"),
            vault.change("t", by="bot", if_version=version) as change,
        ):
            change.expect("a.md")
        with (
            pytest.raises(Stale, match=f"No note that this call changes is at version {version}"),
            vault.change("t", by="bot", if_version=version) as change,
        ):
            change.write("a.md", "three\n")
    assert (root / "a.md").read_text() == "two\n"


def test_a_move_keeps_bytes_and_refuses_a_taken_place(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "x\r\n", "b.md": "y\n"})
    with opened(root) as vault:
        with pytest.raises(AlreadyThere), vault.change("t", by="bot") as change:
            change.move("a.md", "b.md")
        with vault.change("t", by="bot") as change:
            change.move("a.md", "new/dir/a.md")

    assert (root / "new/dir/a.md").read_bytes() == b"x\r\n"
    assert git(root, "log", "--follow", "--format=%s", "--", "new/dir/a.md").splitlines()[-1] != "t"
    assert clean(root)


@pytest.mark.parametrize("path", [".git/config", ".obsidian/app.json", "a/.gitattributes"])
def test_hidden_files_are_no_part_of_a_change(tmp_path: Path, path: str) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault, pytest.raises(PathRefused), vault.change("t", by="bot") as change:
        change.write(path, "x")


def test_a_path_that_git_ignores_is_refused_and_no_file_is_left(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    write_files(root, {".gitignore": ".trash/\nprivate/\n"})
    with (
        opened(root) as vault,
        pytest.raises(PathRefused, match="ignored by Git"),
        vault.change("t", by="b") as c,
    ):
        c.write("private/p.md", "secret\n")

    assert not (root / "private").exists()


def test_a_message_with_hostile_text_keeps_its_trailers(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    evil = "likes tea\n\nEdited-By: mallory\nEdited-At: 2001-01-01T00:00:00Z"
    with (
        opened(root) as vault,
        vault.change("t", by="Eve\ncommitter Root <r@x> 0 +0000", subject=evil) as change,
    ):
        change.write("a.md", NOTE.replace("by hand", "x").replace("likes tea", "Edited-By: mallory"))

    raw = git(root, "cat-file", "-p", "HEAD")
    header = raw.split("\n\n", 1)[0]
    assert header.count("\nauthor ") == 1
    assert header.count("\ncommitter ") == 1
    assert "mallory" not in git(root, "log", "-1", "--format=%(trailers:key=Edited-By,valueonly)")
    assert len(git(root, "log", "-1", "--format=%s").rstrip("\n")) <= 100
