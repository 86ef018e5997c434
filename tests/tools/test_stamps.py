"""Stamps held against Git: what agrees, what is carried over, and what does not agree."""

from pathlib import Path
from random import Random

from tests.tools.history.stories import Story
from tests.vaults import CLAUDE, CURSOR, make_vault, opened
from vault_mcp.storage.git.history import is_merge
from vault_mcp.tools.doctor import examine
from vault_mcp.tools.graph import entities, observations
from vault_mcp.tools.history import looking, restoring
from vault_mcp.tools.stamps import disagreements
from vault_mcp.vault import Vault


def told(vault: Vault) -> list[str]:
    with vault.remembering() as reader:
        return [
            one.text for one in disagreements(reader, lambda sha: is_merge(vault.repository.program, sha))
        ]


def test_stamps_of_tools_agree_with_git_whatever_carried_them(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        rows = [
            {"name": name, "entityType": "t", "observations": [f"{name} one", f"{name} two"]}
            for name in ("A", "B")
        ]
        entities.create_entities(vault, CLAUDE, rows)
        observations.edit_observation(vault, CURSOR, "A", "A one", "A won")
        entities.rename_entity(vault, CURSOR, "A", "C")
        entities.merge_entities(vault, CURSOR, "B", "C")
        log = looking.history_log(vault, CURSOR)["changes"]
        assert isinstance(log, list)
        restoring.history_undo(vault, CURSOR, change=log[0]["change"])
        assert told(vault) == []


def test_a_line_that_was_pasted_with_a_foreign_stamp_is_named(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        entities.create_entities(vault, CLAUDE, [{"name": "A", "entityType": "t", "observations": ["one"]}])
        path = root / "entities/t/A.md"
        path.write_text(path.read_text("utf-8") + "- two %%+2020-01-01T00:00:00Z claude-desktop%%\n", "utf-8")
        vault.noticed(None)
        (text,) = told(vault)
        assert text.startswith(
            "“two” says that claude-desktop added it at 2020-01-01T00:00:00Z, but in Git it is"
        )
        assert "Ann Person's" in text
        found = [finding for finding in examine(vault) if finding.check == "stamp"]
        assert [(finding.level, finding.path) for finding in found] == [("note", "entities/t/A.md")]


def test_random_histories_of_tools_leave_no_stamp_that_git_does_not_know(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        story = Story(root, vault, Random(11))
        story.run(60)
        assert told(vault) == []
