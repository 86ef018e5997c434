"""A path that stays inside the vault, and which names the vault passes over.

A path here is vault-relative with `/` between its parts, whatever the system; the root is `""`. Names are
kept exactly as given: a file that a Mac wrote decomposed is opened decomposed, because composing its name
would name another file on Linux. Callers find what a person meant in two steps: the exact path first, then
any path with the same `place_key`, the form in which macOS and Windows tell names apart.
"""

import os
import re
import unicodedata
from urllib.parse import unquote

from vault_mcp.errors import PathRefused

MAX_NAME = 255
"""Bytes of one name in UTF-8: the limit of ext4, APFS and, in UTF-16 units, of NTFS."""

MAX_PATH = 1000
"""Bytes of a whole path in UTF-8: macOS stops at 1,024 for the path from its root."""

_QUOTED = 120
_DECODINGS = 4

_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\..*)?", re.I | re.S)
_SHORT_NAME = re.compile(r"[^.\s~]{1,6}~[0-9]{1,4}(?:\.[^.]{0,3})?", re.S)
_DRIVE = re.compile(r"[A-Za-z]:")
_LEFTOVER = re.compile(
    r"4913"  # vim asks with this name whether it may write in the folder
    r"|.+~"  # vim, emacs, nano, kate: the copy kept while saving
    r"|\#.*\#"  # emacs: unsaved text
    r"|~\$.*"  # office programs: who has it open
    r"|.*\.tmp"
    r"|.*___jb_(?:tmp|old)___"  # JetBrains editors while saving
    r"|conflict-files-obsidian-git\.md",  # Obsidian Git's own report on a failed merge
    re.I | re.S,
)
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Unicode's Bidi_Control (PropList.txt): what turns the direction of writing, unseen."""

_CONFLICT = re.compile(
    r"(?P<stem>.+?)(?:"
    r"\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Z0-9]{1,7})?"  # Syncthing
    r"|[ ]\((?:[^()]*[ ])?conflicted[ ]copy(?:[ ][^()]*)?\)"  # Dropbox, Nextcloud, Obsidian Sync
    r"|_conflict-[0-9]{8}-[0-9]{6}"  # ownCloud
    r"|[ ]\(SFConflict[ ][^()]*\)"  # Seafile
    r"|\.Conflict"  # Resilio
    r")(?P<ending>\.[^./]+)?",
    re.I | re.S,
)


