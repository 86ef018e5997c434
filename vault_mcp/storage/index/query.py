"""Read what was searched for, and say it to the trigram index."""

import re

from vault_mcp.storage.index.searchable import searchable

MOST_TERMS = 24
"""Terms of a query that count; the rest of a longer one is left out."""

MOST_CHARACTERS = 4000
"""Characters of a query that are looked at."""

_MOST_GRAMS = 8
_TERM = re.compile(r'"([^"]*)"(?=\s|$)|(\S+)')
_EDGES = " ?!.,;:…()[]{}<>\"'"


def terms_of(query: str) -> tuple[str, ...]:
    """Split a query into its terms: words, and "quoted phrases" as one term each, in searchable form.

    A quotation mark without its partner is left out, unless it is all there is.
    """
    terms: dict[str, None] = {}
    for phrase, word in _TERM.findall(searchable(query[:MOST_CHARACTERS])):
        term = phrase.strip() or (word if word.count('"') != 1 else word.strip('"') or word)
        if term and term != '""':
            terms[term] = None
    return tuple(terms)[:MOST_TERMS]


def without_edges(term: str) -> str:
    """Give a term without the punctuation that a sentence puts around a word; "" when too little is left."""
    core = term.strip(_EDGES)
    return core if len(core) >= 3 and core != term else ""


def gram_query(text: str) -> str:
    """Give the FTS5 query for units that may hold `text` (three characters or more): they hold its trigrams.

    Trigrams side by side are enough, as every hit is checked against the text; of a long text only some are
    asked.
    """
    starts = [*range(0, len(text) - 2, 3), len(text) - 3]
    if len(starts) > _MOST_GRAMS:
        starts = starts[:: -(-len(starts) // _MOST_GRAMS)]
    grams = dict.fromkeys(text[start : start + 3].replace('"', '""') for start in starts)
    return " AND ".join(f'"{gram}"' for gram in grams)


def gram_range(prefix: str) -> tuple[str, str]:
    """Give the bounds (from, below) of the trigrams that begin with one or two characters."""
    return prefix, prefix + "\U0010ffff"
