"""Repositories that are anything but plain: Git makes the part that only Git can make."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.vaults import Vault
from tests.waiting import HANGS
from vault_mcp.errors import RepositoryRefused, Stale, StorageFailed
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import blob_id

NOT_PLAIN: dict[str, tuple[tuple[str, ...], str]] = {
    "index version 4": (("update-index", "--index-version", "4"), "version 4"),
    "split index": (("update-index", "--split-index"), "link"),
    "split index by setting": (("config", "core.splitIndex", "true"), "core.splitIndex"),
    "untracked cache": (("update-index", "--untracked-cache"), "UNTR"),
    "many files": (("config", "feature.manyFiles", "true"), ""),
    "shared": (("config", "core.sharedRepository", "group"), "core.sharedRepository"),
    "sparse": (("sparse-checkout", "set", "people", "new"), "core.sparseCheckout"),
    "fsync": (("config", "core.fsync", "committed"), "core.fsync"),
    "no file modes": (("config", "core.fileMode", "false"), ""),
    "no reflogs": (("config", "core.logAllRefUpdates", "false"), ""),
    "old index": (("config", "index.version", "2"), ""),
}


@pytest.mark.parametrize("kind", NOT_PLAIN)
def test_every_kind_of_repository_gets_the_same_commit(vault: Vault, kind: str) -> None:
    command, why = NOT_PLAIN[kind]
    vault.git(*command)
    vault.save("b.md", "staged\n")
    vault.git("add", "b.md")
    before = vault.git("ls-files", "-t", "-s", "--", "b.md")

    done = vault.commit({"a.md": "A\n", "new/c.md": "c\n", "people/ada.md": None}, "add: c")

    assert vault.git("log", "-1", "--format=%an|%cn|%s|%at", "--name-status").split("\n") == [
        "claude|vault-mcp|add: c|1790000000",
        "",
        "M\ta.md",
        "A\tnew/c.md",
        "D\tpeople/ada.md",
        "",
    ]
    assert done.blobs == {"a.md": blob_id(b"A\n"), "new/c.md": blob_id(b"c\n"), "people/ada.md": None}
    assert vault.text("new/c.md") == "c\n"
    assert vault.git("ls-files", "-t", "-s", "--", "b.md") == before
    assert vault.status() == "M  b.md\n"
    again = vault.commit({"a.md": "AA\n"})
    assert again.parent == done.sha
    vault.git("reset", "-q", "--hard")
    vault.assert_sound()
    told = [finding.text for finding in vault.repository.state() if finding.topic == "commits"]
    assert why in told[0]


@pytest.mark.parametrize("kind", ["index version 4", "split index by setting"])
def test_a_stale_file_is_noticed_and_everything_put_back(vault: Vault, kind: str) -> None:
    vault.git(*NOT_PLAIN[kind][0])
    with vault.repository.writing() as writer:
        writes = {"b.md": vault.seen("b.md", "B\n"), "a.md": vault.seen("a.md", "A\n")}
        vault.save("a.md", "person\n")
        from_others = vault.there()
        with pytest.raises(Stale):
            writer.commit(writes, Message("x"), author=vault.repository.person(), at=1)

    assert vault.there() == from_others
    assert vault.leftovers() == []
    assert vault.status() == " M a.md\n"


def test_a_repository_of_sha_256_is_written_and_read(vaults: Callable[..., Vault]) -> None:
    vault = vaults("sha256", "--object-format=sha256", notes={"a.md": "a\n", "x/b.md": "b\n"})

    done = vault.commit({"a.md": "A\n", "x/n.md": "n\n", "x/b.md": None})

    assert len(done.sha) == 64
    assert vault.repository.head() == done.sha == vault.git("rev-parse", "HEAD").strip()
    assert vault.repository.blob_at(done.sha, "x/n.md") == b"n\n"
    assert [path for path, _, _ in vault.repository.tree_paths(done.sha)] == ["a.md", "x/n.md"]
    assert [len(commit.changes) for commit in vault.repository.history(None, done.sha)] == [2, 3]
    with vault.repository.writing() as writer:
        assert writer.head_entry("a.md") == (0o100644, done.blobs["a.md"])
        assert writer.blob_for("a.md", b"A\n") == done.blobs["a.md"]
        assert writer.staged_blob("a.md") == done.blobs["a.md"]
    assert "SHA-256" in vault.repository.state()[0].text
    vault.assert_sound()
    vault.git("gc", "-q")
    assert vault.repository.blob_at(done.sha, "a.md") == b"A\n"


def test_the_first_commit_is_made_in_a_repository_of_sha_256(vaults: Callable[..., Vault]) -> None:
    vault = vaults("sha256", "--object-format=sha256")

    vault.commit({"a.md": "a\n"})

    assert vault.git("log", "--format=%s").strip() == "change"
    vault.assert_sound()


# -- line ends and other conversions


def test_line_ends_are_converted_as_git_would_and_the_file_keeps_its_bytes(vault: Vault) -> None:
    vault.git("config", "core.autocrlf", "true")

    done = vault.commit({"c.md": "a\r\nb\r\n", "a.md": "x\r\n"})

    assert vault.text("c.md") == "a\r\nb\r\n"
    assert vault.git("show", "HEAD:c.md") == "a\nb\n"
    assert done.blobs["c.md"] == blob_id(b"a\nb\n")
    vault.assert_sound()
    assert vault.git("diff") == ""
    vault.commit({"c.md": None, "a.md": "y\r\nz\r\n"})
    vault.assert_sound()


def test_a_persons_edit_with_other_line_ends_is_converted_too(vault: Vault) -> None:
    vault.git("config", "core.autocrlf", "input")
    for name in ("n.md", "m.md", "line\nbreak.md"):
        vault.save(name, "by\r\nhand\r\n")

    vault.commit(dict.fromkeys(("n.md", "m.md", "line\nbreak.md"), "by\r\nhand\r\n"), write_files=False)

    assert vault.git("show", "HEAD:n.md") == "by\nhand\n"
    vault.assert_sound()


def test_a_line_that_keeps_every_byte_makes_the_commit_direct_whatever_the_settings(vault: Vault) -> None:
    vault.git("config", "core.autocrlf", "true")
    vault.commit({".gitattributes": "* -text\n*.md merge=vault\n"})
    program, vault.repository.program.program = vault.repository.program.program, "/nowhere/git"

    vault.commit({"c.md": "a\r\nb\r\n"})

    vault.repository.program.program = program
    assert vault.git("show", "HEAD:c.md") == "a\r\nb\r\n"
    vault.assert_sound()


def test_the_same_bytes_with_other_line_ends_make_no_empty_commit(vault: Vault) -> None:
    vault.git("config", "core.autocrlf", "true")

    done = vault.commit({"a.md": "a\r\n"})

    assert done.sha == done.parent
    assert vault.text("a.md") == "a\r\n"
    vault.assert_sound()


ATTRIBUTES: dict[str, tuple[str, bytes, bytes]] = {
    "text=auto": ("* text=auto", b"a\r\nb\r\n", b"a\nb\n"),
    "text": ("*.md text", b"a\r\n", b"a\n"),
    "eol": ("*.md eol=crlf", b"a\r\n", b"a\n"),
    "crlf": ("*.md crlf", b"a\r\n", b"a\n"),
    "encoding": ("note.md text working-tree-encoding=UTF-16LE", "é\n".encode("utf-16-le"), "é\n".encode()),
    "ident": ("*.md ident", b"$Id: 1234 $\n", b"$Id$\n"),
    "macro": ("[attr]prose text\n*.md prose", b"a\r\n", b"a\n"),
    "binary": ("* binary", b"a\r\n", b"a\r\n"),
    "-text": ("* -text", b"a\r\n", b"a\r\n"),
    "merge": ("*.md merge=vault diff=md", b"a\r\n", b"a\r\n"),
    "another name": ("*.txt text", b"a\r\n", b"a\r\n"),
    "spared": ("* text=auto\n*.md -text", b"a\r\n", b"a\r\n"),
    "quoted": ('"with space.md" text', b"a\r\n", b"a\r\n"),
}


@pytest.mark.parametrize("kind", ATTRIBUTES)
@pytest.mark.parametrize("where", [".gitattributes", "sub/.gitattributes", ".git/info/attributes", "global"])
def test_attributes_hold_wherever_they_stand(vault: Vault, tmp_path: Path, kind: str, where: str) -> None:
    rules, given, stored = ATTRIBUTES[kind]
    if where == "sub/.gitattributes" and "[attr]" in rules:
        pytest.skip("Git knows macros at the top of a working tree only")
    vault.commit({"sub/note.md": "before\n"})
    if where == "global":
        (tmp_path / "attributes").write_text(rules + "\n")
        vault.git("config", "core.attributesFile", str(tmp_path / "attributes"))
    else:
        vault.save(where, rules + "\n")
        if not where.startswith(".git/"):
            vault.git("add", where)
            vault.git("commit", "-qm", "attributes")

    done = vault.commit({"sub/note.md": given})

    assert vault.raw_git("show", "HEAD:sub/note.md") == stored
    assert (vault.root / "sub/note.md").read_bytes() == given
    assert done.blobs["sub/note.md"] == blob_id(stored)
    with vault.repository.writing() as writer:
        assert writer.blob_for("sub/note.md", given) == blob_id(stored)
    vault.assert_sound()


def test_attributes_of_the_same_commit_hold_from_the_next_one_on(vault: Vault) -> None:
    vault.commit({".gitattributes": "* text=auto\n", "a.md": "a\r\n"})
    vault.commit({"b.md": "b\r\n"})

    assert vault.git("show", "HEAD:b.md") == "b\n"
    assert vault.text("a.md") == "a\r\n"


# -- signing


def sign_with(vault: Vault, tmp_path: Path, script: str) -> Path:
    program = tmp_path / "sign"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    vault.git("config", "--global", "gpg.program", str(program))
    return program


SIGNATURE = (
    "cat > /dev/null; echo; echo '[GNUPG:] SIG_CREATED ' >&2; "
    "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nxyz\\n-----END PGP SIGNATURE-----\\n'"
)


def test_a_commit_is_signed_with_the_users_own_program(vault: Vault, tmp_path: Path) -> None:
    sign_with(vault, tmp_path, SIGNATURE)
    vault.git("config", "--global", "commit.gpgSign", "true")

    done = vault.commit({"a.md": "A\n"})

    raw = vault.git("cat-file", "commit", "HEAD")
    assert "gpgsig" in raw
    assert "xyz" in raw
    assert "author claude <claude@agent.invalid> 1790000000 +0000" in raw
    assert raw.endswith("\n\nchange\n\nTool: test\n")
    assert vault.repository.head() == done.sha
    vault.assert_sound()


@pytest.mark.parametrize("trouble", ["false", "sleep 600", "/nowhere/gpg"])
def test_a_commit_that_cannot_be_signed_without_asking_is_made_unsigned_and_told_of(
    vault: Vault, tmp_path: Path, trouble: str
) -> None:
    ran = tmp_path / "RAN"
    if trouble == "sleep 600":
        sign_with(vault, tmp_path, f"echo again >> {ran}; {trouble}")
    else:
        vault.git("config", "--global", "gpg.program", trouble)
    vault.git("config", "commit.gpgSign", "true")
    began = time.monotonic()

    vault.commit({"a.md": "A\n"})

    assert time.monotonic() - began < HANGS
    assert "gpgsig" not in vault.git("cat-file", "commit", "HEAD")
    vault.assert_sound()
    told = next(finding.text for finding in vault.repository.state() if finding.topic == "signing")
    assert "without a signature" in told
    vault.commit({"a.md": "AA\n"})
    assert not ran.exists() or ran.read_text() == "again\n"  # what hung once is not waited for again


def test_the_repositorys_own_signing_program_runs_only_when_trusted(vault: Vault, tmp_path: Path) -> None:
    ran = tmp_path / "RAN"
    program = sign_with(vault, tmp_path, f"touch '{ran}'; {SIGNATURE}")
    vault.git("config", "--global", "--unset", "gpg.program")
    vault.git("config", "gpg.program", str(program))
    vault.git("config", "commit.gpgSign", "true")

    vault.commit({"a.md": "A\n"})
    assert not ran.exists()
    assert "gpgsig" not in vault.git("cat-file", "commit", "HEAD")
    vault.close()

    vault._repository = Repository.open(str(vault.root), trusted=True)
    vault.commit({"a.md": "AA\n"})
    assert ran.exists()
    assert "gpgsig" in vault.git("cat-file", "commit", "HEAD")


# -- what only a newer Git reads


def test_branches_in_a_reftable_are_refused_in_words(vault: Vault) -> None:
    vault.commit({"a.md": "A\n"})
    with (vault.root / ".git/config").open("a") as config:
        config.write("[extensions]\n\trefStorage = reftable\n")

    with pytest.raises((RepositoryRefused, StorageFailed)):
        vault.commit({"a.md": "AA\n"})
    assert vault.text("a.md") == "A\n"


def test_the_shared_repository_stays_writable_for_the_group(vault: Vault) -> None:
    vault.git("config", "core.sharedRepository", "group")
    before = set((vault.root / ".git/objects").iterdir())
    old = os.umask(0o077)
    try:
        vault.commit({"new/a.md": "A\n"})
    finally:
        os.umask(old)

    head = vault.git("rev-parse", "HEAD").strip()
    objects = vault.root / ".git/objects"
    made = set(objects.iterdir()) - before  # an id may fall into a folder that was there
    assert made
    for folder in made:
        assert os.stat(folder).st_mode & 0o070 == 0o070
    assert os.stat(objects / head[:2] / head[2:]).st_mode & 0o040
    assert os.stat(vault.root / ".git/index").st_mode & 0o060 == 0o060
