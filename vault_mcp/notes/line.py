r"""One observation or relation and the one line of a note that holds it, with its stamp and its escapes.

    - Works remotely from Lisbon %%+2026-10-05T09:12:33Z claude-desktop ~2026-10-06T10:00:00Z cursor%%
      text                         added at, agent                        edited at, by

The stamp is a comment that tools write at the end of a line: ``+`` added, ``~`` edited, ``-`` superseded,
``>`` the text that replaced it, ``<`` a source (entity and text). The last comment of that shape is the
stamp; words a person types behind it belong to the text, a block id (`` ^id``, set by Obsidian when somebody
links to the line) does not. Readers take ``<!--+…-->`` too.

Escapes cover only what one line cannot hold, so that a person reads and edits plain words:

    newline                                  <br>
    other controls, line separators          &#N;      (N decimal; a tab stays)
    second % of %%                           &#37;
    <br> or &#N; meant literally             a backslash before it; backslashes just before either are doubled

A line with a stamp is exact: spaces at its edges count. A line without one is trimmed, as a person would
expect of ``-   typed``; where an unstamped line has to be exact, its edges are written as ``&#N;``.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

RELATES_TO: Final = "relates_to"
"""Type of a relation that a person wrote as a bare link."""


@dataclass(frozen=True, slots=True)
class Source:
    """An observation of some entity from which another was drawn."""

    entity: str
    text: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """When and by whom a line was added, last edited and superseded.

    Times are ``YYYY-MM-DDTHH:MM:SSZ``; any ISO 8601 form is read and kept as written. Empty: did not happen.
    """

    added_at: str
    agent: str
    edited_at: str = ""
    edited_by: str = ""
    superseded_at: str = ""
    superseded_by: str = ""
    replacement: str | None = None
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Bullet:
    """What a list line says. `raw` is the text as it stands in the file, escapes and all."""

    text: str
    stamp: Stamp | None
    block_id: str
    is_task: bool
    raw: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A relation line: its type, and the wikilink's target and shown text (None when the link has none)."""

    type: str
    target: str
    shown: str | None


# --- escapes --------------------------------------------------------------------------------------

_CONTROLS = r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]"
_TOKEN = r"<br>|&#[0-9]{1,7};"
# Backslashes are only looked at from the first of their row, and never given back: long rows cost no time.
_SLASHES = r"(?<!\\)(\\*+)"
_DECODE = re.compile(rf"{_SLASHES}({_TOKEN})")


@cache
def _unsafe(also: str) -> re.Pattern[str]:
    more = f"|{also}" if also else ""
    return re.compile(rf"{_SLASHES}({_TOKEN}|{_CONTROLS}|(?<=%)%{more})")


def _encoded(match: re.Match[str]) -> str:
    slashes, unsafe = match[1] * 2, match[2]
    if len(unsafe) > 1:
        return f"{slashes}\\{unsafe}"
    return slashes + ("<br>" if unsafe == "\n" else f"&#{ord(unsafe)};")


