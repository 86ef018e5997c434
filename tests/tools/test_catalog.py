from dataclasses import replace

import pytest

from tests.doors.dummy_server import CATALOG
from vault_mcp.errors import BadArgument
from vault_mcp.tools.catalog import Catalog


def names(*include: str, exclude: tuple[str, ...] = (), read_only: bool = False) -> list[str]:
    return [tool.name for tool in CATALOG.pick(include, exclude, read_only=read_only).tools]


def test_all_keeps_everything_in_its_order() -> None:
    assert names("all") == [tool.name for tool in CATALOG.tools]


def test_a_family_a_profile_and_a_tool_can_be_asked_for_together() -> None:
    assert names("files", "core", "odd") == ["note", "view", "odd"]


def test_what_is_excluded_wins() -> None:
    assert names("graph", exclude=("forget", "slow", "count_slowly", "read_gate", "child")) == ["note"]


def test_a_tool_that_is_by_name_only_is_in_no_family_and_no_profile() -> None:
    shy = Catalog(tuple(replace(tool, by_name_only=tool.name in ("note", "view")) for tool in CATALOG.tools))
    for words in (["all"], ["graph", "files", "odd"], ["core", "odd"]):
        assert {"note", "view"}.isdisjoint(tool.name for tool in shy.pick(words).tools)
    assert [tool.name for tool in shy.pick(["note", "odd"]).tools] == ["note", "odd"]
    assert [tool.name for tool in shy.pick(["note", "odd"], ["note"]).tools] == ["odd"]


def test_read_only_wins_over_all() -> None:
    assert names("note", "view", read_only=True) == ["view"]
    assert all(tool.hints.read_only for tool in CATALOG.pick(read_only=True).tools)


def test_a_word_that_names_nothing_is_refused_with_the_words_there_are() -> None:
    with pytest.raises(
        BadArgument, match=r"no tool or family 'grpah'.*graph, memories, files, keys, history, core, all"
    ):
        names("grpah")
    with pytest.raises(BadArgument, match="'nothing'"):
        names("all", exclude=("nothing",))


def test_an_empty_offer_is_refused() -> None:
    with pytest.raises(BadArgument, match="No tool is left"):
        names("fail", read_only=True)


def test_resources_and_templates_stay_whatever_is_picked() -> None:
    assert CATALOG.pick(["note"]).resources == CATALOG.resources
    assert CATALOG.pick(["note"]).templates == CATALOG.templates


def test_a_prompt_is_offered_only_where_the_tools_are_that_it_needs() -> None:
    assert [prompt.name for prompt in CATALOG.pick(["view"]).prompts] == ["tidy", "about"]
    assert [prompt.name for prompt in CATALOG.pick(["note"]).prompts] == ["tidy"]
