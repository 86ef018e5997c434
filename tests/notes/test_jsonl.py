import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.jsonl import (
    EntityRecord,
    Graph,
    ObservationRecord,
    RelationRecord,
    read_jsonl,
    write_jsonl,
)
from vault_mcp.notes.line import Source, Stamp

ADA = '{"type":"entity","name":"Ada","entityType":"person","observations":["counts","reads"]}'
BOB = '{"type":"entity","name":"Bob","entityType":"person","observations":[]}'
KNOWS = '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}'

HEADER = (
    '{"type": "header", "repo_name": "lantern", "repo_root": "/home/ada/lantern", '
    '"added_at": "2026-10-05T11:12:33+02:00", "agent": "claude-code"}'
)


def entity(name: str, *texts: str, type: str = "t", stamp: Stamp | None = None) -> EntityRecord:
    return EntityRecord(name, type, tuple(map(ObservationRecord, texts)), stamp)


def names(graph: Graph) -> list[str]:
    return [found.name for found in graph.entities]


def lines_with_problems(graph: Graph) -> list[int]:
    return [remark.line for remark in graph.problems]


# -- the official server's files


def test_reads_a_file_of_the_official_server_that_ends_without_a_newline() -> None:
    assert read_jsonl(f"{ADA}\n{BOB}\n{KNOWS}") == Graph(
        (entity("Ada", "counts", "reads", type="person"), entity("Bob", type="person")),
        (RelationRecord("Ada", "Bob", "knows"),),
    )


def test_writes_the_official_layout_to_the_byte() -> None:
    assert write_jsonl(read_jsonl(f"{ADA}\n{BOB}\n{KNOWS}")) == f"{ADA}\n{BOB}\n{KNOWS}"


def test_writes_entities_before_relations_and_leaves_signs_of_every_script_unescaped() -> None:
    graph = Graph(
        (entity("関孝和", "line\nbreak", "\u2028\x7f", '"\\/', "\x01\t"),), (RelationRecord("é", "☕", ""),)
    )
    assert write_jsonl(graph) == (
        '{"type":"entity","name":"関孝和","entityType":"t",'
        '"observations":["line\\nbreak","\u2028\x7f","\\"\\\\/","\\u0001\\t"]}\n'
        '{"type":"relation","from":"é","to":"☕","relationType":""}'
    )


def test_writes_an_empty_graph_as_an_empty_file() -> None:
    assert write_jsonl(Graph()) == ""


def test_leaves_superseded_facts_out_of_what_it_writes() -> None:
    old = ObservationRecord("old", Stamp("2026-10-05", "a", superseded_at="2026-10-06", superseded_by="a"))
    graph = Graph((EntityRecord("A", "t", (old, ObservationRecord("new"))),))
    assert '"observations":["new"]' in write_jsonl(graph)


def test_keeps_relations_to_and_from_nobody_and_names_them_dangling() -> None:
    ghost = KNOWS.replace("Bob", "Ghost")
    graph = read_jsonl(f"{ghost}\n{KNOWS}\n{ADA}\n{BOB}")
    assert [r.target for r in graph.relations] == ["Ghost", "Bob"]
    assert graph.dangling == (RelationRecord("Ada", "Ghost", "knows"),)
    assert graph.problems == ()


def test_joins_an_entity_that_stands_there_twice_and_tells_the_line() -> None:
    again = ADA.replace('"counts","reads"', '"reads","writes"')
    graph = read_jsonl(f"{ADA}\n{BOB}\n{again}\n{KNOWS}\n{KNOWS}")
    assert graph.entities[0] == entity("Ada", "counts", "reads", "writes", type="person")
    assert len(graph.relations) == 1
    assert [remark.line for remark in graph.repeats] == [3, 5]
    assert graph.problems == ()