def _decoded(match: re.Match[str]) -> str:
    slashes, token = match[1], match[2]
    kept = "\\" * (len(slashes) // 2)
    if len(slashes) % 2:
        return kept + token
    if token == "<br>":
        return kept + "\n"
    code = int(token[2:-1])
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:  # names no character: typed by a person, left as it is
        return slashes + token
    return kept + chr(code)


def encode(text: str) -> str:
    """Return a text as one line from which `decode` gives it back exactly."""
    return _unsafe("").sub(_encoded, text)


def encode_shown(text: str) -> str:
    """Return a text for the shown part of a wikilink: as `encode`, without a sign that would end the link."""
    return _unsafe(r"[\[\]|]").sub(_encoded, text)


def decode(line: str) -> str:
    """Return the text that a line's words stand for."""
    if "<br>" not in line and "&#" not in line:
        return line
    return _DECODE.sub(_decoded, line)


# --- stamps ---------------------------------------------------------------------------------------

_TIME = r"([0-9]{4}-[0-9]{2}-[0-9]{2}[0-9T:.Z+-]*)"
_WHO = r"([^%~]{0,200}?)"
_STRING = r'"(?:[^"\\]|\\.)*"'
_STAMP = re.compile(
    rf"(?:(%%)|<!--)\+{_TIME} {_WHO}(?: ~{_TIME} {_WHO})?"
    rf"(?: -{_TIME} {_WHO}(?: >({_STRING}))?)?((?: <{_STRING} {_STRING})*)(?(1)%%|-->)"
)
# Nearly every stamp is of this kind, and ends its line: sought first, in a third of the time.
_PLAIN_STAMP = re.compile(rf"%%\+{_TIME} ([^%~ ]{{0,200}})%%")
_STAMP_OPENS = re.compile(r"%%\+|<!--\+")
_COMMENT = r"<(?=!--\+)"
_SOURCE = re.compile(rf" <({_STRING}) ({_STRING})")
_BLOCK_ID = re.compile(r" \^([A-Za-z0-9-]+)$")
_FORBIDDEN_IN_AGENT = re.compile(r"[%~<>]")
_DATE_MARK = re.compile(r" -(?=[0-9])")  # would read as the start of "superseded"

AGENT_LENGTH: Final = 100

REMEMBERED: Final = 1000
"""Characters up to which a line is remembered as it was read."""


@lru_cache(maxsize=256)
def clean_agent(name: str) -> str:
    """Return an agent's name as it may stand in a stamp and in a commit's header.

    One line of characters that are seen, without ``% ~ < >``, at most 100 of them; "unknown" if none is left.
    """
    visible = "".join(c if c.isprintable() else " " if c.isspace() else "" for c in name)
    visible = _DATE_MARK.sub(" ", " ".join(_FORBIDDEN_IN_AGENT.sub(" ", visible).split()))
    return visible[:AGENT_LENGTH].strip() or "unknown"


@lru_cache(maxsize=256)
def address_part(name: str) -> str:
    """Return what stands for an agent before the @ in its commits: who shares it looks the same there."""
    local = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name).strip("-.")
    return (local or "agent").lower()


def older(one: Stamp | None, other: Stamp | None) -> Stamp | None:
    """Return the stamp that was added first; one that is there rather than none."""
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda stamp: stamp.added_at)


def _string(text: str) -> str:
    # A comment inside a string would be the last of the line: only its sign is taken from it.
    return _unsafe(_COMMENT).sub(_encoded, json.dumps(text, ensure_ascii=False))


def _comment(stamp: Stamp) -> str:
    parts = [f" %%+{stamp.added_at} {clean_agent(stamp.agent)}"]
    if stamp.edited_at:
        parts.append(f" ~{stamp.edited_at} {clean_agent(stamp.edited_by)}")
    if stamp.superseded_at:
        parts.append(f" -{stamp.superseded_at} {clean_agent(stamp.superseded_by)}")
        if stamp.replacement is not None:
            parts.append(f" >{_string(stamp.replacement)}")
    parts += [f" <{_string(source.entity)} {_string(source.text)}" for source in stamp.sources]
    parts.append("%%")
    return "".join(parts)


def _from_string(written: str) -> str:
    try:
        text = str(json.loads(decode(written), strict=False))
    except ValueError:  # a person's hand was in it
        return written[1:-1]
    return text.encode("utf-8", "replace").decode()  # "\ud800" is a JSON string, but not text


def _stamp(match: re.Match[str]) -> Stamp:
    _, added, agent, edited, editor, superseded, superseder, replacement, sources = match.groups()
    if not (edited or superseded or sources):
        return Stamp(added, agent)
    return Stamp(
        added,
        agent,
        edited or "",
        editor or "",
        superseded or "",
        superseder or "",
        _from_string(replacement) if replacement else None,
        tuple(Source(_from_string(entity), _from_string(text)) for entity, text in _SOURCE.findall(sources)),
    )


def _find_stamp(body: str) -> re.Match[str] | None:
    """The last comment in a stamp's shape, sought from the end."""
    for opening in reversed(list(_STAMP_OPENS.finditer(body))):
        match = _STAMP.match(body, opening.start())
        if match:
            return match
    return None


# --- lines ----------------------------------------------------------------------------------------

