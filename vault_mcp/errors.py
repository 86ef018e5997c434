"""Every error the vault raises on purpose.

    VaultError
    ├── BadArgument         the call's own words are off
    ├── NotFound            nothing there by that name, path, text or id
    ├── AlreadyThere        the name or path is taken
    ├── Stale               the note is no longer what the caller (or this call) saw
    ├── PathRefused         a path that leaves the vault, or that no tool may touch
    ├── NoteUnreadable      one note's text cannot be read or safely edited
    ├── RepositoryRefused   the repository is in a state that must not be written
    ├── VaultBusy           another program holds a lock for too long
    └── StorageFailed       the disk or Git said no: full, read-only, no permission

The first sentence of a message says what happened in the caller's words, the next what to do.
A door adds that nothing was saved: only it knows that the call was going to write.
Messages hold paths relative to the vault, never of the host.
"""


class VaultError(Exception):
    """Something that was foreseen: its text can be shown to the caller as it is."""


class BadArgument(VaultError):
    """The call's own words are off."""


class NotFound(VaultError):
    """Nothing is there by that name, path, text or id."""


class AlreadyThere(VaultError):
    """The name or the path is taken."""


class Stale(VaultError):
    """The note is no longer what the caller, or this very call, saw.

    Attributes:
        retry: the same call, made again from the start, may succeed: only this call saw an older note.
    """

    def __init__(self, message: str, *, retry: bool = False) -> None:
        super().__init__(message)
        self.retry = retry


class PathRefused(VaultError):
    """A path that leaves the vault, or that no tool may touch."""


class NoteUnreadable(VaultError):
    """One note's text cannot be read, or cannot be edited safely."""


class RepositoryRefused(VaultError):
    """The repository is in a state that must not be written."""


class VaultBusy(VaultError):
    """Another program holds a lock for too long."""


class StorageFailed(VaultError):
    """The disk or Git said no: full, read-only, no permission."""
