"""How far each agent has looked: a ref below `refs/vault-mcp/seen/`, in no branch and never a commit."""

from __future__ import annotations

import hashlib
import re

from vault_mcp.errors import BadArgument
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.refs import is_sha

_FOLDER = "refs/vault-mcp/seen"
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,48}[a-z0-9])?")
_NOTHING = "0" * 40


def ref_of(agent: str) -> str:
    """Give the ref that keeps an agent's mark.

    A name that every file system keeps apart from all others stands as it is; any other is told apart by a
    hash at its end.
    """
    if _PLAIN.fullmatch(agent):
        return f"{_FOLDER}/{agent}"
    plain = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-")[:40].strip("-") or "agent"
    return f"{_FOLDER}/{plain}.{hashlib.sha256(agent.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def mark_of(program: GitProgram, agent: str) -> str | None:
    """Give the commit up to which an agent has looked; None before its first look."""
    out = program.run("for-each-ref", "--format=%(refname) %(objectname)", ref_of(agent))
    for line in out.decode("utf-8", "replace").splitlines():
        name, _, sha = line.partition(" ")
        if name == ref_of(agent) and is_sha(sha):
            return sha
    return None


def move_mark(program: GitProgram, agent: str, old: str | None, new: str) -> bool:
    """Move an agent's mark, if it is still where it was seen; say whether it moved.

    Git compares and swaps under its own lock of the ref.
    """
    if not is_sha(new) or (old is not None and not is_sha(old)):
        raise BadArgument("A commit is named by its full hash here.")
    nothing = _NOTHING if len(new) == len(_NOTHING) else "0" * len(new)
    code, _, _ = program.attempt("update-ref", "--no-deref", ref_of(agent), new, old or nothing)
    return code == 0
