"""The parts of clients' requests that are read, and the run they ask for. Other fields are ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, cast

import msgspec

from assay.core.brief import ConversationMessage, Depth
from assay.core.errors import UsageError
from assay.core.options import offered_options
from assay.core.run_options import RunOptions
from assay.server.openai.text import LABEL_PREFIX, Kind, ModelName, footer_run_id, item_run_id, run_id_of
from assay.server.protocol_runs import add_fields, body_type

EFFORTS: dict[str, Depth] = {
    "none": "light",
    "minimal": "light",
    "low": "light",
    "medium": "medium",
    "high": "extended",
    "xhigh": "extended",
    "max": "extended",
}
"""The depth of an effort, if the model's name does not set it."""
MAX_METADATA_PAIRS = 16
CLAIMS = "assay:claims"
"""The value of `include` that asks for claims as separate items."""


class MessagePart(msgspec.Struct, frozen=True):
    """A part of a message's content."""

    type: str
    text: str = ""


Content = str | list[MessagePart] | None


class GivenMessage(msgspec.Struct, frozen=True):
    """A message of a chat, or an item of a response's input."""

    role: str = ""
    content: Content = None
    type: str = "message"
    id: str | None = None


class Domains(msgspec.Struct, frozen=True):
    """Filters of the web search."""

    allowed_domains: list[str] | None = None
    blocked_domains: list[str] | None = None


class Location(msgspec.Struct, frozen=True):
    """Where the user is; only the country is read."""

    country: str | None = None


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool the client offers: web and file search say where to search, others are not called."""

    type: str
    filters: Domains | None = None
    user_location: Location | None = None
    external_web_access: bool = True
    vector_store_ids: list[str] = []


class Reasoning(msgspec.Struct, frozen=True):
    """How much is thought."""

    effort: str | None = None


OFFERED = offered_options(RunOptions, "openai")


def _add_options(body: type[Options]) -> type[Options]:
    return add_fields(
        body, {name: body_type(declaration, offer.api_type) for name, (declaration, offer) in OFFERED.items()}
    )


@_add_options
class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The field `assay` of a request: options of a run that the protocol cannot express.

    `max_time` is in seconds of work, `max_usd` in US dollars.
    """

    collections: list[str] | None = None

    @property
    def run_options(self) -> RunOptions:
        """The options that were set; missing ones are None or empty."""
        return cast("RunOptions", {name: getattr(self, name) for name in OFFERED})


class Format(msgspec.Struct, frozen=True):
    """The form of the answer; Responses has the fields of a JSON Schema here, chats in `json_schema`."""

    type: str = "text"
    schema: dict[str, Any] | None = None
    json_schema: _Schema | None = None


class _Schema(msgspec.Struct, frozen=True):
    schema: dict[str, Any] | None = None


class TextConfig(msgspec.Struct, frozen=True):
    """The field `text` of a request for a response."""

    format: Format = Format()


MIN_TOOL_CALLS = 2
"""A run that may make no search, or open no page, finds nothing."""
ToolChoice = str | dict[str, Any]
Metadata = Annotated[dict[str, str], msgspec.Meta(max_length=MAX_METADATA_PAIRS)]


class ResponseRequest(msgspec.Struct, frozen=True):
    """`POST /v1/responses`."""

    model: str
    input: str | list[GivenMessage]
    instructions: str | None = None
    background: bool | None = False
    stream: bool | None = False
    tools: list[OfferedTool] | None = None
    tool_choice: ToolChoice | None = None
    max_tool_calls: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_output_tokens: int | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    include: list[str] | None = None
    metadata: Metadata | None = None
    reasoning: Reasoning | None = None
    text: TextConfig | None = None
    assay: Options = Options()


class StreamOptions(msgspec.Struct, frozen=True):
    """The field `stream_options` of a chat."""

    include_usage: bool = False


class ChatRequest(msgspec.Struct, frozen=True):
    """`POST /v1/chat/completions`."""

    model: str
    messages: list[GivenMessage]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = None
    tools: list[OfferedTool] | None = None
    tool_choice: ToolChoice | None = None
    reasoning_effort: str | None = None
    response_format: Format | None = None
    web_search_options: dict[str, Any] | None = None
    metadata: Metadata | None = None
    assay: Options = Options()


