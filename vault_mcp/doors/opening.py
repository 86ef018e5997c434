"""The vault, opened behind the door: a client is greeted before the notes, Git and the index are at hand."""

import logging
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from vault_mcp.errors import StorageFailed, VaultBusy, VaultError
from vault_mcp.tools.catalog import Catalog

logger = logging.getLogger(__name__)

CLOSE_WAIT = 2.0
"""Seconds that `close` waits for a vault that is being opened."""


Made = TypeVar("Made")


class Opened(Protocol):
    """What the door itself needs of a vault; the tools know more."""

    root: str

    def close(self) -> None:
        """Let go of everything."""


class Opening:
    """Loads the catalog, then opens the vault, in a thread of its own; who needs either waits for it.

    A vault that could not be opened is tried again at the next call: its owner may have put it right.
    """

    def __init__(self, load_catalog: Callable[[], Catalog], open_vault: Callable[[], Opened]) -> None:
        self._load_catalog = load_catalog
        self._open_vault = open_vault
        self._lock = threading.Lock()
        self._vault: Opened | None = None
        self._catalog: Catalog | None = None
        self._started = self._closed = self._failed = False

    @property
    def ready(self) -> Catalog | None:
        """The catalog if it is loaded; asking does not wait."""
        return self._catalog

    @property
    def state(self) -> str:
        """How far it is: "opening", "open", "failed" (to be tried again at the next call) or "stopping"."""
        if self._closed:
            return "stopping"
        if self._vault is not None:
            return "open"
        return "failed" if self._failed else "opening"

    @property
    def opened(self) -> Opened | None:
        """The vault if it is open; asking does not wait."""
        return None if self._closed else self._vault

    def start(self) -> None:
        """Begin to load and open in the background; further calls do nothing."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._prepare, name="opening", daemon=True).start()

    def catalog(self) -> Catalog:
        """Give the catalog, waiting for it where need be.

        Raises:
            VaultError: it cannot be loaded.
        """
        if self._catalog is None:
            with self._lock:
                if self._catalog is None:
                    self._catalog = _made(self._load_catalog, "The tools could not be loaded")
        return self._catalog

    def vault(self) -> Opened:
        """Give the vault, waiting for it where need be.

        Raises:
            VaultError: it cannot be opened, or the server is about to end.
        """
        if self._vault is None:
            self.catalog()
            with self._lock:
                self._open()
        if self._vault is None or self._closed:
            raise VaultBusy("The server is stopping. Start it again and repeat the call.")
        return self._vault

    def refuse(self) -> None:
        """Let no further call begin."""
        self._closed = True

    def close(self) -> None:
        """Let go of the vault, once no call uses it any more."""
        self._closed = True
        # A vault that is still being opened is left to the end of the process; storage survives that.
        if self._lock.acquire(timeout=CLOSE_WAIT):
            try:
                if self._vault is not None:
                    self._vault.close()
            finally:
                self._lock.release()

    def _prepare(self) -> None:
        try:
            self.vault()
        except VaultError as error:
            logger.error("%s", error)

    def _open(self) -> None:
        if self._vault is None and not self._closed:
            try:
                self._vault = _made(self._open_vault, "The vault could not be opened")
            finally:
                self._failed = self._vault is None


def _made(make: Callable[[], Made], failure: str) -> Made:
    """Make something; what was not foreseen goes to the log, and the caller is told so."""
    try:
        return make()
    except VaultError:
        raise
    except Exception:
        logger.exception("%s.", failure)
        raise StorageFailed(f"{failure}, by a fault in the server; its log has the details.") from None
