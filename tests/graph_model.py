"""A plain model of the graph, to hold the real one against: names, facts and relations, and nothing else.

`apply` does to it what a call of a tool does, and says whether the call changes something. A call that must
fail raises `ModelRefuses` and changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vault_mcp.notes.names import name_key

Call = tuple[str, dict[str, Any]]


class ModelRefuses(Exception):
    """The call must fail, and nothing may change."""


@dataclass
class Entity:
    """One entity: its facts in order, and those that no longer hold."""

    type: str
    facts: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)


@dataclass
class Model:
    """The whole graph."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: set[tuple[str, str, str]] = field(default_factory=set)

    def shown(self) -> tuple[dict[str, list[str]], set[tuple[str, str, str]]]:
        """Give what `read_graph` has to show: facts by name, and relations as (from, type, to)."""
        return {name: list(entity.facts) for name, entity in self.entities.items()}, set(self.relations)

    def copy(self) -> Model:
        """Give a model of its own that says the same."""
        entities = {
            name: Entity(one.type, list(one.facts), list(one.superseded))
            for name, one in self.entities.items()
        }
        return Model(entities, set(self.relations))

    def apply(self, call: Call) -> bool:
        """Do what a call does; say whether it changes anything, and so has to be a commit."""
        tool, arguments = call
        after = self.copy()
        getattr(after, tool)(**arguments)
        changed = after != self
        self.entities, self.relations = after.entities, after.relations
        return changed

    # -- the tools

    def create_entities(self, entities: Sequence[Mapping[str, Any]]) -> None:
        for one in entities:
            if not all(text.strip() for text in (one["name"], one["entityType"], *one["observations"])):
                raise ModelRefuses
        for one in entities:
            if self._name(one["name"]) is None:
                self.entities[one["name"]] = Entity(one["entityType"], _unique(one["observations"]))

    def create_relations(self, relations: Sequence[Mapping[str, str]]) -> None:
        if not all(one["relationType"].strip() for one in relations):
            raise ModelRefuses
        for one in relations:
            start, end = self._name(one["from"]), self._name(one["to"])
            if start is not None and end is not None:
                self.relations.add((start, one["relationType"], end))

    def add_observations(self, observations: Sequence[Mapping[str, Any]]) -> None:
        for one in observations:
            if not all(text.strip() for text in one["contents"]):
                raise ModelRefuses
        for one in observations:
            self._add(self._entity(one["entityName"]), one["contents"])

    def _add(self, entity: Entity, texts: Sequence[str]) -> None:
        fresh = [text for text in _unique(texts) if text not in entity.facts]
        # What was superseded holds again; it comes before what is new.
        fresh.sort(key=lambda text: text not in entity.superseded)
        entity.superseded = [text for text in entity.superseded if text not in fresh]
        entity.facts += fresh

    def edit_observation(self, entityName: str, oldText: str, newText: str) -> None:
        entity = self._entity(entityName)
        known = {*entity.facts, *entity.superseded}
        if not newText.strip() or oldText not in entity.facts or newText in known:
            raise ModelRefuses
        entity.facts[entity.facts.index(oldText)] = newText

    def supersede_observation(self, entityName: str, oldText: str, newText: str = "") -> None:
        entity = self._entity(entityName)
        if newText == oldText or oldText not in entity.facts or (newText and not newText.strip()):
            raise ModelRefuses
        entity.facts.remove(oldText)
        entity.superseded.append(oldText)
        if newText:
            self._add(entity, [newText])

    def rename_entity(self, entityName: str, newName: str) -> None:
        old = self._known(entityName)
        if not newName.strip():
            raise ModelRefuses
        if name_key(old) == name_key(newName):
            return
        if self._name(newName) is not None:
            raise ModelRefuses
        self.entities[newName] = self.entities.pop(old)
        self._point(old, newName)

    def merge_entities(self, sourceName: str, targetName: str) -> None:
        source, target = self._known(sourceName), self._known(targetName)
        if source == target:
            raise ModelRefuses
        gone, kept = self.entities.pop(source), self.entities[target]
        loops = {(target, kind, target) for start, kind, end in self.relations if start == end == target}
        self._point(source, target)
        self.relations = {row for row in self.relations if row[0] != row[2] or row[0] != target} | loops
        kept.facts += [text for text in gone.facts if text not in kept.facts]
        kept.superseded = [text for text in kept.superseded if text not in kept.facts]
        kept.superseded += [t for t in gone.superseded if t not in (*kept.facts, *kept.superseded)]

    def delete_entities(self, entityNames: Sequence[str]) -> None:
        gone = {name for name in map(self._name, entityNames) if name is not None}
        for name in gone:
            del self.entities[name]
        self.relations = {row for row in self.relations if row[0] not in gone and row[2] not in gone}

    def delete_observations(self, deletions: Sequence[Mapping[str, Any]]) -> None:
        for one in deletions:
            name = self._name(one["entityName"])
            if name is not None:
                entity = self.entities[name]
                entity.facts = [text for text in entity.facts if text not in one["observations"]]
                entity.superseded = [text for text in entity.superseded if text not in one["observations"]]

    def delete_relations(self, relations: Sequence[Mapping[str, str]]) -> None:
        for one in relations:
            row = (self._name(one["from"]), one["relationType"], self._name(one["to"]))
            self.relations = {known for known in self.relations if known != row}

    # -- names

    def _name(self, name: str) -> str | None:
        key = name_key(name)
        return next((known for known in self.entities if name_key(known) == key), None)

    def _known(self, name: str) -> str:
        known = self._name(name)
        if known is None:
            raise ModelRefuses
        return known

    def _entity(self, name: str) -> Entity:
        return self.entities[self._known(name)]

    def _point(self, old: str, new: str) -> None:
        self.relations = {
            (new if start == old else start, kind, new if end == old else end)
            for start, kind, end in self.relations
        }