def test_keeps_the_first_type_of_an_entity_and_reports_the_second() -> None:
    graph = read_jsonl(f"{BOB}\n{BOB.replace('person', 'cat')}")
    assert graph.entities == (entity("Bob", type="person"),)
    assert graph.problems[0].line == 2
    assert "'cat'" in graph.problems[0].what


def test_keeps_a_repeated_observation_once() -> None:
    graph = read_jsonl(ADA.replace("reads", "counts"))
    assert graph.entities == (entity("Ada", "counts", type="person"),)
    assert [remark.line for remark in graph.repeats] == [1]


def test_tells_names_apart_that_differ_in_case_form_or_edge_spaces() -> None:
    written = [
        "alice",
        "Alice",
        "Café",
        "Cafe\u0301",
        " alice",
        "",
        "src/index.ts",
        "[[weird]] #1",
        "NUL",
        "x" * 300,
    ]
    graph = Graph(tuple(entity(name, "%%", "<br>", " ^id", "") for name in written))
    assert read_jsonl(write_jsonl(graph)) == graph


# -- files that something went wrong with


@pytest.mark.parametrize(
    "bad",
    [
        ADA[:40],
        ADA[3:],
        "hello",
        "\0" * 20,
        "{}",
        '"text"',
        "12",
        '{"type":"entity","entityType":"t","observations":[]}',
        '{"type":"entity","name":5,"entityType":"t","observations":[]}',
        '{"type":"relation","from":"Ada","relationType":"knows"}',
        '{"type":"relation","from":"Ada","to":null,"relationType":"knows"}',
        '{"type":"access","at":"2026-10-05","entity":"Ada"}',
        '{"type":"tombstone"}',
        '{"type":["entity"],"name":"x"}',
        '{"type":"entity","name":"deep","entityType":"t","observations":' + "[" * 200_000,
        '{"type":"entity","name":"long","entityType":"t","observations":[' + "9" * 5_000 + "]",
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>> theirs",
    ],
)
def test_a_bad_line_costs_that_line_and_is_told_by_its_number(bad: str) -> None:
    graph = read_jsonl(f"{ADA}\n\n{bad}\n{BOB}\n{KNOWS}")
    assert names(graph) == ["Ada", "Bob"]
    assert len(graph.relations) == 1
    assert lines_with_problems(graph) == [3]


@pytest.mark.parametrize("number", ["9" * 6_000, "-" + "9" * 6_000, "NaN", "12"])
def test_a_number_among_the_observations_costs_itself_alone(number: str) -> None:
    record = '{"type":"entity","name":"n","entityType":"t","observations":["a",' + number + ',"b"]}'
    graph = read_jsonl(f"{record}\n{BOB}")
    assert names(graph) == ["n", "Bob"]
    assert [o.text for o in graph.entities[0].observations] == ["a", "b"]
    assert [(r.line, r.what) for r in graph.problems] == [
        (1, "holds observation 2 of 'n', which is neither a string nor an object; it is left out")
    ]


@pytest.mark.parametrize("text", ["[" * 100_000, "[,", "]", "\ufeff[\n[\n"])
def test_brackets_alone_are_told_as_no_json(text: str) -> None:
    assert [(r.line, r.what) for r in read_jsonl(text).problems] == [
        (1, "could not be parsed as JSON; nothing of the file was read")
    ]


@pytest.mark.parametrize("text", ["", " \n", "[]", "\ufeff[ ]\r\n"])
def test_a_file_without_a_record_is_no_fault(text: str) -> None:
    assert read_jsonl(text) == Graph()


def test_a_conflict_marker_is_called_by_its_name() -> None:
    graph = read_jsonl(f"<<<<<<< HEAD\n{ADA}\n=======\n{BOB}\n>>>>>>> theirs\n")
    assert names(graph) == ["Ada", "Bob"]
    assert [remark.what.split(";")[0] for remark in graph.problems] == [
        "is a conflict marker that Git left behind"
    ] * 3