def inside(path: str, *, existing: bool = False) -> str:
    """Check the path a caller gave and give it back as the vault writes it, `""` for the root.

    `./`, repeated slashes and a slash at the end are tolerated; everything that could lead out of the
    vault, into hidden or protected parts, or to a name that one of Linux, macOS and Windows cannot store is
    refused, on every system alike. `existing` is for what only reads, moves away or deletes: it lets names
    through that this disk may hold already though another could not (`What?.md`), and nothing else.

    Raises:
        PathRefused: with one sentence on what is wrong and, where it helps, one on what to do.
    """
    _refuse_unprintable(path)
    if path.startswith("/"):
        raise PathRefused("The path is absolute. Give it relative to the vault, such as notes/plan.md.")
    if "\\" in path:
        raise PathRefused(f"The path {_quoted(path)} has a backslash. Separate folders by / instead.")
    if _DRIVE.match(path):
        raise PathRefused(
            f"The path {_quoted(path)} starts with a drive letter. Give it relative to the vault."
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for part in parts:
        _refuse_leading_out(part, path)
        _refuse_hidden(part, path)
        if not (existing and _held_here(part)):
            _refuse_unstorable(part, path)
    if parts and _LEFTOVER.fullmatch(parts[-1]):
        raise PathRefused(
            f"{_quoted(parts[-1])} is a name that editors use for passing files, so the vault looks past it. "
            "Choose another name."
        )
    joined = "/".join(parts)
    if len(joined.encode()) > MAX_PATH:
        raise PathRefused(f"The path {_quoted(path)} is longer than {MAX_PATH} bytes. Choose a shorter one.")
    return joined


def _refuse_unprintable(path: str) -> None:
    for char in path:
        category = unicodedata.category(char) if not " " <= char <= "~" else ""
        if category == "Cs":
            raise PathRefused(
                f"The path {_quoted(path)} has half of a surrogate pair, which is not a character."
            )
        if category in ("Cc", "Zl", "Zp"):
            raise PathRefused(
                f"The path {_quoted(path)} has a control character (U+{ord(char):04X}). Leave it out."
            )


def _refuse_leading_out(part: str, path: str) -> None:
    """Refuse a part that is `..`, only dots, or becomes a path of its own when something decodes it later."""
    decoded = part
    for _ in range(_DECODINGS):
        if not decoded.strip("."):
            raise PathRefused(
                f"The path {_quoted(path)} leads out of its folder. Name the file without '..'."
            )
        once_more = unquote(decoded)
        if once_more == decoded:
            break
        decoded = once_more
    if decoded != part and (
        decoded.startswith(".")
        or any(char in "/\\" or ord(char) < 32 or ord(char) == 127 for char in decoded)
    ):
        raise PathRefused(f"The path {_quoted(path)} hides a dot or a slash behind %. Write it plainly.")


def _refuse_hidden(part: str, path: str) -> None:
    if _is_hidden_name(part):
        raise PathRefused(
            f"The path {_quoted(path)} has a hidden or protected part, {_quoted(part)}. No tool may touch it."
        )
    # Any short name may be another file's: MEETIN~1.MD opens "Meeting notes.md" on NTFS and on shares of it.
    if _SHORT_NAME.fullmatch(part):
        raise PathRefused(
            f"{_quoted(part)} has the shape of a Windows short name. Give the file's full name."
        )


def _held_here(part: str) -> bool:
    """Whether a disk of this system can hold the name by itself, though another system's could not."""
    return os.name == "posix" and len(part.encode()) <= MAX_NAME


def _refuse_deceiving(part: str, path: str) -> None:
    """Refuse a name that a reader, a shell or a program that normalises takes for another."""
    if part == "~":
        raise PathRefused("The name ~ means the home folder to shells and programs. Choose another name.")
    for char in part if not part.isascii() else "":
        if char in _TURNS:
            raise PathRefused(
                f"The path {_quoted(path)} has a character that turns the direction of writing "
                f"(U+{ord(char):04X}), so it can pass for another. Leave it out."
            )
    if not unicodedata.normalize("NFKC", part).strip("."):
        raise PathRefused(f"The name {_quoted(part)} passes for dots. Choose another name.")


def _refuse_unstorable(part: str, path: str) -> None:
    _refuse_deceiving(part, path)
    if ":" in part:
        raise PathRefused(f"The path {_quoted(path)} has a colon, which Windows cannot store. Leave it out.")
    if bad := next((char for char in part if char in '<>"|?*'), None):
        raise PathRefused(f"The path {_quoted(path)} has {bad}, which Windows cannot store. Leave it out.")
    if part[-1] in ". ":
        raise PathRefused(
            f"The name {_quoted(part)} ends in a dot or a space, which Windows drops. Leave it out."
        )
    if _DEVICES.fullmatch(part):
        raise PathRefused(f"The name {_quoted(part)} is a device on Windows. Choose another name.")
    if len(part.encode()) > MAX_NAME:
        raise PathRefused(f"The name {_quoted(part)} is longer than {MAX_NAME} bytes. Choose a shorter one.")


def is_hidden(path: str) -> bool:
    """Whether the vault passes over this file: a dot in front of any part, or a passing file of some program.

    Names of passing files (`n.md~`, `x.tmp`, `4913`) count for the last part only: a folder may be called
    that.
    """
    return is_hidden_folder(path) or _LEFTOVER.fullmatch(path[path.rfind("/") + 1 :]) is not None


def is_hidden_folder(path: str) -> bool:
    """Whether the vault does not look into this folder: a dot before any part, or a disguise of `.git`."""
    return any(_is_hidden_name(part) for part in path.split("/"))


def _is_hidden_name(name: str) -> bool:
    # Git itself refuses .git under every name that NTFS or HFS+ takes for it (fsck calls it hasDotgit), so
    # a commit that held one could not be checked out: GIT~1, one behind a backslash, one with characters
    # HFS+ skips.
    if not name.isascii():
        name = "".join(char for char in name if unicodedata.category(char) != "Cf")
    if name.startswith("."):
        return True
    if "~" not in name and "\\" not in name:
        return False
    pieces = (piece.rstrip(" .").lower() for piece in re.split(r"[\\:]", name))
    return any(piece in (".git", "git~1") for piece in pieces)


def conflict_copy_of(path: str) -> str | None:
    """Give the file that a sync program's conflict copy stands beside, or None for any other path.

    Known are Syncthing, Dropbox, Nextcloud, ownCloud, Obsidian Sync, Seafile and Resilio. `Plan 2.md`
    (iCloud) and `Plan (1).md` (Google Drive) are left alone: people name notes so.
    """
    folder, slash, name = path.rpartition("/")
    found = _CONFLICT.fullmatch(name)
    return f"{folder}{slash}{found['stem']}{found['ending'] or ''}" if found else None


def placeholder_of(path: str) -> str | None:
    """Give the path of the file that an iCloud placeholder (`.n.md.icloud`) stands in for, or None.

    The file it names is not deleted, only not downloaded.
    """
    folder, slash, name = path.rpartition("/")
    if name.startswith(".") and name.endswith(".icloud") and len(name) > len("..icloud"):
        return f"{folder}{slash}{name[1 : -len('.icloud')]}"
    return None


def placeholder_for(path: str) -> str:
    """Give the path at which iCloud leaves a placeholder when it takes this file off the disk."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.icloud"


def place_key(path: str) -> str:
    """Give the form in which paths are compared that macOS or Windows would take for one file.

    Composed and case-folded (Unicode's canonical caseless matching, The Unicode Standard, D145).
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def shown(path: str) -> str:
    r"""Give the path as a result can hold it: bytes that are no UTF-8 and control characters as `\xff`."""
    text = "".join(
        char if unicodedata.category(char) not in ("Cc", "Zl", "Zp") else ascii(char)[1:-1] for char in path
    )
    try:
        return os.fsencode(text).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, which no disk ever gave
        return text.encode("utf-8", "backslashreplace").decode()


def _quoted(path: str) -> str:
    readable = "".join(char if char not in _TURNS else ascii(char)[1:-1] for char in shown(path))
    return f'"{readable}"' if len(readable) <= _QUOTED else f'"{readable[:_QUOTED]}…"'
