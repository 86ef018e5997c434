"""Which fact of a commit continues which fact before it: an edit, a move, a new stamp, or something new.

A fact that goes and one that comes in the same commit are one fact

1. in one note, with the same words: it was stamped anew, superseded, or made current again;
2. in one note, when a tool that moves notes let a link in it follow: the words are the same but for that;
3. in one note, with the same added stamp and other words: it was edited. Where a whole call shares one
   stamp, the words that have most in common belong together;
4. in one note, when the words that go had no stamp and those that come say what Git told of them: edited by
   a tool;
5. in one note that can have only one of its kind (a value, a text, a type): it was edited;
6. in two notes, with the same words: it was moved.

Files are followed the same way: a path that goes and one that comes with the same bytes, or with most facts
in common, are one note that was moved.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_mcp.notes.line import Stamp
from vault_mcp.notes.links import without_targets
from vault_mcp.notes.note import Fact

KEEPS_WORDS = frozenset(
    {
        "import",
        "init",
        "rename_entity",
        "merge_entities",
        "history_restore",
        "history_undo",
        "initialize_memory",
        "sync",
    }
)
"""Tools that put back or carry over words which others wrote: none of these is an edit."""

MOVES = frozenset({"rename_entity", "merge_entities", "memory_rename", "history_restore", "history_undo"})
"""Tools that let links follow a note, and so change lines of others without being their author."""

_SINGLE = ("value", "text", "type")
_GROUPS = {"superseded": "observation"}


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a commit did to one file: its blob (None: no file) and its facts, before and after."""

    path: str
    old_blob: str | None
    new_blob: str | None
    old: tuple[Fact, ...] = ()
    new: tuple[Fact, ...] = ()


ChangeId = tuple[int, int]
"""A commit by number and place: place 0 is the commit of the first-parent chain itself, any other place one
of those that came with it."""


class Gone(NamedTuple):
    """A fact that the commit took away, with its row in `facts`, and who added and edited it by hand."""

    lineage: int
    fact: Fact
    row: int
    added: ChangeId
    edited: ChangeId | None


class Come(NamedTuple):
    """A fact that the commit brought."""

    lineage: int
    fact: Fact


class Continued(NamedTuple):
    """A fact that the commit brought, what it continues, and whether the commit changed its words by hand."""

    come: Come
    before: Gone | None
    edited: bool


ADOPTS = "create_entities"
"""The tool that can make a person's plain note an entity, so that lines which were prose count as facts."""

FactName = tuple[int, str, str]
"""What a fact is known by: its note, its kind (superseded or not), its words."""

Descent = tuple[ChangeId, ChangeId | None, int | None]
"""Which commit added a fact, which edited it by hand, and the row of the version it came from."""


def name_of(lineage: int, fact: Fact) -> FactName:
    """Give what a fact is known by."""
    return lineage, group_of(fact.kind), fact.text


def is_older(fact: Fact) -> bool:
    """Say whether a line of a note that became an entity was there before: the tool stamps all but tasks."""
    return fact.kind == "observation" and fact.stamp is None and not fact.text.startswith("[")


def difference(
    changes: Iterable[FileChange], lineages: Mapping[str, int], known: Callable[[int, Fact], Gone | None]
) -> tuple[list[Gone], list[Come]]:
    """Give the facts that a commit took away, as far as they are known, and those that it brought."""
    before: dict[tuple[int, str, str], Fact] = {}
    after: dict[tuple[int, str, str], Fact] = {}
    for change in changes:
        lineage = lineages[change.path]
        before.update(((lineage, fact.kind, fact.text), fact) for fact in change.old)
        after.update(((lineage, fact.kind, fact.text), fact) for fact in change.new)
    come = [Come(key[0], fact) for key, fact in after.items() if key not in before or before[key] != fact]
    gone = [
        told
        for key, fact in before.items()
        if (key not in after or after[key] != fact) and (told := known(key[0], fact)) is not None
    ]
    return gone, come