class AskedRun(msgspec.Struct, frozen=True):
    """A run that a request asks for; see `Assay.create`.

    `named` is the run of an earlier answer in the conversation, which the new one continues if possible; else it gets
    the earlier messages.
    """

    question: str
    sources: list[str] | None
    wanted: RunOptions
    named: str = ""


def text_of(content: Content) -> str:
    """The text of a message.

    Raises:
        UsageError: it has images, audio or files.
    """
    if content is None or isinstance(content, str):
        return content or ""
    for part in content:
        if part.type not in ("text", "input_text", "output_text", "refusal", "reasoning_text"):
            raise UsageError(
                f"a part of type {part.type!r} cannot be read: Assay reads text, and documents it has added"
            )
    return "\n".join(part.text for part in content if part.text)


def response_run(request: ResponseRequest, model: ModelName) -> AskedRun:
    """The run that a request for a response asks for.

    Raises:
        UsageError: it asks for something that Assay does not do.
    """
    messages = (
        [GivenMessage(role="user", content=request.input)]
        if isinstance(request.input, str)
        else [message for message in request.input if message.type == "message"]
    )
    earlier_run = next((run for message in reversed(messages) if (run := item_run_id(message.id or ""))), "")
    effort = (request.reasoning.effort if request.reasoning else None) or ""
    run_options = _run_options(model, request.assay, effort)
    sources = _places(run_options, model, request.assay, request.tools or [], request.tool_choice)
    _limit_calls(run_options, request.max_tool_calls)
    if request.conversation is not None or request.prompt is not None:
        raise UsageError(
            "Assay stores no conversations and prompts of this API: leave 'conversation' and 'prompt' out; "
            "'previous_response_id' continues from a response"
        )
    if schema := _schema_of(request.text.format if request.text else None):
        run_options["schema"] = schema
    if request.previous_response_id:
        run_options["continues"] = run_id_of(request.previous_response_id)
    run_options["labels"] = (request.metadata or {}) | _labels(
        {
            "model": request.model,
            "effort": effort,
            "background": "yes" if request.background else "",
            "include": ",".join(request.include or ()),
            "max_tool_calls": str(request.max_tool_calls or ""),
            "max_output_tokens": str(request.max_output_tokens or ""),
        }
    )
    return _run_request(messages, request.instructions or "", earlier_run, sources, run_options)


def chat_run(request: ChatRequest, model: ModelName) -> AskedRun:
    """The run that a chat asks for: the user's last message, in the context of the earlier ones.

    Raises:
        UsageError: it asks for something that Assay does not do.
    """
    if (request.n or 1) != 1:
        raise UsageError("Assay gives one answer: leave `n` out")
    answers = [text_of(message.content) for message in request.messages if message.role == "assistant"]
    earlier_run = next((run for message in reversed(answers) if (run := footer_run_id(message))), "")
    run_options = _run_options(model, request.assay, request.reasoning_effort or "")
    sources = _places(run_options, model, request.assay, request.tools or [], request.tool_choice)
    if request.web_search_options is not None:
        run_options.setdefault("web", True)
    if schema := _schema_of(request.response_format):
        run_options["schema"] = schema
    run_options["labels"] = (request.metadata or {}) | _labels(
        {"model": request.model, "effort": request.reasoning_effort or ""}
    )
    return _run_request(request.messages, "", earlier_run, sources, run_options)


