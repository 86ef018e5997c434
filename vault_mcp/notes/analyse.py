"""Text to the words by which it is found: one analyser for what is indexed and what is asked.

The index tokenizer (SQLite FTS5 ``unicode61``) knows words only where a space or a change of category
ends them. Here everything it cannot see is made visible to it first: words inside unspaced scripts,
parts of identifiers, letters behind accents, emoji, ``C++``. The words come out folded and ready to be
joined with spaces, English words as their stems, so that the tokenizer has nothing left to decide.

Unspaced scripts are cut into overlapping n-grams as in Nie et al., "On the use of words and n-grams for
Chinese information retrieval" (IRAL 2000): pairs for Han, kana and hangul, triples for Thai, Lao, Khmer and
Burmese, whose letters say less each. Single characters and pairs are indexed beside them, so that a
query shorter than its n-gram finds its note too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from vault_mcp.notes.stem import stem

_HAN = r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HAN += r"\u3400-\u4dbf\u4e00-\u9fff"
_HAN += r"\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
_UNSPACED = r"\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
# Marks that stand on a letter and are part of its word, which Python's \w does not hold.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
)
_MARKS += (
    r"\u06d6-\u06dc\u06df-\u06e4\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7"
)
_MARKS += r"\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82"
_MARKS += r"\u0bbe-\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
_MARKS += r"\u0d00-\u0d03\u0d3b-\u0d57\u0d81-\u0df3"
_MARKS += r"\u0f18-\u0f3f\u0f71-\u0fbc\u200c\u200d"
_LETTER = rf"[\w{_MARKS}{_UNSPACED}]"
_EMOJI = (
    r"[\U0001F1E6-\U0001F1FF]{2}|[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001F000-\U0001FAFF]"
)

# 1,250 or 1'250, not a part of a longer run of digits
_GROUPED = r"(?<![\w.,])\d{1,3}(?:[,'’\u202f]\d{3})+(?![\d])"
_CHUNK = re.compile(rf"{_GROUPED}|{_LETTER}+(?:['’ʼ‐-]{_LETTER}+)*(?:\+\+?|#)?|{_EMOJI}")
_PLAIN_CHUNK = re.compile(r"(?<![\w.,])\d{1,3}(?:[,']\d{3})+(?!\d)|\w+(?:['-]\w+)*(?:\+\+?|#)?")
_SCRIPTS = re.compile(rf"([{_HAN}]+)|([{_UNSPACED}]+)|([^{_HAN}{_UNSPACED}]+)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGITS_AND_NAMES = re.compile(r"\d+|[^\W\d_]{3,}")
_ACCENTS = re.compile(
    r"[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u200c\u200d]"
)
_UMLAUT = re.compile("[äöü]", re.IGNORECASE)

# Letters that no normal form takes apart. Han: one character written in two ways inside one script.
_LETTERS = str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ħ": "h",
        "ı": "i",
        "ŋ": "n",
        "ſ": "s",
    }
)
_HAN_VARIANTS = str.maketrans("臺裡爲峯羣麪啓敎衞眞鷄綫牀", "台裏為峰群麵啟教衛真雞線床")
_UMLAUT_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})

# What is left of an English word before an apostrophe when one of these follows is no word of its own.
_CONTRACTED = frozenset(("t", "m", "d", "ll", "re", "ve"))

_ENGLISH = """
a about above after again against all also am an and any are arent as at be because been before being
below between both but by can cant could couldnt did didnt do does doesnt doing dont down during each few
for from further had hadnt has hasnt have havent having he hed her here hers herself him himself his how i
id if ill im in into is isnt it its itself ive just me more most my myself no nor not now of off on once
only or other our ours ourselves out over own same she shed should shouldnt so some such than that the
their theirs them themselves then there these they theyd theyll theyre theyve this those through to too
under until up very was wasnt we wed were werent weve what when where which while who whom whose why will
with wont would wouldnt you youd youll your youre yours yourself yourselves youve
"""
STOP_WORDS = frozenset(_ENGLISH.split())
"""English words that say nothing of a note's subject. Other languages are left to the rarity of each word."""

MAX_TERMS = 128
"""Terms kept of one query: more would be a document, not a question."""


def words(text: str) -> list[str]:
    """Return every form under which a text is to be found, in the order of the text.

    An identifier gives its parts and its whole, a run of an unspaced script its n-grams and characters.
    """
    return [form for chunk in _chunks(text) for form in _forms(chunk)[0]]


def indexed(text: str) -> str:
    """Return `words` as one text, joined by spaces: what the index is given of a passage."""
    return " ".join([joined for chunk in _chunks(text) if (joined := _forms(chunk)[2])])


def terms(query: str) -> list[str]:
    """Return the words to look for, each once, at most `MAX_TERMS`.

    Stop words are dropped unless the query holds nothing else.
    """
    asked: dict[str, None] = {}
    for chunk in _chunks(query):
        asked.update(dict.fromkeys(_forms(chunk)[1]))
        if len(asked) > 4 * MAX_TERMS:
            break
    telling = [term for term in asked if term not in STOP_WORDS]
    return list(dict.fromkeys(map(stem, telling or asked)))[:MAX_TERMS]