def test_bytes_that_are_not_utf8_cost_their_line() -> None:
    graph = read_jsonl(f"{ADA}\n{BOB}\n".encode().replace(b"Bob", b"B\xf6b") + KNOWS.encode())
    assert names(graph) == ["Ada"]
    assert [(r.line, "UTF-8" in r.what) for r in graph.problems] == [(2, True)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_of_the_encoding_and_windows_line_ends_do_no_harm(encoding: str) -> None:
    graph = read_jsonl(f"{ADA}\r\n{BOB}\r\n\r\n{KNOWS}\r\n".encode(encoding))
    assert names(graph) == ["Ada", "Bob"]
    assert (len(graph.relations), graph.problems) == (1, ())


def test_objects_glued_on_one_line_are_read_one_after_the_other() -> None:
    graph = read_jsonl(f"{ADA}{BOB}\n{KNOWS} {KNOWS.replace('knows', 'likes')}")
    assert names(graph) == ["Ada", "Bob"]
    assert [r.type for r in graph.relations] == ["knows", "likes"]
    assert graph.problems == ()


def test_a_record_before_a_torn_one_on_the_same_line_is_kept() -> None:
    graph = read_jsonl(f"{ADA}{BOB[:30]}\n{KNOWS}")
    assert names(graph) == ["Ada"]
    assert len(graph.relations) == 1
    assert "column 87" in graph.problems[0].what


def test_a_record_cut_inside_a_list_does_not_take_the_next_line_with_it() -> None:
    cut = ADA[: ADA.index('"counts"')]
    assert names(read_jsonl(f"{cut}\n{BOB}")) == ["Bob"]
    assert names(read_jsonl(f"{cut}\n{BOB}\n{ADA}")) == ["Bob", "Ada"]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_one_array_is_read_like_lines(indent: int | None) -> None:
    graph = read_jsonl(json.dumps([json.loads(line) for line in (ADA, BOB, KNOWS)], indent=indent))
    assert write_jsonl(graph) == f"{ADA}\n{BOB}\n{KNOWS}"
    assert graph.problems == ()


def test_a_cut_array_gives_what_stands_before_the_cut() -> None:
    graph = read_jsonl(f"[{ADA},\n{BOB},\n{KNOWS[:20]}")
    assert names(graph) == ["Ada", "Bob"]
    assert lines_with_problems(graph) == [3]


def test_what_read_graph_returns_is_read_too() -> None:
    answer = {"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}, 7]}
    graph = read_jsonl(json.dumps(answer | {"relations": [{"from": "Ada", "to": "x", "relationType": "r"}]}))
    assert graph.entities == (entity("Ada", "counts", type="person"),)
    assert graph.relations == (RelationRecord("Ada", "x", "r"),)
    assert lines_with_problems(graph) == [1]


def test_an_observation_that_is_no_text_is_reported_and_the_others_kept() -> None:
    line = (
        '{"type":"entity","name":"A","entityType":"t","observations":["x",5,null,{"txt":"y"},{"text":"z"}]}'
    )
    graph = read_jsonl(line)
    assert graph.entities == (entity("A", "x", "z"),)
    assert ["observation 2" in r.what for r in graph.problems] == [True, False, False]


@pytest.mark.parametrize("observations", ['"counts"', "null", "{}"])
def test_observations_that_are_no_list_leave_the_entity(observations: str) -> None:
    line = f'{{"type":"entity","name":"A","entityType":"t","observations":{observations}}}'
    graph = read_jsonl(line)
    assert graph.entities == (entity("A"),)
    assert len(graph.problems) == (observations != "null")


def test_an_entity_without_a_type_is_kept_without_one() -> None:
    graph = read_jsonl('{"type":"entity","name":"A"}')
    assert graph.entities == (EntityRecord("A", ""),)
    assert lines_with_problems(graph) == [1]


def test_half_a_character_is_replaced_and_told() -> None:
    graph = read_jsonl(
        '{"type":"entity","name":"A\\ud83d","entityType":"t","observations":["\\ud83d\\ude00"]}'
    )
    assert graph.entities == (entity("A\ufffd", "😀"),)
    assert lines_with_problems(graph) == [1]
    assert write_jsonl(Graph((entity("\ud83d"),))).startswith('{"type":"entity","name":"\\ud83d"')


def test_an_empty_file_is_an_empty_graph() -> None:
    assert read_jsonl(b"") == read_jsonl("\n \r\n") == Graph()


# -- plain-text-memory logs


def log_entity(name: str, *observations: object, **more: object) -> str:
    at = {"added_at": "2026-10-05T11:12:33+02:00", "agent": "claude-code"}
    return json.dumps(
        {"type": "entity", "name": name, "entityType": "t", **at, "observations": observations} | more
    )


def test_reads_the_stamps_of_a_log_as_they_are_written() -> None:
    observation = {
        "text": "first of three",
        "added_at": "2026-10-05T11:12:33+02:00",
        "agent": "claude-code",
        "edited_at": "2026-10-06T10:00:00+02:00",
        "edited_by": "cursor",
        "superseded_at": "2026-10-07T10:00:00+02:00",
        "superseded_by": "codex",
        "replaced_by": "second of three",
        "sources": [{"entityName": "B", "text": "why"}],
    }
    relation = (
        '{"type": "relation", "from": "A", "to": "B", "relationType": "r", '
        '"added_at": "2026-10-05T11:12:34+02:00", "agent": "codex"}'
    )
    graph = read_jsonl(f"{HEADER}\n{log_entity('A', observation, 'bare')}\n{relation}\n")
    assert graph.problems == ()
    assert graph.relations == (RelationRecord("A", "B", "r", Stamp("2026-10-05T11:12:34+02:00", "codex")),)
    (a,) = graph.entities
    assert a.stamp == Stamp("2026-10-05T11:12:33+02:00", "claude-code")
    assert a.observations[1] == ObservationRecord("bare")
    assert a.observations[0].superseded
    assert a.observations[0].stamp == Stamp(
        "2026-10-05T11:12:33+02:00",
        "claude-code",
        "2026-10-06T10:00:00+02:00",
        "cursor",
        "2026-10-07T10:00:00+02:00",
        "codex",
        "second of three",
        (Source("B", "why"),),
    )


def test_a_later_record_of_a_log_takes_the_place_of_the_earlier_one() -> None:
    graph = read_jsonl("\n".join([HEADER, log_entity("A", "old"), log_entity("B"), log_entity("A", "new")]))
    assert names(graph) == ["A", "B"]
    assert [o.text for o in graph.entities[0].observations] == ["new"]
    assert (graph.problems, graph.repeats) == ((), ())


def test_a_tombstone_removes_what_stands_before_it_and_nothing_after() -> None:
    gone = '{"type": "tombstone", "entity": "A"}'
    unrelated = '{"type": "tombstone", "from": "Ada", "to": "Bob", "relationType": "knows"}'
    graph = read_jsonl("\n".join([ADA, KNOWS, log_entity("A", "x"), gone, unrelated, log_entity("B")]))
    assert names(graph) == ["Ada", "B"]
    assert graph.relations == ()
    assert names(read_jsonl(f"{gone}\n{log_entity('A')}")) == ["A"]


def test_untagged_records_of_a_log_have_no_stamp() -> None:
    observation = {"text": "x", "added_at": None, "agent": None}
    (a,) = read_jsonl(log_entity("A", observation, added_at=None, agent=None)).entities
    assert a == entity("A", "x")


def test_a_stamp_that_tells_only_of_the_edit_leaves_the_rest_empty() -> None:
    observation = {"text": "x", "added_at": None, "agent": None, "edited_at": "2026-10-06", "edited_by": None}
    (a,) = read_jsonl(log_entity("A", observation)).entities
    assert a.observations[0].stamp == Stamp("", "", "2026-10-06", "")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-10-05", "2026-10-05"),
        ("2026-10-05T09:12:33Z", "2026-10-05T09:12:33Z"),
        ("2026-10-05T09:12:33.250-03:30", "2026-10-05T09:12:33.250-03:30"),
        ("2026-10-05 09:12:33", "2026-10-05T09:12:33"),
        ("20261005T091233Z", "2026-10-05T09:12:33+00:00"),
    ],
)
def test_a_time_is_kept_as_written_if_a_stamp_can_hold_it(written: str, kept: str) -> None:
    (a,) = read_jsonl(log_entity("A", added_at=written)).entities
    assert a.stamp == Stamp(kept, "claude-code")