def _run_request(
    messages: Sequence[GivenMessage],
    instructions: str,
    earlier_run: str,
    sources: list[str] | None,
    run_options: RunOptions,
) -> AskedRun:
    """The run for a conversation that ends with the question; `earlier_run` is the run of an earlier answer."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    if not users:
        raise UsageError("there is no user message to answer: send one with the role user")
    last = users[-1]
    texts = [
        instructions,
        *(text_of(message.content) for message in messages if message.role in ("system", "developer")),
    ]
    if rules := "\n\n".join(text.strip() for text in texts if text.strip()):
        run_options["instructions"] = rules
    if conversation := _thread_messages(messages[:last]):
        run_options["said"] = conversation
    return AskedRun(text_of(messages[last].content), sources, run_options, earlier_run)


def _thread_messages(messages: Sequence[GivenMessage]) -> list[ConversationMessage]:
    turns = [(message.role, text_of(message.content).strip()) for message in messages]
    return [
        ConversationMessage(by="user" if role == "user" else "assistant", text=text)
        for role, text in turns
        if text and role in ("user", "assistant")
    ]


def _places(
    run_options: RunOptions, model: ModelName, options: Options, tools: Sequence[OfferedTool], choice: ToolChoice | None
) -> list[str] | None:
    """The collections to search, None for the default one; sets the web in `run_options`.

    Raises:
        UsageError: the client requires its own tool, or names a place that cannot be searched.
    """
    if choice == "required" or (isinstance(choice, dict) and choice.get("type") in ("function", "custom")):
        raise UsageError("Assay does not call the client's tools: leave out tool_choice")
    if any(tool.type == "mcp" for tool in tools):
        raise UsageError("MCP servers are named in the settings ([mcp.NAME]), not in requests")
    web = [tool for tool in tools if tool.type.startswith("web_search")]
    files = [tool for tool in tools if tool.type == "file_search"]
    if any(tool.filters is not None for tool in files):
        raise UsageError("file_search cannot filter by attributes: leave `filters` out, or name another collection")
    if web:
        run_options.setdefault("web", any(tool.external_web_access for tool in web))
        filters = [tool.filters for tool in web if tool.filters]
        run_options["domains"] = [
            *run_options["domains"],
            *(domain for domain_filter in filters for domain in domain_filter.allowed_domains or ()),
        ]
        run_options["not_domains"] = [
            *run_options["not_domains"],
            *(domain for domain_filter in filters for domain in domain_filter.blocked_domains or ()),
        ]
        if country := next((tool.user_location.country for tool in web if tool.user_location), None):
            run_options["country"] = country.lower()
    elif files:
        run_options.setdefault("web", False)
    stores = [name for tool in files for name in tool.vector_store_ids]
    names = options.collections or stores or ([model.collection] if model.collection else [])
    return [f"@{name.removeprefix('@')}" for name in dict.fromkeys(names)] or None


def _schema_of(form: Format | None) -> dict[str, Any] | None:
    """The schema of a typed answer; None for a report."""
    if form is None or form.type == "text":
        return None
    schema = form.schema or (form.json_schema.schema if form.json_schema else None)
    if form.type != "json_schema" or not schema:
        raise UsageError(
            f"an answer in the format {form.type!r} needs a schema that names its fields: send the format "
            "'json_schema' with one, or 'text' for a report"
        )
    return schema


def _limit_calls(run_options: RunOptions, calls: int | None) -> None:
    """Limit searches and pages together."""
    if calls is not None:
        if calls < MIN_TOOL_CALLS:
            raise UsageError(f"'max_tool_calls' limits searches and pages together: allow at least {MIN_TOOL_CALLS}")
        run_options["max_searches"], run_options["max_pages"] = (calls + 1) // 2, calls // 2


def _run_options(model: ModelName, options: Options, effort: str) -> RunOptions:
    """Options of a run without questions to a person: a client of this protocol cannot answer."""
    run_options = options.run_options
    depth = run_options.get("depth") or model.depth
    if depth == "auto" and effort:
        if effort not in EFFORTS:
            raise UsageError(f"unknown reasoning effort {effort!r}; use one of: {', '.join(EFFORTS)}")
        depth = EFFORTS[effort]
    run_options["ask"] = run_options["review_plan"] = "never"
    run_options["depth"] = None if depth == "auto" else depth
    if run_options.get("web") is None:
        run_options.pop("web", None)
    return run_options


def _labels(parts: dict[Kind, str]) -> dict[str, str]:
    return {f"{LABEL_PREFIX}{name}": value for name, value in parts.items() if value}
