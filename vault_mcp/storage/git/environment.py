"""The git program, and what its children may know and run.

This is the one place below the doors that looks at the environment: a child inherits it, so it has to be
cleaned. A repository's own configuration can name programs (hooks, filters, signing, `fsmonitor`, pagers,
transports). A vault may come from anybody, so none of these runs: each such setting of the repository's own
is overlaid with the user's global one, or with one that does nothing, unless the user trusts the vault.
Hooks never run.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import RepositoryRefused, StorageFailed
from vault_mcp.storage import system

if TYPE_CHECKING:
    from git.cmd import Git

# The user's own choices about Git, which hold for us as well.
_KEPT = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES",
)
_FIXED = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # our own reading knows no replacements, so Git's must not either
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}
_OFFLINE = {"GIT_ALLOW_PROTOCOL": "none"}
# Whatever is trusted, these hold: what we do is not a person at a terminal.
_ALWAYS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.safecrlf", "false"),
    ("advice.detachedHead", "false"),
    ("log.showSignature", "false"),
    ("color.ui", "false"),
)
# Settings that name a program, and what stands for "none" in each.
_PROGRAMS = {
    "core.sshcommand": "ssh",
    "core.editor": "false",
    "core.askpass": "",
    "core.gitproxy": "",
    "core.alternaterefscommand": "true",
    "filter.*.clean": "",
    "filter.*.smudge": "",
    "filter.*.process": "",
    "filter.*.required": "false",
    "diff.external": "",
    "diff.*.command": "",
    "diff.*.textconv": "",
    "merge.*.driver": "false",
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultkeycommand": "",
    "credential.helper": "",
    "credential.*.helper": "",
    "sequence.editor": "false",
    "pager.*": "false",
    "interactive.difffilter": "",
    "trailer.*.command": "true",
    "trailer.*.cmd": "true",
    "gc.recentobjectshook": "",
    "submodule.*.update": "none",
    "remote.*.uploadpack": "git-upload-pack",
    "remote.*.receivepack": "git-receive-pack",
    "remote.*.vcs": "none",
    "remote.*.proxy": "",
}
_MULTIPLE = ("credential.helper", "credential.*.helper")
NO_GIT = "No git program was found. Install Git (https://git-scm.com), or put the folder it is in on PATH."

Extra = Mapping[str, "str | None"]

_import = threading.Lock()

# A server without a console, as a desktop program starts it, would have one open for each command of Git's.
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def disarmed(own: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, str]]:
    """Give settings that overlay those of a repository which name programs.

    `own` are the keys that the repository sets, each with the values that the user's own files have for it.
    """
    overlay: list[tuple[str, str]] = []
    for key, users in dict(own).items():
        pattern = next((pattern for pattern in _PROGRAMS if fnmatch.fnmatchcase(key, pattern)), None)
        if pattern in _MULTIPLE:
            overlay += [(key, ""), *((key, value) for value in users)]  # an empty one forgets those before
        elif pattern is not None:
            overlay.append((key, users[-1] if users else _PROGRAMS[pattern]))
    return overlay


def find_git(root: str, places: Iterable[str] | None = None) -> str:
    """Give the absolute path of the git program: never one in the vault, nor from a relative PATH entry.

    Raises:
        RepositoryRefused: there is none.
    """
    name = "git.exe" if os.name == "nt" else "git"
    for place in safe_places(root, os.get_exec_path() if places is None else places):
        program = os.path.join(place, name)
        if os.path.isfile(program) and os.access(program, os.X_OK) and not _within(program, root):
            return program
    raise RepositoryRefused(NO_GIT)


def safe_places(root: str, places: Iterable[str]) -> list[str]:
    """Leave out of a search path what is relative or lies in the vault."""
    return [place for place in places if os.path.isabs(place) and not _within(place, root)]


def _within(path: str, root: str) -> bool:
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top + os.sep)


class GitProgram:
    """Git, run in one vault."""

    def __init__(self, root: str, program: str | None = None) -> None:
        self.root = root
        self.program = program or find_git(root)
        self._overlay: list[tuple[str, str]] = []

    def overlay(self, settings: Sequence[tuple[str, str]]) -> None:
        """Have these settings win over whatever the repository says."""
        self._overlay = list(settings)

    def environment(self, extra: Extra | None = None, *, network: bool = False) -> dict[str, str]:
        """Give the whole environment of a child: `extra` on top, where None takes a name out.

        `network` allows transports, for a sync that was asked for.
        """
        kept: dict[str, str | None] = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT
        }
        kept.update(_FIXED)
        if not network:
            kept.update(_OFFLINE)
        kept["PATH"] = os.pathsep.join(safe_places(self.root, os.get_exec_path()))
        # Which repository this is was decided at the start: do not look above the vault, and whatever its
        # configuration says, its working tree is the vault.
        kept["GIT_CEILING_DIRECTORIES"] = os.path.dirname(self.root)
        kept["GIT_WORK_TREE"] = self.root
        settings = [*_ALWAYS, *self._overlay]
        kept["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings):
            kept[f"GIT_CONFIG_KEY_{number}"] = key
            kept[f"GIT_CONFIG_VALUE_{number}"] = value
        kept.update(extra or {})
        return {name: value for name, value in kept.items() if value is not None}

    def user_files(self, name: str) -> list[str]:
        """Give where Git looks for the user's and the system's own `config`, `attributes` or `ignore`."""
        home = os.environ.get("HOME", "") or (os.path.expanduser("~") if system.WINDOWS else "")
        folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        named = [os.environ[key] for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if key in os.environ]
        found = [os.path.join(folder, "git", name), *(named if name == "config" else [])]
        if name == "config":
            return [*found, os.path.join(home, ".gitconfig"), "/etc/gitconfig"]
        return [*found, f"/etc/git{name}"]

    def user_path(self, path: str) -> str:
        """Give a path from the user's settings in full: `~` is the home folder."""
        return os.path.join(self.root, os.path.expanduser(path))

    def start(
        self,
        *arguments: str,
        extra: Extra | None = None,
        network: bool = False,
        keep: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start Git with pipes on all three ends; whoever starts it ends it. It inherits the files `keep`."""
        return subprocess.Popen(
            [self.program, *arguments],
            cwd=self.root,
            env=self.environment(extra, network=network),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=keep,
            creationflags=_NO_WINDOW,
            start_new_session=True,  # a Ctrl-C at the server's terminal is the server's to answer
        )

    def start_alone(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start Git with nothing to read and nowhere to write, so that it can go on when we end."""
        return subprocess.Popen(
            [self.program, *arguments],
            cwd=self.root,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=_NO_WINDOW,
            start_new_session=True,
        )

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        extra: Extra | None = None,
        fine: tuple[int, ...] = (0,),
        timeout: float | None = None,
        network: bool = False,
        keep: Sequence[int] = (),
    ) -> bytes:
        """Run Git to its end and give what it wrote.

        Raises:
            StorageFailed: it ended with a code that is not in `fine`, with its own words.
        """
        code, out, err = self.attempt(
            *arguments, given=given, extra=extra, timeout=timeout, network=network, keep=keep
        )
        if code not in fine:
            raise StorageFailed(f"Git could not do it: {self.words(err) or arguments[0]}")
        return out

    def attempt(
        self,
        *arguments: str,
        given: bytes = b"",
        extra: Extra | None = None,
        timeout: float | None = None,
        network: bool = False,
        keep: Sequence[int] = (),
    ) -> tuple[int, bytes, bytes]:
        """Run Git to its end; give its exit code and what it wrote. A timeout (seconds) gives code -1."""
        try:
            child = self.start(*arguments, extra=extra, network=network, keep=keep)
        except FileNotFoundError:
            raise RepositoryRefused(NO_GIT) from None
        with child:
            try:
                out, err = child.communicate(given, timeout)
            except subprocess.TimeoutExpired:
                end(child)
                return -1, b"", b"it took too long"
            except BaseException:
                end(child)
                raise
            return child.returncode, out, err

    def words(self, err: bytes) -> str:
        """Give Git's complaint as one line without the host's paths."""
        text = err.decode("utf-8", "replace").replace(f"{self.root}/", "").replace(self.root, "the vault")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return " ".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in lines)[:500]

    def gitpython(self, git_dir: str, common_dir: str) -> Git:
        """Give GitPython's handle on this repository, with the same environment."""
        with _import:
            # 270 ms at start, for what only a packed object needs. It runs `git version` as it is imported:
            # the program is named before, so that it finds no other.
            before = {
                name: os.environ.get(name) for name in ("GIT_PYTHON_GIT_EXECUTABLE", "GIT_PYTHON_REFRESH")
            }
            os.environ.update(GIT_PYTHON_GIT_EXECUTABLE=self.program, GIT_PYTHON_REFRESH="quiet")
            try:
                from git.cmd import Git  # noqa: PLC0415 - 270 ms, see above
            finally:
                for name, value in before.items():
                    if value is None:
                        del os.environ[name]
                    else:
                        os.environ[name] = value
            Git.GIT_PYTHON_GIT_EXECUTABLE = self.program
        handle = Git(self.root)
        # It hands on everything that we inherited: what says which repository is meant has to be said anew.
        places = {
            "GIT_DIR": git_dir,
            "GIT_COMMON_DIR": common_dir,
            "GIT_OBJECT_DIRECTORY": f"{common_dir}/objects",
        }
        ours = self.environment(places)
        inherited = {name: "" for name in os.environ if name.startswith("GIT_") and name not in ours}
        handle.update_environment(**inherited, **ours)
        return handle


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and whatever it started: gently first, since a killed Git leaves its locks behind."""
    if sys.platform == "win32":
        child.kill()
        child.wait()
    else:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(OSError):
                os.killpg(child.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(2)
                return
