"""What must hold whatever text comes: one function for each reader of text that strangers write.

Each takes an arbitrary text and raises when something does not hold. `test_targets.py` tries a few hundred of
them in every run; `python -m tests.fuzzing --seconds 600` goes on for as long as one likes, with atheris to
lead it where that is installed.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.direct import CATALOG, call
from tests.every_tool import calls, looks
from tests.notes.texts import PIECES
from tests.vaults import make_vault
from vault_mcp.errors import VaultError
from vault_mcp.notes import entity, frontmatter, keyed, links, memory
from vault_mcp.notes.line import Stamp, observation_line, parse_bullet, parse_relation, relation_line
from vault_mcp.notes.merge import merge
from vault_mcp.notes.note import facts, read_note
from vault_mcp.notes.question import read_question
from vault_mcp.storage.index.query import terms_of
from vault_mcp.vault import Options, Vault

Target = Callable[[str], None]

AT = "2026-11-30T12:00:00Z"
STAMP = Stamp(AT, "claude")
WORDS = [
    *PIECES,
    *("---\nentity: t\n---\n", "---\nmemory: semantic\nid: 2026113012000001\n---\n", "---\nkey: k\n---\n"),
    *(
        "\n## Observations\n\n",
        "\n## Relations\n\n",
        "- fact\n",
        "- knows [[Bob]]\n",
        "- [ ] task\n",
        "  - nested\n",
    ),
    *(" %%+ 2026-11-30T12:00:00Z claude%%", " %%+ ", "%%", " ^block", "<!--+ ", "-->", "==", "~~", "\\|"),
    *("a: ", "a:\n", "- ", "  ", ": ", "|\n", ">-\n", "&a ", "*a", "!!str ", "!x ", "? ", "{a: b}", "[a, b]"),
    *("'", '"', "#", "tags: [x, y]\n", "aliases:\n  - z\n", "...\n", "<<: *a\n", "\\u0041", "0x1F", "1_000"),
    *(
        "2026-11-30",
        ".nan",
        "~",
        "true",
        "[[",
        "]]",
        "|",
        "#h",
        "^b",
        "![[",
        "](x.md)",
        "[a](<b c.md>)",
        "\\[",
    ),
    *("> [!note]\n", "$$", "    code\n", "* ", "+ ", "1. ", "***\n", "===\n", "=======\n", ">>>>>>> b\n"),
    *('"quoted phrase"', "-", "NEAR", "AND", "OR", "*", "(", ")", "^", "%", "_", "''", "since:", "yesterday"),
]


def words_from(raw: bytes) -> str:
    """Make a text of bytes, in which pieces of the grammar come often: each byte is a piece or a letter."""
    return "".join(
        WORDS[one] if one < len(WORDS) else chr(0x20 + one - len(WORDS)) if one < 250 else chr(one * 251)
        for one in raw
    )


def note(text: str) -> None:
    """Reading raises nothing, tells the same twice, and an exact line for every fact."""
    found = read_note("a/n.md", text)
    assert found == read_note("a/n.md", text)
    count = text.count("\n") + 1
    told = facts(found)
    assert all(isinstance(one.text, str) for one in told)
    lines = [one.line for one in found.observations] + [one.line for one in found.relations]
    assert all(0 <= one < count for one in lines)
    json.dumps(found.properties)
    links.find_links(text)
    assert links.rewrite_links(text, lambda link: None) == text


def properties(text: str) -> None:
    """A property is set and read back, beside it nothing changes, or the note is said to be unreadable."""
    before = frontmatter.split(text)
    for key, value in (("a", "new: value"), ("tags", ["x", "[[y]]"]), ("entity", "t"), ("n", 7), ("e", "")):
        with suppress(VaultError):
            changed = frontmatter.set_property(text, key, value)
            after = frontmatter.split(changed)
            assert after.properties == {**before.properties, key: value}
            assert changed[after.body_start :] == text[before.body_start :]
            gone = frontmatter.split(frontmatter.remove_property(changed, key))
            assert gone.properties == {k: v for k, v in before.properties.items() if k != key}
    with suppress(VaultError):
        frontmatter.add_to_list(text, "tags", "more")


def line(text: str) -> None:
    """What is written on a line comes back from it exactly; what stands on any line can be read."""
    for each in text.split("\n"):
        bullet = parse_bullet(each)
        parse_relation(bullet)
    if text.strip() and not any("\ud800" <= letter <= "\udfff" for letter in text):
        for stamp in (STAMP, None):
            written = observation_line(text, stamp)
            assert "\n" not in written
            assert parse_bullet(written.removeprefix("- ")).text == text, written
            related = relation_line(text, "[[Bob]]", stamp)
            pair = parse_relation(parse_bullet(related.removeprefix("- ")))
            assert pair is not None, related
            assert (pair.type, pair.target) == (text, "Bob"), related


def edits(text: str) -> None:
    """Facts that are added to an entity's note are there, and those that were there stay."""
    note_text = text if frontmatter.split(text).present else f"---\nentity: t\n---\n{text}"
    before = read_note("n.md", note_text)
    if before.kind != "entity":
        return
    with suppress(VaultError):
        changed = entity.add_observations(note_text, [("added fact", STAMP)])
        after = read_note("n.md", changed)
        kept = [one.text for one in before.observations if not one.superseded]
        assert {*kept, "added fact"} <= {one.text for one in after.observations if not one.superseded}
        changed = entity.add_relations(changed, [("knows", "[[Zed]]", STAMP)])
        after = read_note("n.md", changed)
        assert ("knows", "Zed") in {(one.type, one.target) for one in after.relations}
        assert {(one.type, one.target) for one in before.relations} <= {
            (one.type, one.target) for one in after.relations
        }
        back = entity.remove_observations(changed, ["added fact"])
        assert "added fact" not in {one.text for one in read_note("n.md", back).observations} - {*kept}


