"""The word index: settled behind the writes, in step with the notes, and the vectors that hang on it."""

from dataclasses import dataclass

import pytest

from tests.storage.index.build import entity, plain, put
from tests.storage.index.conftest import Indexed
from vault_mcp.notes.passages import passage_key
from vault_mcp.storage.index import Index, Scope


def settle(index: Index, most: int = 1000) -> None:
    while True:
        with index.writing() as writer:
            if not writer.words.settle_words(most):
                return


def hits(index: Index, *terms: str) -> list[str]:
    with index.reading() as reader:
        found = reader.word_hits(terms, 100, Scope())
        texts = {unit.id: unit.text for unit in reader.units(found)}
        return [texts[number] for number in found]


@dataclass
class News:
    """What is new, read to its end."""

    mark: str
    model: str
    newest: int
    gone: list[int]
    came: list[tuple[int, bytes]]


def news(index: Index, mark: str = "", rev: int = 0) -> News:
    with index.reading() as reader:
        told = reader.vectors_since(mark, rev)
        return News(told.mark, told.model, told.newest, told.gone, list(told.came))


def store(index: Index, model: str, *texts: str) -> bool:
    with index.writing() as writer:
        return writer.words.store_vectors(model, [(passage_key(text), text.encode()) for text in texts])


def test_words_are_found_once_they_are_settled(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "The walrus swims."), plain("b.md", "Another walrus sleeps."))
    with index.reading() as reader:
        assert reader.unworded() > 0
    assert hits(index, "walru") == []
    settle(index, most=1)
    with index.reading() as reader:
        assert reader.unworded() == 0
    assert sorted(hits(index, "walru")) == ["Another walrus sleeps.", "The walrus swims."]


def test_what_is_changed_or_removed_is_found_no_more(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "walrus"), plain("b.md", "walrus walrus"))
    settle(index)
    with index.writing() as writer:
        put(writer, plain("a.md", "seal"))
        writer.remove("b.md")
    settle(index)
    assert hits(index, "walru") == []
    assert hits(index, "seal") == ["seal"]


def test_a_facts_words_begin_with_those_of_its_entity(indexed: Indexed) -> None:
    index = indexed(entity("Ada Lovelace", ["plays the harp"]))
    settle(index)
    assert sorted(hits(index, "lovelac")) == ["Ada Lovelace", "plays the harp"]


@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_facts_follow_the_name_of_their_entity_in_turns_of_any_size(indexed: Indexed, most: int) -> None:
    index = indexed(entity("Ada", ["plays the harp", "swims"], path="a.md"), plain("b.md", "a seal"))
    settle(index)
    with index.writing() as writer:
        put(writer, entity("Grace", ["plays the harp", "swims"], path="a.md"), plain("b.md", "a walrus"))
    settle(index, most)
    assert hits(index, "ada") == hits(index, "seal") == []
    assert sorted(hits(index, "grace")) == ["Grace", "plays the harp", "swims"]
    assert hits(index, "walru") == ["a walrus"]


def test_texts_wait_for_vectors_until_they_are_stored(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "one"), plain("b.md", "one"), plain("c.md", "two"))
    settle(index)
    with index.writing() as writer:
        assert writer.words.set_model("m")
        assert not writer.words.set_model("m")
    with index.reading() as reader:
        waiting = {text for _, _, text in reader.unvectored(100) if text in ("one", "two")}
        before = reader.count_unvectored()
    assert waiting == {"one", "two"}
    assert store(index, "m", "one")
    with index.reading() as reader:
        assert (reader.count_vectors(), reader.count_unvectored()) == (1, before - 2)
    assert [row for _, row in news(index).came] == [b"one", b"one"]


def test_vectors_of_another_model_are_not_kept(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "one"))
    settle(index)
    with index.writing() as writer:
        writer.words.set_model("m")
    assert not store(index, "other", "one")
    assert store(index, "m", "one")
    with index.writing() as writer:
        writer.words.set_model("other")
    assert news(index).came == []
    with index.reading() as reader:
        assert "one" in {text for _, _, text in reader.unvectored(100)}


def test_only_what_is_new_is_told_to_whoever_knows_the_rest(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "one"), plain("b.md", "two"))
    settle(index)
    with index.writing() as writer:
        writer.words.set_model("m")
    store(index, "m", "one", "two")
    first = news(index)
    assert len(first.came) == 2
    assert news(index, first.mark, first.newest) == News(first.mark, "m", first.newest, [], [])

    with index.writing() as writer:
        put(writer, plain("a.md", "three"), plain("c.md", "two"))
    settle(index)
    store(index, "m", "three")
    second = news(index, first.mark, first.newest)
    assert sorted(row for _, row in second.came) == [b"three", b"two"]
    assert len(second.gone) >= 1
    assert second.newest > first.newest


def test_an_index_made_anew_bears_another_mark(indexed: Indexed) -> None:
    assert news(indexed(name="one")).mark != news(indexed(name="two")).mark


def test_dropped_vectors_wait_again(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "one"))
    settle(index)
    with index.writing() as writer:
        writer.words.set_model("m")
    store(index, "m", "one")
    ((unit, _),) = news(index).came
    with index.writing() as writer:
        writer.words.drop_vectors([unit, 12345])
    with index.reading() as reader:
        assert "one" in {text for _, _, text in reader.unvectored(100)}


def test_neighbours_are_those_of_prose_and_never_of_lists(indexed: Indexed) -> None:
    index = indexed(plain("a.md", "first", "second", "third"), entity("Ada", ["x1", "x2"]))
    settle(index)
    with index.reading() as reader:
        units = reader.units(reader.units_in(Scope()))
        texts = {unit.id: unit.text for unit in units}
        beside = {
            texts[number]: tuple(texts[one] if one else None for one in pair)
            for number, pair in reader.beside(texts).items()
        }
    assert beside["second"] == ("first", "third")
    assert beside["third"][1] is None
    assert not {"x1", "x2", "Ada"} & beside.keys()
