"""What is wrong with a vault: each fault on a real vault is found and named, and a sound one has none."""

import os
import shutil
import unicodedata
from pathlib import Path

import pytest

from tests.ordinary import being_ordinary, folder_of_an_ordinary_user
from tests.tools.examined import ENTITY, SAMPLE, faults, in_step, looked_at, mended, only, vault_of
from tests.vaults import PERSON, authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.tools.doctor import mend
from vault_mcp.tools.faults import LARGE
from vault_mcp.vault import Options, Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def test_a_sound_vault_has_no_fault_and_says_which_commit_path_is_in_use(root: Path) -> None:
    shutil.copytree(SAMPLE, root)
    make_vault(root)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all", "--allow-empty")
    in_step(root)
    found = looked_at(root)
    assert [finding for finding in found if finding.level != "fine"] == []
    assert [finding.text for finding in found] == [
        "Commits are made directly, without running Git.",
        "Hand edits are noticed at once.",
        f"The index is in step with the files ({indexed(root)}).",
    ]


def indexed(root: Path) -> int:
    with opened(root) as vault, vault.reading() as reader:
        return reader.totals().files


def test_looking_changes_nothing(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    write_files(root, {"a.md": "2\n", "b.md": "new\n"})
    before = git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")
    looked_at(root)
    looked_at(root)
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == before
    with opened(root) as vault:
        assert vault.wait_until_compared(30)
    assert commits(root)[0] == "hand-edit: a.md and 1 more"


# -- one note at a time

NOTES = {
    "---\nentity: person\ntags: [a]\ntags: [b]\n---\n": ("duplicate key tags", "Keep one of the lines."),
    "---\n<<<<<<< HEAD\nentity: a\n=======\nentity: b\n>>>>>>> x\n---\n": ("conflict markers", "Choose what"),
    "---\nentity: person\nno end\n": ("front matter is not closed", "Close it"),
    "---\nentity: a\nmemory: b\n---\n": ("more than one of entity, memory", "Keep the property"),
    "---\nentity: a\n---\n\n- x\n\n```\nopen\n": ("code fence in line 7 is never closed", "Close it"),
}


@pytest.mark.parametrize("text", NOTES, ids=[problem for problem, _ in NOTES.values()])
def test_a_note_that_cannot_be_read_in_full_is_named_with_the_reason(root: Path, text: str) -> None:
    problem, repair = NOTES[text]
    vault_of(root, {"a folder/odd.md": text, "good.md": ENTITY})
    finding = only(root)
    assert (finding.check, finding.level, finding.path) == ("note", "problem", "a folder/odd.md")
    assert finding.text == f"It cannot be read in full: {problem}."
    assert finding.do.startswith(repair)


def test_a_note_that_is_not_utf8_is_named(root: Path) -> None:
    make_vault(root)
    (root / "latin.md").write_bytes(b"caf\xe9\n")
    in_step(root)
    finding = only(root)
    assert (finding.path, finding.do) == ("latin.md", "Convert it to UTF-8.")


def test_files_too_large_are_named_and_so_is_what_cannot_be_read() -> None:
    with folder_of_an_ordinary_user() as place:
        root = make_vault(
            place / "vault", {"large.md": "x", "huge.md": "y", "shut.md": "z", "closed/a.md": "1"}
        )
        for name, size in (("large.md", 9), ("huge.md", 65)):
            with (root / name).open("ab") as file:
                file.truncate(size * 1024 * 1024)
        with being_ordinary(place):
            (root / "shut.md").chmod(0)
            (root / "closed").chmod(0)
            found = {
                finding.path: finding.text for finding in faults(root) if finding.check in ("file", "note")
            }
            (root / "closed").chmod(0o755)
    assert found == {
        "large.md": "It is larger than 8,388,608 bytes, so it is kept but not read as a note.",
        "huge.md": "huge.md is larger than 67,108,864 bytes, too large to be read as a note. Split it.",
        "shut.md": "The disk does not let the vault read shut.md (Permission denied). Check its permissions.",
        "closed": "The folder cannot be listed. Check its permissions.",
    }


# -- names


def test_entities_keys_and_memories_that_are_called_alike_are_twins(root: Path) -> None:
    vault_of(
        root,
        {
            "a/Ada.md": ENTITY,
            "b/Ada.md": ENTITY,
            "c/x.md": "---\nentity: person\nname: Ada\n---\n",
            "k/1.md": "---\nkey: theme\n---\n\ndark\n",
            "k/2.md": "---\nkey: theme\n---\n\nlight\n",
            "m/1.md": "---\nmemory: episodic\nid: 7\n---\n\none\n",
            "m/2.md": "---\nmemory: episodic\nid: 7\n---\n\ntwo\n",
            "archive/Ada.md": ENTITY,
        },
    )
    found = faults(root)
    assert {finding.check for finding in found} == {"twins"}
    assert [finding.text for finding in found] == [
        "The entity 'Ada' has 3 notes, a/Ada.md, b/Ada.md, c/x.md: tools mean the first.",
        "The key 'theme' has 2 notes, k/1.md, k/2.md: tools mean the first.",
        "The memory '7' has 2 notes, m/1.md, m/2.md: tools mean the first.",
    ]


def test_paths_that_another_system_takes_for_one_clash(root: Path) -> None:
    composed, decomposed = "Café.md", unicodedata.normalize("NFD", "Café.md")
    vault_of(
        root, {"Plan.md": "1", "plan.md": "2", composed: "3", decomposed: "4", "A/x.md": "5", "a/y.md": "6"}
    )
    found = faults(root)
    assert {finding.check for finding in found} == {"name"}
    assert sorted(finding.text for finding in found) == sorted(
        [
            "A, a differ only in case or Unicode form: one folder on macOS and Windows.",
            f"{decomposed}, {composed} differ only in case or Unicode form: one file on macOS and Windows.",
            "Plan.md, plan.md differ only in case or Unicode form: one file on macOS and Windows.",
        ]
    )


def test_a_name_that_is_not_utf8_is_shown_printable(root: Path) -> None:
    vault_of(root)
    with open(os.path.join(os.fsencode(root), b"caf\xe9.md"), "wb") as file:
        file.write(b"x")
    finding = only(root)
    assert (finding.check, finding.path) == ("name", "caf\\xe9.md")


def test_copies_that_sync_programs_left_are_named(root: Path) -> None:
    copy = "Plan.sync-conflict-20260101-120000-ABCDEFG.md"
    vault_of(root, {"Plan.md": "1\n", copy: "2\n"})
    finding = only(root)
    assert (finding.check, finding.level, finding.path) == ("conflict copy", "problem", copy)
    assert "beside Plan.md" in finding.text


# -- relations


def test_a_relation_that_leads_nowhere_is_worth_knowing(root: Path) -> None:
    vault_of(
        root,
        {
            "a/Ada.md": ENTITY
            + "\n## Relations\n\n- knows [[Bob]]\n- knows [[Ghost]]\n- knows [[b/Ghost|G]]\n",
            "Bob.md": "plain\n",
            "archive/Old.md": ENTITY + "\n## Relations\n\n- knows [[Ghost]]\n",
        },
    )
    found = faults(root)
    assert [(finding.check, finding.level, finding.path) for finding in found] == [
        ("relation", "note", "a/Ada.md"),
        ("relation", "note", "a/Ada.md"),
    ]
    assert [finding.text for finding in found] == [
        "'knows [[Ghost]]' leads to no note.",
        "'knows [[b/Ghost]]' leads to no note.",
    ]


# -- what is not in history


def test_a_link_that_leads_nowhere_is_worth_knowing_once(root: Path) -> None:
    write = {
        "a.md": "[[Gone]] and [[gone#x|again]], [[b]], [[#Here]], ![[pic.png]], [x](https://x.org/y.md)\n",
        "b.md": "---\nabout: '[[Nobody]]'\n---\n`[[code]]` [there](sub/c.md)\n",
        "archive/old.md": "[[Long gone]]\n",
        "pic.png": "x",
    }
    vault_of(root, write)
    told = [(f.path, f.check, f.level, f.text) for f in faults(root)]
    assert told == [
        ("a.md", "link", "note", "The link to 'Gone' leads to no file."),
        ("a.md", "link", "note", "The link to 'gone' leads to no file."),
        ("b.md", "link", "note", "The link to 'Nobody' leads to no file."),
        ("b.md", "link", "note", "The link to 'sub/c.md' leads to no file."),
    ]


def test_what_looks_like_a_secret_is_named_and_never_shown(root: Path) -> None:
    token = "ghp_" + "a1B2" * 10
    vault_of(
        root,
        {
            "a.md": "x\n" * 20_000 + f"for the robot: {token}\n",
            "config.txt": "postgres://ann:hunter2@db/x\n",
            "keys/id_rsa": "x",
            "Keys to success.md": "Passwords are to be long.\n",
        },
    )
    told = {f.path: f for f in faults(root)}
    assert {path: f.text for path, f in told.items()} == {
        "a.md": "It holds what looks like a GitHub token.",
        "config.txt": "It holds what looks like a password in an address.",
        "keys/id_rsa": "It has the name of a file with keys or passwords.",
    }
    assert all(f.level == "note" and f.check == "secret" and f.do for f in told.values())
    assert token not in str(told)


def test_a_large_file_is_worth_a_word_unless_git_ignores_it(root: Path) -> None:
    vault_of(root)
    write_files(root, {".gitignore": "*.iso\n" + (root / ".gitignore").read_text()})
    for name in ("film.mp4", "disk.iso"):
        with open(root / name, "wb") as file:
            file.truncate(LARGE)
    in_step(root)
    finding = only(root)
    assert (finding.check, finding.level, finding.path) == ("large file", "note", "film.mp4")
    assert "10 MiB" in finding.text
    assert ".gitignore" in finding.do


def test_upkeep_that_is_due_is_told_and_done_when_wanted(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    git(root, "repack", "-dq")
    write_files(root, {"a.md": "2\n"})
    in_step(root)
    git(root, "repack", "-dq")
    git(root, "config", "gc.autoPackLimit", "1")
    finding = only(root)
    assert (finding.check, finding.level, finding.fix) == ("upkeep", "note", "upkeep")
    assert "2 packs" in finding.text

    git(root, "config", "gc.auto", "0")  # whoever turns it off does it
    assert faults(root) == []
    git(root, "config", "--unset", "gc.auto")

    vault = Vault.open(str(root), follow=False)
    assert mend(vault, [finding]) == ["Had Git pack what lay loose."]
    vault.close()
    assert faults(root) == []
    assert "packs: 1" in git(root, "count-objects", "-v")


def test_an_edit_that_nobody_has_committed_is_told_and_committed_when_wanted(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    write_files(root, {"a.md": "2\n"})
    found = faults(root)
    assert [(finding.check, finding.path, finding.fix) for finding in found] == [
        ("index", "", ""),
        ("history", "a.md", "commit"),
    ]
    assert "behind" in found[0].text
    mended(root, found)
    assert (commits(root)[0], authors(root)[0]) == ("hand-edit: a.md", PERSON)
    assert faults(root) == []


def test_an_edit_that_the_index_knows_already_is_committed_too(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    write_files(root, {"a.md": "2\n"})
    with opened(root, Options(hand_edits="leave")) as vault:
        assert vault.wait_until_compared(30)
    assert only(root, Options(hand_edits="leave")).text == "It is not committed: hand edits are left to you."
    mended(root, [only(root)])
    assert commits(root)[0] == "hand-edit: a.md"
    assert clean(root)


def test_a_symbolic_link_is_left_alone_and_nobody_promises_to_commit_it(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    (root / "link.md").symlink_to("a.md")
    (root / "away").symlink_to(root.parent)
    in_step(root)
    found = [finding for finding in looked_at(root) if finding.check == "history" and finding.path]
    assert [(f.path, f.level, f.fix) for f in found] == [("away", "note", ""), ("link.md", "note", "")]
    assert {f.text for f in found} == {
        "It is a symbolic link, which the vault leaves alone, so it is not committed."
    }
    mended(root, found)
    assert git(root, "ls-files", "link.md", "away") == ""


def test_what_a_person_has_staged_is_theirs_to_commit(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    write_files(root, {"a.md": "2\n"})
    git(root, "add", "a.md")
    in_step(root)
    finding = only(root)
    assert (finding.path, finding.fix) == ("a.md", "")
    assert "You have staged it" in finding.text


def test_ignored_and_hidden_files_are_no_news(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    write_files(root, {".obsidian/app.json": "{}", ".trash/x.md": "x\n", "debug.log": "x"})
    (root / ".git/info/exclude").write_text("*.log\n")
    assert faults(root) == []


def test_a_note_that_is_only_in_the_cloud_is_no_deletion(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    (root / "a.md").rename(root / ".a.md.icloud")
    found = {finding.check: finding for finding in faults(root)}
    assert found["evicted"].path == "a.md"
    assert "history" not in found
