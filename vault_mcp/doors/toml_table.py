"""One table of a TOML file put in, changed and taken out; every other line keeps its bytes.

Libraries that keep the style of a TOML file count the comments above a header to the table before it, and
lose them with it. What is edited here is small: the lines of one table named by its header. It is read back
by the standard library's parser, and refused where anything else would have changed.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

_HEADER = re.compile(r"[ \t]*\[[^\[\r\n]")


class NotEditableError(ValueError):
    """The text is no TOML, or says the table in a way that has no lines of its own; its words say which."""


def read(text: str) -> dict[str, object]:
    """Give what a text says.

    Raises:
        NotEditableError: it is no TOML.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotEditableError(str(error)) from None


def put(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """Give the text with these values in the table at `path`; others that stand there stay.

    Raises:
        NotEditableError: the text is no TOML, or the table stands in another one's line.
    """
    wanted = read(text)
    table: dict[str, object] = wanted
    fresh = False
    for key in path:
        fresh = key not in table
        inner = table.setdefault(key, {})
        if not isinstance(inner, dict):
            raise NotEditableError(f"{key} is no table")
        table = inner
    table.update({key: value if isinstance(value, str) else list(value) for key, value in values.items()})
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if fresh:
        lines = _appended(lines, path, values, newline)
    else:
        for key, value in values.items():
            lines = _with_value(lines, path, key, value, newline)
    return _checked("".join(lines), wanted)


def drop(text: str, path: Sequence[str]) -> str:
    """Give the text without the table at `path` and the tables in it; comments above other tables stay.

    Raises:
        NotEditableError: as for `put`.
    """
    wanted = read(text)
    above: object = wanted
    for key in path[:-1]:
        above = above.get(key) if isinstance(above, dict) else None
    if not isinstance(above, dict) or path[-1] not in above:
        return text
    del above[path[-1]]
    for length in range(len(path) - 1, 0, -1):  # tables that only its header made are gone with it
        _prune(wanted, path[:length])
    lines = text.splitlines(keepends=True)
    while (start := _header(lines, path, inner=True)) is not None:
        end = _end(lines, start)
        while start and end == len(lines) and not lines[start - 1].strip():
            start -= 1
        while start and end < len(lines) and not (lines[end].strip() or lines[start - 1].strip()):
            end += 1
        del lines[start:end]
    return _checked("".join(lines), wanted)


def _prune(wanted: dict[str, object], path: Sequence[str]) -> None:
    above: object = wanted
    for key in path[:-1]:
        above = above.get(key) if isinstance(above, dict) else None
    if isinstance(above, dict) and above.get(path[-1]) == {}:
        del above[path[-1]]


def _checked(text: str, wanted: dict[str, object]) -> str:
    if _pruned(read(text)) != _pruned(wanted):
        raise NotEditableError("the table does not stand in lines of its own")
    return text


def _pruned(value: object) -> object:
    """Leave out empty tables: a header alone says nothing."""
    if not isinstance(value, dict):
        return value
    return {key: inner for key, item in value.items() if (inner := _pruned(item)) != {}}


def _header(lines: list[str], path: Sequence[str], *, inner: bool = False) -> int | None:
    """Give the number of the line that opens the table, or with `inner` one inside it."""
    for number, line in enumerate(lines):
        keys = _keys(line)
        if keys == list(path) or (inner and keys[: len(path)] == list(path)):
            return number
    return None


def _keys(line: str) -> list[str]:
    """Give the keys that a header names; none for any other line."""
    if not _HEADER.match(line):
        return []
    try:
        said: object = tomllib.loads(line.strip())
    except tomllib.TOMLDecodeError:
        return []
    keys = []
    while isinstance(said, dict) and said:
        ((key, said),) = said.items()
        keys.append(key)
    return keys


def _end(lines: list[str], start: int) -> int:
    """Give the number behind the table's last line that says something."""
    end = next((n for n in range(start + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _appended(
    lines: list[str], path: Sequence[str], values: Mapping[str, str | Sequence[str]], newline: str
) -> list[str]:
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    if lines and lines[-1].strip():
        lines.append(newline)
    lines.append(f"[{'.'.join(map(_key, path))}]{newline}")
    lines += [f"{key} = {_value(value)}{newline}" for key, value in values.items()]
    return lines


def _with_value(
    lines: list[str], path: Sequence[str], key: str, value: str | Sequence[str], newline: str
) -> list[str]:
    header = _header(lines, path)
    if header is None:
        raise NotEditableError("the table does not stand in lines of its own")
    written = f"{key} = {_value(value)}{newline}"
    end = _end(lines, header)
    for number in range(header + 1, end):
        if re.match(rf"[ \t]*(?:{re.escape(key)}|\"{re.escape(key)}\")[ \t]*=", lines[number]):
            for last in range(number + 1, len(lines) + 1):  # a list may run over several lines
                if _is_toml("".join(lines[number:last])):
                    return [*lines[:number], written, *lines[last:]]
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += newline
    return [*lines[:end], written, *lines[end:]]


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _value(value: str | Sequence[str]) -> str:
    # TOML writes a basic string as JSON does, but for one control character that JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
