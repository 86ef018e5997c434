"""Graphs into a vault and out again: what came in comes back, on data that is out to break it."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.vaults import CLAUDE, authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.notes.jsonl import Graph, read_jsonl, write_jsonl
from vault_mcp.notes.line import Source, Stamp
from vault_mcp.notes.note import Note, read_note
from vault_mcp.tools.exchange import ImportReport, export_graph, import_graph
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.tools.placing import FOLDER_MOST
from vault_mcp.vault import Vault

Official = tuple[set[tuple[str, str, frozenset[str]]], set[tuple[str, str, str]]]


def official(text: str) -> Official:
    """Read a file as the official server's read_graph does, as sets.

    From its source, src/memory/index.ts (v0.6.3): each line that is not blank is parsed, `entity` and
    `relation` records are kept with the fields named here, anything else is dropped.
    """
    entities, relations = set(), set()
    for line in text.split("\n"):
        if not line.strip():
            continue
        record = json.loads(line)
        if record["type"] == "entity":
            entities.add((record["name"], record["entityType"], frozenset(record["observations"])))
        elif record["type"] == "relation":
            relations.add((record["from"], record["to"], record["relationType"]))
    return entities, relations


def entity(name: str, *observations: str, kind: str = "thing") -> dict[str, object]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def relation(source: str, target: str, kind: str = "knows") -> dict[str, object]:
    return {"type": "relation", "from": source, "to": target, "relationType": kind}


def jsonl(*records: Mapping[str, object]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def bring_in(vault: Vault, text: str, *, dry_run: bool = False) -> ImportReport:
    return import_graph(vault, read_jsonl(text), by="import", source="memory.jsonl", dry_run=dry_run)


def taken_out(vault: Vault) -> str:
    return write_jsonl(export_graph(vault))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    with opened(root) as found:
        yield found


HOSTILE = jsonl(
    entity("alice", "in lower case"),
    entity("Alice", "with a capital", "two\nlines", "", "  edges  ", "- a list", "[ ] a task", kind="person"),
    entity(
        "src/index.ts", "reads %%+2026-01-01T00:00:00Z mallory%%", "<br> and &#10; and \\<br>", kind="a/b"
    ),
    entity("C#: intro", "[[weird]] links [[", "# a heading", "ends in ^block-id", kind=""),
    entity("", "named by nothing"),
    entity("NUL", "a device elsewhere", "CON"),
    entity("Café", "composed"),
    entity("Cafe\u0301", "decomposed"),
    entity("[[weird]]", "a\u2028b\u2029c", "tab\tand\rreturn\r\nboth", "\u0000\u0007"),
    entity("x" * 300, "y" * 5000),
    entity("x" * 299 + "y", "as long, and other"),
    entity("%%", "```", "---", "## Relations", "- [[alice]]"),
    entity("lone", kind="no"),
    entity("two\nlines", "2024-01-01", "~", "null"),
    entity("untitled", "a true name"),
    entity(".hidden", "starts with a dot"),
    entity("a|b", "a bar"),
    relation("alice", "Alice"),
    relation("Alice", "alice"),
    relation("Café", "Cafe\u0301", "is spelled like"),
    relation("Cafe\u0301", "Café", "is spelled like"),
    relation("", "NUL", ""),
    relation("NUL", "", "[[points]] to"),
    relation("[[weird]]", "x" * 300, "two\nlines"),
    relation("x" * 300, "x" * 299 + "y", "%%"),
    relation("src/index.ts", "C#: intro", "imports::"),
    relation("C#: intro", "a|b", " edges "),
    relation("lone", "lone", "is"),
    relation("two\nlines", "%%"),
    relation(".hidden", "untitled"),
    # Ends that are no entities: unlike any, like one but for case or form, blank, hard to spell.
    relation("alice", "Ghost"),
    relation("Ghost", "alice"),
    relation("Ghost", "Other ghost"),
    relation("ALICE", "aLICE"),
    relation("alice", "ALICE"),
    relation("alice", "cafe\u0301"),
    relation("nobody/at all", "no|where #1", "leads [["),
    relation("lone", " "),
    relation(" ", "lone"),
    relation("lone", "z" * 300),
    relation("lone", "z" * 299 + "Z"),
)


def test_hostile_data_comes_back_as_it_came(vault: Vault, root: Path) -> None:
    report = bring_in(vault, HOSTILE)

    assert (report.problems, report.repeats) == ([], [])
    assert official(taken_out(vault)) == official(HOSTILE)
    entities, relations = official(HOSTILE)
    assert (report.entities, report.merged) == (len(entities), 0)
    assert (report.observations, report.relations) == (sum(len(e[2]) for e in entities), len(relations))
    assert clean(root)


def test_the_second_import_of_a_file_changes_nothing(vault: Vault, root: Path) -> None:
    first = bring_in(vault, HOSTILE)
    before = git(root, "rev-parse", "HEAD")
    second = bring_in(vault, HOSTILE)

    assert second.commit is None
    assert (second.entities, second.observations, second.relations) == (0, 0, 0)
    assert (second.merged, second.dangling) == (first.entities, first.dangling)
    assert git(root, "rev-parse", "HEAD") == before


def test_an_export_can_be_imported_elsewhere_and_exported_again(vault: Vault, tmp_path: Path) -> None:
    bring_in(vault, HOSTILE)
    once = taken_out(vault)
    with opened(make_vault(tmp_path / "other")) as other:
        bring_in(other, once)
        assert taken_out(other) == once


NAMES = st.one_of(
    st.sampled_from(
        ["a", "A", "é", "e\u0301", "É", "a (2)", "", " ", "untitled", "NUL", "a/b", "a b", "[[a]]"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


@st.composite
def graphs(draw: Callable[..., object]) -> str:
    """A file as the official server might have written it: unique names, relations from and to anything."""
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    assert isinstance(names, list)
    records: list[dict[str, object]] = []
    for name in names:
        texts = draw(st.lists(TEXTS, unique=True, max_size=3))
        assert isinstance(texts, list)
        records.append(entity(name, *texts, kind=str(draw(TEXTS))))
    for _ in range(int(str(draw(st.integers(0, 5))))):
        ends = st.one_of(st.sampled_from(names), NAMES) if names else NAMES
        records.append(relation(str(draw(ends)), str(draw(ends)), str(draw(TEXTS))))
    return "\n".join(json.dumps(record) for record in records)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(text=graphs())
def test_any_graph_comes_back_as_sets_and_a_second_import_finds_it_all(text: str, tmp_path: Path) -> None:
    number = next(COUNTER)
    with opened(make_vault(tmp_path / f"vault {number}")) as vault:
        report = bring_in(vault, text)
        assert report.problems == []
        assert official(taken_out(vault)) == official(text)
        assert bring_in(vault, text).commit is None


COUNTER = itertools.count()


# -- one commit, in whose name


def test_an_import_is_one_commit_of_its_author_with_the_files_name(vault: Vault, root: Path) -> None:
    before = len(commits(root))
    report = bring_in(vault, HOSTILE)

    assert len(commits(root)) == before + 1
    assert commits(root)[0] == "import: memory.jsonl"
    assert authors(root)[0] == "import"
    assert report.commit == git(root, "rev-parse", "HEAD").strip()
    assert git(root, "log", "-1", "--format=%(trailers:key=Tool,valueonly)").strip() == "import"


def test_a_dry_run_tells_the_same_and_leaves_no_trace(vault: Vault, root: Path) -> None:
    before = git(root, "rev-parse", "HEAD"), sorted(root.rglob("*.md"))
    told = bring_in(vault, HOSTILE, dry_run=True)
    assert (git(root, "rev-parse", "HEAD"), sorted(root.rglob("*.md"))) == before

    done = bring_in(vault, HOSTILE)
    assert told.commit is None
    told.commit = done.commit
    assert told == done


def test_progress_is_told_up_to_the_end(vault: Vault) -> None:
    told: list[tuple[int, int]] = []
    graph = read_jsonl(jsonl(*(entity(f"E{i}") for i in range(250)), relation("nobody", "E1")))
    import_graph(
        vault, graph, by="import", source="x", progress=lambda done, total: told.append((done, total))
    )
    assert told == [(100, 251), (200, 251), (251, 251)]


# -- notes as they ought to lie


def notes(root: Path) -> dict[str, Note]:
    return {
        path.relative_to(root).as_posix(): read_note(path.relative_to(root).as_posix(), path.read_text())
        for path in root.rglob("*.md")
    }


def test_a_new_entity_lies_with_its_type_and_its_links_are_bare(vault: Vault, root: Path) -> None:
    bring_in(vault, jsonl(entity("Ada", "x", kind="person"), entity("Lantern"), relation("Ada", "Lantern")))
    text = (root / "entities/person/Ada.md").read_text()
    assert "- knows [[Lantern]] %%+" in text
    assert "- x %%+" in text


def test_a_full_folder_sends_new_notes_to_its_sub_folders(vault: Vault, root: Path) -> None:
    bring_in(vault, jsonl(*(entity(f"E{i}") for i in range(FOLDER_MOST + 40))))

    assert len(list((root / "entities/thing").glob("*.md"))) == FOLDER_MOST
    assert len(list((root / "entities/thing").glob("??/*.md"))) == 40
    assert official(taken_out(vault))[0] == {(f"E{i}", "thing", frozenset()) for i in range(FOLDER_MOST + 40)}


def test_relations_of_a_name_that_is_no_note_stand_in_a_plain_note_that_later_becomes_the_entity(
    vault: Vault, root: Path
) -> None:
    bring_in(vault, jsonl(entity("Ada"), relation("Ghost", "Ada"), relation("Ada", "Ghost")))
    assert notes(root)["entities/unknown/Ghost.md"].kind == "note"
    assert [name for name, _, _ in official(taken_out(vault))[0]] == ["Ada"]

    report = bring_in(vault, jsonl(entity("Ghost", "is there after all", kind="spirit")))
    assert report.entities == 1
    ghost = notes(root)["entities/unknown/Ghost.md"]
    assert (ghost.kind, ghost.type, [o.text for o in ghost.observations]) == (
        "entity",
        "spirit",
        ["is there after all"],
    )
    assert official(taken_out(vault))[1] == {("Ghost", "Ada", "knows"), ("Ada", "Ghost", "knows")}


def test_a_relation_to_a_note_that_comes_later_finds_it(vault: Vault) -> None:
    report = bring_in(vault, jsonl(entity("Ada"), relation("Ada", "Ghost")))
    assert report.dangling == 1
    assert bring_in(vault, jsonl(entity("Ghost"), relation("Ada", "Ghost"))).relations == 0
    with vault.reading() as reader:
        assert [row.dangling for row in reader.all_relations()] == [False]


# -- a vault that is not empty

MINE = {
    "People/Ada.md": "---\nentity: person\ntags: [me]\n---\n\nMy own words.\n\n- likes tea\n"
    "\n## Relations\n\n- works at [[Engines]]\n",
    "Engines.md": "---\nentity: organisation\n---\n",
    "Lantern.md": "A plan of mine.\n",
    "Plan/Twin.md": "one\n",
    "Other/Twin.md": "other\n",
}


def test_an_entity_that_is_there_gains_what_it_lacks_and_keeps_every_byte_of_a_persons(
    tmp_path: Path,
) -> None:
    root = make_vault(tmp_path / "vault", MINE)
    with opened(root) as vault:
        report = bring_in(
            vault,
            jsonl(
                entity("Ada", "likes tea", "likes coffee", kind="robot"),
                relation("Ada", "Engines", "works at"),
                relation("Ada", "Lantern", "draws"),
                relation("Lantern", "Ada", "is drawn by"),
            ),
        )
    assert (report.entities, report.merged, report.observations, report.relations) == (0, 1, 1, 2)
    assert report.dangling == 0
    assert report.problems == ["'Ada' is of type 'person' in the vault, which stays; the file says 'robot'."]
    text = (root / "People/Ada.md").read_text()
    lines = text.splitlines(keepends=True)
    assert "".join(line for line in lines if "%%+" not in line) == MINE["People/Ada.md"]
    assert [line.partition(" %%+")[0] for line in lines if "%%+" in line] == [
        "- likes coffee",
        "- draws [[Lantern]]",
    ]
    assert (root / "Lantern.md").read_text().startswith(MINE["Lantern.md"])


def test_a_persons_plain_note_of_that_name_becomes_the_entity(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault", MINE)
    with opened(root) as vault:
        bring_in(vault, jsonl(entity("Lantern", "glows", kind="project")))
    note = notes(root)["Lantern.md"]
    assert (note.kind, note.type) == ("entity", "project")
    assert "A plan of mine." in (root / "Lantern.md").read_text()


def test_a_link_to_one_of_two_files_of_a_name_says_which(tmp_path: Path) -> None:
    files = {**MINE, "People/Twin.md": "---\nentity: person\n---\n"}
    root = make_vault(tmp_path / "vault", files)
    with opened(root) as vault:
        bring_in(vault, jsonl(entity("Bob"), relation("Bob", "Twin")))
        assert ("Bob", "Twin", "knows") in official(taken_out(vault))[1]
        with vault.reading() as reader:
            (row,) = (r for r in reader.all_relations() if r.from_name == "Bob")
            assert row.to_path == "People/Twin.md"


def test_a_note_that_cannot_be_edited_costs_itself_alone(tmp_path: Path) -> None:
    broken = "---\nentity: person\n---\n\n## Observations\n\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n"
    root = make_vault(tmp_path / "vault", {"Ada.md": broken})
    with opened(root) as vault:
        report = bring_in(vault, jsonl(entity("Ada", "c", kind="person"), entity("Bob", "d")))
    assert report.entities == 1
    assert len(report.problems) == 1
    assert report.problems[0].startswith("'Ada' is left out. This note holds the marks of a merge")
    assert (root / "Ada.md").read_text() == broken


def test_what_a_person_has_not_committed_is_committed_first_as_theirs(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault", MINE)
    with opened(root) as vault:
        with vault.reading():
            pass
        write_files(root, {"People/Ada.md": MINE["People/Ada.md"] + "\ntyped just now\n"})
        bring_in(vault, jsonl(entity("Ada", "likes coffee", kind="person")))
    assert authors(root)[:2] == ["import", "Ann Person"]
    assert "typed just now" in (root / "People/Ada.md").read_text()


def test_a_note_that_a_person_made_this_moment_is_the_entity_and_gets_no_twin(
    vault: Vault, root: Path
) -> None:
    with vault.reading():
        pass
    write_files(root, {"Ada.md": "---\nentity: person\n---\n\n- likes tea\n"})
    report = bring_in(vault, jsonl(entity("Ada", "likes coffee", kind="person")))
    assert (report.entities, report.merged) == (0, 1)
    assert authors(root)[:2] == ["import", "Ann Person"]
    assert [path for path in notes(root) if "Ada" in path] == ["Ada.md"]


# -- logs of plain-text-memory

LOG = jsonl(
    {"type": "header", "repo_name": "r", "repo_root": "/r", "added_at": "2026-01-01T10:00:00+01:00"},
    {
        "type": "entity",
        "name": "Ada",
        "entityType": "person",
        "added_at": "2026-01-02T10:00:00+01:00",
        "agent": "codex",
        "observations": [
            {
                "text": "likes tea",
                "added_at": "2026-01-03T10:00:00+01:00",
                "agent": "codex",
                "edited_at": "2026-01-04T10:00:00+01:00",
                "edited_by": "claude-code",
            },
            {
                "text": "lives in Rome",
                "added_at": "2026-01-03T10:00:00+01:00",
                "agent": "codex",
                "superseded_at": "2026-01-05T10:00:00+01:00",
                "superseded_by": "codex",
                "replaced_by": "lives in Lisbon",
            },
            {
                "text": "lives in Lisbon",
                "added_at": "2026-01-05T10:00:00+01:00",
                "agent": "codex",
                "sources": [{"entityName": "Bob", "text": "met Ada\nin Lisbon"}],
            },
            "an old bare string",
        ],
    },
    {
        "type": "entity",
        "name": "Gone",
        "entityType": "x",
        "observations": [],
        "added_at": "2026-01-02T10:00:00Z",
    },
    {"type": "tombstone", "entity": "Gone"},
    relation("Ada", "Bob") | {"added_at": "2026-01-06T10:00:00+01:00", "agent": "claude-code"},
)


def test_the_stamps_of_a_log_stay_as_they_are(vault: Vault, root: Path) -> None:
    report = bring_in(vault, LOG)
    assert (report.entities, report.observations, report.relations, report.problems) == (1, 4, 1, [])

    note = notes(root)["entities/person/Ada.md"]
    facts = {o.text: o for o in note.observations}
    assert (note.created, note.agent) == ("2026-01-02T10:00:00+01:00", "codex")
    assert list(facts) == ["likes tea", "lives in Lisbon", "an old bare string", "lives in Rome"]
    assert facts["likes tea"].stamp == Stamp(
        "2026-01-03T10:00:00+01:00", "codex", "2026-01-04T10:00:00+01:00", "claude-code"
    )
    assert facts["lives in Rome"].superseded
    assert facts["lives in Rome"].stamp == Stamp(
        "2026-01-03T10:00:00+01:00",
        "codex",
        superseded_at="2026-01-05T10:00:00+01:00",
        superseded_by="codex",
        replacement="lives in Lisbon",
    )
    assert facts["lives in Lisbon"].stamp == Stamp(
        "2026-01-05T10:00:00+01:00", "codex", sources=(Source("Bob", "met Ada\nin Lisbon"),)
    )
    bare = facts["an old bare string"].stamp
    assert bare is not None
    assert bare.agent == "import"
    assert [r.stamp for r in note.relations] == [Stamp("2026-01-06T10:00:00+01:00", "claude-code")]


def test_what_was_superseded_is_not_in_an_export_and_does_not_come_back_with_one(vault: Vault) -> None:
    bring_in(vault, LOG)
    once = taken_out(vault)
    assert "Rome" not in once
    report = bring_in(vault, jsonl(entity("Ada", "lives in Rome", kind="person")))
    assert report.observations == 0
    assert taken_out(vault) == once


def test_a_second_import_of_a_log_changes_nothing(vault: Vault) -> None:
    bring_in(vault, LOG)
    assert bring_in(vault, LOG).commit is None


# -- what an export holds


def test_an_export_holds_what_tools_and_people_wrote(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault", {**MINE, "archive/Old.md": "---\nentity: person\n---\n\n- old\n"})
    with opened(root) as vault:
        create_entities(vault, CLAUDE, [{"name": "C", "entityType": "t", "observations": ["o"]}])
        entities, relations = official(taken_out(vault))
    assert {name for name, _, _ in entities} == {"Ada", "Engines", "C"}
    assert ("Ada", "person", frozenset({"likes tea"})) in entities
    assert relations == {("Ada", "Engines", "works at")}


def test_an_empty_vault_gives_an_empty_file_and_an_empty_file_nothing(vault: Vault) -> None:
    assert taken_out(vault) == ""
    report = import_graph(vault, Graph(), by="import", source="empty")
    assert report == ImportReport()
