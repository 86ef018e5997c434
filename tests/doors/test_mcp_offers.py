"""Resources, completions, prompts, news and progress, over raw frames of both families of revisions."""

from collections.abc import Iterator

import pytest

from tests.doors.dummy_server import URI
from tests.doors.frames import MODERN, Frame, Server

UPDATED = "notifications/resources/updated"
LISTED = "notifications/resources/list_changed"
TEXT = "dummy://text/"


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with Server() as process:
        process.greet()
        yield process


def news_of(
    server: Server, tool: str, count: int, meta: Frame | None = None, **arguments: object
) -> list[Frame]:
    """Call a tool, and give that many notifications, which may come before its answer or after."""
    params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    asked, news, answered = server.request("tools/call", params), list[Frame](), False
    while len(news) < count or not answered:
        frame = server.next()
        if frame.get("id") == asked:
            answered = True
        else:
            news.append(frame)
    return news


def addresses(frames: list[Frame]) -> list[str]:
    """Give the addresses that notifications are about."""
    assert {frame["method"] for frame in frames} == {UPDATED}
    return sorted(frame["params"]["uri"] for frame in frames)


# -- news


def test_news_of_a_resource_reaches_a_subscriber_of_the_handshake_revisions() -> None:
    with Server() as server:
        assert server.greet()["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
        server.text("note", text="before")
        server.ask("resources/subscribe", {"uri": URI})
        assert news_of(server, "note", 1, text="after") == [
            {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": URI}}
        ]


def test_only_what_changed_at_an_address_is_told() -> None:
    with Server() as server:
        server.greet()
        for uri in (f"{TEXT}0", f"{TEXT}1", URI):
            server.ask("resources/subscribe", {"uri": uri})
        assert addresses(news_of(server, "note", 2, text="first")) == [f"{TEXT}0", URI]
        server.ask("resources/unsubscribe", {"uri": URI})
        assert addresses(news_of(server, "note", 1, text="second")) == [f"{TEXT}1"]
        server.text("note", text="third, which nobody follows")
        assert addresses(news_of(server, "forget", 1)) == [f"{TEXT}1"]


def test_news_of_a_resource_reaches_a_listener_of_2026() -> None:
    with Server() as server:
        listen = {"notifications": {"resourceSubscriptions": [URI, f"{TEXT}5"]}, "_meta": MODERN}
        listening = server.request("subscriptions/listen", listen)
        assert server.next()["method"] == "notifications/subscriptions/acknowledged"
        (told,) = news_of(server, "note", 1, MODERN, text="a")
        assert told["method"] == UPDATED
        assert told["params"]["uri"] == URI
        server.close_input()
        assert server.ended() == 0
        assert all(frame.get("id") == listening for frame in server.rest())


def test_a_client_that_has_listed_hears_once_the_list_is_different() -> None:
    with Server() as server:
        server.greet()
        server.text("note", text="before anybody listed")
        first = server.ask("resources/list")["result"]["resources"]
        assert [one["uri"] for one in first] == [URI, f"{TEXT}0"]
        (told,) = news_of(server, "note", 1, text="one more")
        assert told == {"jsonrpc": "2.0", "method": LISTED}
        again = server.ask("resources/list")["result"]["resources"]
        assert [one["uri"] for one in again] == [URI, f"{TEXT}0", f"{TEXT}1"]


def test_a_listener_of_2026_hears_that_the_list_is_different() -> None:
    with Server() as server:
        listen = {"notifications": {"resourcesListChanged": True}, "_meta": MODERN}
        server.request("subscriptions/listen", listen)
        assert server.next()["method"] == "notifications/subscriptions/acknowledged"
        (told,) = news_of(server, "note", 1, MODERN, text="a")
        assert told["method"] == LISTED


# -- resources


def test_resources_are_listed_and_read(shared: Server) -> None:
    listed = shared.ask("resources/list")["result"]["resources"]
    assert listed[0] == {
        "uri": URI,
        "name": "dummy",
        "title": "The texts",
        "description": "Every noted text.",
        "mimeType": "text/plain",
    }
    assert shared.ask("resources/templates/list")["result"]["resourceTemplates"] == [
        {
            "uriTemplate": "dummy://text/{number}",
            "name": "text",
            "title": "One text",
            "description": "A noted text by its number.",
            "mimeType": "text/plain",
        }
    ]
    assert shared.ask("resources/read", {"uri": URI})["result"]["contents"][0]["mimeType"] == "text/plain"
    assert shared.ask("resources/read", {"uri": f"{TEXT}raw"})["result"]["contents"] == [
        {"uri": f"{TEXT}raw", "mimeType": "image/png", "blob": "AP8="}
    ]


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        (
            "memory://no",
            "There is no resource memory://no. Addresses are those of resources/list, and dummy://",
        ),
        (TEXT, "There is no resource dummy://text/."),
        (f"{TEXT}99", "There is no text 99."),
        (f"{TEXT}a%20b", "'a b' is no number."),
    ],
)
def test_an_address_with_nothing_behind_it_says_what_to_do(shared: Server, uri: str, says: str) -> None:
    error = shared.ask("resources/read", {"uri": uri})["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})
    assert error["message"].startswith(says)


# -- completions


def complete(server: Server, ref: Frame, name: str, value: str) -> Frame:
    """Ask for a completion, and give the whole answer."""
    return server.ask("completion/complete", {"ref": ref, "argument": {"name": name, "value": value}})


TEMPLATE = {"type": "ref/resource", "uri": "dummy://text/{number}"}
ABOUT = {"type": "ref/prompt", "name": "about"}


def test_values_are_completed_for_templates_and_prompts_alike(shared: Server) -> None:
    some = {"completion": {"values": ["99", *(f"99{n}" for n in range(10))], "total": 11, "hasMore": False}}
    for ref, name in ((TEMPLATE, "number"), (ABOUT, "topic")):
        assert complete(shared, ref, name, "99")["result"] == some
    many = complete(shared, ABOUT, "topic", "")["result"]["completion"]
    assert (len(many["values"]), many["hasMore"], "total" in many) == (100, True, False)
    assert complete(shared, ABOUT, "how", "x")["result"]["completion"]["values"] == []


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ({"type": "ref/resource", "uri": "dummy://other/{x}"}, "x"),
        (TEMPLATE, "x"),
        ({"type": "ref/prompt", "name": "no"}, "topic"),
        (ABOUT, "x"),
    ],
)
def test_what_has_no_such_argument_cannot_be_completed(shared: Server, ref: Frame, name: str) -> None:
    assert complete(shared, ref, name, "")["error"]["code"] == -32602


