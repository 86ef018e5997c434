"""What changed since an agent last looked; the vault keeps the mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.errors import VaultBusy
from vault_mcp.notes.line import clean_agent
from vault_mcp.storage.git.marks import mark_of, move_mark
from vault_mcp.storage.index.rows import Wanted
from vault_mcp.tools.history.moments import written
from vault_mcp.tools.history.records import BY_PERSON, Json, change_record, short
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault


COMMANDS = ("init", "import", "sync", "erase")
"""`Tool:` trailers of commits that only a person's own commands make, on whichever machine."""

SHARED = ("history_undo", "history_restore")
"""`Tool:` trailers of commits that a person's commands make and agents' calls too: the author tells."""

SIGNED = (*BY_PERSON, "init", "sync", "erase")
"""`Tool:` trailers of commits whose author is a person. An import has the name that it was given."""


def history_since(
    vault: Vault, caller: Caller, agent: str = "", limit: int = 50, own: bool = False, keep_mark: bool = False
) -> Json:
    """Give the changes since an agent's last look, a person's first, and move the agent's mark.

    Where there are more than fit, the oldest come now and the mark moves as far as these reach. Another
    agent's mark is only read.
    """
    name = clean_agent(agent) if agent.strip() else caller.agent
    program = vault.repository.program
    mark = mark_of(program, name)
    with vault.remembering() as reader:
        seen = reader.commit(mark) if mark else None
        last = reader.last_seq
        if seen is not None:
            page = reader.find_commits(limit, where=Wanted(above=seen.seq), oldest_first=True)
        else:  # a first look, or one at a history that was rewritten: the newest are worth more than all
            page = reader.find_commits(limit)
        reached = max((row.seq for row in page.rows), default=last)
        brought = reader.brought_by([row.seq for row in page.rows], limit + 1)
        rows = sorted((*page.rows, *brought[:limit]), key=lambda row: (row.seq, row.place > 0, -row.place))
        shown = [row for row in rows if own or row.author != name]
        person = vault.person.clean_name()
        # On another machine a person may go by another name, which what they typed there bears too.
        shared = any(row.tool in SHARED and row.author != person for row in shown)
        people = {person, *(reader.authors_by(SIGNED) if shared else ())}
        hand = [
            row
            for row in shown
            if row.tool in (*BY_PERSON, *COMMANDS)
            or row.author == person
            or (row.tool in SHARED and row.author in people)
        ]
        others = [row for row in shown if row not in hand]
        result: Json = {
            "agent": name,
            "last_look": {"change": short(seen), "at": written(seen.at)} if seen else None,
            "by_hand": [change_record(reader, row) for row in sorted(hand, key=lambda row: -row.seq)],
            "by_agents": [change_record(reader, row) for row in sorted(others, key=lambda row: -row.seq)],
            "own": len(rows) - len(shown),
        }
        new = reader.commit_number(reached)
        left = last - reached
    if left:
        result["left_out"] = f"{left} later changes: call again for the next ones."
    if len(brought) > limit:
        more = "More changes came with merges than are shown: see history_log."
        result["left_out"] = " ".join((str(result.get("left_out", "")), more)).strip()
    if seen is None:
        why = "your mark is of a history that was rewritten" if mark else "this is the first look"
        result["message"] = f"These are the newest changes, as {why}."
    if new is not None and name == caller.agent and not keep_mark and new.sha != mark:
        if not move_mark(program, name, mark, new.sha):
            raise VaultBusy("Another process of this agent looked at the same moment. Call again.")
        result["mark"] = short(new)
    return result
