"""How a text may be written in a vault and in the messages of its commits."""

import json
import unicodedata

from vault_mcp.notes.line import encode, encode_shown
from vault_mcp.notes.names import file_stem, memory_stem

_TITLE = 24
"""Letters from which the first words of a text, as the name of its note has them, are its own."""

_DAY = "0000-00-00"


def spellings(text: str) -> list[str]:
    """Give the text and every other form in which a note, a name or a message may hold it, the longest first.

    A line of a list, a string in JSON or YAML, one line of a message, a file's name, the name that a memory
    gets of its first words; each in both Unicode forms.
    """
    flat = " ".join(text.split())
    title = memory_stem(text, _DAY).removeprefix(_DAY).strip()
    forms = [text, flat, encode(text), encode_shown(text), json.dumps(text, ensure_ascii=False)[1:-1]]
    forms += [json.dumps(text)[1:-1], file_stem(text)]
    if len(title) >= _TITLE:
        forms.append(title)
    every = {unicodedata.normalize(form, one) for one in forms for form in ("NFC", "NFD")} | set(forms)
    shortest = min(len(flat), _TITLE)
    return sorted((one for one in every if len(one) >= shortest), key=lambda one: (-len(one), one))
