"""Which paths Git ignores: gitignore(5), answered by one `git check-ignore` that is kept open.

Only Git knows all of its rules, and to start it for each new note would cost more than the rest of the write.
The child has read its files once, so it is started anew when one of them has changed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence

from vault_mcp.storage.git.config import Signature, signature
from vault_mcp.storage.git.environment import GitProgram, end

_COMMAND = ("check-ignore", "-z", "--verbose", "--non-matching", "--no-index", "--stdin")
_ONE_BY_ONE = 50
"""More paths than this are given to a child of their own, all at once."""


class Ignore:
    """Answers for one working tree. Safe to use from several threads."""

    def __init__(self, program: GitProgram, common_dir: str) -> None:
        self._program = program
        self._root = program.root
        self._info = f"{common_dir}/info/exclude"
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._read: dict[str, Signature] = {}

    def matching(self, paths: Sequence[str], user_file: str) -> set[str]:
        """Give those of these paths that a rule excludes, tracked or not.

        `user_file` is the user's own setting `core.excludesFile`, if there is one.
        """
        if len(paths) > _ONE_BY_ONE:
            given = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
            out = self._program.run(*_COMMAND, given=given, fine=(0, 1))
            fields = out.split(b"\0")
            answers = zip(fields[0::4], fields[2::4], fields[3::4], strict=False)
            return {_text(path) for source, pattern, path in answers if _excludes(source, pattern)}
        with self._lock:
            self._stay_true(paths, user_file)
            return {path for path in paths if self._ask(path)}

    def _stay_true(self, paths: Sequence[str], user_file: str) -> None:
        """End the child if a file of rules that it may have read has changed."""
        files = {self._info, *self._program.user_files("ignore")}
        if user_file:
            files.add(self._program.user_path(user_file))
        for path in paths:
            folder = path
            while folder:
                folder = folder.rpartition("/")[0]
                files.add(f"{self._root}/{folder}/.gitignore" if folder else f"{self._root}/.gitignore")
        for file in files:
            now = signature(file)
            if self._read.setdefault(file, now) != now:
                self._end()
                self._read[file] = now

    def _ask(self, path: str) -> bool:
        for _ in range(2):
            if self._child is None:
                self._child = self._program.start(*_COMMAND)
            child = self._child
            assert child.stdin
            assert child.stdout
            with contextlib.suppress(OSError):
                child.stdin.write(path.encode("utf-8", "surrogateescape") + b"\0")
                child.stdin.flush()
                answer = b""
                while answer.count(b"\0") < 4:
                    some = os.read(child.stdout.fileno(), 1 << 16)
                    if not some:
                        break
                    answer += some
                else:
                    source, _, pattern, _ = answer.split(b"\0")[:4]
                    return _excludes(source, pattern)
            self._end()
        return False  # Git gives no answer for a path beyond a link; to write there is refused elsewhere

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            end(child)
            for pipe in (child.stdin, child.stdout, child.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()


def _excludes(source: bytes, pattern: bytes) -> bool:
    return bool(source) and not pattern.startswith(b"!")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
