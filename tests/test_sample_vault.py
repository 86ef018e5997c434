"""The sample vault keeps its promises: it follows the format, its links lead somewhere, its dates fit."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from vault_mcp.notes.links import find_links, resolve, stem_key
from vault_mcp.notes.names import file_stem, key_path, memory_stem
from vault_mcp.notes.note import Note, read_note

SAMPLE = Path(__file__).resolve().parent.parent / "sample_vault"
FILES = sorted(path.relative_to(SAMPLE).as_posix() for path in SAMPLE.rglob("*") if path.is_file())
NOTES = {
    path: read_note(path, (SAMPLE / path).read_bytes().decode("utf-8"))
    for path in FILES
    if path.endswith(".md")
}
ENTITIES = {path: note for path, note in NOTES.items() if note.kind == "entity"}
AGENTS = {"claude-desktop", "claude-code", "cursor"}

BY_STEM = defaultdict(list)
for file in FILES:
    BY_STEM[stem_key(file)].append(file)

every_note = pytest.mark.parametrize("path", NOTES)
every_entity = pytest.mark.parametrize("path", ENTITIES)


def meant(link: str, path: str) -> str | None:
    return resolve(link, path, BY_STEM[stem_key(link)])


def entity_meant(link: str, path: str) -> Note | None:
    return ENTITIES.get(meant(link, path) or "")


def test_has_some_of_everything() -> None:
    kinds = Counter(note.kind for note in NOTES.values())
    assert kinds >= Counter({"entity": 12, "memory": 3, "key": 2, "note": 5})
    assert any(path.endswith(".canvas") for path in FILES)
    assert {"person", "project", "decision", "book"} <= {note.type for note in ENTITIES.values()}


@every_note
def test_a_note_reads_without_a_problem(path: str) -> None:
    assert NOTES[path].problems == ()


@every_note
def test_a_note_is_plain_text_of_whole_lines(path: str) -> None:
    content = (SAMPLE / path).read_bytes()
    assert content.endswith(b"\n")
    assert not content.endswith(b"\n\n")
    assert b"\r" not in content
    assert b"\t" not in content


@every_note
def test_every_link_leads_to_a_file(path: str) -> None:
    text = (SAMPLE / path).read_text(encoding="utf-8")
    assert [link.target for link in find_links(text) if meant(link.target, path) is None] == []


def test_no_note_stands_alone() -> None:
    linked = {
        meant(link.target, path)
        for path in NOTES
        for link in find_links((SAMPLE / path).read_text(encoding="utf-8"))
    }
    alone = [path for path, note in NOTES.items() if note.kind in ("entity", "note") and path not in linked]
    assert alone == ["README.md"]


@every_entity
def test_a_relation_leads_to_an_entity_and_shows_its_name(path: str) -> None:
    for relation in ENTITIES[path].relations:
        target = entity_meant(relation.target, path)
        assert target is not None, relation.target
        assert target.name in (relation.shown, relation.target)


@every_entity
def test_an_entity_lies_with_its_type_under_its_name(path: str) -> None:
    note = ENTITIES[path]
    assert path == f"entities/{note.type}/{file_stem(note.name)}.md"
    assert note.observations
    assert note.relations


@every_entity
def test_stamps_tell_of_one_autumn_and_of_known_agents(path: str) -> None:
    note = ENTITIES[path]
    stamps = [fact.stamp for fact in note.observations] + [fact.stamp for fact in note.relations]
    for stamp in filter(None, stamps):
        assert {stamp.agent, stamp.edited_by, stamp.superseded_by} - {""} <= AGENTS
        times = [
            time for time in (note.created, stamp.added_at, stamp.edited_at, stamp.superseded_at) if time
        ]
        assert times == sorted(times)
        assert all("2026-09-21" <= time < "2026-12-01" and time.endswith("Z") for time in times)


@every_entity
def test_what_replaced_a_fact_and_what_it_rests_on_is_there(path: str) -> None:
    by_name = {note.name: note for note in ENTITIES.values()}
    for found in ENTITIES[path].observations:
        if found.superseded:
            assert found.stamp is not None
            assert found.stamp.superseded_at
            assert found.stamp.replacement in [other.text for other in ENTITIES[path].observations]
        for source in found.stamp.sources if found.stamp else ():
            assert source.text in [other.text for other in by_name[source.entity].observations]


def test_some_lines_are_a_persons_own() -> None:
    bare = [found for note in ENTITIES.values() for found in note.observations if found.stamp is None]
    assert len(bare) >= 5


@pytest.mark.parametrize("path", [path for path, note in NOTES.items() if note.kind == "memory"])
def test_a_memory_lies_under_its_month_its_day_and_its_first_words(path: str) -> None:
    note = NOTES[path]
    assert note.value
    year, month = note.created[:4], note.created[5:7]
    assert path == f"memories/{year}/{month}/{memory_stem(note.value, note.created)}.md"
    assert str(note.id)[:14] == "".join(sign for sign in note.created if sign.isdigit())
    assert note.agent in AGENTS


@pytest.mark.parametrize("path", [path for path, note in NOTES.items() if note.kind == "key"])
def test_a_key_lies_where_its_key_says(path: str) -> None:
    assert path == key_path(NOTES[path].name)
    assert NOTES[path].value


def test_the_canvas_shows_files_that_are_there_and_joins_cards_that_are_there() -> None:
    canvas = json.loads((SAMPLE / "Lantern board.canvas").read_text(encoding="utf-8"))
    cards = {node["id"] for node in canvas["nodes"]}
    assert len(cards) == len(canvas["nodes"])
    assert {node["file"] for node in canvas["nodes"] if node["type"] == "file"} <= set(FILES)
    assert {edge[end] for edge in canvas["edges"] for end in ("fromNode", "toNode")} <= cards
