from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.git.vaults import AGENT, Vault
from vault_mcp.storage.git.history import HistoryCommit
from vault_mcp.storage.git.message import Ident, Message
from vault_mcp.storage.git.writer import blob_id


def history(vault: Vault, old: str | None = None) -> list[HistoryCommit]:
    head = vault.repository.head()
    assert head
    return list(vault.repository.history(old, head))


def test_each_commit_tells_who_what_when_and_which_blobs(vault: Vault) -> None:
    first = vault.git("rev-parse", "HEAD").strip()
    with vault.repository.writing() as writer:
        writes = {
            "a.md": vault.seen("a.md", "A\n"),
            "日本.md": vault.seen("日本.md", "n\n"),
            "b.md": vault.seen("b.md", None),
        }
        trailers = (("Tool", "add_observations"), ("Edited-By", "claude"), ("Session", "s 1"))
        message = Message("add: a", "Tool: forged", trailers)
        done = writer.commit(writes, message, author=AGENT, at=1_700_000_000)

    told = history(vault)

    assert [commit.sha for commit in told] == [first, done.sha]
    assert told[0].parent is None
    assert [path for path, old, new in told[0].changes if old is None and new] == [
        "a.md",
        "b.md",
        "people/ada.md",
    ]
    last = told[1]
    assert (last.parent, last.author, last.email) == (first, "claude", "claude@agent.invalid")
    assert (last.tool, last.session, last.subject) == ("add_observations", "s 1", "add: a")
    assert (last.at, last.committed_at) == (1_700_000_000, 1_700_000_000)
    assert {path: (old, new) for path, old, new in last.changes} == {
        "a.md": (blob_id(b"a\n"), blob_id(b"A\n")),
        "b.md": (blob_id(b"b\n"), None),
        "日本.md": (None, blob_id(b"n\n")),
    }
    assert history(vault, first) == [last]
    assert history(vault, done.sha) == []


def test_a_merge_is_one_step_of_the_first_parent(vault: Vault) -> None:
    vault.git("checkout", "-q", "-b", "side")
    vault.commit({"side.md": "1\n"})
    vault.commit({"side.md": "2\n"})
    vault.git("checkout", "-q", "main")
    vault.commit({"a.md": "A\n"})
    vault.git("merge", "-q", "--no-ff", "-m", "merge: side", "side")

    told = history(vault)

    assert [commit.subject for commit in told] == ["first", "change", "merge: side"]
    assert told[-1].changes == (("side.md", None, blob_id(b"2\n")),)
    assert told[-1].tool == ""


def test_settings_of_the_repository_do_not_change_what_is_told(vault: Vault) -> None:
    for key, value in {
        "log.showRoot": "false",
        "log.follow": "true",
        "log.diffMerges": "off",
        "log.date": "relative",
        "log.decorate": "full",
        "diff.renames": "copies",
        "diff.relative": "true",
        "diff.noprefix": "true",
        "diff.orderFile": "/nowhere",
        "format.pretty": "oneline",
        "color.ui": "always",
        "core.quotePath": "true",
        "core.abbrev": "4",
        "i18n.logOutputEncoding": "ISO-8859-1",
    }.items():
        vault.git("config", key, value)
    vault.commit({"a.md": None, "ä ö.md": "a\n"}, "move: ä")

    told = history(vault)

    assert [len(commit.changes) for commit in told] == [3, 2]
    assert {path for path, _, _ in told[1].changes} == {"a.md", "ä ö.md"}
    assert told[1].subject == "move: ä"


def test_submodules_and_changes_of_kind_are_told_as_far_as_they_are_files(
    vault: Vault, vaults: Callable[..., Vault]
) -> None:
    inner = vaults("inner", notes={"x.md": "x\n"})
    vault.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    vault.git("commit", "-qm", "submodule")
    (vault.root / "a.md").unlink()
    (vault.root / "a.md").symlink_to("b.md")
    vault.git("commit", "-qam", "link")

    told = history(vault)

    assert [path for path, _, _ in told[1].changes] == [".gitmodules"]
    assert told[2].changes == (("a.md", blob_id(b"a\n"), blob_id(b"b.md")),)


def test_a_history_that_is_not_read_to_its_end_leaves_no_child(vault: Vault) -> None:
    for number in range(3):
        vault.commit({"a.md": f"{number}\n"})
    head = vault.repository.head()
    assert head

    told = vault.repository.history(None, head)
    next(told)
    told.close()  # type: ignore[attr-defined]  # it is a generator

    assert len(list(vault.repository.history(None, head))) == 4


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(subject=texts, body=texts, name=texts, tool=texts)
def test_any_words_come_back_as_the_commit_has_them(
    vault: Vault, subject: str, body: str, name: str, tool: str
) -> None:
    with vault.repository.writing() as writer:
        done = writer.commit(
            {"a.md": vault.seen("a.md", f"{subject}|{body}|{name}|{tool}|{writer.head}")},
            Message(subject, body, (("Tool", tool), ("Edited-By", "x"))),
            author=Ident(name, f"{name}@agent.invalid"),
            at=1_700_000_000,
        )

    (told,) = vault.repository.history(done.parent, done.sha)

    one = vault.git("log", "-1", "--format=%an%x00%s%x00%(trailers:key=Tool,valueonly)").split("\0")
    assert (told.author, told.subject, told.tool) == (one[0], one[1], one[2].strip())
    assert [change[0] for change in told.changes] == ["a.md"]
    assert vault.git("log", "-1", "--format=%(trailers:key=Edited-By,valueonly)").strip() == "x"
    assert vault.git("fsck", "--strict", "--no-dangling") == ""