_TASK = re.compile(r"\[.\] \S")
_BARE = rf"\A\s|\s\Z|\^(?=[A-Za-z0-9-]+\Z)|{_COMMENT}|\A-(?=[- ]*\Z)"
_TYPE = r"\[(?=\[)"
_BARE_TYPE = rf"{_TYPE}|{_COMMENT}|\A\s|\s\Z|:(?=:\Z)|\A\[(?=.\])"
_RELATION = re.compile(
    r"(?:([^\[]*(?:\[(?!\[)[^\[]*)*)(?: |(?<=::)))?"
    r"\[\[([^\[\]|#^\\]+)(?:#[^\[\]|\\]*)?(?:\\?\|((?:(?!\[\[|\]\]).)*))?\]\]",
    re.DOTALL,
)


def observation_line(text: str, stamp: Stamp | None, *, stamp_task: bool = False) -> str:
    """Return the line of an observation, without its newline.

    A task (``[ ] call``) gets no stamp, because plugins read a task from the end of its line and Git keeps
    who wrote it; unless the line would not be exact without, the stamp holds what Git does not know (sources,
    superseded), or `stamp_task` says that it is older than its commit, as on import.
    """
    words = encode(text)
    if stamp is not None and not (_TASK.match(words) and _git_suffices(words, stamp) and not stamp_task):
        return f"- {words}{_comment(stamp)}"
    if not _is_bare(words):
        words = _unsafe(_BARE).sub(_encoded, text)
    return f"- {words}"


def relation_line(type: str, link: str, stamp: Stamp | None) -> str:
    """Return the line of a relation, without its newline; `link` is a whole wikilink."""
    if stamp is not None:
        return f"- {_unsafe(_TYPE).sub(_encoded, type)} {link}{_comment(stamp)}"
    return f"- {_unsafe(_BARE_TYPE).sub(_encoded, type)} {link}"


def parse_bullet(body: str) -> Bullet:
    r"""Return what a list line says; `body` is what follows ``- `` (a ``\r`` at its end is the line's).

    Two versions of a note share most of their lines, so what was read a moment ago is remembered.
    """
    return (_remembered if len(body) <= REMEMBERED else _parsed)(body)


def _parsed(body: str) -> Bullet:
    body = body.removesuffix("\r")
    start = body.rfind("%%+")
    plain = _PLAIN_STAMP.fullmatch(body, start) if start >= 0 else None
    if plain:
        raw = body[: start - 1 if body[start - 1 : start] == " " else start]
        return Bullet(decode(raw), Stamp(plain[1], plain[2]), "", _is_task(raw), raw)
    match = _find_stamp(body) if start >= 0 or "<!--+" in body else None
    if match:
        start = match.start()
        rest, block_id = _without_block_id(body[match.end() :].rstrip())
        raw = body[: start - 1 if body[start - 1 : start] == " " else start] + rest
        stamp = _stamp(match)
    else:
        raw, block_id = _without_block_id(body.strip())
        stamp = None
    return Bullet(decode(raw), stamp, block_id, _is_task(raw), raw)


_remembered = lru_cache(maxsize=2048)(_parsed)


def _is_task(raw: str) -> bool:
    return raw[:1] == "[" and _TASK.match(raw) is not None


def parse_relation(bullet: Bullet) -> Pair | None:
    """Return the relation that a line under ``## Relations`` says, or None where it says something else.

    A type and one link at the end: a sentence with a link somewhere in it is no relation. Typed by hand, the
    type may be left out (`RELATES_TO`) or end in ``::``, and a task is no relation.
    """
    match = _RELATION.fullmatch(bullet.raw)
    if match is None or (bullet.is_task and bullet.stamp is None):
        return None
    type_, target, shown = match.groups()
    if bullet.stamp is None and type_:
        type_ = type_.removesuffix("::").rstrip()
        type_ = type_ or None
    return Pair(
        RELATES_TO if type_ is None else decode(type_),
        target.strip(),
        None if shown is None else decode(shown),
    )


def _without_block_id(text: str) -> tuple[str, str]:
    if " ^" in text:
        match = _BLOCK_ID.search(text)
        if match:
            return text[: match.start()].rstrip(), match[1]
    return text, ""


def _git_suffices(words: str, stamp: Stamp) -> bool:
    return _is_bare(words) and not stamp.superseded_at and not stamp.sources


def _is_bare(words: str) -> bool:
    """Whether these words come back as they are from a line without a stamp."""
    bullet = parse_bullet(words)
    return bool(words) and bullet.stamp is None and bullet.raw == words and words.strip("- ") != ""
