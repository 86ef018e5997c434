r"""Links between notes as Obsidian reads them: found in a text, resolved to a file, rewritten after a move.

    [[Note]]  [[Folder/Note.md#Heading]]  [[Note#^block|shown]]  ![[Note]]  [shown](Folder/My%20note.md)

Links count in the body and in the properties, quoted or not, but for those that hold a name or another text
of ours (`name`, `aliases`, `entity` …); they do not count in code, in ``%%comments%%`` and in
``<!-- comments -->``. In a table the bar is written ``\|``.
"""

import json
import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from vault_mcp.notes.line import decode, encode_shown


@dataclass(frozen=True, slots=True)
class Link:
    """One link to another file; `start` and `end` are its offsets in the text it was found in.

    `target` names the file (percent signs and YAML quoting undone), `heading` is what follows its ``#``
    (``^id`` for a block), `shown` the text after the bar or between the brackets with `line`'s escapes
    undone, None where there is none. `markdown` marks ``[shown](target)``.
    """

    target: str
    heading: str
    shown: str | None
    embed: bool
    start: int
    end: int
    markdown: bool = False


NewTarget = Callable[[Link], tuple[str, str | None] | None]

# --- finding ------------------------------------------------------------------------------------------------

# What Obsidian opens (help, "Accepted file formats"): a Markdown link to anything else leads out of the
# vault.
_FORMATS = "md|base|canvas|pdf|avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|ogg|wav|webm|3gp|mkv|mov|mp4|ogv"
_WIKILINK = re.compile(
    r"(?P<embed>!?)\[\[(?P<target>[^\[\]|#\n\r]*?)(?P<heading>#[^\[\]|\n\r]*?)?"
    r"(?:(?P<bar>\\?\|)(?P<shown>(?:(?!\[\[|\]\])[^\n\r])*))?\]\]"
)
_MARKDOWN = re.compile(
    r"(?P<embed>!?)\[(?P<shown>(?:[^\[\]\n\r\\]|\\.|\[[^\[\]\n\r]*\])*)\]"
    r"\((?P<written><(?P<angled>[^<>\n\r]*)>|(?P<bare>(?:[^\s()<>\\]|\\.|\([^\s()]*\))+))"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
)
_IN_VAULT = re.compile(rf"(?![a-z][a-z0-9+.-]*:|//).+\.(?:{_FORMATS})", re.IGNORECASE | re.DOTALL)
_SIGN = re.compile(r"%%\+[^%\n]*%%|[\[`~%<\\]")  # a line's stamp is passed over in one step
_RUN = re.compile(r"`+|~+")
_FENCE_PREFIX = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*\Z")
_COMMENT_PREFIX = re.compile(r"[ \t>]*\Z")
_COMMENT_SIGN = re.compile(r"%%\+[^\n]*?%%|%%")  # a line's stamp closes nothing
# What a list item or a quotation holds is indented or marked; and inline code ends with its paragraph.
_CONTAINER_END = re.compile(r"\n(?=[^ \t\r\n>])")
_BLOCK_START = re.compile(
    r"\n(?:[ \t]*\r?\n|[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|>|`{3}|~{3}))"
)
_FRONT = re.compile("\ufeff?---[ \t]*\r?\n")
_FRONT_END = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


def find_links(text: str) -> list[Link]:
    """Return the links of a note's whole text in order, but for links to a place in the note itself."""
    if "[[" not in text and "](" not in text:
        return []
    return [link for link, _, _ in _found(text)]


def _found(text: str) -> Iterator[tuple[Link, re.Match[str], str | None]]:
    """Each link with its match and the quotes around it in the front matter, None in the body."""
    body = _body_start(text)
    for match, quoting in _in_properties(text, body):
        if link := _link(match, quoting):
            yield link, match, quoting
    for match in _in_prose(text, body):
        if link := _link(match, ""):
            yield link, match, None


def _body_start(text: str) -> int:
    front = _FRONT.match(text)
    end = front and _FRONT_END.search(text, front.end())
    return end.end() if end else 0