@pytest.mark.parametrize("written", ["yesterday", "2026-13-01", 1696500000, "", ["2026-10-05"]])
def test_what_is_not_a_time_is_left_out_and_told(written: object) -> None:
    graph = read_jsonl(log_entity("A", added_at=written))
    assert graph.entities[0].stamp == Stamp("", "claude-code")
    assert "not a time" in graph.problems[0].what


def test_an_agents_name_is_made_fit_for_a_stamp() -> None:
    (a,) = read_jsonl(log_entity("A", agent="50% <bot>\n~evil~")).entities
    assert a.stamp is not None
    assert not set("%<>~\n") & set(a.stamp.agent)


def test_a_source_that_names_no_observation_is_left_out_and_told() -> None:
    observation = {"text": "x", "sources": [{"entityName": "B"}, {"entityName": "B", "text": "y"}]}
    graph = read_jsonl(log_entity("A", observation))
    assert graph.entities[0].observations[0].stamp == Stamp("", "", sources=(Source("B", "y"),))
    assert lines_with_problems(graph) == [1]


# -- any content

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
ENTITIES = st.builds(
    lambda name, type, texts: entity(name, *texts, type=type),
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=4, unique=True),
)
GRAPHS = st.builds(
    Graph,
    st.lists(ENTITIES, max_size=5, unique_by=lambda e: e.name).map(tuple),
    st.lists(st.builds(RelationRecord, TEXTS, TEXTS, TEXTS), max_size=5, unique=True).map(tuple),
)


