"""A run's log as a chat completion: progress as reasoning, then the checked report with links and annotations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import msgspec

from assay.core.clean import make_inactive
from assay.core.events import (
    Envelope,
    Event,
    RunCancelled,
    RunCompleted,
    RunCreated,
    RunFailed,
    SearchFailed,
    SearchPerformed,
)
from assay.core.milestones import milestone_line, pluralize, shorten
from assay.core.phrases import LIMIT_REASONS
from assay.core.ports import FINAL
from assay.core.usage import Usage
from assay.core.view import RunView, ViewBuilder
from assay.locale.english import EnglishEvents
from assay.server.openai.text import AnswerText, SearchResult, UrlCitation, answer_of, model_of, no_report_reason

Finish = Literal["stop", "length"]


class LinkSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A link of the text: code points `[start_index, end_index)`."""

    start_index: int
    end_index: int
    title: str
    url: str


class NestedCitation(msgspec.Struct, frozen=True, kw_only=True):
    """A citation in the form of chats: nested, whereas responses have it flat."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: LinkSpan


class Delta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part a chunk adds to the message."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    annotations: tuple[NestedCitation, ...] | None = None


class ChunkChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The one choice of a chunk."""

    index: int = 0
    delta: Delta = Delta()
    finish_reason: Finish | None = None
    logprobs: None = None


class PromptTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The cached part of the prompts."""

    cached_tokens: int = 0


class CompletionTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The reasoning part of the replies."""

    reasoning_tokens: int = 0


class ChatUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of models in the run, over all calls."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokens
    completion_tokens_details: CompletionTokens


class ChatChunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of a chat completion's stream; the last with a choice names the sources."""

    id: str
    object: str
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    citations: tuple[str, ...] | None = None
    search_results: tuple[SearchResult, ...] | None = None
    usage: ChatUsage | None = None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer."""

    role: str
    content: str
    refusal: msgspec.UnsetType | None = msgspec.UNSET
    reasoning_content: str | None = None
    annotations: tuple[NestedCitation, ...] = ()


class ChatChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The one choice."""

    index: int = 0
    message: ChatMessage
    finish_reason: Finish
    logprobs: None = None


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A chat completion, whole."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[ChatChoice, ...]
    citations: tuple[str, ...] = ()
    search_results: tuple[SearchResult, ...] = ()
    usage: ChatUsage


class ChatProjection:
    """Takes the events of one run in order, and returns the chunks of its stream and finally the completion.

    `base` is the address of the server, for the last line of the answer.
    """

    def __init__(self, base: str) -> None:
        self._base, self._folder, self._events = base, ViewBuilder(), EnglishEvents()
        self._id, self._model, self._created = "", "", 0
        self._reasons: list[str] = []
        self.failure = ""
        """Why there is no report, if the run failed."""

    def add_event(self, envelope: Envelope) -> list[ChatChunk]:
        """The chunks one more event adds to the stream."""
        self._folder.apply(envelope)
        return list(self._project(envelope))

    def _project(self, envelope: Envelope) -> Iterator[ChatChunk]:
        event = self._events.decode(envelope)
        match event:
            case RunCreated():
                self._id, self._model = f"chatcmpl-{envelope.run_id}", model_of(event.brief)
                self._created = int(datetime.fromisoformat(envelope.at).timestamp())
                yield self._chunk(Delta(role="assistant", content=""))
            case SearchPerformed() if not event.shared:
                results = pluralize(event.results, "document") if event.results else "nothing"
                yield self._reason(f"searched {shorten(event.query, 100)}: {results}")
            case SearchFailed():
                yield self._reason(f"could not search {shorten(event.query, 100)}: {event.reason}")
            case RunCompleted() | RunFailed() | RunCancelled():
                yield from self._end()
            case Event():
                if line := milestone_line(event):
                    yield self._reason(line)

    def usage_chunk(self) -> ChatChunk:
        return msgspec.structs.replace(
            self._chunk(Delta()), choices=(), usage=chat_usage(self._folder.view.usage.total)
        )

    @property
    def ended(self) -> bool:
        """True once the run has ended."""
        return self._folder.view.status in FINAL

    @property
    def completion(self) -> Completion:
        """The whole completion, once the run has ended."""
        view = self._folder.view
        answer = answer_of(view, self._base)
        return Completion(
            id=self._id,
            created=self._created,
            model=self._model,
            choices=(
                ChatChoice(
                    message=ChatMessage(
                        role="assistant",
                        content=answer.text,
                        reasoning_content="".join(self._reasons),
                        annotations=_nested_citations(answer),
                    ),
                    finish_reason=_finish(view),
                ),
            ),
            citations=tuple(source.url for source in answer.sources),
            search_results=answer.sources,
            usage=chat_usage(view.usage.total),
        )

    def _end(self) -> Iterator[ChatChunk]:
        view = self._folder.view
        if view.status == "failed" and not view.report.text.strip():
            self.failure = no_report_reason(view)
            return
        answer = answer_of(view, self._base)
        for piece in answer.pieces():
            yield self._chunk(Delta(content=piece))
        if notes := _nested_citations(answer):
            yield self._chunk(Delta(annotations=notes))
        yield msgspec.structs.replace(
            self._chunk(Delta()),
            choices=(ChunkChoice(finish_reason=_finish(view)),),
            citations=tuple(source.url for source in answer.sources),
            search_results=answer.sources,
        )

    def _reason(self, line: str) -> ChatChunk:
        self._reasons.append(f"{make_inactive(line)}\n")
        return self._chunk(Delta(reasoning_content=self._reasons[-1]))

    def _chunk(self, delta: Delta) -> ChatChunk:
        return ChatChunk(
            id=self._id,
            object="chat.completion.chunk",
            created=self._created,
            model=self._model,
            choices=(ChunkChoice(delta=delta),),
        )


def chat_usage(usage: Usage) -> ChatUsage:
    """The usage of models in a run, in the form of chats."""
    return ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        prompt_tokens_details=PromptTokens(cached_tokens=usage.cached_tokens),
        completion_tokens_details=CompletionTokens(reasoning_tokens=usage.reasoning_tokens),
    )


def _finish(view: RunView) -> Finish:
    return "length" if view.status == "completed" and view.stop_reason in LIMIT_REASONS else "stop"


def _nested_citations(answer: AnswerText) -> tuple[NestedCitation, ...]:
    return tuple(
        NestedCitation(
            url_citation=LinkSpan(
                start_index=annotation.start_index,
                end_index=annotation.end_index,
                title=annotation.title,
                url=annotation.url,
            )
        )
        for annotation in answer.annotations
        if isinstance(annotation, UrlCitation)
    )
