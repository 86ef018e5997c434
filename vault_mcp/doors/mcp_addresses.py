"""What clients read at an address, complete while they type, and fill a prompt with.

Plain functions on an open vault and its catalog, called in worker threads.
"""

import hashlib
import logging
from collections.abc import Mapping, Sequence

from mcp_types import Completion

from vault_mcp.doors.mcp_results import sendable
from vault_mcp.errors import BadArgument, NotFound, VaultError
from vault_mcp.tools.catalog import Catalog
from vault_mcp.tools.tool import Content, Prompt, Suggest

logger = logging.getLogger(__name__)

MOST_VALUES = 100
"""Values of one completion; the protocol allows no more."""

MOST_TYPED = 1_000
"""Characters of what somebody types that are looked at."""

LONGEST_WORD = 2_000
"""Characters of an argument of a prompt."""


def content_of(catalog: Catalog, vault: object, uri: str) -> Content:
    """Give what stands at an address.

    Raises:
        NotFound: the address is of no form that is served, or nothing is there.
        VaultError: it cannot be given; the error says why.
    """
    for resource in catalog.resources:
        if resource.uri == uri:
            return Content(sendable(resource.run(vault)), resource.mime)
    for template in catalog.templates:
        value = template.value(uri)
        if value is not None:
            content = template.run(vault, value)
            body = sendable(content.body) if isinstance(content.body, str) else content.body
            return Content(body, content.mime)
    forms = ", ".join(template.uri for template in catalog.templates)
    known = f" Addresses are those of resources/list{f', and {forms}' if forms else ''}."
    raise NotFound(f"There is no resource {uri[:200]}.{known}")


def states_of(catalog: Catalog, vault: object, uris: Sequence[str]) -> dict[str, str | None]:
    """Say of each address what stands there, as a digest; None for those that any change may concern.

    What cannot be told for now, as while the first index is made, is left out.
    """
    states: dict[str, str | None] = {}
    fixed = {resource.uri for resource in catalog.resources}
    for uri in uris:
        try:
            states[uri] = None if uri in fixed else _digest(content_of(catalog, vault, uri))
        except NotFound:
            states[uri] = ""
        except (BadArgument, OSError):
            states[uri] = "not to be read"
        except VaultError:
            continue
        except Exception:
            logger.exception("%s could not be looked at", uri)
    return states


def _digest(content: Content) -> str:
    body = content.body if isinstance(content.body, bytes) else content.body.encode("utf-8", "replace")
    return hashlib.sha256(body).hexdigest()


def completed(suggest: Suggest | None, vault: object, typed: str) -> Completion:
    """Give what somebody may mean who has typed so far; nothing where that cannot be told for now."""
    if suggest is None:
        return Completion(values=[], total=0, has_more=False)
    try:
        values = [sendable(value) for value in suggest(vault, typed[:MOST_TYPED], MOST_VALUES + 1)]
    except VaultError as error:
        logger.debug("nothing could be completed: %s", error)
        values = []
    more = len(values) > MOST_VALUES
    return Completion(values=values[:MOST_VALUES], total=None if more else len(values), has_more=more)


def suggest_for_template(catalog: Catalog, uri: str, name: str) -> Suggest:
    """Give what completes the variable of a template.

    Raises:
        NotFound: there is no such template, or it has no such variable.
    """
    for template in catalog.templates:
        if template.uri == uri and template.variable == name:
            return template.suggest
    raise NotFound(f"There is no template {uri[:200]} with a variable {name[:60]!r}.")


def suggest_for_prompt(catalog: Catalog, prompt: str, name: str) -> Suggest | None:
    """Give what completes an argument of a prompt, None for one that is free.

    Raises:
        NotFound: there is no such prompt, or it has no such argument.
    """
    for argument in prompt_named(catalog, prompt).arguments:
        if argument.name == name:
            return argument.suggest
    raise NotFound(f"The prompt {prompt} has no argument {name[:60]!r}.")


def prompt_named(catalog: Catalog, name: str) -> Prompt:
    """Give a prompt by its name.

    Raises:
        NotFound: there is none.
    """
    for prompt in catalog.prompts:
        if prompt.name == name:
            return prompt
    raise NotFound(f"There is no prompt named {name[:60]!r}. Ask for the list of prompts.")


def filled(prompt: Prompt, arguments: Mapping[str, object]) -> str:
    """Give the text of a prompt with what a person put in; what it does not ask for is left out.

    Raises:
        BadArgument: something that it needs is missing, or too long.
    """
    values: dict[str, str] = {}
    for argument in prompt.arguments:
        value = " ".join(str(arguments.get(argument.name) or "").split())
        if argument.required and not value:
            raise BadArgument(f"The prompt {prompt.name} needs {argument.name!r}: {argument.description}")
        if len(value) > LONGEST_WORD:
            raise BadArgument(f"{argument.name!r} may have {LONGEST_WORD:,} characters, not {len(value):,}.")
        values[argument.name] = sendable(value)
    return prompt.filled(values)