def _in_prose(text: str, position: int) -> Iterator[re.Match[str]]:
    last_html = text.rfind("-->", position)
    while sign := _SIGN.search(text, position):
        start = sign.start()
        match sign[0]:
            case "[":
                start -= start > position and text[start - 1] == "!"
                link = _WIKILINK.match(text, start) or _MARKDOWN.match(text, start)
                if link:
                    yield link
                position = link.end() if link else sign.end()
            case "`" | "~":
                position = _after_code(text, start)
            case "%":
                position = _after_comment(text, start)
            case "<" if text.startswith("<!--", start) and start < last_html:
                position = text.find("-->", start) + 3
            case "\\":
                position = start + 2
            case "<":
                position = start + 1
            case _:
                position = sign.end()


def _after_code(text: str, start: int) -> int:
    """Where the fenced or inline code is over that may begin here; right behind its signs if it does not."""
    run = _RUN.match(text, start)
    assert run is not None  # the caller has seen the sign
    sign, end = run[0], run.end()
    prefix = _FENCE_PREFIX.match(text, text.rfind("\n", 0, start) + 1, start)
    if prefix and len(sign) >= 3 and (sign[0] == "~" or "`" not in text[end : _line_end(text, end)]):
        inside = _CONTAINER_END.search(text, end) if prefix[0] else None
        limit = inside.start() if inside else len(text)
        closing = re.compile(rf"^[ \t>]*{sign}{sign[0]}*[ \t]*\r?$", re.MULTILINE).search(text, end, limit)
        return closing.end() if closing else limit
    if sign[0] == "~":
        return end
    closing = re.compile(rf"(?<!`){sign}(?!`)").search(text, end)
    return closing.end() if closing and not _BLOCK_START.search(text, end, closing.start()) else end


def _after_comment(text: str, start: int) -> int:
    """Where the comment is over that may begin here: one at the start of a line may span lines."""
    if not text.startswith("%%", start):
        return start + 1
    block = _COMMENT_PREFIX.match(text, text.rfind("\n", 0, start) + 1, start)
    if block and not text.startswith("%%+", start):
        ends = (
            sign.end() for sign in _COMMENT_SIGN.finditer(text, start + 2) if sign.end() - sign.start() == 2
        )
        return next(ends, start + 2)
    end = text.find("%%", start + 2)
    return end + 2 if end >= 0 and text.find("\n", start, end) < 0 else start + 2


def _link(match: re.Match[str], quoting: str) -> Link | None:
    span, embed, shown = match.span(), match["embed"] == "!", match["shown"]
    shown = None if shown is None else decode(_unquoted(shown, quoting))
    if match.re is _WIKILINK:
        target = _unquoted(match["target"], quoting).strip()
        return Link(target, (match["heading"] or "#")[1:].strip(), shown, embed, *span) if target else None
    path, _, heading = _destination(match).partition("#")
    target = unquote(path)
    if not _IN_VAULT.fullmatch(target):
        return None
    return Link(target, unquote(heading), shown, embed, *span, markdown=True)


def _destination(match: re.Match[str]) -> str:
    angled: str | None = match["angled"]
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", match["bare"]) if angled is None else angled


# --- YAML quoting -------------------------------------------------------------------------------------------

_QUOTE = re.compile(r"(?:^|(?<=[\s\[{,:]))(['\"])")
_INSIDE = {"'": re.compile(r"(?:[^'\n]|'')*'"), '"': re.compile(r'(?:[^"\\\n]|\\.)*"')}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_VALUE_START = re.compile(r"[:-][ \t]+\Z")
_VALUE_END = re.compile(r"[ \t]*(?:#.*)?\r?$", re.MULTILINE)
# Names, types and the like are what tools were told: a name that looks like a link is a name all the same.
_TEXTS = re.compile(
    r"^([\"']?)(?:name|aliases|entity|memory|key|session|agent|created)\1[ \t]*:.*(?:\n(?:[ \t-].*|\r?$))*",
    re.MULTILINE,
)
_SAFE_PLAIN = re.compile(r"\[\[\w[\w ./()-]*(?:\|\w[\w ./()-]*)?\]\]")


