"""`vault-mcp erase`: afterwards nothing under .git holds the text, in whatever form."""

import contextlib
import os
import signal
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clones import clone
from tests.doors.commands import COMMAND, Commands
from tests.vaults import CLAUDE, CURSOR, clean, commits, git, make_vault, opened, write_files
from tests.waiting import wait_until
from vault_mcp.errors import NotFound, RepositoryRefused
from vault_mcp.storage.git.erasing import UNFINISHED, brings_back
from vault_mcp.sync import sync
from vault_mcp.tools.graph import entities, observations, reading
from vault_mcp.tools.history import looking, since
from vault_mcp.tools.keys import writing as keys
from vault_mcp.tools.memories import writing as memories

SECRET = "hunter2 is my password"
ENTITY = "---\nentity: person\n---\n\n## Observations\n\n"


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    home = tmp_path / "home"
    home.mkdir()
    return Commands(home)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault in which the text came in every way there is, and went in some."""
    root = make_vault(tmp_path / "v", {"plain.md": f"before\n{SECRET}\nafter\n", "other.md": "nothing\n"})
    with opened(root) as vault:
        vault.read_past()
        rows = [
            {"name": "Ada", "entityType": "person", "observations": [SECRET, "likes tea", f"a\n{SECRET}"]}
        ]
        entities.create_entities(vault, CLAUDE, rows)
        observations.edit_observation(vault, CURSOR, "Ada", SECRET, "changed her password")
        observations.supersede_observation(vault, CURSOR, "Ada", "likes tea", f"said: {SECRET}, " + "x" * 300)
        keys.write_memory(vault, CLAUDE, SECRET, f'{{"password": "{SECRET}"}}')
        memories.memory_remember(vault, CLAUDE, f"On Monday {SECRET}, and more words after that", "s1")
        reading.read_graph(vault, CLAUDE, as_of="now")  # the timeline holds it too
        write_files(root, {f"{SECRET}.md": ENTITY + "- by hand\n", "link.md": f"[[{SECRET}]]\n"})
        vault.noticed(None)
        since.history_since(vault, CLAUDE)
        told: Any = reading.search_nodes(vault, CLAUDE, "hunter2")
        assert told["entities"]
        told = reading.read_graph(vault, CLAUDE, as_of=git(root, "rev-parse", "HEAD~2").strip())
        assert told["entities"]
    git(root, "tag", "-a", "v1", "-m", f"a tag about {SECRET}")
    git(root, "branch", "side", "HEAD~3")
    git(root, "commit", "-q", "--allow-empty", "-m", f"by Git: {SECRET}")
    git(root, "notes", "add", "-m", "a note of Git's own", "HEAD")
    git(root, "gc", "-q")
    write_files(root, {"late.md": f"uncommitted {SECRET}\n"})
    return root


def holding(root: Path, text: str = "hunter2") -> Iterator[str]:
    """Give everything under .git, and every object there is, that holds a text."""
    asked = ["git", "cat-file", "--batch-all-objects", "--batch"]
    if text.encode() in subprocess.run(asked, cwd=root, capture_output=True, check=True).stdout:
        yield "an object"
    for place, _, names in os.walk(root / ".git"):
        for name in names:
            path = Path(place, name)
            raw = path.read_bytes()
            if "objects" in path.parts and len(name) == 38:
                raw = zlib.decompress(raw)
            if text in str(path) or text.encode() in raw:
                yield str(path)


def test_a_text_is_nowhere_afterwards_and_all_else_is_there(root: Path, commands: Commands) -> None:
    before = commits(root)
    authors = git(root, "log", "--format=%an %at %cn", "side").splitlines()
    assert list(holding(root))
    told = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Every other clone still has it" in told.stdout
    assert list(holding(root)) == []
    assert not [path for path in root.rglob("*") if "hunter2" in str(path)]
    assert [path for path in root.rglob("*.md") if "hunter2" in path.read_text("utf-8")] == []
    assert clean(root)
    after = commits(root)
    assert after[0] == "erase: (erased)"
    assert after[1] == "hand-edit: late.md"
    assert after[2:] == [subject.replace(SECRET, "(erased)") for subject in before]
    assert git(root, "log", "--format=%an %at %cn", "side").splitlines() == authors
    assert "a tag about (erased)" in git(root, "cat-file", "tag", "v1")
    assert git(root, "notes", "show", "HEAD~2") == "a note of Git's own\n"
    assert (root / "plain.md").read_text("utf-8") == "before\n(erased)\nafter\n"
    assert (root / "link.md").read_text("utf-8") == "[[(erased)]]\n"
    with opened(root) as vault:
        graph: Any = reading.read_graph(vault, CLAUDE)
        assert "(erased)" in {one["name"] for one in graph["entities"]}
        looked: Any = since.history_since(vault, CLAUDE)
        assert looked["last_look"]["change"]
        log: Any = looking.history_log(vault, CLAUDE, limit=200)
        assert [row["subject"] for row in log["changes"]] == after


def test_a_note_goes_from_every_place_it_had_and_others_stay(root: Path, commands: Commands) -> None:
    with opened(root) as vault:
        entities.rename_entity(vault, CLAUDE, "Ada", "Countess")
        entities.create_entities(
            vault, CLAUDE, [{"name": "Bob", "entityType": "person", "observations": ["stays here"]}]
        )
    done: Any = commands.json("erase", "Countess", "--vault", root, "--yes")
    assert done["now"] == ["entities/person/Countess.md"]
    assert list(holding(root, "changed her password")) == []
    assert list(holding(root, "likes tea")) == []
    assert git(root, "log", "--all", "--format=%h", "--", "*Ada.md", "*Countess.md") == ""
    assert "stays here" in (root / "entities/person/Bob.md").read_text("utf-8")
    told = git(root, "log", "-1", "--format=%B", ":/edit_observation")
    assert told.splitlines()[0] == "edit_observation: (erased)"
    assert "Tool: edit_observation" in told
    assert clean(root)


def test_it_asks_first_and_nothing_happens_without_a_yes(root: Path, commands: Commands) -> None:
    head = git(root, "rev-parse", "HEAD")
    for given in ("", "n\n"):
        done = commands.run("erase", "--vault", root, "--text", SECRET, given=given)
        assert done.returncode == 1
        assert "Erase it?" in done.stderr
    assert git(root, "rev-parse", "HEAD~1" if git(root, "rev-parse", "HEAD") != head else "HEAD") == head
    assert list(holding(root))
    assert commands.run("erase", "--vault", root, "--text", SECRET, given="y\n").returncode == 0
    assert list(holding(root)) == []


def test_what_cannot_be_erased_is_refused(root: Path, commands: Commands) -> None:
    assert "a note, or a text" in commands.refused("erase", "--vault", root)
    assert "fewer than 4" in commands.refused("erase", "--vault", root, "--text", "abc")
    assert "holds it again" in commands.refused(
        "erase", "--vault", root, "--text", "hunter2", "--with", "no hunter2"
    )
    assert "Nothing in the vault" in commands.refused(
        "erase", "--vault", root, "--text", "never there", "--yes"
    )
    assert "Nothing called" in commands.refused("erase", "Nobody", "--vault", root, "--yes")
    write_files(root, {"other.md": "staged\n"})
    git(root, "add", "other.md")
    done = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert done.returncode == 2
    assert "other.md differs from the last commit" in done.stderr
    git(root, "stash", "-q")
    assert "stashed" in commands.refused("erase", "--vault", root, "--text", SECRET, "--yes")
    assert list(holding(root))


def test_no_hook_and_no_program_of_the_repository_runs(
    root: Path, commands: Commands, tmp_path: Path
) -> None:
    for name in ("reference-transaction", "post-rewrite", "pre-commit", "post-checkout", "pre-auto-gc"):
        hook = root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\n")
        hook.chmod(0o755)
    git(root, "config", "core.fsmonitor", f"touch {tmp_path}/ran-monitor")
    git(root, "config", "gc.recentObjectsHook", f"touch {tmp_path}/ran-gc")
    git(root, "config", "filter.x.clean", f"touch {tmp_path}/ran-filter; cat")
    for ran in tmp_path.glob("ran-*"):
        ran.unlink()  # what our own use of Git set off
    assert commands.run("erase", "--vault", root, "--text", SECRET, "--yes").returncode == 0
    assert list(tmp_path.glob("ran-*")) == []
    assert list(holding(root)) == []


def test_signatures_are_counted_and_said_to_be_lost(root: Path, commands: Commands, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signing = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={key}")
    git(root, *signing, "commit", "-q", "-S", "--allow-empty", "-m", "signed")
    git(root, *signing, "tag", "-s", "v2", "-m", "signed tag")
    done = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert "2 signatures of commits and tags will be lost" in done.stderr
    assert "2 signatures of commits and tags are gone" in done.stdout
    assert "gpgsig" not in git(root, "cat-file", "commit", "HEAD~2")
    assert "SIGNATURE" not in git(root, "cat-file", "tag", "v2")


def test_what_other_repositories_still_have_is_said(root: Path, commands: Commands, tmp_path: Path) -> None:
    git(root, "init", "-q", "--bare", str(tmp_path / "far.git"))
    git(root, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(root, "push", "-q", "origin", "main", "side")
    git(root, "fetch", "-q")
    done = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert done.returncode == 0
    assert "git push --force --all origin" in done.stdout
    assert list(holding(root)) == []
    assert git(root, "for-each-ref", "refs/remotes") == ""
    git(root, "fetch", "-q")
    state = str(root / ".git/vault-mcp")
    with opened(root) as vault:
        assert brings_back(vault.repository.program, state, git(root, "rev-parse", "origin/main").strip())
        assert not brings_back(vault.repository.program, state, git(root, "rev-parse", "main").strip())
        with pytest.raises(RepositoryRefused, match="words were erased here"):
            sync(vault)
        git(root, "push", "-q", "--force", "--all", "origin")
        assert sync(vault).state == "in step"


def test_binary_files_and_files_that_git_ignores_are_named(root: Path, commands: Commands) -> None:
    (root / "image.bin").write_bytes(b"\0" + SECRET.encode())
    write_files(root, {".gitignore": "*.log\n", "x.log": SECRET})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "binary")
    done = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert done.returncode == 1
    assert "binary files hold it" in done.stdout
    assert "x.log holds it and is not in Git" in done.stdout
    assert commands.run("erase", "image.bin", "--vault", root, "--yes").returncode == 0
    assert list(holding(root)) == []


def test_an_erasure_that_was_cut_off_is_finished_by_the_next_one(root: Path, commands: Commands) -> None:
    assert commands.run("erase", "--vault", root, "--text", SECRET, "--yes").returncode == 0
    (root / ".git/vault-mcp" / UNFINISHED).write_text("old objects may be left\n")
    blob = git(root, "hash-object", "-w", "--stdin", given=SECRET).strip()
    found = commands.run("doctor", "--vault", root)
    assert "erasure was cut off" in found.stdout
    assert commands.run("erase", "--vault", root, "--text", SECRET, "--yes").returncode == 0
    assert blob not in git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    assert "cut off" not in commands.run("doctor", "--vault", root).stdout


def has(root: Path, pattern: str) -> bool:
    return any((root / ".git/vault-mcp").glob(pattern))


REACHED: dict[str, Callable[[Path, str], bool]] = {
    "the files are committed": lambda root, old: git(root, "rev-parse", "HEAD").strip() != old,
    "the new history is begun": lambda root, old: has(root, "rewritten-*"),
    "the new history is written": lambda root, old: has(root, "rewritten-*/filter-repo/commit-map"),
    "its objects are here": lambda root, old: has(root, UNFINISHED),
    "the branch has moved": lambda root, old: has(root, UNFINISHED) and not has(root, "index-*.sqlite"),
}
"""How far an erasure has come, from the outside."""


@pytest.mark.long
@pytest.mark.parametrize("reached", REACHED)
def test_a_killed_erasure_leaves_one_history_whole_and_the_next_one_finishes(
    root: Path, commands: Commands, reached: str
) -> None:
    with opened(root) as vault:
        vault.noticed(None)
    old = git(root, "rev-parse", "HEAD").strip()
    asked = [*COMMAND, "erase", "--vault", str(root), "--text", SECRET, "--yes"]
    null = subprocess.DEVNULL
    environment = commands.environment()
    with subprocess.Popen(asked, env=environment, start_new_session=True, stdout=null, stderr=null) as child:
        try:
            wait_until(lambda: REACHED[reached](root, old) or child.poll() is not None, 120, every=0.002)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    assert git(root, "fsck", "--strict", "--no-dangling", "--no-progress") == ""
    assert git(root, "status", "--porcelain") == ""
    with opened(root) as vault:  # an agent goes on meanwhile
        keys.write_memory(vault, CLAUDE, "after", "the kill")
    done = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert done.returncode == 0 or "Nothing in the vault" in done.stderr, done.stderr
    assert list(holding(root)) == []
    assert clean(root)
    assert (root / "keys/after.md").exists()


def test_no_file_is_lost_to_another_that_would_get_its_name(root: Path, commands: Commands) -> None:
    write_files(root, {"(erased).md": "another note\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "both")
    told = commands.run("erase", "--vault", root, "--text", SECRET, "--yes")
    assert told.returncode == 2
    assert "Two files would be called (erased).md" in told.stderr
    assert list(holding(root))
    assert commands.run("erase", "--vault", root, "--text", SECRET, "--yes", "--with", "gone").returncode == 0
    assert list(holding(root)) == []
    assert (root / "(erased).md").read_text("utf-8") == "another note\n"
    assert (root / "gone.md").exists()


def test_a_server_that_is_running_goes_on_without_the_text(root: Path, commands: Commands) -> None:
    with opened(root) as vault:
        then = git(root, "rev-parse", "HEAD~2").strip()
        known: Any = reading.search_nodes(vault, CLAUDE, "hunter2")
        assert known["entities"]
        reading.read_graph(vault, CLAUDE, as_of=then)
        assert commands.run("erase", "--vault", root, "--text", SECRET, "--yes").returncode == 0
        told: Any = reading.search_nodes(vault, CLAUDE, "hunter2")
        assert told["entities"] == []
        found: Any = reading.search_nodes(vault, CLAUDE, "(erased)")
        assert found["entities"]
        keys.write_memory(vault, CLAUDE, "after", "goes on")
        assert commits(root)[0] == "write_memory: after"
        with pytest.raises(NotFound):
            reading.read_graph(vault, CLAUDE, as_of=then)
        assert list(holding(root)) == []
    assert list(holding(root)) == []
    assert clean(root)


def test_a_sync_that_is_refused_brings_nothing_of_it_back(
    root: Path, commands: Commands, tmp_path: Path
) -> None:
    far = tmp_path / "far.git"
    git(root, "init", "-q", "--bare", "-b", "main", str(far))
    git(root, "remote", "add", "origin", str(far))
    git(root, "push", "-q", "origin", "main")
    assert commands.run("erase", "--vault", root, "--text", SECRET, "--yes").returncode == 0
    refused = commands.run("sync", "--vault", root)
    assert refused.returncode == 2
    assert "still has the history" in refused.stderr
    assert list(holding(root)) == []
    assert git(root, "for-each-ref", "refs/remotes") == ""
    assert list((root / ".git/vault-mcp").glob("incoming-*")) == []
    git(root, "push", "-q", "--force", "origin", "main")
    other = clone(far, tmp_path / "other")
    write_files(other, {"New.md": "# From there\n"})
    git(other, "add", "New.md")
    git(other, "commit", "-q", "-m", "more")
    git(other, "push", "-q", "origin", "main")
    assert commands.run("sync", "--vault", root).returncode == 0
    assert (root / "New.md").read_text() == "# From there\n"
    assert list(holding(root)) == []


def test_conflict_notes_of_an_erased_note_go_with_it(root: Path, commands: Commands) -> None:
    write_files(
        root,
        {
            "Diary.md": "# Diary\n\nMine.\n",
            "Diary (conflict 1a2b3c4).md": "# Conflict\n\nThe other's.\n",
            "Diary (of conflict).md": "# Another\n",
        },
    )
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a sync")
    aside = root / ".git/vault-mcp/aside-123456789abc"
    aside.parent.mkdir(exist_ok=True)
    aside.write_bytes(b"Mine.")
    done = commands.run("erase", "Diary.md", "--vault", root, "--yes")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in root.glob("Diary*")] == ["Diary (of conflict).md"]
    assert "conflict 1a2b3c4" not in git(root, "log", "--all", "--name-only", "--format=%B")
    assert not aside.exists()
