"""The list of cases: each has a test here."""

import ast

from tests.cases.shown import ALL, carried_by_tests, ids_in, shown


def test_every_id_that_a_test_carries_is_one_of_the_cases() -> None:
    assert len(ALL) == len(set(ALL)) == 171
    assert sorted(set(shown()) - set(ALL)) == []


def test_every_case_has_a_test() -> None:
    assert sorted(set(ALL) - set(shown())) == []


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