def _in_properties(text: str, body: int) -> Iterator[tuple[re.Match[str], str]]:
    """The links of the front matter, each with the quote sign inside which it stands, or nothing."""
    position, quote_end, sign = 0, 0, ""
    texts = [found.span() for found in _TEXTS.finditer(text, 0, body)] if "[[" in text[:body] else []
    for match in _WIKILINK.finditer(text, 0, body):
        if any(start < match.start() < end for start, end in texts):
            continue
        position = max(position, quote_end, text.rfind("\n", 0, match.start()) + 1)
        while quote_end <= match.start() and (opening := _QUOTE.search(text, position, match.start())):
            sign = opening[1]
            closing = _INSIDE[sign].match(text, opening.end())
            position = quote_end = closing.end() if closing else _line_end(text, opening.end())
        position = max(position, match.start())
        yield match, sign if match.start() < quote_end else ""


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end if end >= 0 else len(text)


def _unquoted(text: str, quoting: str) -> str:
    if quoting == "'":
        return text.replace("''", "'")
    return _ESCAPE.sub(_unescaped, text) if quoting == '"' else text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return str(match[4])
    number = int(code, 16)
    return match[0] if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF else chr(number)


def _quoted(text: str, quoting: str | None) -> str:
    if quoting == "'":
        return text.replace("'", "''")
    return text.replace("\\", "\\\\").replace('"', '\\"') if quoting == '"' else text


def _quoted_if_needed(match: re.Match[str], written: str) -> str:
    """A link that is the whole unquoted value of a property gets quotes once YAML might read it otherwise."""
    text = match.string
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    alone = _VALUE_START.search(line) and _VALUE_END.match(text, match.end())
    return f'"{_quoted(written, chr(34))}"' if alone and not _SAFE_PLAIN.fullmatch(written) else written


# --- resolving ----------------------------------------------------------------------------------------------


def stem_key(path_or_target: str) -> str:
    """Return the key under which a link meets the files it may mean: last segment, no `.md`, case folded."""
    return _folded(_without_suffix(path_or_target.rpartition("/")[2]))


def resolve(target: str, from_path: str, candidates: Iterable[str]) -> str | None:
    """Return the path that a link means, or None.

    Obsidian's rule: the exact path from the root; else a file in the linking note's own folder; else the
    shortest path that ends like the target (`b/Note` means `a/b/Note.md` too). Case, Unicode form and `.md`
    do not matter; ``./`` and ``../`` start at the linking note. `candidates` need hold only paths of the
    target's `stem_key`.
    """
    folder = posixpath.dirname(from_path)
    relative = target.startswith(("./", "../"))
    place = posixpath.normpath(posixpath.join(folder, target)) if relative else target.strip("/")
    bare = _without_suffix(place)
    wanted = _folded(bare)
    own = f"{_folded(folder)}/{wanted}"
    matches = []
    for path in candidates:
        found = _folded(_without_suffix(path))
        if found == wanted or (not relative and found.endswith(f"/{wanted}")):
            rank = 0 if found == wanted else 1 if found == own else 2
            # Between equals, where a disk tells case apart: the very file named, then one spelled like it.
            unlike = path != place, not _without_suffix(path).endswith(bare)
            matches.append((rank, len(path), *unlike, path))
    return min(matches)[-1] if matches else None


def _without_suffix(path: str) -> str:
    return path[:-3] if path[-3:].lower() == ".md" else path


def _folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


# --- writing ------------------------------------------------------------------------------------------------

_UNLINKABLE = re.compile(r"%%|[#^\[\]|:\\\x00-\x1f]")
_SPECIAL_BARE = re.compile(r"[%\s()<>\\\"#?]")
_SPECIAL_ANGLED = re.compile(r"[%<>\n\r#?]")


def written_link(path: str, name: str, *, unique: bool) -> str:
    """Return the wikilink to a note: the bare file name if that is unique in the vault, else its path.

    The name is shown where it differs: ``[[file]]``, ``[[file|name]]``, ``[[folder/file|name]]``. Signs of a
    person's file name that no link can hold become spaces, as in `names.file_stem`; the shown name then tells
    which note is meant.
    """
    target = _without_suffix(path)
    if unique:
        target = target.rpartition("/")[2]
    if _UNLINKABLE.search(target):
        target = " ".join(_UNLINKABLE.sub(" ", target).split())
    return f"[[{target}]]" if target == name else f"[[{target}|{encode_shown(name)}]]"


