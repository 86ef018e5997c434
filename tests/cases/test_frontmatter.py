"""Cases about front matter: a tool adds its own lines and leaves every other as the person wrote it.

The step "change one server-owned field" is taken twice: an entity is made of the person's note, which adds
its properties and a fact, and a relation is added to it. No tool returns a note's properties as such; what is
said of their values is shown with the reader of notes that every tool uses, and, where a property has a
meaning of ours (`entity`, `name`, `tags`), with a tool's own answer.
"""

import json
from pathlib import Path
from typing import NoReturn

import pytest
import yaml

from tests.cases.conftest import Desk
from tests.serving import added, entity, facts, found, given, graph, greeted, make, path_of, relation
from tests.vaults import CLAUDE, clean, git, make_vault, opened, write_files
from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes.links import find_links
from vault_mcp.notes.note import read_note
from vault_mcp.tools.graph import entities, reading, relations
from vault_mcp.vault import Vault

KEPT = [
    pytest.param(
        '---\nzeta: 1   # why\n# about alpha\nalpha: [type/x, status/y]\n\nmid: "q"\n---\nBODY\n',
        {"zeta": 1, "alpha": ["type/x", "status/y"], "mid": "q"},
        id="FM-03",
    ),
    pytest.param(
        "---\na: \"1.0\"\nb: 'x'\nc: 1.10\nd: 0123456789\ne: 007\n---\nBODY\n",
        {"a": "1.0", "b": "x", "c": "1.10", "d": "0123456789", "e": "007"},
        id="FM-04",
    ),
    pytest.param("---\ntitle: 😀 hi\n---\nBODY\n", {"title": "😀 hi"}, id="FM-06"),
    pytest.param("---\ntitle: A\n---\n\n\nBODY  \n\n\n", {"title": "A"}, id="FM-07"),
    pytest.param("---\r\ntitle: A\r\n---\nBODY\nx\r\n", {"title": "A"}, id="FM-09"),
    pytest.param("\ufeff---\ntitle: A\n---\nBODY\n", {"title": "A"}, id="FM-10"),
    pytest.param("---\ntitle: A\n---\npara\n\n---\n\nBODY\n\n---\nend\n", {"title": "A"}, id="FM-13"),
    pytest.param("---\n---\nBODY\n", {}, id="FM-17"),
    pytest.param(
        "---\ncountry: NO\nswitch: on\nflag: no\nreal: false\ny: y\n---\nBODY\n",
        {"country": "NO", "switch": "on", "flag": "no", "real": False, "y": "y"},
        id="FM-19",
    ),
    pytest.param(
        "---\na: 1e3\nb: 1_000\nc: 014\nd: 0x1F\ne: 0o14\n---\nBODY\n",
        {"a": "1e3", "b": "1_000", "c": "014", "d": "0x1F", "e": "0o14"},
        id="FM-20",
    ),
    pytest.param(
        "---\nid: 12345678901234567890123\n---\nBODY\n", {"id": 12345678901234567890123}, id="FM-21"
    ),
    pytest.param(
        '---\nup: [[Home]]\nrel:\n  - "[[B]]"\n  - [[C|see]]\n---\nBODY\n',
        {"up": [["Home"]], "rel": ["[[B]]", [["C|see"]]]},
        id="FM-22",
    ),
    pytest.param(
        "---\ndesc: |+\n  one\n  two\n\nfold: >-\n  a\n  b\n---\nBODY\n",
        {"desc": "one\ntwo\n\n", "fold": "a b"},
        id="FM-24",
    ),
    pytest.param("---\ntoken: !secret api\n---\nBODY zebra\n", {"token": "api"}, id="FM-28"),
    pytest.param(
        "---\n2024: year\ntrue: yes\n2024-01-01: d\n---\nBODY zebra\n",
        {"2024": "year", "true": "yes", "2024-01-01": "d"},
        id="FM-32",
    ),
    pytest.param("---\nd: 2024-02-30\n---\nBODY zebra\n", {"d": "2024-02-30"}, id="FM-33"),
    pytest.param(
        "---\ntitle: 2024\ntype: null\n---\nBODY zebra\n", {"title": 2024, "type": None}, id="FM-36"
    ),
    # Blank lines before the dashes: body text, as in Obsidian. The note gets the one block it can have.
    pytest.param("\n---\ntitle: A\n---\nBODY\n", {}, id="FM-39"),
    pytest.param('{\n"title": "A"\n}\n\nBODY\n', {}, id="FM-40"),
    pytest.param("---\na: .nan\nb: .inf\n---\nBODY\n", {"a": ".nan", "b": ".inf"}, id="FM-43"),
]

