"""The repository of one vault: the front of everything that knows Git."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from types import TracebackType

from vault_mcp.errors import RepositoryRefused, StorageFailed, VaultBusy, VaultError
from vault_mcp.storage.git.condition import Finding, findings
from vault_mcp.storage.git.cut_off import git_locks, remove_left
from vault_mcp.storage.git.discovery import find_repository, refuse_other_owner
from vault_mcp.storage.git.disk_words import storage_failed
from vault_mcp.storage.git.driver import is_registered, register
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.erasing import UNFINISHED
from vault_mcp.storage.git.flush import Durability, WhenQuiet, can_flush_all, flush_all
from vault_mcp.storage.git.history import HistoryCommit, first_parents, read_history
from vault_mcp.storage.git.ignore import Ignore
from vault_mcp.storage.git.index_image import IndexImage
from vault_mcp.storage.git.intent import IntentFile
from vault_mcp.storage.git.message import Ident
from vault_mcp.storage.git.objects import LooseObjects
from vault_mcp.storage.git.probe import Probe, refuse_under_way
from vault_mcp.storage.git.reader import ObjectReader
from vault_mcp.storage.git.recovery import has_leftovers, recover
from vault_mcp.storage.git.refs import Refs, is_sha
from vault_mcp.storage.git.replay import Replay, broken_branch, broken_index, lost_tip
from vault_mcp.storage.git.through_git import ThroughGit
from vault_mcp.storage.git.trees import FOLDER, GITLINK, TreeStore
from vault_mcp.storage.git.upkeep import Upkeep
from vault_mcp.storage.git.wal import Log
from vault_mcp.storage.git.workshop import Workshop, encoded
from vault_mcp.storage.git.writer import Writer
from vault_mcp.storage.lock import WriteLock

STATE = "vault-mcp"

GONE = (
    "The vault's Git folder is not there: the vault was moved, renamed or is not mounted. Put it back, or "
    "start the server with its new place."
)

NOBODY = "human"
"""Whom a person's edits are committed as who has told Git no name."""


