"""The story of a vault, commit by commit, as the index hears it."""

from collections.abc import Mapping

from tests.storage.index.build import STAMP, blob, entity, stat
from vault_mcp.notes.line import Stamp, observation_line
from vault_mcp.notes.note import Note, Observation, facts
from vault_mcp.storage.git.history import HistoryCommit
from vault_mcp.storage.index import CommitRow, Index, ObservationRow

ADA = "entities/person/Ada.md"
START = 1_700_000_000


def time(number: int) -> str:
    return f"2023-11-14T22:{13 + number:02}:20Z"


class Story:
    """A vault's commits, one after the other, a minute apart, into an index that is in step."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.files: dict[str, Note] = {}
        self.commits: list[tuple[CommitRow, dict[str, tuple[Note | None, Note | None]]]] = []

    def commit(
        self, files: Mapping[str, Note | None], author: str = "Grace", tool: str = "hand-edit"
    ) -> CommitRow:
        number = len(self.commits)
        parent = self.commits[-1][0].sha if self.commits else None
        row = CommitRow(
            blob((number, author)), parent, START + 60 * number, author, tool, "", f"{tool} {number}"
        )
        changes = {path: (self.files.get(path), note) for path, note in files.items()}
        with self.index.writing() as writer:
            for path, note in files.items():
                if note is None:
                    writer.remove(path)
                else:
                    writer.put_file(path, blob(note.observations), stat(), note)
            told = [
                (path, facts(old) if old else (), facts(new) if new else ())
                for path, (old, new) in changes.items()
            ]
            assert writer.append_commit(row, told)
            writer.set_head(row.sha)
        for path, note in files.items():
            if note is None:
                del self.files[path]
            else:
                self.files[path] = note
        self.commits.append((row, changes))
        return row

    def lines(self, path: str = ADA) -> dict[str, ObservationRow]:
        with self.index.reading() as reader:
            note = reader.note_at(path)
            assert note is not None
            return {row.text: row for row in reader.observations(note.id, superseded=True)}

    def said(self, path: str = ADA) -> dict[str, tuple[str | None, str | None, str | None, str | None]]:
        return {
            text: (row.agent, row.added_at, row.edited_by, row.edited_at)
            for text, row in self.lines(path).items()
        }


def person(*lines: str | Observation, name: str = "Ada", path: str = "") -> Note:
    return entity(name, lines, stamp=None, path=path, created="", agent="")


def stamped(text: str, edited_at: str = "", edited_by: str = "") -> Observation:
    return Observation(text, Stamp(STAMP.added_at, STAMP.agent, edited_at, edited_by), 0)


def repository(story: Story) -> tuple[list[HistoryCommit], dict[str, bytes]]:
    """Give a story's commits as Git would, with notes as Markdown."""
    blobs: dict[str, bytes] = {}

    def stored(note: Note | None) -> str | None:
        if note is None:
            return None
        raw = markdown(note).encode()
        blobs[blob(raw)] = raw
        return blob(raw)

    commits = [
        HistoryCommit(
            row.sha,
            row.parent,
            row.at,
            row.at,
            row.author,
            "",
            row.tool,
            row.session,
            row.subject,
            tuple((path, stored(old), stored(new)) for path, (old, new) in changes.items()),
        )
        for row, changes in story.commits
    ]
    return commits, blobs


def markdown(note: Note) -> str:
    lines = "".join(observation_line(item.text, item.stamp) + "\n" for item in note.observations)
    return f"---\nentity: {note.type}\n---\n\n## Observations\n\n{lines}"