_Forms = tuple[tuple[str, ...], tuple[str, ...], str]


def _chunks(text: str) -> list[str]:
    if text.isascii():
        return _PLAIN_CHUNK.findall(text)
    return _CHUNK.findall(unicodedata.normalize("NFKC", text))


def _forms(chunk: str) -> _Forms:
    # Long chunks are runs of unspaced script that hardly come twice: they would push words out of the cache.
    return _known_forms(chunk) if len(chunk) <= 24 else _new_forms(chunk)


def _new_forms(chunk: str) -> _Forms:
    """Forms of one chunk: the stems to be indexed, the whole words to be asked for, and the stems joined."""
    whole, asked = _whole_forms(chunk)
    # A mark without a letter folds to nothing.
    stems = tuple(stem(form) for form in whole if form)
    return stems, tuple(form for form in asked if form), " ".join(stems)


_known_forms = lru_cache(maxsize=1 << 15)(_new_forms)


def _whole_forms(chunk: str) -> tuple[Sequence[str], Sequence[str]]:
    if not (chunk[0].isalnum() or chunk[0] == "_" or unicodedata.category(chunk[0])[0] == "M"):
        return _emoji(chunk)
    if chunk[-1] in "+#":
        name = chunk.rstrip("+#")
        if len(name) <= 2 and name.isalpha():
            signed = fold(name) + chunk[len(name) :].replace("+", "plus").replace("#", "sharp")
            return (signed, fold(name)), (signed,)
        chunk = name
    if chunk[0].isdigit() and re.fullmatch(_GROUPED, chunk):
        parts = re.split(r"\D", chunk)
        return (*parts, "".join(parts)), ("".join(parts),)
    indexed: list[str] = []
    asked: list[str] = []
    pieces = re.split("[‐-]", chunk)
    for piece in pieces:
        _add_piece(piece, indexed, asked)
    if len(pieces) == 2 and len(pieces[0]) <= 2 and pieces[0].isalpha():  # e-mail, wi-fi, T-shirt
        indexed.append(fold("".join(pieces)))
    return indexed, asked


def _emoji(chunk: str) -> tuple[Sequence[str], Sequence[str]]:
    if "\U0001f3fb" <= chunk <= "\U0001f3ff":  # a skin tone says how, not what
        return (), ()
    name = "emoji" + "".join(f"{ord(sign):x}" for sign in chunk)
    return (name,), (name,)


def _add_piece(piece: str, indexed: list[str], asked: list[str]) -> None:
    parts = re.split("['’ʼ]", piece)
    if len(parts) > 1:
        if parts[-1] in {"s", "S"}:
            parts.pop()
        elif parts[-1].lower() in _CONTRACTED:
            parts = ["".join(parts)]
    if len(parts) == 1:
        for match in _SCRIPTS.finditer(parts[0]):
            _add_run(match, indexed, asked)
        return
    folded = [fold(part) for part in parts]
    whole = "".join(folded)
    indexed += [*folded, whole]
    asked += [*(part for part in folded if len(part) > 1), whole]


def _add_run(match: re.Match[str], indexed: list[str], asked: list[str]) -> None:
    han, unspaced, word = match.groups()
    if han:
        han = han.translate(_HAN_VARIANTS).lower()
        pairs = _ngrams(han, 2)
        indexed += pairs
        if len(han) > 1:
            indexed += han
        asked += pairs
    elif unspaced:
        triples = _ngrams(unspaced, 3)
        indexed += triples
        if len(unspaced) > 2:
            indexed += _ngrams(unspaced, 2)
        asked += triples
    else:
        _add_word(word, indexed, asked)


def _ngrams(run: str, size: int) -> list[str]:
    return [run[start : start + size] for start in range(max(1, len(run) - size + 1))]


def _add_word(word: str, indexed: list[str], asked: list[str]) -> None:
    parts = [part for name in word.split("_") for part in _CAMEL.split(name) if part]
    if len(parts) > 1:
        folded = [fold(part) for part in parts]
        whole = "".join(folded)
        indexed += [*folded, whole]
        asked += [*folded, whole]
        return
    for part in parts:  # one, or none when the word was all underscores
        folded_part = fold(part)
        indexed.append(folded_part)
        asked.append(folded_part)
        if not folded_part.isalpha() and not folded_part.isdigit():
            indexed += [run for run in _DIGITS_AND_NAMES.findall(folded_part) if run != folded_part]
        if _UMLAUT.search(part):
            indexed.append(fold(part.translate(_UMLAUT_LETTERS)))


def fold(word: str) -> str:
    """Return a word without case and accents, the vowel points of Arabic and Hebrew among them."""
    if word.isascii():
        return word.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).casefold().translate(_LETTERS)
