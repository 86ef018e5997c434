"""The exact look of `git log -1` after each tool, and of plain Git's other doors."""

import re
from pathlib import Path
from typing import Any

from tests.vaults import CLAUDE, CURSOR, git, make_vault, opened
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Vault

CATALOG = whole_catalog()
NO_COMMIT = {"history_since"}

STORY: tuple[tuple[str, dict[str, Any], Caller, str], ...] = (
    (
        "create_entities",
        {
            "entities": [
                {"name": "Ada", "entityType": "person", "observations": ["likes tea", "reads"]},
                {"name": "Bob", "entityType": "person", "observations": []},
            ]
        },
        CLAUDE,
        "create_entities: Ada, Bob\n\n+ person\n+ likes tea\n+ reads\n+ person\n",
    ),
    (
        "create_relations",
        {"relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}]},
        CLAUDE,
        "create_relations: Ada -> Bob\n\n+ knows -> Bob\n",
    ),
    (
        "add_observations",
        {"observations": [{"entityName": "Ada", "contents": ["walks"]}]},
        CLAUDE,
        "add_observations: Ada\n\n+ walks\n",
    ),
    (
        "edit_observation",
        {"entityName": "Ada", "oldText": "likes tea", "newText": "likes mate"},
        CURSOR,
        "edit_observation: Ada\n\n~ likes tea => likes mate\n",
    ),
    (
        "supersede_observation",
        {"entityName": "Ada", "oldText": "walks", "newText": "runs"},
        CURSOR,
        "supersede_observation: Ada\n\n+ runs\n+ walks\n- walks\n",
    ),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Ada", "observations": ["reads"]}]},
        CLAUDE,
        "delete_observations: Ada\n\n- reads\n",
    ),
    (
        "delete_relations",
        {"relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}]},
        CLAUDE,
        "delete_relations: Ada -> Bob\n\n- knows -> Bob\n",
    ),
    (
        "rename_entity",
        {"entityName": "Bob", "newName": "Robert"},
        CLAUDE,
        "rename_entity: Bob -> Robert\n",
    ),
    (
        "merge_entities",
        {"sourceName": "Robert", "targetName": "Ada"},
        CLAUDE,
        "merge_entities: Robert into Ada\n\n- person\n",
    ),
    ("write_memory", {"key": "user/theme", "value": "dark"}, CLAUDE, "write_memory: user/theme\n\n+ dark\n"),
    ("delete_memory", {"key": "user/theme"}, CLAUDE, "delete_memory: user/theme\n\n- dark\n"),
    ("memory_create", {"path": "n/plan.md", "file_text": "first\n"}, CLAUDE, "memory_create: n/plan.md\n"),
    (
        "memory_str_replace",
        {"path": "n/plan.md", "old_str": "first", "new_str": "second"},
        CLAUDE,
        "memory_str_replace: n/plan.md\n",
    ),
    (
        "memory_insert",
        {"path": "n/plan.md", "insert_line": 1, "insert_text": "third\n"},
        CLAUDE,
        "memory_insert: n/plan.md\n",
    ),
    (
        "memory_rename",
        {"old_path": "n/plan.md", "new_path": "n/done.md"},
        CLAUDE,
        "memory_rename: n/plan.md -> n/done.md\n",
    ),
    ("memory_delete", {"path": "n/done.md"}, CLAUDE, "memory_delete: n/done.md\n"),
    ("history_restore", {"note": "n/done.md"}, CLAUDE, "history_restore: n/done.md\n"),
    ("history_undo", {"change": "<head>"}, CLAUDE, "history_undo: history_restore: n/done.md (<sha>)\n"),
    (
        "memory",
        {"command": "create", "path": "a.txt", "file_text": "x\n"},
        CLAUDE,
        "memory_create: a.txt\n",
    ),
    (
        "memory_remember",
        {"text": "Deploys run on Mondays", "session_id": "s1"},
        CLAUDE,
        "memory_remember: <id> Deploys run on Mondays\n\n+ Deploys run on Mondays\n",
    ),
    (
        "memory_remember",
        {"text": "Reviews come first", "session_id": "s1"},
        CLAUDE,
        "memory_remember: <id> Reviews come first\n\n+ Reviews come first\n",
    ),
    (
        "memory_update",
        {"memory_id": 0, "new_text": "Deploys run on Tuesdays", "session_id": "s1"},
        CLAUDE,
        "memory_update: <id> Deploys run on Mondays\n\n~ Deploys run on Mondays => Deploys run on Tuesdays\n",
    ),
    (
        "memory_link",
        {"source_id": "0", "target_id": "1", "relation": "NEEDS"},
        CLAUDE,
        "memory_link: <id> -> <id>\n\n+ NEEDS -> <date> Reviews come first\n",
    ),
    (
        "memory_link_batch",
        {"edges": [{"source_id": "1", "target_id": "0"}]},
        CLAUDE,
        "memory_link_batch: <id> -> <id>\n\n+ OWNS -> <date> Deploys run on Mondays\n",
    ),
    (
        "memory_consolidate",
        {"topic_query": "deploys", "summary_text": "Tuesdays", "persist": True, "limit": 1},
        CLAUDE,
        "memory_consolidate: <id> deploys\n\n+ Tuesdays\n+ summarises -> <date> Deploys run on Mondays\n",
    ),
    (
        "memory_forget",
        {"memory_id": 1},
        CLAUDE,
        "memory_forget: <id>\n\n- Reviews come first\n- OWNS -> <date> Deploys run on Mondays\n",
    ),
    (
        "delete_entities",
        {"entityNames": ["Ada"]},
        CLAUDE,
        "delete_entities: Ada\n\n- person\n- likes mate\n- runs\n- walks\n",
    ),
    ("export_taxonomy", {}, CLAUDE, "export_taxonomy: taxonomy.json\n"),
    (
        "create_entities",
        {"entities": [{"name": "Cy", "entityType": "person", "observations": []}]},
        CLAUDE,
        "create_entities: Cy\n\n+ person\n",
    ),
    ("initialize_memory", {"mode": "fresh"}, CLAUDE, "initialize_memory: fresh\n"),
)


def test_the_story_has_every_tool_that_commits() -> None:
    writing = {tool.name for tool in CATALOG.tools if not tool.hints.read_only}
    assert {name for name, *_ in STORY} == writing - NO_COMMIT


def test_the_look_of_each_tools_commit(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    ids: list[int] = []
    with opened(root) as vault:
        for name, arguments, caller, look in STORY:
            told = run(vault, root, name, arguments, caller, ids)
            if name == "memory_remember":
                ids.append(told["memory_id"])
            tool = re.match(r"\w+", look)
            assert tool
            session = "Session: s1\n" if arguments.get("session_id") else ""
            if name == "memory_consolidate":
                session = "Session: consolidated_global\n"
            who = f"{caller.agent} <{caller.agent}@agent.invalid>\nvault-mcp <vault-mcp@vault-mcp.invalid>"
            trailers = f"Tool: {tool[0]}\nEdited-By: {caller.agent}\nEdited-At: <time>\n{session}"
            shown = masked(git(root, "log", "-1", "--format=%an <%ae>%n%cn <%ce>%n%B"))
            assert shown.rstrip() == f"{who}\n{look}\n{trailers}".rstrip(), name


def run(
    vault: Vault, root: Path, name: str, arguments: dict[str, Any], caller: Caller, ids: list[int]
) -> Any:
    """Call a tool; numbers that stand for memories become theirs, <head> the last change."""
    filled = dict(arguments)
    if "memory_id" in filled:
        filled["memory_id"] = ids[filled["memory_id"]]
    for row in (filled, *filled.get("edges", ())):
        for field in ("source_id", "target_id"):
            if field in row:
                row[field] = str(ids[int(row[field])])
    if filled.get("change") == "<head>":
        filled["change"] = git(root, "rev-parse", "HEAD").strip()
    tool = CATALOG.tool(name)
    assert tool
    before = git(root, "rev-parse", "HEAD")
    told = tool.run(vault, caller, **filled)
    assert git(root, "rev-parse", "HEAD~").strip() == before.strip(), name
    return told


def masked(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>", text)
    text = re.sub(r"\b\d{16}\b", "<id>", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", "<date>", text)
    return re.sub(r"\([0-9a-f]{12}\)", "(<sha>)", text)


def test_plain_git_finds_who_did_what(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        for name, arguments, caller, _ in STORY[:4]:
            run(vault, root, name, arguments, caller, [])
        path = root / "entities/person/Ada.md"
        path.write_text(path.read_text("utf-8") + "\nTyped by hand.\n", "utf-8")
        vault.noticed(None)
    assert git(root, "log", "--author=cursor", "--format=%s").strip() == "edit_observation: Ada"
    assert git(root, "log", "-1", "--author=Ann", "--format=%s").strip() == "hand-edit: Ada.md"
    assert git(root, "log", "--grep=Tool: create_relations", "--format=%an").strip() == "claude-desktop"
    blamed = git(root, "blame", "--line-porcelain", "entities/person/Ada.md")
    assert set(re.findall(r"^author (.+)$", blamed, re.MULTILINE)) == {
        "claude-desktop",
        "cursor",
        "Ann Person",
    }
    assert "+- likes mate" in git(root, "show", ":/edit_observation")
    traced = git(root, "log", "-L/likes/,+1:entities/person/Ada.md", "--format=%an", "--no-patch")
    assert traced.split() == ["cursor", "claude-desktop"]
