import pytest

from tests.storage.index.build import STAMP, entity, plain, put
from tests.storage.index.conftest import Indexed
from vault_mcp.errors import BadArgument
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Note, Observation
from vault_mcp.storage.index import Filter, Findings, Index

PROSE = {
    "d1": "multi-agent launcher",
    "d2": "status: done by don't",
    "d3": "GB/s rate",
    "d4": "München Straße café",
    "d5": "東京駅前のメモ",
    "d6": 'a "quoted" phrase AND more',
    "d7": "@nova #tag 50% why? C++ C# x=y",
    "d8": "ISO 9001:2015 node.js snake_case (foo) [br] {b} ^up ~til *st",
    "d9": "emoji 🚀 here",
}
ASKED = {
    "multi-agent": "d1",
    "status: done": "d2",
    "don't": "d2",
    "GB/s": "d3",
    '"quoted"': "d6",
    '"quoted': "d6",
    "phrase AND": "d6",
    "@nova": "d7",
    "#tag": "d7",
    "50%": "d7",
    "why?": "d7",
    "C++": "d7",
    "C#": "d7",
    "x=y": "d7",
    "9001:2015": "d8",
    "node.js": "d8",
    "snake_case": "d8",
    "(foo": "d8",
    "[br]": "d8",
    "{b}": "d8",
    "^up": "d8",
    "~til": "d8",
    "*st": "d8",
    "🚀": "d9",
    "東京": "d5",
    "京": "d5",
    "駅前の": "d5",
    "strasse": "d4",
    "STRASSE": "d4",
    "munchen cafe": "d4",
    "MÜNCHEN": "d4",
}


@pytest.fixture
def texts(indexed: Indexed) -> Index:
    return indexed(*(plain(f"{name}.md", text) for name, text in PROSE.items()))


def find(index: Index, query: str, limit: int = 50, cursor: str | None = None, **more: object) -> Findings:
    with index.reading() as reader:
        return reader.search(query, limit, cursor, **more)  # type: ignore[arg-type]  # passed on as given


def names(found: Findings) -> list[str]:
    return [one.note.name for one in found.found]


def settle(index: Index) -> None:
    with index.writing() as writer:
        writer.settle()


@pytest.mark.parametrize("settled", [False, True], ids=["waiting", "settled"])
def test_any_punctuation_and_script_finds_its_text(texts: Index, settled: bool) -> None:
    if settled:
        settle(texts)
    assert {query: names(find(texts, query))[:1] for query in ASKED} == {
        q: [name] for q, name in ASKED.items()
    }


def test_no_query_is_an_error(texts: Index) -> None:
    settle(texts)
    for query in ("NEAR(foo", "a:b", "-done", '"', "'", "\x00", "\ud800", "% _", ")", "* OR *", "\\"):
        find(texts, query)
    assert names(find(texts, "a:b")) == []
    assert names(find(texts, "launcher")) == ["d1"]


def test_wildcards_of_other_languages_stand_for_themselves(indexed: Indexed) -> None:
    index = indexed(plain("p.md", "100% sure"), plain("q.md", "plain"))
    assert names(find(index, "%")) == ["p"]
    assert names(find(index, "100%")) == ["p"]
    assert names(find(index, "_")) == []
    assert names(find(index, "'; DROP TABLE notes; --")) == []
    assert names(find(index, "sure")) == ["p"]


def test_a_part_of_a_word_is_found_and_whole_words_come_first(indexed: Indexed) -> None:
    index = indexed(
        entity("a", ["breakfast is late"]),
        entity("b", ["runs fast enough"]),
        entity("c", ["a fastener holds it"]),
    )
    assert names(find(index, "fast")) == ["b", "c", "a"]
    assert names(find(index, "fas")) == ["b", "c", "a"]


def test_more_terms_in_any_order_rank_higher_and_one_is_enough(indexed: Indexed) -> None:
    index = indexed(
        entity("both", ["likes green tea"]),
        entity("scattered", ["drinks tea", "wears green"]),
        entity("one", ["green house"]),
        entity("none", ["blue house"]),
    )
    assert names(find(index, "tea green")) == ["both", "scattered", "one"]
    assert names(find(index, '"green tea"')) == ["both"]


def test_a_name_counts_more_than_a_fact_and_a_fact_more_than_prose(indexed: Indexed) -> None:
    index = indexed(plain("x.md", "about Lisbon"), entity("y", ["lives in Lisbon"]), entity("Lisbon"))
    found = find(index, "lisbon")
    assert names(found) == ["Lisbon", "y", "x"]
    assert [[(hit.rank, hit.kind, hit.text) for hit in one.hits] for one in found.found] == [
        [(1, "name", "Lisbon")],
        [(2, "observation", "lives in Lisbon")],
        [(3, "passage", "about Lisbon")],
    ]


def test_a_note_is_found_by_type_alias_and_tag(indexed: Indexed) -> None:
    index = indexed(
        entity("Ada", type="mathematician", aliases=["Countess"], tags=["team/core"]),
        entity("B"),
    )
    for query in ("mathematician", "countess", "team/core"):
        assert names(find(index, query)) == ["Ada"]


def test_stamps_and_the_words_of_the_format_are_not_searched(indexed: Indexed) -> None:
    index = indexed(*(entity(f"e{n}", [f"fact {n}"]) for n in range(20)))
    for query in ("edited_by", "entityType", "observations", "claude-desktop", "2026-10-05", "entity"):
        assert names(find(index, query)) == []


