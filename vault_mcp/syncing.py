"""Sync in the background of a server: every so often, or after a quiet moment behind each change."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_mcp.errors import NotFound, VaultError
from vault_mcp.sync import sync

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

log = logging.getLogger(__name__)

QUIET = 10.0
"""Seconds without a further commit after which a change is synced."""

LOOK = 1.0
"""Seconds between two looks at where the branch is."""

LONGEST_QUIET = 120.0
"""Seconds after the first of many changes by which they are synced at the latest."""

AGAIN = 60.0
"""Seconds until the next try where one failed or the remote was away; doubled each time."""

LONGEST_PAUSE = 3600.0


class Syncing:
    """A thread that syncs one vault. It never holds the vault's lock for longer than a call does."""

    def __init__(
        self,
        vault: Vault,
        *,
        every: float = 0.0,
        on_change: bool = False,
        driver: Sequence[str] = (),
        quiet: float | None = None,
    ) -> None:
        """Prepare to sync.

        Args:
            vault: The vault.
            every: Seconds between two syncs; 0 for none by the clock.
            on_change: Sync at the start, and after a quiet moment behind each commit.
            driver: The command that Git calls in this clone to merge notes. It has to be registered already:
                a person has run `init` or `sync` here, so that a vault from a stranger, whose configuration
                names a remote, sends nothing there by itself.
            quiet: Seconds without a further commit that count as a quiet moment; `QUIET` if not said.
        """
        self._vault = vault
        self._every = every
        self._on_change = on_change
        self._driver = tuple(driver)
        self._quiet = QUIET if quiet is None else quiet
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sync", daemon=True)
        self.rounds = 0
        """Syncs that came to an end, for whoever waits for one."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end; a sync that is under way goes on until it is safe."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        if not self._allowed():
            return
        pause = AGAIN
        due = 0.0 if self._on_change else time.monotonic() + self._every
        first = last = 0.0  # when the changes began that are not synced yet, and the last of them
        seen = self._vault.repository.head()
        while not self._stopping.wait(min(LOOK, self._quiet)):
            now, head = time.monotonic(), self._vault.repository.head()
            if head != seen:
                seen, last, first = head, now, first or now
            if first and now - last < self._quiet and now - first < LONGEST_QUIET:
                continue
            if now < due and not (first and self._on_change):
                continue
            done = self._sync()
            seen = self._vault.repository.head()
            first = last = 0.0
            if done is None:
                due, pause = now + min(pause, self._every or pause), min(pause * 2, LONGEST_PAUSE)
                continue
            due, pause = now + (self._every or float("inf")), AGAIN
            if seen != done:
                first = last = now

    def _allowed(self) -> bool:
        """Say whether a person has run `init` or `sync` in this clone."""
        if self._driver and self._vault.repository.driver_is(self._driver):
            return True
        self._vault.trouble(
            "The vault does not sync by itself yet: run `vault-mcp sync` here once, so that it is you who "
            "says with what. Then start the server again."
        )
        return False

    def _sync(self) -> str | None:
        """Sync once; give the commit that both are at, None where the remote was not there."""
        try:
            done = sync(self._vault)
        except NotFound as error:
            self._vault.trouble(str(error))
            return None
        except VaultError as error:
            self._vault.trouble(f"The vault was not synced. {error}")
            return None
        except Exception:
            log.exception("the vault was not synced")
            return None
        finally:
            self.rounds += 1
        for told in done.told:
            if told.what == "decide":
                self._vault.trouble(told.text)
        return done.commit if done.state == "in step" else None
