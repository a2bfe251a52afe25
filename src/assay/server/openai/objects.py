"""Responses, their items and the events of their streams, with the fields of OpenAI and of Open Responses."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from assay.core.brief import Brief
from assay.core.claims import Verdict
from assay.core.ports import FINAL
from assay.core.report import build_report
from assay.core.usage import Usage
from assay.core.view import RunView
from assay.server.openai.text import LABEL_PREFIX, Annotation, model_of, request_label, response_id

ItemStatus = Literal["in_progress", "searching", "completed", "incomplete", "failed"]
Status = Literal["queued", "in_progress", "completed", "failed", "cancelled", "incomplete"]


class SummaryText(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a summary."""

    type: Literal["summary_text"] = "summary_text"
    text: str = ""


class ReasoningItem(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of the run, in lines for a person."""

    type: Literal["reasoning"] = "reasoning"
    id: str
    summary: tuple[SummaryText, ...] = ()
    content: tuple[str, ...] = ()
    encrypted_content: str | None = None
    status: ItemStatus = "in_progress"


class UrlSource(msgspec.Struct, frozen=True, kw_only=True):
    """A page found by a search."""

    type: Literal["url"] = "url"
    url: str


class SearchAction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A search."""

    type: Literal["search", "open_page"]
    query: str | msgspec.UnsetType = msgspec.UNSET
    queries: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    sources: tuple[UrlSource, ...] | msgspec.UnsetType = msgspec.UNSET
    url: str | msgspec.UnsetType = msgspec.UNSET


class WebSearchItem(msgspec.Struct, frozen=True, kw_only=True):
    """A search of the web, or an opened page."""

    type: Literal["web_search_call"] = "web_search_call"
    id: str
    status: ItemStatus
    action: SearchAction


class FoundFile(msgspec.Struct, frozen=True, kw_only=True):
    """A document found by a search; `file_id` is its hash, as in citations of it."""

    file_id: str
    filename: str
    text: str = ""
    score: float | None = None
    attributes: dict[str, str] = {}


class FileSearchItem(msgspec.Struct, frozen=True, kw_only=True):
    """A search of collections."""

    type: Literal["file_search_call"] = "file_search_call"
    id: str
    status: ItemStatus
    queries: tuple[str, ...]
    results: tuple[FoundFile, ...] | None = None


class OutputText(msgspec.Struct, frozen=True, kw_only=True):
    """A text with annotations."""

    type: Literal["output_text"] = "output_text"
    text: str = ""
    annotations: tuple[Annotation, ...] = ()
    logprobs: tuple[str, ...] = ()


class MessageItem(msgspec.Struct, frozen=True, kw_only=True):
    """The answer."""

    type: Literal["message"] = "message"
    id: str
    status: ItemStatus = "in_progress"
    role: Literal["assistant"] = "assistant"
    phase: Literal["final_answer"] = "final_answer"
    content: tuple[OutputText, ...] = ()


class EvidenceItem(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes `[start, end)` of a stored document's text (UTF-8), with the text itself."""

    document_sha256: str
    snapshot_sha256: str
    start: int
    end: int
    quote: str
    title: str
    url: str


class ClaimItem(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the answer and the verdict on it; `number`s of citations are those in the text."""

    type: Literal["assay:claim"] = "assay:claim"
    id: str
    status: ItemStatus = "completed"
    message_id: str
    text: str
    verdict: Verdict
    reason: str
    numbers: tuple[int, ...]
    evidence: tuple[EvidenceItem, ...]


Item = ReasoningItem | WebSearchItem | FileSearchItem | MessageItem | ClaimItem


class CachedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The cached part of the input."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class ReasoningTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The reasoning part of the output."""

    reasoning_tokens: int = 0


class ResponseUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of models in the run."""

    input_tokens: int
    input_tokens_details: CachedTokens
    output_tokens: int
    output_tokens_details: ReasoningTokens
    total_tokens: int


class ResponseFault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a response failed."""

    code: str
    message: str


class Incomplete(msgspec.Struct, frozen=True, kw_only=True):
    """Why a response is incomplete."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """The requested reasoning."""

    effort: str | None = None
    summary: Literal["auto"] = "auto"


class ShownDomains(msgspec.Struct, frozen=True, kw_only=True):
    """The hosts to search on the web."""

    allowed_domains: tuple[str, ...]


class ShownTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the run searches."""

    type: Literal["web_search", "file_search"]
    filters: ShownDomains | msgspec.UnsetType = msgspec.UNSET
    vector_store_ids: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class PlainFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The form of the answer."""

    type: Literal["text"] = "text"


class SchemaFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The form of an answer with the fields of a schema."""

    type: Literal["json_schema"] = "json_schema"
    name: str = "answer"
    schema: Any
    strict: bool = True
    description: str | None = None


class TextForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form and length of the answer."""

    format: PlainFormat | SchemaFormat = PlainFormat()
    verbosity: Literal["medium"] = "medium"


class ResponseObject(msgspec.Struct, frozen=True, kw_only=True):
    """A complete response, with every field that Open Responses requires. Times are in seconds since 1970.

    A run is always stored, so `store` is true whatever was requested. Options for a single model have no meaning for a
    run, and have their default.
    """

    id: str
    object: Literal["response"] = "response"
    created_at: int
    completed_at: int | None = None
    status: Status
    background: bool
    error: ResponseFault | None = None
    incomplete_details: Incomplete | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, str] = {}
    model: str
    output: tuple[Item, ...] = ()
    parallel_tool_calls: bool = True
    previous_response_id: str | None = None
    prompt_cache_key: str | None = None
    reasoning: Effort = Effort()
    safety_identifier: str | None = None
    service_tier: Literal["default"] = "default"
    store: bool = True
    temperature: float = 1.0
    text: TextForm = TextForm()
    tool_choice: Literal["auto"] = "auto"
    tools: tuple[ShownTool, ...] = ()
    top_logprobs: int = 0
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    truncation: Literal["disabled"] = "disabled"
    usage: ResponseUsage | None = None
    user: str | None = None


def response_of(run_id: str, created_at: int, brief: Brief, status: Status) -> ResponseObject:
    """A response as far as it is known at the start."""
    return ResponseObject(
        id=response_id(run_id),
        created_at=created_at,
        status=status,
        background=bool(request_label(brief, "background")),
        instructions=brief.instructions or None,
        max_output_tokens=_number(request_label(brief, "max_output_tokens")),
        max_tool_calls=_number(request_label(brief, "max_tool_calls")),
        metadata={name: text for name, text in brief.labels.items() if not name.startswith((LABEL_PREFIX, "assay."))},
        model=model_of(brief),
        previous_response_id=response_id(brief.parent) if brief.parent else None,
        reasoning=Effort(effort=request_label(brief, "effort") or None),
        text=TextForm(format=SchemaFormat(schema=msgspec.json.decode(brief.schema))) if brief.schema else TextForm(),
        tools=_tools(brief),
    )


def claims_of(view: RunView) -> list[ClaimItem]:
    """The claims of a report, each with its evidence."""
    report = build_report(view)
    sources = {source.id: source for source in report.sources}
    items = []
    for claim, passages in report.evidence():
        evidence = tuple(
            EvidenceItem(
                document_sha256=passage.document_sha256,
                snapshot_sha256=sources[passage.source].snapshot_sha256,
                start=passage.start,
                end=passage.end,
                quote=passage.text,
                title=sources[passage.source].title,
                url=sources[passage.source].url,
            )
            for passage in passages
            if passage.source in sources
        )
        items.append(
            ClaimItem(
                id=f"clm_{view.run_id}_{claim.id}",
                message_id=f"msg_{view.run_id}",
                text=claim.text,
                verdict=claim.verdict,
                reason=claim.reason,
                numbers=claim.numbers,
                evidence=evidence,
            )
        )
    return items


def usage_of(usage: Usage) -> ResponseUsage:
    """The usage of models in a run."""
    return ResponseUsage(
        input_tokens=usage.input_tokens,
        input_tokens_details=CachedTokens(
            cached_tokens=usage.cached_tokens, cache_write_tokens=usage.cache_write_tokens
        ),
        output_tokens=usage.output_tokens,
        output_tokens_details=ReasoningTokens(reasoning_tokens=usage.reasoning_tokens),
        total_tokens=usage.input_tokens + usage.output_tokens,
    )


def status_of(view: RunView, limits: frozenset[str]) -> Status:
    """The status of a run in the terms of a response; a report cut short by a limit is incomplete."""
    if view.status not in FINAL:
        return "in_progress" if view.started_at else "queued"
    if view.status == "completed":
        return "incomplete" if view.stop_reason in limits else "completed"
    return "cancelled" if view.status == "cancelled" else "failed"


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _tools(brief: Brief) -> tuple[ShownTool, ...]:
    scope = brief.scope
    domains = scope.rules.domains
    web = ShownTool(
        type="web_search", filters=ShownDomains(allowed_domains=tuple(domains)) if domains else msgspec.UNSET
    )
    files = ShownTool(type="file_search", vector_store_ids=scope.collections)
    return (*((web,) if scope.web else ()), *((files,) if scope.collections else ()))
