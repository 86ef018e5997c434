"""How well a text matches the terms of a query.

Each term a unit holds adds its rarity (the inverse document frequency of BM25, Robertson and Zaragoza 2009)
times how it is held: as a word, as the beginning of one, or inside one; times what holds it: a name counts
more than a fact, a fact more than prose.
"""

import math

from vault_mcp.storage.index.schema import NAME, OBSERVATION, PASSAGE, SUPERSEDED, VALUE

WORD, BEGINNING, INSIDE = 1.0, 0.7, 0.4

IN_NAME, WHOLE_NAME, BESIDE_NAME = 3.0, 4.0, 1.2
"""Weights of a term in a name, of one that is the whole name, and of one in a type, alias or tag."""

ROLES = {OBSERVATION: 1.0, SUPERSEDED: 0.7, PASSAGE: 0.8, VALUE: 1.0}

_LONG = 2000
"""Characters at which a text counts half of what a very short one does."""


def rarity(units: int, holding: int) -> float:
    """Give how much a term tells: high when few of all units hold it, never negative."""
    return math.log(1 + (max(units, holding) - holding + 0.5) / (holding + 0.5))


class Term:
    """One term of a query, ready to be looked for in many texts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._open_before = not _letter(text[0])
        self._open_after = not _letter(text[-1])

    def fit(self, folded: str) -> float:
        """Say how a padded text holds the term: `WORD`, `BEGINNING`, `INSIDE`, or 0.0 for not at all."""
        best = 0.0
        at = folded.find(self.text)
        while at >= 0:
            if self._open_before or not _letter(folded[at - 1]):
                if self._open_after or not _letter(folded[at + len(self.text)]):
                    return WORD
                best = BEGINNING
            elif not best:
                best = INSIDE
            at = folded.find(self.text, at + 1)
        return best

    def weight(self, folded: str, role: int) -> float:
        """Give how well a unit holds the term, what the unit is counted in."""
        if self.text not in folded:
            return 0.0
        if role != NAME:
            return ROLES[role] * self.fit(folded) / (1 + len(folded) / _LONG)
        name, _, beside = folded.partition("\n")
        if name == f" {self.text} ":
            return WHOLE_NAME
        return max(IN_NAME * self.fit(name) / (1 + len(name) / _LONG), BESIDE_NAME * self.fit(beside))


def _letter(character: str) -> bool:
    """Say whether a character belongs to the word beside it.

    Thai, Lao, Khmer, kana, Han and hangul put no spaces between words, so that a word may end at any of them.
    """
    if character <= "\u0dff":
        return character.isalnum()
    return character.isalnum() and not (
        character <= "\u0eff" or "\u1780" <= character <= "\u17ff" or character >= "\u2e80"
    )