REFUSED = [
    pytest.param("---\ntags: [a]\ntags: [b]\n---\nBODY zebra\n", "duplicate key tags", id="FM-12"),
    pytest.param(
        "---\n\nJust a rule at the top, zebra\n\n---\nBODY\n", "front matter is not a mapping", id="FM-14"
    ),
    pytest.param("---\ntitle: A\nBODY zebra without end\n", "front matter is not closed", id="FM-16"),
    pytest.param("---\n- a\n- b\n---\nBODY zebra\n", "front matter is not a mapping", id="FM-18"),
    pytest.param("---\na: &a [*a]\n---\nBODY zebra\n", "front matter holds the alias a inside", id="FM-26"),
    pytest.param(
        "---\n<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> f\n---\nBODY zebra\n",
        "conflict markers",
        id="FM-41",
    ),
]

# Types and facts that YAML 1.1, YAML 1.2 or a hasty writer would take for something else.
VALUES = [
    *["no", "on", "1e3", "2024-01-01", "null", "~", "0123", "1.10", "[[x]]", "# hash", "- dash", "a: b"],
    *["@x", "`x`", "%x", "!x", "&x", "*x", ">", "|", '"q"', "'q'", "{x}", "x:", " lead", "trail ", "a\nb"],
    *["\ttab", "10:00", ".inf", "<<", "=", "true", "0x1F", "?", "-", "---", "...", "x #y", "\\", "é", "😀"],
    "a\u2028b",
]


def in_order(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def change_fields(vault: Vault) -> None:
    entities.create_entities(
        vault,
        CLAUDE,
        [
            {"name": "n", "entityType": "t", "observations": ["a fact"]},
            {"name": "T", "entityType": "t", "observations": []},
        ],
    )
    relations.create_relations(vault, CLAUDE, [{"from": "n", "to": "T", "relationType": "r"}])


def refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


@pytest.mark.parametrize(("text", "properties"), KEPT)
def test_every_line_of_a_person_stays_as_it_was(
    tmp_path: Path, text: str, properties: dict[str, object]
) -> None:
    root = make_vault(tmp_path / "v", {"n.md": text})
    with opened(root) as vault:
        change_fields(vault)
        shown = reading.open_nodes(vault, CLAUDE, ["n"])
    now = (root / "n.md").read_bytes().decode()
    assert in_order(lines(text), lines(now))
    assert now.startswith(text[:1]) or not text.startswith("\ufeff")
    new = sorted(set(lines(now)) - set(lines(text)))
    ours = ("entity: t", "created: ", "agent: ", "---", "## Observations", "## Relations")
    assert all(line.startswith((*ours, "- a fact %%", "- r [[T]] %%")) or not line.strip() for line in new)
    before, after = read_note("n.md", text), read_note("n.md", now)
    assert before.properties == properties
    assert {
        k: v for k, v in after.properties.items() if k not in ("entity", "created", "agent")
    } == properties
    assert (after.kind, after.problems) == ("entity", ())
    json.loads(json.dumps([shown, after.properties]), parse_constant=refused)
    assert clean(root)


@pytest.mark.parametrize(("text", "problem"), REFUSED)
def test_a_note_that_cannot_be_edited_safely_is_left_alone_and_told_of(
    tmp_path: Path, text: str, problem: str
) -> None:
    root = make_vault(tmp_path / "v", {"n.md": text, "T.md": "---\nentity: t\n---\n"})
    with opened(root) as vault:
        assert [one["note"] for one in _entities(reading.search_nodes(vault, CLAUDE, "zebra"))] == ["n.md"]
        (shown,) = _entities(reading.open_nodes(vault, CLAUDE, ["n"]))
        assert problem in str(shown["problems"])
        with pytest.raises(NoteUnreadable):
            relations.create_relations(vault, CLAUDE, [{"from": "n", "to": "T", "relationType": "r"}])
        # It may be that very entity once it is repaired: no second one is made, and it stays as it is.
        made = entities.create_entities(
            vault, CLAUDE, [{"name": "n", "entityType": "t", "observations": ["a fact"]}]
        )
        assert made["skipped"] == ["n"]
        assert problem in str(made["message"])
        assert [one["name"] for one in _entities(reading.read_graph(vault, CLAUDE))] == ["T"]
    assert (root / "n.md").read_bytes().decode() == text
    assert clean(root)


def _entities(result: dict[str, object]) -> list[dict[str, object]]:
    found = result["entities"]
    assert isinstance(found, list)
    return found


def test_FM_07_properties_alone_change_nothing_below_them(tmp_path: Path) -> None:
    body = "\n\nBODY  \n\n\n"
    root = make_vault(tmp_path / "v", {"n.md": f"---\ntitle: A\n---\n{body}"})
    with opened(root) as vault:
        entities.create_entities(vault, CLAUDE, [{"name": "n", "entityType": "t", "observations": []}])
    assert (root / "n.md").read_text().split("---\n", 2)[2] == body


def test_FM_10_a_mark_at_the_start_stays_and_there_is_one_block(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "\ufeff---\ntitle: A\n---\nBODY\n"})
    with opened(root) as vault:
        change_fields(vault)
    raw = (root / "n.md").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf---\n")
    assert raw.count(b"\xef\xbb\xbf") == 1
    assert raw.count(b"---\n") == 2


