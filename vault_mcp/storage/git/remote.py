"""The other copy of a vault: named safely, fetched from, pushed to.

Whatever a repository's own configuration says, a transport is one of a few (`ALLOWED`), no program but Git's
own runs at either end, and no submodule, tag or hook is touched. Git is given the address and never the name
of a remote, so that nothing else that is set for that name (a program, another place to push to) counts.
What comes is checked by `git fsck`'s rules before it is kept.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass

from vault_mcp.errors import BadArgument, NotFound, RepositoryRefused, StorageFailed, VaultBusy
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.refs import is_sha

ALLOWED = "file:https:http:ssh"
"""Transports, as GIT_ALLOW_PROTOCOL takes them: `ext::` and helpers of others are none of them."""

LONGEST = 600.0
"""Seconds that one exchange with a remote may take."""

_ATTEMPTS, _PAUSE = 5, 0.3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/@]*@)?([^/:]*)")
_SCP = re.compile(r"(?:[^@/:\s]+@)?([^/:\s]+):(?!:)")
_SETTINGS = (
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "push.recurseSubmodules=no",
    "push.gpgSign=false",
    "protocol.ext.allow=never",
    "fetch.prune=false",
)
# Words of Git, ssh and curl for a remote that is not there at the moment.
_AWAY = (
    "could not resolve",
    "connection refused",
    "connection timed out",
    "connection reset",
    "network is unreachable",
    "no route to host",
    "operation timed out",
    "temporary failure in name resolution",
    "failed to connect",
    "could not connect",
    "couldn't connect",
    "it took too long",
)
_REJECTED = ("non-fast-forward", "fetch first", "cannot lock ref", "stale info", "failed to update ref")


class OfflineError(Exception):
    """The remote cannot be reached now; the message is Git's."""


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to sync with: what Git is given, how it is shown, and the branch there.

    `name` is "" for an address that no remote of the repository has. Every command inherits the files `keep`
    (`cut_off`).
    """

    name: str
    address: str
    branch: str
    keep: tuple[int, ...] = ()

    @property
    def tracking(self) -> str:
        """The ref that keeps what was fetched last."""
        return f"refs/remotes/{self.name or 'vault-mcp-sync'}/{self.branch}"

    @property
    def shown(self) -> str:
        """The remote's name, or its address without a password."""
        return self.name or re.sub(r"//[^/@]*@", "//", self.address)


def find_remote(program: GitProgram, said: str, branch: str, keep: tuple[int, ...] = ()) -> Remote:
    """Give the remote that was said: a name, an address or a folder; else the branch's own or the only one.

    An address becomes the remote `origin` where there is none at all.

    Raises:
        BadArgument: it could be taken for an option, or its transport is none that is allowed.
        NotFound: there is no such remote.
    """
    names = program.run("remote").decode("utf-8", "replace").split()
    name = said.strip()
    if not name:
        own = _setting(program, f"branch.{branch}.remote")
        name = own if own in names else "origin" if "origin" in names else names[0] if len(names) == 1 else ""
        if not name:
            raise NotFound(
                "This vault has no remote yet. Name one: vault-mcp sync REMOTE, where REMOTE is an address "
                "(git@host:notes.git, https://host/notes.git) or the folder of a bare repository."
            )
    if name in names:
        _refuse_name(name)
        address = program.run("remote", "get-url", "--", name).decode("utf-8", "replace").strip()
        _refuse_address(address)
        return Remote(name, address, _upstream(program, name, branch), keep)
    address = _address(name)
    if names:
        return Remote("", address, branch, keep)
    program.run("remote", "add", "--", "origin", address, keep=keep)
    return Remote("origin", address, branch, keep)


def _upstream(program: GitProgram, name: str, branch: str) -> str:
    """Give the branch of a remote that a branch of ours follows."""
    if _setting(program, f"branch.{branch}.remote") == name:
        merge = _setting(program, f"branch.{branch}.merge")
        if merge.startswith("refs/heads/") and program.attempt("check-ref-format", merge)[0] == 0:
            return merge.removeprefix("refs/heads/")
    return branch


def _setting(program: GitProgram, key: str) -> str:
    out = program.run("config", "--get", key, fine=(0, 1))
    return out.decode("utf-8", "replace").strip()


def _address(said: str) -> str:
    """Give an address as Git is to have it; a folder has to be there."""
    if "://" not in said and not _SCP.match(said) and "::" not in said:
        if not os.path.isabs(said) or not os.path.isdir(said):
            raise NotFound(
                f"There is no remote and no folder {said!r}. Make one first: git init --bare {said}"
            )
        return said
    _refuse_address(said)
    return said


def _refuse_name(name: str) -> None:
    if not _NAME.match(name):
        raise BadArgument(
            f"The remote {name!r} has a name that Git could misread. Rename it with git remote."
        )


