"""Random calls against a plain model: the same names, facts and relations, and one commit a change."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_model import Call, Model, ModelRefuses
from tests.serving import facts_of, faults, relations_of
from tests.vaults import CLAUDE, make_vault, opened
from vault_mcp.errors import VaultError
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.graph import reading
from vault_mcp.vault import Vault

CATALOG = whole_catalog()

# Few and troublesome, so that calls meet: names that share a file's name, need a property, look like links.
names = st.sampled_from(
    ["A", "a", "B", "C: x", "C/ x", "[[B]]", "Cafe\u0301", "Café", "NUL", "d|e", "..", " "]
)
texts = st.sampled_from(
    ["x", "x ", "- y", "[[Z]]", "two\nlines", "%%z%%", "# h", "```", "[ ] do", "", "<br>"]
)
kinds = st.sampled_from(["r", "is: a", "[[B]]", "%%", "", "- r"])
relations = st.fixed_dictionaries({"from": names, "to": names, "relationType": kinds})


def some(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[list[Any]]:
    return st.lists(strategy, min_size=1, max_size=most)


def arguments(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(fields)


entities = st.fixed_dictionaries(
    {"name": names, "entityType": st.sampled_from(["t", "x: y"]), "observations": st.lists(texts, max_size=3)}
)
calls: st.SearchStrategy[Call] = st.one_of(
    st.tuples(st.just("create_entities"), arguments(entities=some(entities))),
    st.tuples(st.just("create_entities"), arguments(entities=some(entities, 5))),
    st.tuples(st.just("create_relations"), arguments(relations=some(relations))),
    st.tuples(st.just("create_relations"), arguments(relations=some(relations))),
    st.tuples(
        st.just("add_observations"),
        arguments(observations=some(arguments(entityName=names, contents=some(texts)), 2)),
    ),
    st.tuples(st.just("edit_observation"), arguments(entityName=names, oldText=texts, newText=texts)),
    st.tuples(st.just("supersede_observation"), arguments(entityName=names, oldText=texts, newText=texts)),
    st.tuples(st.just("rename_entity"), arguments(entityName=names, newName=names)),
    st.tuples(st.just("merge_entities"), arguments(sourceName=names, targetName=names)),
    st.tuples(st.just("delete_entities"), arguments(entityNames=some(names, 2))),
    st.tuples(
        st.just("delete_observations"),
        arguments(deletions=some(arguments(entityName=names, observations=some(texts)), 2)),
    ),
    st.tuples(st.just("delete_relations"), arguments(relations=some(relations))),
)


def graph(vault: Vault) -> tuple[dict[str, list[str]], set[tuple[str, str, str]]]:
    shown: Any = reading.read_graph(vault, CLAUDE, limit=1000)
    return facts_of(shown), relations_of(shown)


def check(vault: Vault, model: Model, call: Call) -> None:
    """Make one call of both, and compare."""
    tool = CATALOG.tool(call[0])
    assert tool is not None
    before = vault.repository.head()
    try:
        changes = model.apply(call)
    except ModelRefuses:
        changes = False
        try:
            tool.run(vault, CLAUDE, **call[1])
        except VaultError:
            pass
        else:
            raise AssertionError(f"not refused: {call}") from None
    else:
        result: Any = tool.run(vault, CLAUDE, **call[1])
        assert (result["receipt"]["commit"] is not None) == changes
    after = vault.repository.head()
    assert (after != before) == changes
    if changes:
        assert after is not None
        (commit,) = vault.repository.history(before, after)
        assert commit.tool == call[0]
    assert graph(vault) == model.shown()


START: list[Call] = [
    (
        "create_entities",
        {
            "entities": [
                {"name": name, "entityType": "t", "observations": ["x", "- y", "two\nlines"]}
                for name in ("A", "a", "B", "C: x", "Café")
            ]
        },
    ),
    (
        "create_relations",
        {
            "relations": [
                {"from": start, "to": end, "relationType": "r"}
                for start, end in (("A", "B"), ("B", "A"), ("a", "A"), ("C: x", "C: x"), ("Café", "C: x"))
            ]
        },
    ),
]
"""Something for the random calls to meet."""


@settings(max_examples=10)
@given(st.lists(calls, min_size=8, max_size=25))
def test_random_calls_do_to_the_graph_what_they_do_to_a_plain_model(sequence: list[Call]) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = make_vault(Path(folder) / "v")
        model = Model()
        with opened(root) as vault:
            for call in [*START, *sequence]:
                check(vault, model, call)
            vault.reindex()
            assert graph(vault) == model.shown()
        assert faults(root) == []