def test_FM_14_FM_18_FM_28_FM_32_FM_33_FM_36_odd_notes_are_found_and_hide_no_other(root: Path) -> None:
    texts = {f"n{number}.md": param.values[0] for number, param in enumerate([*KEPT, *REFUSED])}
    write_files(root, {path: str(text) for path, text in texts.items()})
    zebras = sorted(path for path, text in texts.items() if "zebra" in str(text))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "odd notes")
    with greeted(root, "--no-watch") as server:
        make(server, "Good")
        assert sorted(found(server, "zebra")) == zebras
        assert graph(server) == ({"Good": ["good1"]}, set())
    assert clean(root)


def test_FM_21_digits_beyond_what_json_numbers_hold_are_shown_exactly(root: Path) -> None:
    number = "12345678901234567890123"
    note = f"---\nentity: {number}\nname: {number}\ntags: [{number}]\n---\n"
    write_files(root, {"n.md": note})
    with greeted(root, "--no-watch") as server:
        (shown,) = given(server, "read_graph")["entities"]
        assert (shown["name"], shown["entityType"]) == ("n", number)
        assert number in server.text("open_nodes", names=["n"])
        given(server, "add_observations", observations=[added("n", "o")])
        assert (root / "n.md").read_text().startswith(note[:-1])


def test_FM_22_an_unquoted_link_in_a_property_is_a_link(root: Path) -> None:
    """A policy of ours: docs/policies.md, "Links in properties"."""
    text = '---\nup: [[Home]]\nrel:\n  - "[[B]]"\n  - [[C|see]]\n---\nBODY\n'
    assert [link.target for link in find_links(text)] == ["Home", "B", "C"]
    write_files(root, {"n.md": text})
    with greeted(root, "--no-watch") as server:
        make(server, "Home", "B", "C")
        assert (root / "n.md").read_text() == text
        given(server, "rename_entity", entityName="Home", newName="House")
        given(server, "rename_entity", entityName="C", newName="Sea")
    assert (root / "n.md").read_text() == text.replace("[[Home]]", "[[House]]").replace("[[C|", "[[Sea|")


def test_FM_26_a_property_inside_itself_hides_no_other_note(root: Path) -> None:
    write_files(root, {"n.md": "---\nentity: t\na: &a [*a]\n---\nBODY\n", "m.md": "---\nentity: t\n---\n"})
    with greeted(root) as server:
        assert graph(server) == ({"m": []}, set())
        (shown,) = given(server, "open_nodes", names=["n"])["entities"]
        assert shown["entityType"] == "note"
        assert "alias a inside itself" in str(shown["problems"])


def test_FM_36_a_note_without_a_type_is_shown_as_a_note(root: Path) -> None:
    write_files(root, {"n.md": "---\ntitle: 2024\ntype: null\n---\nBODY zebra\n"})
    with greeted(root) as server:
        (shown,) = given(server, "search_nodes", query="zebra")["entities"]
        assert (shown["name"], shown["entityType"], shown["observations"]) == ("n", "note", [])


def test_FM_37_what_tools_write_is_read_the_same_by_every_yaml_reader(desk: Desk) -> None:
    names = {f"N{number}": value for number, value in enumerate(VALUES)}
    given(
        desk.server,
        "create_entities",
        entities=[entity(name, value, kind=value) for name, value in names.items()],
    )
    for name, value in names.items():
        (shown,) = given(desk.server, "open_nodes", names=[name])["entities"]
        assert shown["entityType"] == value
        assert facts(desk.server, name) == [value]
        text = (desk.root / path_of(desk.server, name)).read_bytes().decode()
        block = text.split("---\n")[1] if value != "---" else text.split("\n---\n")[0]
        # PyYAML reads YAML 1.1, the reader of notes YAML 1.2: both have to see the same text.
        assert yaml.safe_load(block.removeprefix("---\n"))["entity"] == value
        assert read_note("n.md", text).properties["entity"] == value
    assert clean(desk.root)


def test_FM_37_names_that_yaml_would_misread_come_back(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity(value, "o") for value in VALUES])
    given(desk.server, "create_relations", relations=[relation(VALUES[0], value, value) for value in VALUES])
    assert graph(desk.server) == (
        {value: ["o"] for value in VALUES},
        {(VALUES[0], value, value) for value in VALUES},
    )


def test_FM_43_no_reply_holds_what_is_not_json(root: Path) -> None:
    write_files(root, {"n.md": "---\nentity: .nan\nname: .inf\ntags: [.nan]\nid: .inf\n---\nBODY\n"})
    with greeted(root) as server:
        given(server, "open_nodes", names=["n", ".inf"])
        given(server, "export_taxonomy")
        for line in server.raw:
            json.loads(line, parse_constant=refused)
    assert (root / "n.md").read_text().startswith("---\nentity: .nan\nname: .inf\n")