def exact(text: str) -> None:
    """A memory's text and a key's value come back to the letter."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return
    with suppress(VaultError):
        assert keyed.read_value(keyed.new_keyed("k", text)) == text
    with suppress(VaultError):
        made = keyed.new_keyed("k", "old")
        assert keyed.read_value(keyed.replace_value(made, text)) == text
    foreign = f"---\nmemory: semantic\n---\n\n{text}\n"
    with suppress(VaultError):
        assert memory.memory_text(memory.replace_text(foreign, "new text")) == "new text"


def merging(text: str) -> None:
    """Two versions are made one without a fault, and a side that changed nothing has no say."""
    third = len(text) // 3
    base, ours, theirs = text[:third], text[third : 2 * third], text[2 * third :]
    merge(base, ours, theirs)
    assert merge(base, base, theirs).text == theirs
    assert merge(base, ours, base).text == ours
    assert merge(base, ours, ours).text == ours


class Asked:
    """An open vault that is asked."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def query(self, text: str) -> None:
        """Any query is answered, or refused in a sentence."""
        terms_of(text)
        read_question(text)
        for tool in ("search_nodes", "memory_recall", "search_memory"):
            self._told(tool, {"query": text})
        self._told("history_log", {"text": text})

    def arguments(self, text: str) -> None:
        """Any arguments are taken, or refused in a sentence: the text is JSON, or a value of its own."""
        value: object = text
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
        for tool, said in (*calls(1, None, fresh=False), *looks(1)):
            if CATALOG.tool(tool) is None or not CATALOG.tool(tool).hints.read_only:  # type: ignore[union-attr]
                continue
            for name in said:
                self._told(tool, {**said, name: value})

    def _told(self, tool: str, arguments: dict[str, Any]) -> None:
        answer = call(self._vault, tool, **arguments)
        assert "fault in the server" not in answer.text, (tool, arguments, answer.text)


class Spoken:
    """A server that is spoken to in whatever lines come."""

    def __init__(self, root: Path) -> None:
        from tests.serving import greeted  # noqa: PLC0415 - a process only for whom it is wanted

        self._server = greeted(root, "--no-watch", "--embeddings", "off")
        self._server.__enter__()

    def lines(self, text: str) -> None:
        """No line stops the server: after it, a call is answered."""
        framed = text.replace("\n", " ")
        for one in (
            framed,
            json.dumps(text),
            json.dumps({"jsonrpc": "2.0", "id": text, "method": "ping"}),
            json.dumps({"jsonrpc": "2.0", "id": 7, "method": text}),
            json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": text}),
            json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": text}}),
            json.dumps({"jsonrpc": "2.0", "method": text, "params": {text: text}}),
            '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + framed + "}",
        ):
            self._server.write(one.encode("utf-8", "surrogatepass") + b"\n")
        asked = self._server.request("ping")
        while self._server.next().get("id") != asked:
            pass

    def close(self) -> None:
        self._server.close_input()
        assert self._server.ended() == 0
        self._server.__exit__(None, None, None)


@contextmanager
def everything(names: tuple[str, ...] = ()) -> Iterator[dict[str, Target]]:
    """Give the targets by name; those that need a vault or a server have one for the block."""
    found: dict[str, Target] = {one.__name__: one for one in (note, properties, line, edits, exact, merging)}
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder) / "v", {"n.md": "a note with [[Ada1]]\n"})
        vault = Vault.open(str(root), Options(embeddings="off"))
        spoken = None
        try:
            for tool, arguments in calls(1, None, fresh=False)[:10]:
                call(vault, tool, **arguments)
            asked = Asked(vault)
            found |= {"query": asked.query, "arguments": asked.arguments}
            if not names or "lines" in names:
                spoken = Spoken(root)
                found["lines"] = spoken.lines
            yield found
        finally:
            if spoken is not None:
                spoken.close()
            vault.close()
