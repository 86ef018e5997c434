"""Our own server with the tools, resources and prompts that the official conformance suite asks for by name.

The suite knows no server's own tools. What it asks for is laid over `VaultServer`, so that the protocol, the
lists, the door over HTTP and its checks are the ones that people use. Run as a program with the port.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    GetPromptResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
    TextResourceContents,
    Tool,
)
from pydantic import AnyUrl

from vault_mcp.doors.address import Address
from vault_mcp.doors.mcp_callers import Callers
from vault_mcp.doors.mcp_http import serve_http, take_place
from vault_mcp.doors.mcp_live import Live
from vault_mcp.doors.mcp_server import VaultServer
from vault_mcp.doors.mcp_wire import end_at_signals
from vault_mcp.doors.opening import Opening
from vault_mcp.doors.tokens import Tokens
from vault_mcp.tools.catalog import Catalog
from vault_mcp.vault import Vault

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
SILENCE = base64.b64encode(
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\2\0\0\0\0\0"
).decode()
NO_ARGUMENTS = {"type": "object", "properties": {}}
MISSING_CAPABILITY = -32021

SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

OBJECT: dict[str, dict[str, Any]] = {
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_elicitation": {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    },
    "json_schema_2020_12_tool": SCHEMA_2020,
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
}
"""The input schemas of the tools that take something."""

DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": f"value{n}", "title": f"{word} Option"} for n, word in ((1, "First"), (2, "Second"))
            ],
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2)]},
        },
    },
}


def said(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def embedded(uri: str, mime: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=mime, text=text)
    )


IMAGE = ImageContent(type="image", data=PIXEL, mime_type="image/png")
FIXED: Mapping[str, Sequence[ContentBlock]] = {
    "test_simple_text": [said("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        said("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "json_schema_2020_12_tool": [said("fine")],
    "test_x_mcp_header": [said("fine")],
}
"""Tools that always give the same."""


def form(message: str, **properties: object) -> InputRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def question(text: str, most: int) -> InputRequest:
    message = SamplingMessage(role="user", content=said(text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=most))


CAPITAL = question("What is the capital of France?", 100)
GREETING = question("Generate a greeting", 50)
NAME = form("What is your name?", name={"type": "string"})
CONFIRM = form("Please confirm", ok={"type": "boolean"})
ROUNDS: Mapping[str, Sequence[Mapping[str, InputRequest]]] = {
    "test_input_required_result_elicitation": [{"user_name": NAME}],
    "test_input_required_result_sampling": [
        {"capital_question": question("What is the capital of France?", 100)}
    ],
    "test_input_required_result_list_roots": [{"client_roots": ListRootsRequest()}],
    "test_input_required_result_request_state": [{"confirm": CONFIRM}],
    "test_input_required_result_tampered_state": [{"confirm": CONFIRM}],
    "test_input_required_result_capabilities": [{"user_name": NAME, "greeting": GREETING}],
    "test_input_required_result_multiple_inputs": [
        {
            "user_name": NAME,
            "greeting": question("Generate a greeting", 50),
            "client_roots": ListRootsRequest(),
        }
    ],
    "test_input_required_result_multi_round": [
        {"step1": form("Step 1: What is your name?", name={"type": "string"})},
        {"step2": form("Step 2: What is your favorite color?", color={"type": "string"})},
    ],
}
"""What each tool asks of its client, round by round."""

STATEFUL = {
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
}

CALLED = (
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_trigger_tool_change",
)

PROMPTS: Mapping[str, Sequence[str]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}

RESOURCES: Mapping[str, tuple[str, str | bytes]] = {
    "test://static-text": ("text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", base64.b64decode(PIXEL)),
    "test://watched-resource": ("text/plain", "Watched."),
}
TEMPLATE = "test://template/{id}/data"


class FixtureServer(VaultServer):
    """Ours, with theirs laid over it; what is not theirs goes its own way."""

    def __init__(self, opening: Opening, live: Live, callers: Callers) -> None:
        super().__init__(opening, live, callers)
        self.low_level.add_request_handler("logging/setLevel", SetLevelRequestParams, self._set_level)

    # -- tools

    async def list_tools(self) -> list[Tool]:
        names = dict.fromkeys([*FIXED, *CALLED, *ROUNDS])
        ours = [
            Tool(name=name, description=f"Fixture {name}.", input_schema=OBJECT.get(name, NO_ARGUMENTS))
            for name in names
        ]
        return [*ours, *await super().list_tools()]

    def _tool_input_schema(self, name: str) -> dict[str, Any] | None:
        return OBJECT.get(name)

    async def call_tool(  # type: ignore[override]
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        if name in FIXED:
            return CallToolResult(content=list(FIXED[name]))
        if context is None or name not in (*ROUNDS, *CALLED):
            return await super().call_tool(name, arguments, context)
        if name in ROUNDS:
            return asked(name, ROUNDS[name], context)
        if name == "test_error_handling":
            text = "This tool intentionally returns an error for testing"
            return CallToolResult(content=[said(text)], is_error=True)
        return CallToolResult(content=[said(await self._called(name, arguments, context))])

    async def _called(self, name: str, arguments: dict[str, Any], context: Context[None, Any]) -> str:
        match name:
            case "test_tool_with_logging":
                for text in ("started", "processing data", "execution completed"):
                    words = text if text.startswith("exec") else f"execution {text}"
                    told = "Tool processing data" if "processing" in text else f"Tool {words}"
                    await context.session.send_log_message(
                        "info", told, related_request_id=context.request_id
                    )
                    await asyncio.sleep(0.05)
                return "logged"
            case "test_tool_with_progress":
                for done in (0, 50, 100):
                    await context.report_progress(done, 100)
                    await asyncio.sleep(0.05)
                return "done"
            case "test_sampling":
                message = SamplingMessage(role="user", content=said(str(arguments["prompt"])))
                answer = await context.session.create_message(
                    messages=[message], max_tokens=100, related_request_id=context.request_id
                )
                return f"LLM response: {getattr(answer.content, 'text', answer.content)}"
            case "test_missing_capability":
                raise MCPError(
                    code=MISSING_CAPABILITY,
                    message="This needs the capability to sample.",
                    data={"requiredCapabilities": {"sampling": {}}},
                )
            case "test_trigger_tool_change":
                await context.notify_tools_changed()
                return "told"
        return await self._elicited(name, arguments, context)

    async def _elicited(self, name: str, arguments: dict[str, Any], context: Context[None, Any]) -> str:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
            "required": ["username", "email"],
        }
        if name.endswith("defaults"):
            schema = DEFAULTS
        elif name.endswith("enums"):
            schema = ENUMS
        text = str(arguments.get("message", "Please say."))
        answer = await context.session.elicit_form(text, schema, related_request_id=context.request_id)
        return f"User response: action={answer.action}, content={json.dumps(answer.content)}"

    # -- resources

    async def list_resources(self) -> list[Resource]:
        theirs = [
            Resource(uri=uri, name=uri, description="A fixture.", mime_type=mime)
            for uri, (mime, _) in RESOURCES.items()
        ]
        return [*theirs, *await super().list_resources()]

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        theirs = ResourceTemplate(uri_template=TEMPLATE, name="fixture", description="A fixture.")
        return [theirs, *await super().list_resource_templates()]

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents]:
        if str(uri) in RESOURCES:
            mime, content = RESOURCES[str(uri)]
            return [ReadResourceContents(content=content, mime_type=mime)]
        head, _, tail = TEMPLATE.partition("{id}")
        if str(uri).startswith(head):
            number = str(uri).removeprefix(head).removesuffix(tail)
            content = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
            return [ReadResourceContents(content=content, mime_type="application/json")]
        return await super().read_resource(uri, context)

    # -- prompts, and the rest

    async def list_prompts(self) -> list[Prompt]:
        theirs = [
            Prompt(
                name=name,
                description="A fixture.",
                arguments=[PromptArgument(name=word, required=True) for word in words],
            )
            for name, words in PROMPTS.items()
        ]
        return [*theirs, *await super().list_prompts()]

    async def get_prompt(  # type: ignore[override]
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[None, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        given = arguments or {}
        blocks: list[ContentBlock]
        match name:
            case "test_simple_prompt":
                blocks = [said("This is a simple prompt for testing.")]
            case "test_prompt_with_arguments":
                blocks = [said(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
            case "test_prompt_with_embedded_resource":
                resource = embedded(
                    given["resourceUri"], "text/plain", "Embedded resource content for testing."
                )
                blocks = [resource, said("Please process the embedded resource above.")]
            case "test_prompt_with_image":
                blocks = [IMAGE, said("Please analyze the image above.")]
            case "test_input_required_result_prompt":
                if not (context and context.input_responses):
                    wanted = form("What context should the prompt use?", context={"type": "string"})
                    return InputRequiredResult(input_requests={"user_context": wanted})
                blocks = [said("With that context.")]
            case _:
                return await super().get_prompt(name, arguments, context)
        return GetPromptResult(messages=[PromptMessage(role="user", content=block) for block in blocks])

    async def _complete(
        self, context: ServerRequestContext[None], params: CompleteRequestParams
    ) -> CompleteResult:
        if getattr(params.ref, "name", "") in PROMPTS:
            return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
        return await super()._complete(context, params)

    async def _set_level(self, context: object, params: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()


def asked(
    name: str, rounds: Sequence[Mapping[str, InputRequest]], context: Context[None, Any]
) -> CallToolResult | InputRequiredResult:
    """Ask for what is still missing, or answer once everything has been given."""
    capabilities = context.client_capabilities
    can = {
        "elicitation/create": capabilities is not None and capabilities.elicitation is not None,
        "sampling/createMessage": capabilities is not None and capabilities.sampling is not None,
        "roots/list": capabilities is not None and capabilities.roots is not None,
    }
    given = context.input_responses or {}
    done = int(context.request_state or 0) if name in STATEFUL else 0
    wanted = {key: request for key, request in rounds[done].items() if can[request.method]}
    if any(not usable(given.get(key)) for key in wanted):
        return InputRequiredResult(
            input_requests=wanted, request_state=str(done) if name in STATEFUL else None
        )
    if done + 1 < len(rounds):
        return InputRequiredResult(input_requests=dict(rounds[done + 1]), request_state=str(done + 1))
    answers = {key: given[key] for key in wanted}
    words = json.dumps({key: answer.model_dump(mode="json") for key, answer in answers.items()})
    greeting = f"Hello, {(getattr(given.get('user_name'), 'content', None) or {}).get('name')}! "
    return CallToolResult(content=[said(f"{greeting if 'user_name' in wanted else ''}state-ok {words}")])


def usable(answer: object) -> bool:
    """Say whether an answer is one: an elicitation that was declined is not."""
    return answer is not None and getattr(answer, "action", "accept") == "accept"


def main() -> None:
    """Serve on the vault and the port that are named."""
    end_at_signals()
    root, port = sys.argv[1:]
    live, tokens = Live(), Tokens(root, {"XDG_CONFIG_HOME": "/nonexistent"})
    server = FixtureServer(Opening(Catalog, lambda: Vault.open(root)), live, Callers(reserved=tokens))
    place = take_place(Address("127.0.0.1", int(port)), (), tokens, require_token=False)
    serve_http(server, place, tokens, lambda url: print(f"serving at {url}", file=sys.stderr, flush=True))


if __name__ == "__main__":
    main()