class Repository:
    """A vault's Git repository. Safe to use from several threads; one of them writes at a time."""

    def __init__(
        self,
        root: str,
        git_dir: str,
        common_dir: str,
        program: GitProgram,
        *,
        trusted: bool,
        durability: Durability = "git",
    ) -> None:
        if durability == "wal" and not can_flush_all():
            durability = "fsync"  # what the log is emptied for would not be on the disk
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.trusted = trusted
        self.program = program
        self._state_dir = f"{git_dir}/{STATE}"
        objects = LooseObjects(f"{common_dir}/objects")
        reader = ObjectReader(objects, program, git_dir, common_dir)
        self._shop = Workshop(
            root=root,
            git_dir=git_dir,
            state_dir=self._state_dir,
            objects=objects,
            reader=reader,
            trees=TreeStore(objects, reader.read),
            refs=Refs(git_dir, common_dir),
            image=IndexImage(f"{git_dir}/index"),
            intents=IntentFile(f"{self._state_dir}/intent"),
            probe=Probe(program, git_dir, common_dir, trusted=trusted),
            git=ThroughGit(program, git_dir, self._state_dir),
            device=os.stat(self._state_dir if os.path.isdir(self._state_dir) else git_dir).st_dev,
            log=Log(f"{self._state_dir}/log"),
            durability=durability,
        )
        self._ignore = Ignore(program, common_dir)
        self._upkeep = Upkeep(program, common_dir)
        objects.flush = durability == "fsync"
        self._settling = WhenQuiet(self._settle)
        self._unswept = False
        self._lock = WriteLock(f"{self._state_dir}/lock")

    @classmethod
    def open(cls, root: str, *, trusted: bool = False, durability: Durability = "git") -> Repository:
        """Open the repository whose working tree is the folder `root`, and finish what a killed process left.

        `trusted` says that the user has allowed the programs that the repository's own configuration names.
        `durability` is what the disk has before a commit is answered: as Git does it ("git"), a record of it
        ("wal"), or all of its files ("fsync"). What a log of records holds is brought back with any of them.

        Raises:
            RepositoryRefused: there is none, a bare one, one above the folder, somebody else's, or no git.
        """
        root = os.path.realpath(root)
        program = GitProgram(root)
        git_dir, common_dir = find_repository(root)
        refuse_other_owner(program, (root, f"{root}/.git", git_dir))
        repository = cls(root, git_dir, common_dir, program, trusted=trusted, durability=durability)
        shop = repository._shop
        repository._unswept = has_leftovers(shop) or _left_by_power_loss(shop)
        if repository._unswept:
            # A merge under way or another server at work is no reason not to open: the next write sees to it.
            with contextlib.suppress(VaultError), repository.try_writing():
                pass
        return repository

    @staticmethod
    def create(root: str) -> None:
        """Make a repository in a folder; the folder is made too."""
        os.makedirs(root, exist_ok=True)
        GitProgram(os.path.realpath(root)).run("init", "--quiet", extra={"GIT_WORK_TREE": None})

    def register_driver(self, command: Sequence[str]) -> bool:
        """Have Git call a command to merge notes in this clone; say whether that is new."""
        return register(self.program, command)

    def driver_is(self, command: Sequence[str]) -> bool:
        """Say whether Git calls this very command to merge notes in this clone."""
        return is_registered(self.program, command)

    @property
    def state_dir(self) -> str:
        """Where the vault keeps what is not the user's: index, locks, records. Made when first asked for."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(self._state_dir)
        return self._state_dir

    def head(self) -> str | None:
        """Give the commit that is checked out; None before the first."""
        return self._shop.refs.commit()

    def head_signature(self) -> object:
        """Give a token that changes whenever `head` may give something else."""
        return self._shop.refs.signature()

    def person(self) -> Ident:
        """Give whom a person's own edits are committed as."""
        config = self._shop.probe.config
        name = config.text("author.name") or config.text("user.name") or NOBODY
        email = config.text("author.email") or config.text("user.email") or "human@vault-mcp.invalid"
        return Ident(name, email)

    def warm(self) -> None:
        """Do now what the first write would otherwise wait for: 0.3 s where the last commit is packed.

        Meant for a thread in the background, right after the start; it changes nothing. With 100,000 files
        Git's index takes half a second to read.
        """
        self.person()
        head = self.head()
        if head is not None:
            self._shop.trees.tree(self._shop.root_tree(head))
        with self.try_writing() as writer:
            if writer is not None:
                writer.staged_blob("")

    # -- writing

    def writing(self, timeout: float = 10.0) -> Writing:
        """Take the write lock for a `with` block, which gets a `Writer`; wait for it up to `timeout` seconds.

        Raises:
            VaultBusy: another writer has it.
            RepositoryRefused: HEAD is detached, a merge or the like is under way.
        """
        return Writing(self, timeout)

    @property
    def wanted(self) -> bool:
        """Whether another thread waits for the write lock: what runs in the background lets it in."""
        return self._lock.wanted

    def try_writing(self) -> TryWriting:
        """Take the write lock if it is free at once; the block gets None if it is not."""
        return TryWriting(self)

    def _enter(self, timeout: float) -> Writer | None:
        try:
            if not self._lock.acquire(timeout):
                return None
        except FileNotFoundError:
            raise RepositoryRefused(GONE) from None
        except OSError as error:  # nobody may write here
            raise storage_failed(error, self.root) from error
        try:
            return self._writer()
        except OSError as error:
            self._lock.release()
            raise storage_failed(error, self.root) from error
        except BaseException:
            self._lock.release()
            raise

    def lock_inherited(self) -> tuple[int, ...]:
        """Give what a command is to inherit that has to keep others from writing even if we are killed."""
        return self._lock.inherited()

    def _writer(self) -> Writer:
        remove_left(
            f"{self._state_dir}/{UNFINISHED}",
            git_locks(self.common_dir, "refs", "logs", "objects/info", "objects/pack"),
        )
        refuse_under_way(self.git_dir)
        self._shop.probe.look()
        if self._shop.intents.pending() or self._unswept:
            replay = Replay(self._shop, self.is_ancestor)
            replay.commits()
            recover(self._shop, self.is_ancestor)
            replay.files()
            self._unswept = False
        if self._shop.durability == "wal":
            self._shop.log.make()
        return Writer(self._shop)

    def _leave(self, writer: Writer) -> None:
        self._lock.release()
        if writer.commits:
            self._upkeep.count(writer.commits)
            if self._shop.durability == "wal":
                self._settling.tell(pressing=self._shop.log.pressing)

    def _settle(self) -> None:
        """Empty the log: flush all beforehand, then what little was written meanwhile, with the lock."""
        places = self._shop.places()
        # What could not be flushed or emptied stays in the log.
        with contextlib.suppress(OSError):
            flush_all(places)
            if self._lock.acquire(10.0):
                try:
                    flush_all(places)
                    self._shop.log.empty()
                finally:
                    self._lock.release()

    # -- reading

    def blob(self, sha: str) -> bytes:
        """Give the bytes of a blob."""
        return self._shop.reader.read(sha)[1]

    def blobs(self, shas: Iterable[str]) -> Iterator[bytes]:
        """Give the bytes of many blobs in the same order, asking Git once for those that are packed."""
        for _, body in self._shop.reader.read_many(shas):
            yield body

    def blob_at(self, commit: str, path: str) -> bytes | None:
        """Give a file's bytes as a commit has it; None where it has none."""
        found = self._shop.trees.find(self._shop.root_tree(commit), encoded(path))
        return self.blob(found[1].hex()) if found else None

    def entry_at(self, commit: str, path: str) -> tuple[int, str] | None:
        """Give mode and blob of a file as a commit has it; None where it has none."""
        found = self._shop.trees.find(self._shop.root_tree(commit), encoded(path))
        return (int(found[0], 8), found[1].hex()) if found and found[0] != FOLDER else None

    def branch(self) -> str:
        """Give the name of the branch that is checked out.

        Raises:
            RepositoryRefused: HEAD is detached.
        """
        return self._shop.refs.branch().removeprefix("refs/heads/")

    def mode_at(self, commit: str, path: str) -> int | None:
        """Give Git's mode of a file as a commit has it; None where it has none."""
        found = self._shop.trees.find(self._shop.root_tree(commit), encoded(path))
        return int(found[0], 8) if found else None

    def tree_paths(self, commit: str) -> Iterator[tuple[str, int, str]]:
        """Give path, mode and blob of every file in a commit, in Git's order."""
        yield from self._below(self._shop.root_tree(commit), "")

    def _below(self, tree: bytes, prefix: str) -> Iterator[tuple[str, int, str]]:
        for mode, raw, oid in self._shop.trees.tree(tree).items():
            path = prefix + raw.decode("utf-8", "surrogateescape")
            if mode == FOLDER:
                yield from self._below(oid, f"{path}/")
            elif mode != GITLINK:
                yield path, int(mode, 8), oid.hex()

    def history(self, old: str | None, new: str) -> Iterator[HistoryCommit]:
        """Give the commits that `new` has beyond `old` (None: all), oldest first, along first parents."""
        return read_history(self.program, old, new)

    def first_parents(self, sha: str) -> Generator[str, None, None]:
        """Give a commit and those before it along first parents; to be closed."""
        return first_parents(self.program, sha)

    def is_ancestor(self, a: str, b: str) -> bool:
        """Say whether commit `a` is `b` or lies behind it."""
        if not is_sha(a) or not is_sha(b):
            return False
        code, _, err = self.program.attempt("merge-base", "--is-ancestor", a, b)
        if code not in (0, 1) and b"Not a valid" not in err and b"bad object" not in err:
            raise StorageFailed(f"Git could not compare two commits: {self.program.words(err)}")
        return code == 0

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Give those of these paths that Git ignores and does not track."""
        excluded = self._ignore.matching(list(paths), self._shop.probe.config.text("core.excludesfile"))
        head = self.head() if excluded else None
        if head is None:
            return excluded
        tree = self._shop.root_tree(head)
        return {path for path in excluded if self._shop.trees.find(tree, encoded(path)) is None}

    def state(self) -> list[Finding]:
        """Say how commits are made here and why, and what stands in their way: for `doctor`."""
        return list(findings(self._shop))

    def wipe_log(self) -> None:
        """Take what the log of records holds off the disk; whoever calls holds the write lock."""
        flush_all(self._shop.places())
        self._shop.log.wipe()

    def upkeep(self) -> None:
        """Have Git tidy up in the background; it happens by itself after many commits."""
        self._upkeep.begin()

    def tidy(self) -> None:
        """Have Git tidy up here and now, for a command that a person waits for.

        Raises:
            StorageFailed: Git could not.
        """
        self._upkeep.now()

    def wait_for_upkeep(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the round that is running; say whether none runs any more."""
        return self._upkeep.wait(timeout)

    def close(self) -> None:
        """End Git's children and close the files that are kept open."""
        self._settling.close()
        self._shop.log.close()
        self._upkeep.close()
        self._ignore.close()
        self._shop.reader.close()
        self._shop.intents.close()
        self._shop.image.forget()
        self._shop.refs.close()
        self._lock.close()


def _left_by_power_loss(shop: Workshop) -> bool:
    return shop.log.left() or broken_index(shop) or broken_branch(shop) or lost_tip(shop)


class Writing:
    """The `with` block of `Repository.writing`."""

    def __init__(self, repository: Repository, timeout: float) -> None:
        self._repository = repository
        self._timeout = timeout
        self._writer: Writer | None = None

    def __enter__(self) -> Writer:
        self._writer = writer = self._repository._enter(self._timeout)
        if writer is None:
            raise VaultBusy(
                f"Another process has been writing to this vault for {self._timeout:g} s. Call again soon."
            )
        return writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._repository._leave(self._writer)


class TryWriting:
    """The `with` block of `Repository.try_writing`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._writer: Writer | None = None

    def __enter__(self) -> Writer | None:
        self._writer = self._repository._enter(0)
        return self._writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._repository._leave(self._writer)
