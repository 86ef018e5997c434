"""Notes of entities, made and read in few words."""

from vault_mcp.notes import entity
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Note, read_note

AT = "2026-10-05T09:12:33Z"
LATER = "2026-10-06T10:00:00Z"
STAMP = Stamp(AT, "claude")
TAIL = f"%%+{AT} claude%%"

AS_MARKDOWN = [
    *("- dash", "# head", "---", "> q", "```", "[[A]]", "1. one", "* star", "+ plus", "<!-- c -->", "| t |"),
    *(
        "[x] done",
        "^blk",
        "  lead",
        "trail  ",
        "\ttab",
        "**b**",
        "%%c%%",
        "a: b",
        "\\",
        "&amp;",
        "- [ ] task",
    ),
    *(
        "==h==",
        "$x$",
        "~~s~~",
        "![[A]]",
        "<b>",
        "\xa0nbsp",
        "~~~",
        "<!--",
        "%%",
        "$$",
        "## Relations",
        "&#10;",
    ),
]

HEAD = "---\nentity: t\n---\n"


def new(*texts: str, name: str = "A", stem: str = "A") -> str:
    return entity.new_entity(
        name, stem, "t", at=AT, agent="claude", observations=[(text, STAMP) for text in texts]
    )


def add(text: str, *texts: str) -> str:
    return entity.add_observations(text, [(words, STAMP) for words in texts])


def relate(text: str, *relations: tuple[str, str]) -> str:
    return entity.add_relations(text, [(type_, f"[[{target}]]", STAMP) for type_, target in relations])


def note(text: str) -> Note:
    return read_note("A.md", text)


def holding(text: str) -> list[str]:
    return [o.text for o in note(text).observations if not o.superseded]


def ended(text: str) -> list[str]:
    return [o.text for o in note(text).observations if o.superseded]


def related(text: str) -> list[tuple[str, str]]:
    return [(relation.type, relation.target) for relation in note(text).relations]
