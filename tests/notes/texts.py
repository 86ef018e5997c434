"""Arbitrary texts, in which what the grammar of a note is made of comes often."""

from hypothesis import strategies as st

PIECES = [
    "## Relations",
    "## relations ##",
    "##",
    "\\",
    "\n",
    "\n\n",
    " ",
    "\t",
    "\r",
    "\r\n",
    "&#13;",
    "&#10;",
    "&#32;",
]
PIECES += [
    "&#8217;",
    "&#",
    "```",
    "~~~",
    "json",
    "{",
    "}",
    "[",
    "[[x]]",
    '"',
    "`",
    "---\n",
    "key: a",
    "%%",
    "<!--",
]
PIECES += [
    "\x00",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "e\u0301",
    "😀",
    "- a [[b]]",
    "<br>",
    "<<<<<<< ",
    "1",
    "null",
]

TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
