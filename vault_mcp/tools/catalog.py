"""Every tool, resource and prompt once, in the order they are shown, and how a part of them is picked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from vault_mcp.errors import BadArgument
from vault_mcp.tools.tool import FAMILIES, Listed, Prompt, Resource, Template, Tool

PROFILES = (*FAMILIES, "core", "all")


def _nothing_listed(vault: object) -> list[Listed]:
    return []


@dataclass(frozen=True, slots=True)
class Catalog:
    """What a server offers. The order is the order of the lists a client sees."""

    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    templates: tuple[Template, ...] = ()
    listed: Callable[..., list[Listed]] = _nothing_listed
    """`listed(vault)` gives what is listed beside the fixed resources for now."""

    def tool(self, name: str) -> Tool | None:
        """Find a tool by its exact name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def pick(
        self,
        include: Iterable[str] = ("all",),
        exclude: Iterable[str] = (),
        *,
        read_only: bool = False,
    ) -> "Catalog":
        """Keep the tools that are asked for, and the prompts that they suffice for.

        Args:
            include: families, "core", "all", or names of single tools.
            exclude: the same words; they win over `include`.
            read_only: keep only tools that change nothing; wins over both.

        Raises:
            BadArgument: a word names no family, profile or tool, or nothing is left.
        """
        wanted, unwanted = self._named(include), self._named(exclude)
        kept = tuple(
            tool
            for tool in self.tools
            if tool.name in wanted and tool.name not in unwanted and (tool.hints.read_only or not read_only)
        )
        if not kept:
            raise BadArgument("No tool is left to offer. Ask for more families, or exclude fewer.")
        names = {tool.name for tool in kept}
        prompts = tuple(prompt for prompt in self.prompts if names.issuperset(prompt.needs))
        return replace(self, tools=kept, prompts=prompts)

    def _named(self, words: Iterable[str]) -> set[str]:
        names: set[str] = set()
        for word in words:
            names |= self._meaning(word)
        return names

    def _meaning(self, word: str) -> set[str]:
        if word in PROFILES:
            return {
                tool.name
                for tool in self.tools
                if not tool.by_name_only
                and (word in ("all", tool.family) or (word == "core" and tool.in_core))
            }
        if self.tool(word) is None:
            known = ", ".join(PROFILES)
            raise BadArgument(f"There is no tool or family {word!r}. Families and profiles: {known}.")
        return {word}