def markdown_target(link: Link, from_path: str, path: str) -> str:
    """Return the path for a Markdown link to `path`: from the root or from the linking note, as it was."""
    folder = posixpath.dirname(from_path)
    if link.target.startswith("."):
        relative = posixpath.relpath(path, folder or ".")
        return relative if relative.startswith(".") else f"./{relative}"
    beside = "/" not in link.target and posixpath.dirname(path) == folder
    return posixpath.basename(path) if beside else path


def rewrite_links(text: str, new_target: NewTarget) -> str:
    """Return the text with some links pointing elsewhere, and every other byte as it was.

    `new_target` is asked for each link and gives the new target (a `.md` the link had is kept) and the text
    to show, or None to leave the link alone. Headings, block ids, embeds, table bars and the quoting of
    properties stay. A Markdown link always shows something: for None it shows the file's name.
    """
    parts, position = [], 0
    for link, match, quoting in _found(text):
        new = new_target(link)
        if new is not None:
            target, shown = new
            if link.target[-3:].lower() == ".md" and target[-3:].lower() != ".md":
                target += link.target[-3:]
            written = _markdown_link if link.markdown else _wikilink
            parts += [text[position : link.start], written(link, match, quoting, target, shown)]
            position = link.end
    return "".join(parts) + text[position:] if parts else text


def _wikilink(link: Link, match: re.Match[str], quoting: str | None, target: str, shown: str | None) -> str:
    words = match["target"] if target == link.target else _quoted(target, quoting)
    written = f"{match['embed']}[[{words}{match['heading'] or ''}"
    if shown is not None:
        words = match["shown"] if shown == link.shown else _quoted(encode_shown(shown), quoting)
        written += f"{match['bar'] or _bar(match)}{words}"
    written += "]]"
    return _quoted_if_needed(match, written) if quoting == "" else written


def _bar(match: re.Match[str]) -> str:
    """The bar for a link that had none: escaped where it would end a table's cell."""
    start = match.string.rfind("\n", 0, match.start()) + 1
    return "\\|" if match.string[start : match.start()].lstrip().startswith("|") else "|"


def _markdown_link(
    link: Link, match: re.Match[str], _quoting: str | None, target: str, shown: str | None
) -> str:
    if shown is None:
        shown = _without_suffix(target.rpartition("/")[2])
    words = match["shown"] if shown == link.shown else encode_shown(shown)
    angled = match["angled"] is not None
    _, sign, heading = match["angled" if angled else "bare"].partition("#")
    special = _SPECIAL_ANGLED if angled else _SPECIAL_BARE
    written = special.sub(lambda found: quote(found[0]), target) + sign + heading
    rest = match.string[match.end("written") : match.end()]
    return f"{match['embed']}[{words}]({f'<{written}>' if angled else written}{rest}"


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_FILE_VALUE = re.compile(r'\s*:\s*(?=")')


def rewrite_canvas(text: str, moved: Mapping[str, str]) -> str:
    """Return a `.canvas` text (jsoncanvas.org, spec 1.0) whose file nodes follow `moved`: old to new path.

    Only strings that are values of `"file"` are touched: layout, order and the spelling of numbers stay.
    """
    parts, position, value_start = [], 0, -1
    for string in _STRING.finditer(text):
        if string.start() == value_start and (new := moved.get(_json_text(string[0]))) is not None:
            parts += [text[position:value_start], json.dumps(new, ensure_ascii=False)]
            position = string.end()
        colon = _FILE_VALUE.match(text, string.end()) if string[0] == '"file"' else None
        value_start = colon.end() if colon else -1
    return "".join(parts) + text[position:] if parts else text


def _json_text(string: str) -> str:
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return ""


def without_targets(text: str) -> str:
    """Give a text without what its links lead to: what stays the same when a link follows a note."""
    parts, position = [], 0
    for link in find_links(text):
        parts += [text[position : link.start], "[[]]"]
        position = link.end
    return "".join(parts) + text[position:]
