"""Tells of files that were changed by hand: `sources` hears of them, `rest` waits, `Watcher` tells."""

from vault_mcp.storage.watcher.watcher import Mode, Told, Watcher

__all__ = ["Mode", "Told", "Watcher"]