@given(GRAPHS)
def test_every_graph_comes_back_as_it_was_written(graph: Graph) -> None:
    written = write_jsonl(graph)
    assert read_jsonl(written) == read_jsonl(written.encode()) == graph


@given(GRAPHS, st.integers(min_value=0, max_value=2000))
def test_a_file_cut_anywhere_loses_at_most_the_record_at_the_cut(graph: Graph, cut: int) -> None:
    whole = write_jsonl(graph).encode()
    kept = read_jsonl(whole[:cut])
    full_lines = whole[:cut].count(b"\n")
    assert len(kept.entities) + len(kept.relations) >= full_lines
    assert kept.entities == graph.entities[: len(kept.entities)]
    assert kept.relations == graph.relations[: len(kept.relations)]


PIECES = st.sampled_from(
    [ADA, BOB, KNOWS, HEADER, "{", "}", "[", "]", ",", '"', "\\u", "\n", "\r", "\x00", '{"type":', '"entity"']
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_no_text_is_too_broken_to_read(text: str) -> None:
    graph = read_jsonl(text)
    assert all(1 <= remark.line <= text.count("\n") + 1 for remark in graph.problems)
    assert read_jsonl(write_jsonl(graph)).entities == tuple(
        EntityRecord(e.name, e.type, tuple(ObservationRecord(o.text) for o in e.observations))
        for e in graph.entities
    )


@given(st.binary(max_size=60))
def test_no_bytes_are_too_broken_to_read(content: bytes) -> None:
    read_jsonl(content)
    torn = content.replace(b'"', b"").replace(b"{", b"")
    assert names(read_jsonl(b"\n%s\n%s" % (torn, ADA.encode()))) == ["Ada"]
