import errno
import json
import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import TextContent

from tests.doors.dummy_server import CATALOG
from vault_mcp.doors.mcp_results import MAX_ERROR, MAX_REPLY, explained, failed, sendable, succeeded
from vault_mcp.errors import NotFound
from vault_mcp.tools.tool import READS

NOTE = next(tool for tool in CATALOG.tools if tool.name == "note")
VIEW = next(tool for tool in CATALOG.tools if tool.name == "view")
ROOT = "/home/someone/vault"

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=4), values, max_size=4))
def test_every_result_can_be_sent_with_the_same_facts_as_text_and_structure(
    result: dict[str, object],
) -> None:
    reply = succeeded(NOTE, result)
    wire = json.loads(reply.model_dump_json(by_alias=True))
    assert json.loads(wire["content"][0]["text"]) == wire["structuredContent"]


@given(st.text(st.characters(exclude_categories=())))
def test_text_goes_out_as_it_is_but_for_half_characters(text: str) -> None:
    sent = sendable(text)
    assert len(sent) == len(text)
    assert all(
        a == b or ("\ud800" <= a <= "\udfff" and b == "\ufffd") for a, b in zip(text, sent, strict=True)
    )
    assert succeeded(VIEW, text).structured_content is None


def test_json_is_written_short_and_in_its_own_script() -> None:
    (block,) = succeeded(NOTE, {"text": "東京", "list": (1, 2)}).content
    assert isinstance(block, TextContent)
    assert block.text == '{"text":"東京","list":[1,2]}'


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "x"), "There is no space left on the disk. Free some and try again."),
        (OSError(errno.EROFS, "x"), "The disk of the vault is read-only. Nothing can be written there."),
        (
            PermissionError(errno.EACCES, "x", f"{ROOT}/people/Ada.md"),
            "The system gave no permission for people/Ada.md. Check who owns the vault's files.",
        ),
        (
            PermissionError(errno.EACCES, "x", "/etc/shadow"),
            "The system gave no permission. Check who owns the vault's files.",
        ),
        (
            OSError(errno.ENAMETOOLONG, "x", "a" * 300),
            f"A file name is too long for this disk for {'a' * 300}. Choose a shorter name.",
        ),
        (OSError(errno.EIO, "x", f"{ROOT}/a.md"), "The disk gave an error for a.md: input/output error."),
        (NotFound("No such thing."), "No such thing."),
    ],
)
def test_an_error_is_told_without_the_hosts_paths(error: Exception, says: str) -> None:
    assert explained(replace(NOTE, hints=READS), error, ROOT) == says
    assert explained(NOTE, error, ROOT) == f"{says} Nothing was saved."


def test_a_fault_is_told_without_its_words_and_promises_nothing() -> None:
    told = explained(NOTE, KeyError("/home/someone/secret"), ROOT)
    assert "secret" not in told
    assert "Nothing was saved" not in told
    assert "KeyError" in told


def test_an_error_without_a_number_is_a_fault() -> None:
    assert "fault in the server (OSError)" in explained(VIEW, OSError("odd"), ROOT)


def test_a_write_whose_report_is_too_long_is_told_to_be_saved() -> None:
    reply = failed_text(NOTE, "x" * (MAX_REPLY + 1))
    assert reply.startswith("The change was saved.")
    assert "Ask for less" in failed_text(VIEW, "x" * (MAX_REPLY + 1))
    assert not succeeded(VIEW, "x" * MAX_REPLY).is_error


def test_a_tool_may_be_allowed_longer_replies() -> None:
    long = "x" * (MAX_REPLY + 1)
    assert not succeeded(replace(VIEW, longest_reply=2 * MAX_REPLY), long).is_error
    assert succeeded(replace(VIEW, longest_reply=10), "eleven chars").is_error


def test_text_in_several_blocks_stays_in_several() -> None:
    reply = succeeded(VIEW, ('["a \ud800"]', "Two more were left out."))
    assert reply.structured_content is None
    assert [block.text for block in reply.content if isinstance(block, TextContent)] == [
        '["a \ufffd"]',
        "Two more were left out.",
    ]


def failed_text(tool: object, text: str) -> str:
    assert tool in (NOTE, VIEW)
    reply = succeeded(NOTE if tool is NOTE else VIEW, text)
    assert reply.is_error
    (block,) = reply.content
    assert isinstance(block, TextContent)
    return block.text


def test_an_error_that_repeats_what_came_is_cut() -> None:
    (block,) = failed("x" * 1_000_000).content
    assert isinstance(block, TextContent)
    assert len(block.text) == MAX_ERROR


def test_paths_relative_to_nothing_are_not_told() -> None:
    assert os.sep + "secret" not in explained(VIEW, PermissionError(errno.EPERM, "x", "/secret"), "")
