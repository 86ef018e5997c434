"""Tools, resources, templates and prompts of the catalog as clients see them in lists."""

from mcp_types import Annotations, PromptArgument, ToolAnnotations
from mcp_types import Prompt as ShownPrompt
from mcp_types import Resource as ShownResource
from mcp_types import ResourceTemplate as ShownTemplate
from mcp_types import Tool as ShownTool

from vault_mcp.doors.mcp_apps import app_meta
from vault_mcp.tools.schema import json_schema
from vault_mcp.tools.tool import Listed, Prompt, Resource, Template, Tool


def shown(tool: Tool) -> ShownTool:
    """Write a tool of the catalog as clients see it."""
    return ShownTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=json_schema(tool.inputs, closed=True),
        output_schema=None if tool.result is None else json_schema(tool.result, closed=False),
        annotations=ToolAnnotations(
            read_only_hint=tool.hints.read_only,
            destructive_hint=tool.hints.destructive,
            idempotent_hint=tool.hints.idempotent,
            open_world_hint=False,
        ),
        _meta=app_meta(tool.name),
    )


def shown_resource(resource: Resource) -> ShownResource:
    """Write a resource as clients see it."""
    return ShownResource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime,
    )


def shown_listed(listed: Listed) -> ShownResource:
    """Write something that is there for now as clients see it."""
    return ShownResource(
        uri=listed.uri,
        name=listed.name,
        title=listed.title,
        mime_type=listed.mime,
        annotations=Annotations(last_modified=listed.changed_at or None),
    )


def shown_template(template: Template) -> ShownTemplate:
    """Write a template as clients see it."""
    return ShownTemplate(
        uri_template=template.uri,
        name=template.name,
        title=template.title,
        description=template.description,
        mime_type=template.mime or None,
    )


def shown_prompt(prompt: Prompt) -> ShownPrompt:
    """Write a prompt as clients see it."""
    return ShownPrompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in prompt.arguments
        ],
    )