def descent(
    one: Continued,
    tool: str,
    here: ChangeId,
    as_it_was: Callable[[Come], Descent | None],
    before_it: Callable[[int, int], ChangeId | None],
) -> Descent:
    """Tell who added a fact that a commit brought, and who edited it by hand.

    Args:
        one: The fact, and the one it continues.
        tool: The commit's `Tool:` trailer; "" when it has none.
        here: The commit.
        as_it_was: Gives what is known of the newest version that has gone of a fact which is put back.
        before_it: Gives the last commit before the one of a number that changed a note.
    """
    come, before, edited = one
    added: ChangeId = here
    edit: ChangeId | None = None
    previous: int | None = None
    if before is not None:
        added, previous = before.added, before.row
        edit = before.edited if same_edit(before.fact.stamp, come.fact.stamp) else None
    if edited:
        edit = here
    if tool in KEEPS_WORDS and (before is None or before.fact.text != come.fact.text):
        return as_it_was(come) or (added, edit, previous)
    if before is None and tool == ADOPTS and is_older(come.fact):
        added = before_it(come.lineage, here[0]) or added
    return added, edit, previous


def moved_files(changes: Sequence[FileChange]) -> dict[str, str]:
    """Give the files that a commit moved: where each is now -> where it was."""
    gone = {
        change.path: change for change in changes if change.old_blob is not None and change.new_blob is None
    }
    names = {_last(path) for path in gone}
    come = [change for change in changes if change.old_blob is None and change.new_blob is not None]
    if not gone or not come:
        return {}
    # Where a copy was made too, the file that kept its name is the one that was moved.
    come.sort(key=lambda change: (_last(change.path) not in names, change.path))
    by_blob: dict[str | None, list[str]] = {}
    by_fact: dict[tuple[str, str], list[str]] = {}
    for path, change in gone.items():
        by_blob.setdefault(change.old_blob, []).append(path)
        for fact in change.old:
            if fact.kind not in _SINGLE:
                by_fact.setdefault((group_of(fact.kind), fact.text), []).append(path)
    moved: dict[str, str] = {}
    for change in come:
        same = [path for path in by_blob.get(change.new_blob, ()) if path in gone]
        if same:
            moved[change.path] = min(same, key=lambda path: (_last(path) != _last(change.path), path))
            del gone[moved[change.path]]
    for change in come:
        if change.path not in moved:
            source = _likest(change, gone, by_fact)
            if source is not None:
                moved[change.path] = source
                del gone[source]
    return moved


def _likest(
    change: FileChange, gone: dict[str, FileChange], by_fact: dict[tuple[str, str], list[str]]
) -> str | None:
    """Give the file that went and shares most facts with one that came: half of the smaller one's or more."""
    shared: dict[str, int] = {}
    for fact in change.new:
        for path in by_fact.get((group_of(fact.kind), fact.text), ())[:20]:
            if path in gone:
                shared[path] = shared.get(path, 0) + 1
    best = max(shared, key=lambda path: (shared[path], path), default=None)
    if best is None:
        return None
    smaller = min(_countable(change.new), _countable(gone[best].old))
    return best if shared[best] * 2 >= smaller else None


def continue_facts(
    gone: Iterable[Gone], come: Iterable[Come], tool: str, dated: Callable[[Gone], tuple[str, str]]
) -> list[Continued]:
    """Match the facts that a commit brought with those it took away.

    Args:
        gone: What it took away.
        come: What it brought.
        tool: The commit's `Tool:` trailer; "" when it has none.
        dated: Gives (time, author) by which Git dates a fact without a stamp.
    """
    left = list(gone)
    waiting = list(come)
    done: list[Continued] = []
    following = (_followed,) if tool in MOVES else ()
    for rule in (_same_words, *following, _edited, _stamped_from_git(dated), _only_one, _moved):
        if not left or not waiting:
            break
        pairs = list(rule(left, waiting))
        done += [
            Continued(waiting[at], before, rule is not _followed and _by_hand(before, waiting[at], tool))
            for at, before in pairs
        ]
        taken, matched = {before.row for _, before in pairs}, {at for at, _ in pairs}
        left = [before for before in left if before.row not in taken]
        waiting = [item for at, item in enumerate(waiting) if at not in matched]
    return done + [Continued(item, None, False) for item in waiting]


Pairs = Iterable[tuple[int, Gone]]


def _same_words(left: Sequence[Gone], waiting: Sequence[Come]) -> Pairs:
    known = {(before.lineage, group_of(before.fact.kind), before.fact.text): before for before in left}
    for index, item in enumerate(waiting):
        before = known.pop((item.lineage, group_of(item.fact.kind), item.fact.text), None)
        if before is not None:
            yield index, before


