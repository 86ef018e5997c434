import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.waiting import wait_until
from vault_mcp.errors import BadArgument, StorageFailed
from vault_mcp.notes.passages import passage_key
from vault_mcp.storage.vectors import (
    BLOCK,
    WHOLE_UP_TO,
    Embedding,
    LocalEndpoint,
    SentenceEncoder,
    Vectors,
    embed,
    pieces,
)

LONG = " ".join(f"Sentence number {at} tells something about the lake." for at in range(30))


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


class Table:
    """Rows in a dict, as the index keeps them in SQLite."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = {passage_key(text): text for text in texts}
        self.rows: dict[bytes, bytes] = {}

    def missing(self, model: str, limit: int) -> Sequence[tuple[bytes, str]]:
        return [(key, text) for key, text in self.texts.items() if key not in self.rows][:limit]

    def store(self, model: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        self.rows.update(rows)

    def waiting(self, model: str) -> int:
        return len(self.texts) - len(self.rows)


def row(*numbers: float) -> bytes:
    return np.array(numbers, dtype=np.float16).tobytes()


def question(*numbers: float) -> np.ndarray[tuple[int], np.dtype[np.float16]]:
    return np.array(numbers, dtype=np.float16)


def test_a_question_finds_its_passage_in_another_language(encoder: SentenceEncoder) -> None:
    texts = ["The dog sleeps in the garden.", "The tax return is due in May.", "We painted the kitchen blue."]
    vectors = Vectors(encoder.dimensions)
    for number, made in enumerate(embed(encoder, texts)):
        assert vectors.put(number, made)
    for number, asked in enumerate(
        ["狗在哪里睡觉？", "¿Cuándo vence la declaración de impuestos?", "Küche streichen"]
    ):
        assert vectors.nearness(encoder.encode([asked])[0]).top(1) == [number]


def test_the_encoder_gives_unit_vectors_of_its_own_length(encoder: SentenceEncoder) -> None:
    made = encoder.encode(["one", "", "三"])
    assert made.shape == (3, encoder.dimensions)
    assert made.dtype == np.float16
    assert np.allclose(np.linalg.norm(made.astype(np.float32), axis=1), 1.0, atol=0.01)


def test_a_long_passage_has_a_vector_for_itself_and_one_for_each_piece(encoder: SentenceEncoder) -> None:
    (short, long) = embed(encoder, ["short", LONG])
    assert len(short) == 2 * encoder.dimensions
    assert len(long) == 2 * encoder.dimensions * len(pieces(LONG))
    assert len(pieces(LONG)) > 3


@settings(max_examples=100, deadline=None)
@given(st.text() | st.text(alphabet="ab。.! \n", min_size=WHOLE_UP_TO, max_size=3 * WHOLE_UP_TO))
def test_pieces_lose_nothing_but_white_space(text: str) -> None:
    whole, *parts = pieces(text)
    assert whole == text
    assert not parts or "".join("".join(parts).split()) == "".join(text.split())


def test_equal_texts_share_a_key() -> None:
    assert passage_key("lake") == passage_key("lake") != passage_key("Lake")
    assert len(passage_key("\ud800")) == 16


def test_the_nearest_come_first_and_can_be_asked_among_some() -> None:
    vectors = Vectors(2)
    for number, made in enumerate([row(1, 0), row(0, 1), row(0.6, 0.8)]):
        vectors.put(number, made)
    near = vectors.nearness(question(1, 0))
    assert near.top(3) == [0, 2, 1]
    assert near.top(1) == [0]
    assert near.top(3, among=[1, 2, 77]) == [2, 1]
    assert near.least == pytest.approx(0.0)
    assert near.greatest == pytest.approx(1.0)
    assert near.of(2) == pytest.approx(0.6, abs=0.001)
    assert near.of(77) is None


def test_a_passage_is_as_near_as_the_mean_of_its_whole_and_its_best_piece() -> None:
    vectors = Vectors(2)
    vectors.put(1, row(0, 1, 1, 0, 0, 1))
    vectors.put(2, row(0, 1))
    near = vectors.nearness(question(1, 0))
    assert near.of(1) == pytest.approx(0.5)
    assert near.of(2) == pytest.approx(0.0)


def test_a_passage_put_again_is_replaced_and_a_dropped_one_is_gone() -> None:
    vectors = Vectors(2)
    vectors.put(1, row(1, 0))
    vectors.put(2, row(0, 1))
    vectors.put(1, row(-1, 0))
    vectors.drop(2)
    vectors.drop(99)
    near = vectors.nearness(question(1, 0))
    assert near.top(5) == [1]
    assert near.of(1) == near.least == near.greatest == pytest.approx(-1.0)
    assert len(vectors) == 1


def test_no_vectors_are_near_nothing() -> None:
    near = Vectors(2).nearness(question(1, 0))
    assert (near.least, near.greatest, near.top(3), near.of(1)) == (0.0, 0.0, [], None)


@pytest.mark.parametrize("damaged", [b"", b"abc", row(1), row(1, float("nan")), row(1, float("inf"))])
def test_a_damaged_row_is_refused(damaged: bytes) -> None:
    vectors = Vectors(2)
    assert not vectors.put(1, damaged)
    assert len(vectors) == 0


def test_rows_come_and_go_past_every_size() -> None:
    vectors = Vectors(2)
    rng = np.random.default_rng(0)
    kept: dict[int, bytes] = {}
    for number in range(6000):
        kept[number] = row(*rng.normal(size=2 * (1 + number % 3)))
        vectors.put(number, kept[number])
        if number % 5:
            gone = int(rng.integers(number))
            kept.pop(gone, None)
            vectors.drop(gone)
    fresh = Vectors(2)
    for number, made in kept.items():
        fresh.put(number, made)
    near, expected = vectors.nearness(question(0.6, 0.8)), fresh.nearness(question(0.6, 0.8))
    assert len(vectors) == len(kept) < 4000
    assert near.top(50) == expected.top(50)
    assert all(near.of(number) == pytest.approx(expected.of(number)) for number in kept)


def test_cosines_are_as_exact_as_the_rows_that_are_kept() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(3 * BLOCK // 2, 64))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kept, asked = rows.astype(np.float16), rows[7].astype(np.float16)
    vectors = Vectors(64)
    assert vectors.put_all(enumerate(row.tobytes() for row in kept)) == []
    near = vectors.nearness(asked)
    exact = kept.astype(np.float64) @ asked.astype(np.float64)
    assert [near.of(number) for number in range(len(kept))] == pytest.approx(exact.tolist(), abs=2e-5)
    assert near.top(10) == np.argsort(-exact)[:10].tolist()


def test_a_damaged_row_among_many_costs_itself_alone() -> None:
    vectors = Vectors(2)
    rows = {1: row(1, 0), 2: b"abc", 3: row(0, 1, 1, 0), 4: row(1, float("nan"), 1, 0), 5: row(0, 1)}
    assert sorted(vectors.put_all(rows.items())) == [2, 4]
    near = vectors.nearness(question(1, 0))
    assert [near.of(number) for number in rows] == [
        pytest.approx(1.0, abs=1e-4),
        None,
        pytest.approx(0.5, abs=1e-4),
        None,
        pytest.approx(0.0, abs=1e-4),
    ]


def test_a_search_goes_on_with_what_it_saw_while_rows_come() -> None:
    vectors = Vectors(2)
    vectors.put(1, row(1, 0))
    near = vectors.nearness(question(1, 0))
    vectors.put(2, row(1, 0))
    assert near.of(2) is None
    assert near.top(5) == [1]


def test_the_background_embeds_what_is_missing_and_what_comes_later(encoder: SentenceEncoder) -> None:
    table = Table(f"memory number {number}" for number in range(150))
    told: list[bytes] = []
    embedding = Embedding(encoder, table, told.extend)
    embedding.start()
    try:
        wait_until(lambda: not table.waiting(""))
        table.texts[passage_key("late")] = "late"
        embedding.notice()
        wait_until(lambda: not table.waiting(""))
        wait_until(lambda: embedding.progress().done == 151)
    finally:
        embedding.stop()
    assert embedding.progress().waiting == 0
    assert set(told) == set(table.rows) == set(table.texts)


class _Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        broken = "break" in asked["input"]
        rows = [
            {"index": at, "embedding": [3.0 * len(text), 4.0 * len(text)]}
            for at, text in enumerate(asked["input"])
        ]
        body = b"not json" if broken else json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield LocalEndpoint(f"http://127.0.0.1:{server.server_port}/v1/", "some-model")
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_local_endpoint_gives_unit_vectors_in_the_order_asked(endpoint: LocalEndpoint) -> None:
    made = endpoint.encode(["a", "bbbb"])
    assert np.allclose(made.astype(np.float32), [[0.6, 0.8], [0.6, 0.8]], atol=0.001)
    assert endpoint.dimensions == 2
    assert "some-model" in endpoint.model


def test_an_endpoint_that_answers_nonsense_or_not_at_all_is_a_failure(endpoint: LocalEndpoint) -> None:
    with pytest.raises(StorageFailed, match="no vectors"):
        endpoint.encode(["break"])
    with pytest.raises(StorageFailed, match="no vectors"):
        LocalEndpoint("http://localhost:9/v1", "m", timeout=1).encode(["x"])


def test_embedding_stops_at_a_problem_and_says_so(endpoint: LocalEndpoint) -> None:
    table = Table(["break"])
    embedding = Embedding(endpoint, table)
    embedding.start()
    try:
        wait_until(lambda: bool(embedding.progress().problem))
        assert embedding.progress().waiting == 1
    finally:
        embedding.stop()


@pytest.mark.parametrize("url", ["https://api.example.com/v1", "ftp://localhost/x", "localhost:8080", ""])
def test_an_endpoint_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(BadArgument, match="not on this machine"):
        LocalEndpoint(url, "m")
