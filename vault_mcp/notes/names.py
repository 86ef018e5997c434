"""Names to files: the stem, folder and path under which a note of any name or key is stored on any system.

A file name is a hint for people. What a note is called stands in the note (`name:`, `key:`) whenever its file
name cannot carry it, so nothing is ever read back from the stems made here.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from typing import Final

from vault_mcp.notes.links import stem_key

STEM_BYTES: Final = 120
"""Longest stem in UTF-8 bytes: with folders and `.md` short enough for Windows and for synced drives."""

UNNAMED: Final = "untitled"
"""Stem of a name of which nothing is left."""

KEYS_FOLDER: Final = "keys"
_MEMORY_WORDS = 60
_KEY_DEPTH = 6
_MARK_DIGITS = 10

# What Obsidian links cannot hold (help, "Internal links"), what Windows refuses, and what is not seen or
# turns the line around: controls, separators, zero-width space and BOM, bidirectional overrides.
_REFUSED = re.compile(
    r'%%|[#^\[\]|\\/:*?"<>\x00-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)
_SPACES = re.compile(r"\s+")
# Joiners and variation selectors belong to emoji and to some scripts, but say nothing at the edge of a name.
_EDGES = " .\u200c\u200d\u200e\u200f\u00ad\ufe0e\ufe0f"
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"
}
_NUMBERED = re.compile(r" \([0-9]+\)\Z")
_MARKUP = re.compile(r"^[\s#>*+`~_-]+|[`*]+|%%.*?%%|!?\[\[|\]\]")


def name_key(name: str) -> str:
    """Return the form in which names are compared: NFC; case counts."""
    return unicodedata.normalize("NFC", name)


def path_key(path: str) -> str:
    """Return the form in which two paths are one file on some system: NFC, without regard to case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def file_stem(name: str) -> str:
    r"""Return a file name without `.md` that reads like `name` and that any system and Obsidian link accepts.

    NFC, 1 to `STEM_BYTES` bytes, no ``# ^ [ ] | \ / : * ? " < >``, no ``%%``, no control or unseen
    characters, no space or dot at either end, no Windows device name, no ending `.md` (a link to it would
    mean another file). Different names can give one stem: see `free_stem`.
    """
    stem = _REFUSED.sub(" ", unicodedata.normalize("NFC", name))
    stem = unicodedata.normalize("NFC", _SPACES.sub(" ", stem)).strip(_EDGES)
    if stem.split(".")[0].rstrip().lower() in _DEVICES:
        device, dot, rest = stem.partition(".")
        stem = f"{device.rstrip()} note{dot}{rest}"
    stem = _shortened(stem, STEM_BYTES)
    if stem.lower().endswith(".md"):
        stem = f"{stem[:-3].rstrip(_EDGES)} {stem[-2:]}"
    return stem or UNNAMED


def free_stem(name: str, taken: Callable[[str], bool]) -> str:
    """Return the stem of `name`, or the first of `stem (2)`, `stem (3)`… that is free.

    `taken` is asked with `links.stem_key` of a stem, so two stems never differ by case or Unicode form only.
    """
    stem = base = file_stem(name)
    number = 1
    while taken(stem_key(stem)):
        number += 1
        ending = f" ({number})"
        stem = _shortened(base, STEM_BYTES - len(ending)) + ending
    return stem


def is_stem_of(stem: str, name: str) -> bool:
    """Say whether a note of this name may have got this stem: `file_stem` of it, or one of `free_stem`."""
    if stem_key(stem) == stem_key(file_stem(name)):
        return True
    ending = _NUMBERED.search(stem)
    if ending is None:
        return False
    base = _shortened(file_stem(name), STEM_BYTES - len(ending[0]))
    return stem_key(stem) == stem_key(base + ending[0])


def shard(name: str) -> str:
    """Return two hex digits by hash of the name: the sub-folder for a new note of a folder that is full."""
    return hashlib.sha256(_octets(name_key(name))).hexdigest()[:2]


def memory_stem(text: str, date: str) -> str:
    """Return the stem of a memory note: its day and its first words. `date` begins with `YYYY-MM-DD`."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    words = _SPACES.sub(" ", _MARKUP.sub("", first[:400])).strip()
    if len(words) > _MEMORY_WORDS:
        cut = words[: _MEMORY_WORDS + 1]
        words = cut.rpartition(" ")[0] if " " in cut[_MEMORY_WORDS // 2 :] else cut[:_MEMORY_WORDS]
    return file_stem(f"{date[:10]} {words.strip(' .,;:-')}")


def key_path(key: str, taken: Callable[[str], bool] | None = None) -> str:
    """Return where the note of a key goes: `user/theme` to `keys/user/theme.md`; any key has a place.

    Slashes make folders when every part is a file name as it stands; otherwise the key is flattened into one
    name. `taken` is asked with `path_key` of a path, and a path that is taken gets a mark, ten hex digits by
    hash of the key: `keys/Log 3f2a91c07b.md`. Without `taken` every path that another key could ask for too
    is marked, so that two keys never share a file, whatever their case, Unicode form or separators.
    """
    parts = key.split("/")
    plain = len(parts) <= _KEY_DEPTH and all(part == file_stem(part) for part in parts)
    stem = key if plain and len(_octets(key)) <= 2 * STEM_BYTES else file_stem(key)
    path = f"{KEYS_FOLDER}/{stem}.md"
    own = stem == key and path_key(key) == key and not _MARKED.search(key)
    if own if taken is None else not taken(path_key(path)):
        return path
    digest = hashlib.sha256(_octets(key)).hexdigest()
    folder, slash, last = stem.rpartition("/")
    for digits in (_MARK_DIGITS, len(digest)):
        last = _shortened(last, STEM_BYTES - digits - 1)
        path = f"{KEYS_FOLDER}/{folder}{slash}{last} {digest[:digits]}.md"
        if taken is None or not taken(path_key(path)):
            break
    return path


_MARKED = re.compile(rf" [0-9a-f]{{{_MARK_DIGITS}}}\Z")


def _octets(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _shortened(stem: str, limit: int) -> str:
    """Cut to at most `limit` bytes between characters, and trim what a cut may leave at the end."""
    cut = _octets(stem)
    if len(cut) <= limit:
        return stem
    return cut[:limit].decode("utf-8", "ignore").rstrip(_EDGES)
