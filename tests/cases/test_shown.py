"""The list of cases: which have a test here, and which wait for the tools that could show them."""

import ast

from tests.cases.shown import ALL, carried_by_tests, ids_in, shown


def test_every_id_that_a_test_carries_is_one_of_the_cases() -> None:
    assert len(ALL) == len(set(ALL)) == 171
    assert sorted(set(shown()) - set(ALL)) == []


WAITING = {"SEC-11"}
"""Cases without a test here yet. Whoever writes one takes its id out."""


def test_every_case_has_a_test_or_is_known_to_wait_for_one() -> None:
    assert sorted(set(ALL) - set(shown()) - WAITING) == []
    assert sorted(WAITING & set(shown())) == [], "these have a test by now"


def test_a_test_is_found_by_its_name_and_by_the_ids_of_its_parameters() -> None:
    source = """
CASES = [pytest.param(1, id="FM-03"), pytest.param(2, id="FM-04")]
@pytest.mark.parametrize("n", CASES)
@pytest.mark.parametrize("m", [1], ids=["EDIT-06"])
def test_GRAPH_15_and_so_on(n): ...
def test_nothing(): return "FM-12"
"""
    found = dict(carried_by_tests(ast.parse(source)))
    assert found == {
        "test_GRAPH_15_and_so_on": {"GRAPH-15", "FM-03", "FM-04", "EDIT-06"},
        "test_nothing": set(),
    }
    assert ids_in("test_CON_01_CON_02_both") == {"CON-01", "CON-02"}