# -- prompts


def test_prompts_are_listed_and_filled(shared: Server) -> None:
    tidy, about = shared.ask("prompts/list")["result"]["prompts"]
    assert (tidy["name"], tidy["arguments"]) == ("tidy", [])
    assert about["arguments"] == [
        {"name": "topic", "description": "About what.", "required": True},
        {"name": "how", "description": "In which way.", "required": False},
    ]
    assert prompt(shared, "tidy", any="thing") == "Please tidy the notes."
    assert prompt(shared, "about", topic="{how}\ntea") == "Tell about {how} tea, in short."
    assert prompt(shared, "about", topic="tea", how="at length") == "Tell about tea, at length."


def prompt(server: Server, name: str, **arguments: str) -> str:
    """Give the text of a prompt."""
    (message,) = server.ask("prompts/get", {"name": name, "arguments": arguments})["result"]["messages"]
    return str(message["content"]["text"])


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("no", {}, "There is no prompt named 'no'."),
        ("about", {"topic": " "}, "The prompt about needs 'topic': About what."),
        ("about", {"topic": "x" * 2_001}, "'topic' may have 2,000 characters, not 2,001."),
    ],
)
def test_a_prompt_that_cannot_be_given_says_why(
    shared: Server, name: str, arguments: Frame, says: str
) -> None:
    error = shared.ask("prompts/get", {"name": name, "arguments": arguments})["error"]
    assert error["code"] == -32602
    assert error["message"].startswith(says)


# -- progress


@pytest.mark.parametrize("meta", [{}, MODERN])
def test_a_client_that_asks_hears_how_far_a_call_has_come(meta: Frame) -> None:
    with Server() as server:
        if not meta:
            server.greet()
        told = news_of(server, "count_slowly", 2, {**meta, "progressToken": "t"}, parts=3)
    assert {frame["method"] for frame in told} == {"notifications/progress"}
    steps = [frame["params"] for frame in told]
    assert {step["progressToken"] for step in steps} == {"t"}
    done = [step["progress"] for step in steps]
    assert done == sorted(set(done))
    assert all(step["progress"] <= step["total"] for step in steps)
    assert steps[0]["message"] == "pages"


def test_a_client_that_does_not_ask_hears_nothing(shared: Server) -> None:
    assert shared.text("count_slowly", parts=2) == "counted"
