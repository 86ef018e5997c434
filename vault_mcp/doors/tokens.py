"""Tokens: which agent may call itself what, and what it may do.

Each token is a file of its own in the user's settings folder, outside every vault, since a vault that comes
from somebody else must not bring its keys along. The file is named by the SHA-256 of the token and says for
which vault it holds, whose it is and what it allows; the token itself is kept nowhere. A plain hash is
enough: a token holds 256 random bits, so there is nothing to guess. Looking one up opens one file, so a token
that was removed is refused from the next request on.
"""

import contextlib
import hashlib
import json
import logging
import os
import re
import secrets
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from vault_mcp.doors.own_folder import lies_in, refuse_inside, settings_folder, write_own
from vault_mcp.errors import AlreadyThere, BadArgument, StorageFailed
from vault_mcp.notes.line import address_part
from vault_mcp.tools.tool import FAMILIES

logger = logging.getLogger(__name__)

PREFIX = "vmcp_"
"""Begins every token, so that programs that look for leaked secrets can tell one."""

KINDS = ("read", "write")
SCOPES = (*KINDS, *(f"{kind}:{family}" for kind in KINDS for family in FAMILIES))

MAX_FILE = 4096
FRESH = 2.0
"""Seconds in which a folder's time cannot tell two changes apart, whatever the disk's clock is like."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_TAKEN = {"agent", "unknown", "human"}
"""What agents without a usable name are called: nobody's own."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token.

    Attributes:
        name: the agent it belongs to, the name in its stamps and commits.
        scopes: what it allows, words of SCOPES.
        created: when it was made, as 2026-11-30T21:00:00Z.
        digest: the SHA-256 of the token, in hexadecimal digits.
    """

    name: str
    scopes: frozenset[str]
    created: str
    digest: str

    def allows(self, family: str, *, writes: bool) -> bool:
        """Say whether tools of a family may be called; who may write may read what is written."""
        kinds = ("write",) if writes else KINDS
        return any(kind in self.scopes or f"{kind}:{family}" in self.scopes for kind in kinds)

    @property
    def reads_all(self) -> bool:
        """Whether everything in the vault may be read."""
        return all(self.allows(family, writes=False) for family in FAMILIES)


class Tokens:
    """The tokens of one vault."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ
        self._folder = os.path.join(settings_folder(environ), "tokens")
        # What lies inside the vault is the word of whoever wrote the vault: nothing there is a token.
        self._usable = not lies_in(self._folder, root)
        self._names: frozenset[str] = frozenset()
        self._seen: tuple[int, float] = (-1, 0.0)

    def add(self, name: str, scopes: Iterable[str] = KINDS) -> str:
        """Make a token and give it: nobody can read it again.

        Raises:
            BadArgument: the name or a scope cannot be, or the settings folder lies inside the vault.
            AlreadyThere: the vault has a token of that name.
            StorageFailed: it cannot be written.
        """
        refuse_inside(self._root, self._environ)
        if not _NAME.fullmatch(name) or name.lower() in _TAKEN:
            raise BadArgument(
                f"{name!r} cannot be the name of a token. Take 1 to 60 letters, digits, dots, dashes or "
                "underscores of ASCII, as claude-laptop, and none of 'agent', 'human' and 'unknown'."
            )
        wanted = sorted(set(scopes))
        for scope in wanted:
            if scope not in SCOPES:
                raise BadArgument(f"There is no scope {scope!r}. There are: {', '.join(SCOPES)}.")
        if not wanted:
            raise BadArgument(f"A token needs a scope. There are: {', '.join(SCOPES)}.")
        if any(address_part(token.name) == address_part(name) for token in self.listed()):
            raise AlreadyThere(
                f"This vault has a token named {name!r}. Take another name, or remove that one first: "
                f"vault-mcp token remove {name}"
            )
        secret = PREFIX + secrets.token_urlsafe(32)
        record = {
            "vault": self._root,
            "name": name,
            "scopes": wanted,
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        write_own(self._file(_digest(secret)), json.dumps(record, indent=1) + "\n", "The token")
        return secret

    def listed(self) -> list[Token]:
        """Give the tokens of this vault by name."""
        return sorted(self._read_all(), key=lambda token: (token.name.lower(), token.created))

    def remove(self, name: str) -> bool:
        """Take a token away; say whether there was one of that name."""
        found = [token for token in self._read_all() if token.name == name]
        for token in found:
            try:
                os.unlink(self._file(token.digest))
            except FileNotFoundError:
                pass  # somebody else was faster
            except OSError as error:
                raise StorageFailed(
                    f"The token cannot be removed ({error.strerror}). Delete {self._file(token.digest)}."
                ) from error
        return bool(found)

    def verified(self, secret: str) -> Token | None:
        """Give what is known of a token, None for one that does not hold for this vault."""
        return self._read(_digest(secret)) if self._usable else None

    def is_reserved(self, name: str) -> bool:
        """Say whether a name is that of a token, or would look like one in a commit."""
        names = self._reserved()
        if not names:
            return False
        return bool({address_part(name), address_part(unicodedata.normalize("NFKC", name))} & names)

    def _reserved(self) -> frozenset[str]:
        """Give the names of all tokens, read again when the folder has changed."""
        try:
            changed = os.stat(self._folder).st_mtime_ns
        except OSError:
            return frozenset()
        stamp, read_at = self._seen
        if stamp != changed or read_at - changed / 1e9 < FRESH:
            self._seen = changed, time.time()
            self._names = frozenset(address_part(token.name) for token in self._read_all())
        return self._names

    def _read_all(self) -> Iterator[Token]:
        if not self._usable:
            return
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageFailed(
                f"The tokens cannot be read ({error.strerror}). Make {self._folder} readable."
            ) from error
        for name in names:
            token = self._read(name.removesuffix(".json")) if name.endswith(".json") else None
            if token is not None:
                yield token

    def _read(self, digest: str) -> Token | None:
        try:
            with open(self._file(digest), "rb") as file:
                said = json.loads(file.read(MAX_FILE))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            logger.warning("The token file %s.json cannot be read (%s).", digest, error)
            return None
        with contextlib.suppress(KeyError, TypeError, AttributeError):
            if said["vault"] == self._root:
                return Token(str(said["name"]), frozenset(said["scopes"]), str(said["created"]), digest)
        return None

    def _file(self, digest: str) -> str:
        return os.path.join(self._folder, f"{digest}.json")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
