"""Files and notes by path, name and stem."""

import unicodedata

from tests.storage.index.build import blob, entity, plain, stat
from tests.storage.index.conftest import Indexed
from vault_mcp.notes.links import stem_key
from vault_mcp.notes.note import Note
from vault_mcp.storage.index import FileRow


def test_a_name_is_found_in_either_unicode_form_and_case_counts(indexed: Indexed) -> None:
    index = indexed(entity("Café"), entity("alice"), entity("Alice", path="entities/person/Alice (2).md"))
    with index.reading() as reader:
        assert reader.entity(unicodedata.normalize("NFC", "Café")) is not None
        assert reader.entity(unicodedata.normalize("NFD", "Café")) is not None
        alice = reader.entity("Alice")
        assert alice is not None
        assert alice.path == "entities/person/Alice (2).md"
        assert reader.entity("ALICE") is None
        assert reader.entity("\ud800") is None


def test_of_twins_the_one_whose_file_bears_the_name_is_meant(indexed: Indexed) -> None:
    index = indexed(
        entity("Plan", path="x/copy of plan.md"),
        entity("Plan", path="entities/project/Plan.md"),
        entity("Plan", path="Plan.md"),
    )
    with index.reading() as reader:
        assert [row.path for row in reader.notes_named("Plan")] == [
            "Plan.md",
            "entities/project/Plan.md",
            "x/copy of plan.md",
        ]
        assert reader.twins() == [("Plan", ["Plan.md", "entities/project/Plan.md", "x/copy of plan.md"])]


def test_an_entity_is_meant_before_another_note_of_its_name(indexed: Indexed) -> None:
    index = indexed(plain("Plan.md", "prose"), entity("Plan"), plain("Only.md", "prose"))
    with index.reading() as reader:
        found = [reader.note_named(name) for name in ("Plan", "Only", "Neither")]
        assert [row.kind if row else None for row in found] == ["entity", "note", None]
        assert reader.entity("Only") is None


def test_archived_notes_bear_no_name_but_are_there(indexed: Indexed) -> None:
    index = indexed(entity("Old", ["fact"], path="archive/entities/person/Old.md"))
    with index.reading() as reader:
        assert reader.entity("Old") is None
        assert reader.notes_named("Old", archived=True)[0].archived
        assert reader.note_at("archive/entities/person/Old.md") is not None
        assert (reader.totals().entities, reader.totals().files) == (0, 1)


def test_stems_find_every_file_that_a_link_may_mean(indexed: Indexed) -> None:
    index = indexed(entity("Ada"), plain("notes/ADA.md", "x"), plain("Ada Lovelace.md", "x"))
    with index.writing() as writer:
        writer.put_file("img/ada.png", blob("png"), stat(), None)
    with index.reading() as reader:
        assert reader.paths_with_stem(stem_key("folder/aDa.md")) == ["entities/person/Ada.md", "notes/ADA.md"]
        assert reader.stem_taken(stem_key("ada.png"))
        assert not reader.stem_taken(stem_key("Bob"))
        assert reader.paths_ending(".PNG") == ["img/ada.png"]


def test_notes_that_link_to_a_stem_are_known(indexed: Indexed) -> None:
    index = indexed(
        entity("Ada", relations=[("knows", "people/BOB"), ("likes", "Bob")]), entity("Bob"), entity("C")
    )
    with index.reading() as reader:
        assert reader.linking_to_stem(stem_key("Bob.md")) == ["entities/person/Ada.md"]
        assert reader.linking_to_stem(stem_key("Ada")) == []


def test_files_are_told_with_what_the_disk_said(indexed: Indexed) -> None:
    note = entity("Ada")
    index = indexed(note, plain("a/b.md", "x"), plain("a/b/c.md", "x"), plain("ab.md", "x"))
    with index.reading() as reader:
        assert reader.file(note.path) == FileRow(note.path, blob(note), stat())
        facts = (blob(note), stat().size, stat().mtime_ns, stat().ctime_ns, stat().ino, stat().mode)
        assert {row[0]: row[1:] for row in reader.files()}[note.path] == facts
        assert sorted(row[0] for row in reader.files("a")) == ["a/b.md", "a/b/c.md"]
        assert (reader.notes_in_folder("a"), reader.notes_in_folder(""), reader.notes_in_folder("x")) == (
            1,
            1,
            0,
        )
        assert reader.file("missing") is None


def test_notes_with_problems_are_listed(indexed: Indexed) -> None:
    index = indexed(entity("Ada", aliases=["Countess"]), entity("Bad", problems=["duplicate key tags"]))
    with index.reading() as reader:
        assert [(row.name, row.problems) for row in reader.notes_with_problems()] == [
            ("Bad", ("duplicate key tags",))
        ]
        ada = reader.entity("Ada")
        assert ada is not None
        assert ada.aliases == ("Countess",)
        assert reader.note_by_id(ada.id) == ada
        assert reader.note_by_id(10**9) is None


def test_a_key_has_its_exact_value_and_a_note_its_tags(indexed: Indexed) -> None:
    index = indexed(Note("keys/k.md", "key", "k", value=" v\n"), entity("Ada", tags=["b", "a"]))
    with index.reading() as reader:
        assert reader.value("keys/k.md") == " v\n"
        assert reader.value("entities/person/Ada.md") is None
        ada = reader.entity("Ada")
        assert ada is not None
        assert reader.tags_of(ada.id) == ("b", "a")