def test_each_hit_tells_its_observation_with_who_wrote_it(indexed: Indexed) -> None:
    index = indexed(entity("a", ["likes tea", "likes teapots", "sleeps"]))
    (one,) = find(index, "tea").found
    assert [(hit.text, hit.observation.agent if hit.observation else None) for hit in one.hits] == [
        ("likes tea", "claude-desktop"),
        ("likes teapots", "claude-desktop"),
    ]
    assert one.hits[0].score > one.hits[1].score
    assert find(index, "tea", hits=1).found[0].more == 1


def test_superseded_facts_and_archived_notes_are_found_only_when_asked_for(indexed: Indexed) -> None:
    index = indexed(
        entity("a", [Observation("old tea", STAMP, 1, superseded=True)]),
        entity("b", ["tea"], path="archive/entities/person/b.md"),
    )
    assert names(find(index, "tea")) == []
    assert names(find(index, "tea", superseded=True)) == ["a"]
    assert names(find(index, "tea", archived=True)) == ["b"]
    assert names(find(index, "tea", superseded=True, archived=True)) == ["a", "b"]


def test_a_filter_leaves_the_facts_written_within_it(indexed: Indexed) -> None:
    early, late = Stamp("2026-01-01T00:00:00Z", "one"), Stamp("2026-06-01T00:00:00Z", "two")
    edited = Stamp("2026-01-01T00:00:00Z", "one", "2026-06-02T00:00:00Z", "two")
    index = indexed(
        entity("a", [Observation("tea early", early, 1), Observation("tea late", late, 2)], created=""),
        entity("b", [Observation("tea edited", edited, 1)], created=""),
        entity("c", [Observation("tea unstamped", None, 1)], created=""),
        plain("d.md", "tea in prose"),
    )
    june = 1780272000
    assert {hit.text for one in find(index, "tea", where=Filter(since=june)).found for hit in one.hits} == {
        "tea late",
        "tea edited",
    }
    assert names(find(index, "tea", where=Filter(before=june))) == ["a", "b"]
    assert names(find(index, "tea", where=Filter(agent="two", since=june + 1))) == ["b"]
    assert names(find(index, "tea", where=Filter(agent="nobody"))) == []


def test_a_blank_query_gives_every_note_by_name_page_by_page(texts: Index) -> None:
    first = find(texts, "  ", 4)
    rest = find(texts, "", 50, first.cursor)
    assert names(first) + names(rest) == sorted(PROSE)
    assert (first.total, first.exact, rest.cursor) == (9, True, None)
    assert names(find(texts, "", kinds=("entity",))) == []


def test_pages_follow_each_other_without_gap_or_repeat(indexed: Indexed) -> None:
    index = indexed(*(entity(f"e{n:03}", ["tea" if n % 3 else "teapot"]) for n in range(50)))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = find(index, "tea", 7, cursor)
        assert page.total == 50
        seen += names(page)
        cursor = page.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 50
    assert seen == names(find(index, "tea"))


def test_a_cursor_of_another_list_is_refused(texts: Index) -> None:
    with texts.reading() as reader:
        for cursor in ("nonsense", "WyJlbnRpdGllcyIsICJhIiwgMV0", "WyJzZWFyY2giLCAidHdvIl0", "é", "W10"):
            with pytest.raises(BadArgument):
                reader.search("a", 1, cursor)


def test_a_word_that_all_notes_hold_is_bounded_stable_and_states_a_total(indexed: Indexed) -> None:
    notes = [entity(f"e{n:04}", [f"user {'w' * 50} {n}"]) for n in range(3000)]
    index = indexed(*notes, entity("user"))
    found = find(index, "user", 20)
    assert names(found)[0] == "user"
    assert (found.total, found.exact) == (3001, False)
    assert found == find(index, "user", 20)
    rare = find(index, "user 2999", 20)
    assert names(rare)[:2] == ["e2999", "user"]
    assert find(index, "ser", 20, where=Filter(agent="nobody")).total == 0


def test_a_change_is_found_at_once_and_the_old_words_no_more(indexed: Indexed) -> None:
    index = indexed(entity("a", ["alpha ray"]))
    for settled in (False, True):
        if settled:
            settle(index)
        with index.writing() as writer:
            put(writer, entity("a", ["beta ray"]))
        assert names(find(index, "beta")) == ["a"]
        assert names(find(index, "alpha")) == []
        with index.writing() as writer:
            put(writer, entity("a", ["alpha ray"]))
        assert names(find(index, "alpha")) == ["a"]
        assert names(find(index, "beta")) == []
    with index.writing() as writer:
        writer.remove("entities/person/a.md")
    assert names(find(index, "alpha")) == []
    settle(index)
    assert names(find(index, "alpha")) == names(find(index, "ray")) == []


def test_punctuation_of_a_question_does_not_hide_its_words(indexed: Indexed) -> None:
    index = indexed(entity("Ada", ["her email is ada@example.org"]))
    assert names(find(index, "email?")) == ["Ada"]
    assert names(find(index, "(email),")) == ["Ada"]


def test_a_key_is_found_by_name_and_value(indexed: Indexed) -> None:
    note = Note("keys/Color-Pref.md", "key", "Color-Pref", value="BLUE")
    index = indexed(note)
    assert names(find(index, "color-p", kinds=("key",))) == ["Color-Pref"]
    (one,) = find(index, "blue").found
    assert (one.hits[0].kind, one.hits[0].text) == ("value", "BLUE")
    assert names(find(index, "json")) == names(find(index, "blue", kinds=("entity",))) == []


def test_a_very_long_query_is_answered(texts: Index) -> None:
    settle(texts)
    assert names(find(texts, "launcher " + "x" * 100_000)) == ["d1"]
    assert find(texts, '"' + "launcher " * 10_000 + '"').exact
    assert names(find(texts, " ".join(f"w{n}" for n in range(10_000)))) == []
