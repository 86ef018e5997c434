"""English words to their stems, so that `hiking` finds `hiked`.

The algorithm is M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two later
changes of its author's own program (`bli` for `abli`, `logi` to `log`). It is done here and not in the
index, because ranking compares words too and both must see the same ones.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Each step maps suffixes to what replaces them; the longest that fits decides, whether it is replaced or not.
_ONTO_SIMPLE = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator":
    "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti":
    "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_ONTO_SHORT = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_DROPPED = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip
_DROPPED_LONGEST_FIRST = tuple(sorted(_DROPPED, key=len, reverse=True))


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; what is not of the letters a to z comes back as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    word = _without_past(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _ONTO_SIMPLE)
    word = _replaced(word, _ONTO_SHORT)
    word = _without_ending(word)
    return _tidied(word)


def _shape(word: str) -> str:
    """Write each letter as `c` or `v`; a y after a consonant sounds as a vowel."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    return len(re.findall("vc", _shape(word)))


def _is_short(word: str) -> bool:
    """Porter's *o: ends consonant, vowel, consonant, and the last is none of w, x, y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        start = word[: -len(ending)]
        if word.endswith(ending):
            return _mended(start) if "v" in _shape(start) else word
    return word


def _mended(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c" and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _replaced(word: str, suffixes: dict[str, str]) -> str:
    for size in range(7, 2, -1):  # the longest and the shortest suffix of the two tables
        replacement = suffixes.get(word[-size:])
        if replacement is not None and len(word) >= size:
            start = word[:-size]
            return start + replacement if _measure(start) > 0 else word
    return word


def _without_ending(word: str) -> str:
    for ending in _DROPPED_LONGEST_FIRST:
        if word.endswith(ending):
            start = word[: -len(ending)]
            if ending == "ion" and not start.endswith(("s", "t")):
                return word
            return start if _measure(start) > 1 else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        start = word[:-1]
        measure = _measure(start)
        if measure > 1 or (measure == 1 and not _is_short(start)):
            word = start
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
