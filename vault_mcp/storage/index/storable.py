"""Values that SQLite can hold: integers of 64 bits, text without lone surrogates."""

from vault_mcp.storage.files import FileStat

_MOST = (1 << 63) - 1


def storable(text: str) -> str:
    """Give a text that SQLite can be asked for: one with lone surrogates is in no row, nor is this."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "\x00"
    return text


def bounded(number: int) -> int:
    """Give a number as it can be stored: the nearest one of 64 bits."""
    return max(-_MOST, min(number, _MOST))


def seen(stat: FileStat) -> tuple[int, int, int, int, int]:
    """Give what tells whether a file has changed, as the index holds it: size, mtime_ns, ctime_ns, ino, mode.

    Inode numbers of some file systems have more bits than the index; the lowest 63 are kept.
    """
    return stat.size, bounded(stat.mtime_ns), bounded(stat.ctime_ns), stat.ino & _MOST, stat.mode