def _unique(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


TOOLS = (
    "create_entities",
    "add_observations",
    "create_relations",
    "edit_observation",
    "supersede_observation",
    "rename_entity",
    "merge_entities",
    "delete_observations",
    "delete_relations",
    "delete_entities",
)
"""The tools that write, in the order in which a loop calls them in turn."""


@dataclass
class Caller:
    """Makes calls that change something, each different from all before."""

    model: Model
    chance: random.Random
    number: int = 0

    def call(self, tool: str) -> Call:
        """Give a call of this tool that has to be a commit; the model knows it as done."""
        self.number += 1
        made: Call = getattr(self, f"_{tool}")(sorted(self.model.entities))
        assert self.model.apply(made), made
        return made

    def _fresh(self, what: str) -> str:
        return f"{what} {self.number}"

    def _create_entities(self, names: list[str]) -> Call:
        fresh = [
            {"name": f"N{self.number}-{n}", "entityType": "t", "observations": [self._fresh("made")]}
            for n in range(3)
        ]
        return "create_entities", {"entities": fresh}

    def _add_observations(self, names: list[str]) -> Call:
        chosen = self.chance.sample(names, min(2, len(names)))
        rows = [
            {"entityName": name, "contents": [self._fresh("fact"), self._fresh("more")]} for name in chosen
        ]
        return "add_observations", {"observations": rows}

    def _create_relations(self, names: list[str]) -> Call:
        rows = [
            {"from": self.chance.choice(names), "to": self.chance.choice(names), "relationType": kind}
            for kind in (self._fresh("rel"), self._fresh("other"))
        ]
        return "create_relations", {"relations": rows}

    def _edit_observation(self, names: list[str]) -> Call:
        name, text = self._some_fact(names)
        return "edit_observation", {"entityName": name, "oldText": text, "newText": self._fresh("edited")}

    def _supersede_observation(self, names: list[str]) -> Call:
        name, text = self._some_fact(names)
        return "supersede_observation", {
            "entityName": name,
            "oldText": text,
            "newText": self._fresh("newer"),
        }

    def _rename_entity(self, names: list[str]) -> Call:
        return "rename_entity", {"entityName": self.chance.choice(names), "newName": f"R{self.number}"}

    def _merge_entities(self, names: list[str]) -> Call:
        source, target = self.chance.sample(names, 2)
        return "merge_entities", {"sourceName": source, "targetName": target}

    def _delete_observations(self, names: list[str]) -> Call:
        name, text = self._some_fact(names)
        return "delete_observations", {"deletions": [{"entityName": name, "observations": [text]}]}

    def _delete_relations(self, names: list[str]) -> Call:
        if not self.model.relations:
            return self._create_relations(names)
        start, kind, end = self.chance.choice(sorted(self.model.relations))
        return "delete_relations", {"relations": [{"from": start, "to": end, "relationType": kind}]}

    def _delete_entities(self, names: list[str]) -> Call:
        return "delete_entities", {"entityNames": [self.chance.choice(names)]}

    def _some_fact(self, names: list[str]) -> tuple[str, str]:
        rich = [name for name in names if self.model.entities[name].facts]
        name = self.chance.choice(rich)
        return name, self.chance.choice(self.model.entities[name].facts)
