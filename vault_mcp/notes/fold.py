"""The form in which substrings are looked for: one function for the text and for what is asked.

Case, accents, width and typographic quotes say how something was typed, not what it says, so they are
folded away: Unicode's compatibility decomposition, full case folding, combining marks U+0300-036F dropped
(signs that are letters in their script, as in Devanagari or kana, stay), letters that no decomposition takes
apart spelled out, and all composed again. Signs that are not seen (soft hyphen, joiners, variation selectors
of emoji) are dropped.

The words of the full-text index are folded by `analyse`, which may change their number; here the order of
characters is kept, so that what is part of a text stays part of its folded form.
"""

import re
import unicodedata

_DROPPED = re.compile("[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]+")
_LETTERS = str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        **dict.fromkeys("‘’‛ʼ′", "'"),
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict(zip("øłđðħıŧŋ", "olddhitn", strict=True)),
    }
)


def fold(text: str) -> str:
    """Return a text as it is searched. Folding twice changes nothing more."""
    if text.isascii():
        return text.lower()
    bare = _DROPPED.sub("", unicodedata.normalize("NFKD", text)).casefold()
    return unicodedata.normalize("NFC", bare.translate(_LETTERS))
