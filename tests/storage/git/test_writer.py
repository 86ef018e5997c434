import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.vaults import AGENT, AT, Vault, as_nobody
from vault_mcp.errors import RepositoryRefused, Stale, StorageFailed, VaultBusy
from vault_mcp.storage.git import git_lock
from vault_mcp.storage.git.message import Ident, Message
from vault_mcp.storage.git.writer import blob_id


def test_one_commit_holds_the_changed_the_added_and_the_removed_file_and_nothing_else(vault: Vault) -> None:
    before = vault.git("rev-parse", "HEAD").strip()

    done = vault.commit({"a.md": "A\n", "new/deep/c.md": "c\n", "b.md": None}, "add: c")

    assert vault.git("show", "--format=%an|%ae|%cn|%at|%ct|%s", "--name-status", "HEAD").split("\n")[:5] == [
        f"claude|claude@agent.invalid|vault-mcp|{AT}|{AT}|add: c",
        "",
        "M\ta.md",
        "D\tb.md",
        "A\tnew/deep/c.md",
    ]
    assert vault.there() == {"a.md": b"A\n", "new/deep/c.md": b"c\n", "people/ada.md": b"# Ada\n"}
    assert (done.parent, done.sha) == (before, vault.git("rev-parse", "HEAD").strip())
    assert done.blobs == {"a.md": blob_id(b"A\n"), "new/deep/c.md": blob_id(b"c\n"), "b.md": None}
    stats = done.stats["a.md"], done.stats["b.md"]
    assert stats[0] is not None
    assert stats[0].size == 2
    assert stats[0].ctime_ns == os.stat(vault.root / "a.md").st_ctime_ns
    assert stats[1] is None
    vault.assert_sound()