def _refuse_address(address: str) -> None:
    if address.startswith("-"):
        raise BadArgument(f"The address {address!r} looks like an option. Nothing was sent or fetched.")
    found = _SCHEME.match(address)
    scheme, host = (found[1].lower(), found[2]) if found else ("ssh", "")
    if not found and (scp := _SCP.match(address)):
        host = scp[1]
    if "::" in address.split("/")[0] or scheme not in ALLOWED.split(":"):
        raise BadArgument(
            f"The address {address!r} uses a transport that is not allowed here. "
            "Use ssh, https or a folder. Nothing was sent or fetched."
        )
    if host.startswith("-"):
        raise BadArgument(f"The host in {address!r} looks like an option. Nothing was sent or fetched.")


# -- the exchange


def fetch(program: GitProgram, remote: Remote, into: str = "") -> str | None:
    """Fetch the remote's branch; give its commit, None where the remote has no such branch yet.

    With `into` a bare repository there gets it, as a branch of the same name, and this one nothing.

    Raises:
        OfflineError: it cannot be reached.
        StorageFailed: it refuses us, or what it has is broken.
    """
    kept = f"refs/heads/{remote.branch}" if into else remote.tracking
    refspec = f"+refs/heads/{remote.branch}:{kept}"
    for _ in range(_ATTEMPTS):
        code, _, err = _exchange(
            program,
            remote,
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--upload-pack=git-upload-pack",
            "--",
            remote.address,
            refspec,
            into=into,
        )
        if b"cannot lock ref" not in err:
            break
        time.sleep(_PAUSE)  # somebody else fetches at this very moment
    if code == 0:
        said = program.run(
            *_in(into), "rev-parse", "--verify", "--quiet", f"{kept}^{{commit}}", extra=_environment(into)
        )
        sha = said.decode().strip()
        return sha if is_sha(sha) else None
    words = program.words(err)
    if "couldn't find remote ref" in words.lower():
        return None
    _refuse(program, remote, words, "fetched from")
    return None


def other_branch(program: GitProgram, remote: Remote) -> str:
    """Give the branch that a remote calls its own, where it has none of our name; "" for an empty one."""
    code, out, _ = _exchange(
        program,
        remote,
        "ls-remote",
        "--symref",
        "--upload-pack=git-upload-pack",
        "--",
        remote.address,
        "HEAD",
    )
    found = re.match(r"ref: refs/heads/(\S+)\tHEAD\n.", out.decode("utf-8", "replace")) if code == 0 else None
    return found[1] if found else ""


def push(program: GitProgram, remote: Remote, sha: str) -> bool:
    """Push a commit to the remote's branch; False where somebody else was quicker.

    Raises:
        OfflineError: it cannot be reached.
        StorageFailed: it refuses us.
        VaultBusy: its branch is locked.
    """
    if not is_sha(sha):
        raise BadArgument("A commit is named by its full hash here.")
    for _ in range(_ATTEMPTS):
        code, out, err = _exchange(
            program,
            remote,
            "push",
            "--quiet",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--receive-pack=git-receive-pack",
            "--",
            remote.address,
            f"{sha}:refs/heads/{remote.branch}",
        )
        if code == 0:
            # Only what is known of the remote: the next fetch says it again.
            program.attempt("update-ref", "--no-deref", remote.tracking, sha, keep=remote.keep)
            return True
        words = program.words(out + b"\n" + err)
        if "file exists" not in words.lower():
            break
        time.sleep(_PAUSE)  # somebody else pushes at this very moment
    else:
        raise VaultBusy(
            f"The remote's branch {remote.branch} is locked by another Git program. Sync again in a while. "
            f"If none is running there, remove refs/heads/{remote.branch}.lock in {remote.shown}."
        )
    if any(sign in words.lower() for sign in _REJECTED):
        return False
    _refuse(program, remote, words, "pushed to")
    return False


def follow(program: GitProgram, remote: Remote, branch: str) -> None:
    """Remember a named remote as the one that a branch follows, unless it follows one."""
    if remote.name and not _setting(program, f"branch.{branch}.remote"):
        for key, value in (("remote", remote.name), ("merge", f"refs/heads/{remote.branch}")):
            program.run("config", "--local", f"branch.{branch}.{key}", value, keep=remote.keep)


def _in(place: str) -> tuple[str, ...]:
    """Name another repository than the vault's to Git."""
    return (f"--git-dir={place}",) if place else ()


def _environment(place: str) -> dict[str, str | None]:
    return {"GIT_WORK_TREE": None} if place else {}


def _exchange(
    program: GitProgram, remote: Remote, *arguments: str, into: str = ""
) -> tuple[int, bytes, bytes]:
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    return program.attempt(
        *settings,
        *_in(into),
        *arguments,
        extra={"GIT_ALLOW_PROTOCOL": ALLOWED, **_environment(into)},
        network=True,
        timeout=LONGEST,
        keep=remote.keep,
    )


def _refuse(program: GitProgram, remote: Remote, words: str, what: str) -> None:
    lower = words.lower()
    folder = os.path.isabs(remote.address) and not os.path.isdir(remote.address)
    if folder or any(sign in lower for sign in _AWAY):
        raise OfflineError(words)
    words = words.replace(remote.address, remote.shown)
    if "fsck" in lower or "invalid" in lower:
        raise RepositoryRefused(f"{remote.shown} has something broken or hostile in it: {words}")
    raise StorageFailed(
        f"{remote.shown} could not be {what}: {words}. Try the same by hand: git fetch {remote.shown}"
    )