def _followed(left: Sequence[Gone], waiting: Sequence[Come]) -> Pairs:
    known: dict[tuple[int, str, str, Stamp | None], list[Gone]] = {}
    for before in left:
        known.setdefault((before.lineage, *_without_targets(before.fact)), []).append(before)
    for index, item in enumerate(waiting):
        if partners := known.get((item.lineage, *_without_targets(item.fact))):
            yield index, partners.pop(0)


def _without_targets(fact: Fact) -> tuple[str, str, Stamp | None]:
    """Give the group, words and stamp of a fact without what its links lead to."""
    if fact.kind == "relation":
        return fact.kind, fact.text.partition(" -> ")[0], fact.stamp
    return group_of(fact.kind), without_targets(fact.text), fact.stamp


def _edited(left: Sequence[Gone], waiting: Sequence[Come]) -> Pairs:
    known: dict[tuple[int, str, str, str], list[Gone]] = {}
    for before in left:
        stamp = before.fact.stamp
        if stamp is not None:
            known.setdefault(
                (before.lineage, group_of(before.fact.kind), stamp.added_at, stamp.agent), []
            ).append(before)
    for index, item in enumerate(waiting):
        stamp = item.fact.stamp
        partners = stamp and known.get((item.lineage, group_of(item.fact.kind), stamp.added_at, stamp.agent))
        if partners:
            before = max(partners, key=lambda one: _likeness(one.fact.text, item.fact.text))
            partners.remove(before)
            yield index, before


def _stamped_from_git(
    dated: Callable[[Gone], tuple[str, str]],
) -> Callable[[Sequence[Gone], Sequence[Come]], Pairs]:
    def rule(left: Sequence[Gone], waiting: Sequence[Come]) -> Pairs:
        stamped = [(index, item) for index, item in enumerate(waiting) if item.fact.stamp is not None]
        unstamped = [before for before in left if before.fact.stamp is None] if stamped else []
        known: dict[tuple[int, str, str, str], list[Gone]] = {}
        for before in unstamped:
            known.setdefault((before.lineage, group_of(before.fact.kind), *dated(before)), []).append(before)
        for index, item in stamped:
            stamp = item.fact.stamp
            assert stamp is not None
            partners = known.get((item.lineage, group_of(item.fact.kind), stamp.added_at, stamp.agent))
            if partners and stamp.edited_at:
                before = max(partners, key=lambda one: _likeness(one.fact.text, item.fact.text))
                partners.remove(before)
                yield index, before

    return rule


def _only_one(left: Sequence[Gone], waiting: Sequence[Come]) -> Pairs:
    known = {(before.lineage, before.fact.kind): before for before in left if before.fact.kind in _SINGLE}
    for index, item in enumerate(waiting):
        before = known.pop((item.lineage, item.fact.kind), None)
        if before is not None:
            yield index, before


def _moved(left: Sequence[Gone], waiting: Sequence[Come]) -> Pairs:
    known: dict[tuple[str, str], list[Gone]] = {}
    for before in left:
        if before.fact.kind not in _SINGLE:
            known.setdefault((group_of(before.fact.kind), before.fact.text), []).append(before)
    for index, item in enumerate(waiting):
        partners = known.get((group_of(item.fact.kind), item.fact.text))
        if partners:
            before = max(partners, key=lambda one: one.fact.stamp == item.fact.stamp)
            partners.remove(before)
            yield index, before


def _by_hand(before: Gone, item: Come, tool: str) -> bool:
    """Say whether words changed without their stamp telling so: then the commit dates the edit."""
    if before.fact.text == item.fact.text or tool in KEEPS_WORDS:
        return False
    return _edit(before.fact.stamp) == _edit(item.fact.stamp)


def _edit(stamp: Stamp | None) -> tuple[str, str]:
    return (stamp.edited_at, stamp.edited_by) if stamp else ("", "")


def same_edit(one: Stamp | None, other: Stamp | None) -> bool:
    """Say whether two stamps tell of the same last edit."""
    return _edit(one) == _edit(other)


def _likeness(one: str, other: str) -> float:
    """Give the share of words that two texts have in common."""
    mine, theirs = set(one.split()), set(other.split())
    return len(mine & theirs) / (len(mine | theirs) or 1)


def group_of(kind: str) -> str:
    """Give the kind of thing a fact is, superseded or not."""
    return _GROUPS.get(kind, kind)


def _countable(facts: Sequence[Fact]) -> int:
    return sum(fact.kind not in _SINGLE for fact in facts)


def _last(path: str) -> str:
    return path.rpartition("/")[2]
