"""A note edited line by line: what is not touched keeps every byte."""

from vault_mcp.notes.sections import (
    FactLine,
    Layout,
    Section,
    item_end,
    last_words,
    section_end,
)


class Draft:
    """Changes to a note's lines, applied together.

    Line numbers are those of the layout throughout, whatever is removed or added before them. A new line ends
    like its neighbour; behind a last line without newline it brings the missing one, and one of its own.
    """

    def __init__(self, layout: Layout):
        self._layout = layout
        self._changed: dict[int, str | None] = {}
        self._added: dict[int, list[str]] = {}

    def replace(self, line: int, words: str) -> None:
        """Put other words in a line; its end stays."""
        self._changed[line] = words + ("\r" if self._layout.lines[line].endswith("\r") else "")

    def remove(self, line: int) -> None:
        """Take a line out, and nothing that hangs under it."""
        self._changed[line] = None

    def add_facts(self, section: Section, lines: list[str], follows: list[FactLine]) -> None:
        """Put fact lines behind the last of those they follow; else at the end of their section.

        A section that is missing is made: ``## Observations`` before the relations and superseded facts,
        ``## Relations`` behind the observations, ``## Superseded`` behind both; where none of those is there,
        at the end of the note.
        """
        if follows:
            self._add(item_end(self._layout, follows[-1].line), lines)
            return
        heading = self._layout.heading(section)
        if heading is None:
            self._add_apart(self._place(section), [f"## {section.capitalize()}", "", *lines])
            return
        last = last_words(self._layout, heading.line, section_end(self._layout, heading))
        if any(number == last for number, _ in self._layout.bullets):
            self._add(last, lines)
        else:
            self._add_apart(last, lines)

    def text(self) -> str:
        """Return the edited note."""
        lines = self._layout.lines
        parts = [self._layout.bom, *self._new_lines(-1)]
        for number, line in enumerate(lines):
            words, added = self._changed.get(number, line), self._new_lines(number)
            if words is not None:
                parts.append(words)
                if number < len(lines) - 1:
                    parts.append("\n")
                elif added:
                    parts.append(self._line_end(number))
            parts += added
        return "".join(parts)

    def _add(self, after: int, lines: list[str]) -> None:
        self._added.setdefault(after, []).extend(lines)

    def _add_apart(self, after: int, lines: list[str]) -> None:
        """Add lines with a blank line on either side, behind a line of words (-1: at the very start)."""
        following = self._layout.lines[after + 1 : after + 2]
        before = [""] if after >= 0 else []
        behind = [""] if following and following[0].strip() else []
        self._add(after, [*before, *lines, *behind])

    def _place(self, section: Section) -> int:
        """The line behind which a missing section goes."""
        layout = self._layout
        observations, relations, superseded = (
            layout.heading(name) for name in ("observations", "relations", "superseded")
        )
        end = len(layout.lines)
        if section == "observations":
            end = min((h.line for h in (relations, superseded) if h), default=end)
        elif section == "superseded":
            end = max((section_end(layout, h) for h in (observations, relations) if h), default=end)
        elif observations:
            end = section_end(layout, observations)
        elif superseded:
            end = superseded.line
        return last_words(layout, 0, end)

    def _new_lines(self, after: int) -> list[str]:
        added = self._added.get(after)
        if not added:
            return []
        end = self._line_end(after)
        return [line + end for line in added]

    def _line_end(self, line: int) -> str:
        lines = self._layout.lines
        neighbour = min(max(line, 0), len(lines) - 2)  # the last line has no end to copy
        return "\r\n" if neighbour >= 0 and lines[neighbour].endswith("\r") else "\n"