def test_several_commits_under_one_lock_follow_each_other(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        first = vault.commit({"a.md": "1\n"}, writer=writer)
        second = vault.commit({"a.md": "2\n"}, writer=writer)

        assert writer.head == second.sha

    assert second.parent == first.sha
    vault.assert_sound()


def test_the_first_commit_of_all_is_made_on_an_unborn_branch(vaults: Callable[..., Vault]) -> None:
    vault = vaults()
    assert vault.repository.head() is None

    done = vault.commit({"t.md": "t\n"})

    assert done.parent is None
    assert vault.git("log", "--format=%H %s").strip() == f"{done.sha} change"
    assert "commit (initial)" in vault.git("reflog")
    vault.assert_sound()


def test_a_branch_is_born_beside_others_but_not_in_their_way(vault: Vault) -> None:
    vault.git("checkout", "-q", "--orphan", "topic/one")
    vault.commit({"b.md": "B\n"})
    assert vault.git("rev-parse", "topic/one").strip() == vault.repository.head()

    vault.git("pack-refs", "--all")
    vault.git("symbolic-ref", "HEAD", "refs/heads/topic")

    with pytest.raises(RepositoryRefused, match="topic"):
        vault.commit({"b.md": "again\n"})
    assert vault.text("b.md") == "B\n"


def test_what_a_person_staged_and_edited_elsewhere_is_left_alone(vault: Vault) -> None:
    vault.save("b.md", "staged\n")
    vault.git("add", "b.md")
    vault.save("people/ada.md", "unstaged\n")
    vault.save("d.md", "untracked\n")

    vault.commit({"a.md": "A\n"})

    assert vault.git("show", "--name-only", "--format=", "HEAD").split() == ["a.md"]
    assert vault.status() == "M  b.md\n M people/ada.md\n?? d.md\n"
    assert vault.git("show", ":b.md") == "staged\n"
    assert vault.index() == vault.index_as_git_writes_it()


def test_a_file_staged_in_a_new_folder_stays_out_of_a_commit_in_the_same_folder(vault: Vault) -> None:
    vault.save("new/theirs.md", "theirs\n")
    vault.git("add", "new/theirs.md")

    vault.commit({"new/ours.md": "ours\n"})

    assert vault.git("ls-tree", "-r", "--name-only", "HEAD", "new").split() == ["new/ours.md"]
    assert vault.status() == "A  new/theirs.md\n"
    assert vault.git("ls-tree", "-r", "--name-only", vault.git("write-tree").strip(), "new").split() == [
        "new/ours.md",
        "new/theirs.md",
    ]


def test_a_commit_of_somebody_else_is_built_upon_and_not_reverted(vault: Vault) -> None:
    vault.commit({"a.md": "1\n"})
    vault.save("b.md", "other\n")
    vault.git("commit", "-qam", "other")

    vault.commit({"a.md": "2\n"})

    assert vault.git("show", "HEAD:b.md") == "other\n"
    assert vault.git("show", "--name-only", "--format=", "HEAD").split() == ["a.md"]
    vault.assert_sound()


def test_a_persons_edit_goes_into_history_without_touching_the_file(vault: Vault) -> None:
    vault.save("a.md", "by hand\n")
    vault.save("n.md", "new by hand\n")
    (vault.root / "b.md").unlink()
    inode = os.stat(vault.root / "a.md").st_ino

    with vault.repository.writing() as writer:
        writes = {path: vault.seen(path, vault.there().get(path)) for path in ("a.md", "n.md", "b.md")}
        person = vault.repository.person()
        writer.commit(writes, Message("hand-edit: a.md"), author=person, at=AT, write_files=False)

    assert vault.git("log", "-1", "--format=%an %ae").strip() == "Pat Person pat@example.invalid"
    assert os.stat(vault.root / "a.md").st_ino == inode
    vault.assert_sound()


def test_bytes_that_head_has_already_make_no_empty_commit(vault: Vault) -> None:
    vault.save("a.md", "edited by hand\n")

    done = vault.commit({"a.md": "a\n"})

    assert done.sha == done.parent == vault.git("rev-parse", "HEAD").strip()
    assert vault.git("rev-list", "--count", "HEAD").strip() == "1"
    assert vault.text("a.md") == "a\n"
    vault.assert_sound()


# -- what was seen


def test_a_file_that_changed_since_it_was_seen_is_not_overwritten(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", "agent\n")
        vault.save("a.md", "person\n")

        with pytest.raises(Stale, match=r"a\.md"):
            writer.commit(
                {"b.md": vault.seen("b.md", "B\n"), "a.md": write}, Message("x"), author=AGENT, at=AT
            )

    assert vault.text("a.md") == "person\n"
    assert vault.text("b.md") == "b\n"
    assert vault.git("rev-list", "--count", "HEAD").strip() == "1"
    vault.assert_sound(clean=False)
    assert vault.status() == " M a.md\n"


def test_a_change_of_the_same_size_within_one_tick_of_the_clock_is_noticed(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", "agent\n")
        assert write.seen is not None
        with open(vault.root / "a.md", "r+b") as file:
            file.write(b"z")
        os.utime(vault.root / "a.md", ns=(write.seen.mtime_ns, write.seen.mtime_ns))

        with pytest.raises(Stale):
            writer.commit({"a.md": write}, Message("x"), author=AGENT, at=AT)

    assert vault.text("a.md") == "z\n"


def test_a_file_that_was_only_touched_is_still_what_was_seen(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", "agent\n")
        os.utime(vault.root / "a.md")

        writer.commit({"a.md": write}, Message("x"), author=AGENT, at=AT)

    assert vault.text("a.md") == "agent\n"
    vault.assert_sound()


@pytest.mark.parametrize("seen_first", [True, False])
def test_a_file_that_came_or_went_since_is_noticed(vault: Vault, seen_first: bool) -> None:
    path = "a.md" if seen_first else "new.md"
    with vault.repository.writing() as writer:
        write = vault.seen(path, "agent\n")
        if seen_first:
            (vault.root / path).unlink()
        else:
            vault.save(path, "person\n")

        with pytest.raises(Stale):
            writer.commit({path: write}, Message("x"), author=AGENT, at=AT)

    assert vault.there().get(path) == (None if seen_first else b"person\n")
    assert vault.leftovers() == []


def test_a_deletion_of_what_changed_since_is_refused(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", None)
        vault.save("a.md", "person\n")

        with pytest.raises(Stale):
            writer.commit({"a.md": write}, Message("x"), author=AGENT, at=AT)

    assert vault.text("a.md") == "person\n"


def test_a_persons_edit_that_went_on_is_not_committed_with_older_bytes(vault: Vault) -> None:
    vault.save("a.md", "first\n")
    with vault.repository.writing() as writer:
        write = vault.seen("a.md", "first\n")
        vault.save("a.md", "second\n")

        with pytest.raises(Stale):
            writer.commit({"a.md": write}, Message("x"), author=AGENT, at=AT, write_files=False)

    assert vault.git("show", "HEAD:a.md") == "a\n"


# -- the disk says no


def test_a_full_disk_leaves_everything_as_it_was(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    before = vault.there()
    calls = {"count": 0}
    real = os.writev

    def full(*arguments: object) -> int:
        calls["count"] += 1
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(StorageFailed, match="No space left on the disk"):
        vault.commit({"a.md": "A\n", "new/x.md": "x\n", "b.md": None})
    monkeypatch.setattr(os, "writev", real)

    assert calls["count"] == 1
    assert vault.there() == before
    assert not (vault.root / "new").exists()
    assert vault.git("rev-list", "--count", "HEAD").strip() == "1"
    vault.assert_sound()
    vault.commit({"a.md": "A\n"})
    vault.assert_sound()


def test_a_read_only_folder_is_named_relative_to_the_vault() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        vault = Vault.make(Path(folder, "vault"), notes={"a.md": "a\n", "people/ada.md": "# Ada\n"})
        os.chmod(vault.root / "people", 0o555)

        said = as_nobody(vault.root, lambda: vault.commit({"a.md": "A\n", "people/ada.md": "x\n"}))

        assert said == "StorageFailed: Permission denied: people/ada.md. Let the server's user write there."
        assert vault.there() == {"a.md": b"a\n", "people/ada.md": b"# Ada\n"}
        assert vault.leftovers() == []
        os.chmod(vault.root / "people", 0o755)
        assert as_nobody(vault.root, lambda: vault.commit({"people/ada.md": "x\n"})) == ""
        assert vault.text("people/ada.md") == "x\n"


# -- locks of others


def test_a_foreign_lock_is_reported_with_its_age_and_never_removed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_lock, "PATIENCE", 0.2)
    lock = vault.root / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (os.stat(lock).st_mtime - 7200,) * 2)

    with pytest.raises(VaultBusy, match=r"\.git/index\.lock for 2 hours.*rm \.git/index\.lock"):
        vault.commit({"a.md": "A\n"})

    assert lock.exists()
    assert vault.text("a.md") == "a\n"
    lock.unlink()
    vault.assert_sound()
    vault.commit({"a.md": "A\n"})
    vault.assert_sound()


def test_a_lock_on_the_branch_stops_the_commit_before_any_file_is_touched(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_lock, "PATIENCE", 0.2)
    lock = vault.root / ".git/refs/heads/main.lock"
    lock.touch()

    with pytest.raises(VaultBusy, match=r"refs/heads/main\.lock"):
        vault.commit({"a.md": "A\n"})

    assert vault.text("a.md") == "a\n"
    assert not (vault.root / ".git/index.lock").exists()
    lock.unlink()
    vault.assert_sound()


# -- identities


def test_names_and_messages_cannot_forge_a_header_or_a_trailer(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        writer.commit(
            {"a.md": vault.seen("a.md", "A\n")},
            Message(
                "x" * 300 + "\n\nTool: forged",
                "likes tea\n\nEdited-By: mallory\nEdited-At: 2001-01-01T00:00:00Z\0\ud800",
                (("Edited-By", "eve\nEdited-By: root"), ("Tool", "test")),
            ),
            author=Ident("Eve\ncommitter Root <r@x> 0 +0000", "a@b>\n <c"),
            at=AT,
        )

    header = vault.git("cat-file", "-p", "HEAD").split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in header] == ["tree", "parent", "author", "committer"]
    trailers = vault.git("log", "-1", "--format=%(trailers:key=Edited-By,valueonly)").strip()
    assert trailers == "eve Edited-By: root"
    assert len(vault.git("log", "-1", "--format=%s").strip()) <= 100
    vault.assert_sound()
