"""Real vaults in temporary folders, and Git as a person's shell would run it beside us."""

import os
import pwd
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from vault_mcp.storage import files
from vault_mcp.storage.git.message import Ident, Message
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import Committed, Write, Writer, blob_id

AGENT = Ident("claude", "claude@agent.invalid")
AT = 1_790_000_000


class Vault:
    """A folder with a repository. `open()` gives ours, `git()` runs Git's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._repository: Repository | None = None

    @classmethod
    def make(cls, root: Path, *options: str, notes: Mapping[str, bytes | str] | None = None) -> "Vault":
        """Make a repository, with a first commit if there are notes."""
        root.mkdir(parents=True, exist_ok=True)
        vault = cls(root)
        vault.git("init", "-q", "-b", "main", *options)
        if notes:
            for path, content in notes.items():
                vault.save(path, content)
            vault.git("add", "-A")
            vault.git("commit", "-qm", "first")
        return vault

    def git(self, *arguments: str, given: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run Git and give what it wrote."""
        return self.raw_git(*arguments, given=given, env=env).decode("utf-8", "surrogateescape")

    def raw_git(
        self, *arguments: str, given: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> bytes:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            input=given,
            capture_output=True,
            env={**os.environ, **(env or {})},
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr.decode(errors="replace"))
        return done.stdout

    @property
    def repository(self) -> Repository:
        if self._repository is None:
            self._repository = Repository.open(str(self.root))
        return self._repository

    def close(self) -> None:
        if self._repository is not None:
            self._repository.close()
            self._repository = None

    # -- files as a person has them

    def save(self, path: str, content: bytes | str) -> None:
        """Save a file as an editor does, in place."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def there(self) -> dict[str, bytes]:
        """Give every file of the working tree."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            if ".git" in folders:
                folders.remove(".git")
            for name in names:
                path = Path(folder, name)
                found[path.relative_to(self.root).as_posix()] = path.read_bytes()
        return found

    # -- commits of ours

    def seen(self, path: str, content: bytes | str | None, *, mode: int | None = None) -> Write:
        """Make a write of a file that was just read."""
        raw = content.encode() if isinstance(content, str) else content
        found = files.read(str(self.root), path)
        return Write(raw, found[1] if found else None, blob_id(found[0]) if found else None, mode)

    def commit(
        self,
        changes: Mapping[str, bytes | str | None],
        subject: str = "change",
        *,
        at: int = AT,
        writer: Writer | None = None,
        write_files: bool = True,
    ) -> Committed:
        """Commit these files as an agent that has just read them."""
        if writer is not None:
            writes = {path: self.seen(path, content) for path, content in changes.items()}
            return writer.commit(
                writes,
                Message(subject, "", (("Tool", "test"),)),
                author=AGENT,
                at=at,
                write_files=write_files,
            )
        with self.repository.writing() as opened:
            return self.commit(changes, subject, at=at, writer=opened, write_files=write_files)

    # -- what must always hold

    def status(self) -> str:
        return self.git("status", "--porcelain")

    def assert_sound(self, *, clean: bool = True) -> None:
        """Check what Git thinks of the repository, and that nothing of ours lies about."""
        assert self.git("fsck", "--strict", "--no-dangling") == ""
        if clean:
            assert self.status() == ""
        assert self.leftovers() == []

    def leftovers(self) -> list[str]:
        """Give locks and temporary files that should not be there."""
        state = self.root / ".git" / "vault-mcp"
        kept = {"lock", "intent", "index.sqlite", "log"}
        found = [entry.name for entry in state.iterdir() if entry.name not in kept] if state.is_dir() else []
        if (state / "intent").exists() and (state / "intent").stat().st_size:
            found.append("intent")
        found += [str(path) for path in (self.root / ".git").rglob("*.lock")]
        found += [str(path) for path in self.root.rglob(".vault-mcp-*")]
        return found

    def index(self) -> bytes:
        return (self.root / ".git" / "index").read_bytes()

    def index_as_git_writes_it(self) -> bytes:
        """Have Git read the index and write it anew, elsewhere."""
        copy = self.root / ".git" / "index-copy"
        copy.write_bytes(self.index())
        stat = os.stat(self.root / ".git" / "index")
        os.utime(copy, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.git("update-index", "--force-write-index", env={"GIT_INDEX_FILE": str(copy)})
        written = copy.read_bytes()
        copy.unlink()
        return written


def as_nobody(root: Path, action: Callable[[], object]) -> str:
    """Run something in a process that may not write everywhere; give what it raised, or nothing.

    The folder is handed to that user first, since tests often run as root, whom no permission stops.
    """
    user = os.geteuid()
    if user == 0:
        user = pwd.getpwnam("nobody").pw_uid
        for folder, folders, names in os.walk(root):
            for name in [*folders, *names, "."]:
                os.chown(os.path.join(folder, name), user, -1, follow_symlinks=False)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            if os.geteuid() != user:
                os.setuid(user)
            action()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said
