"""Requests by a provider's client library whose successful responses are read without it.

The library knows how to write a request and what a refusal means. Its reading of a stream may cost many times more than
the format needs, so it never sees a successful response.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

import httpx2
import msgspec

from assay.core.errors import ModelError, ModelFailed
from assay.core.messages import Delta, Reply, Request, StopReason, TextDelta, ThinkingDelta, input_tokens
from assay.core.usage import Usage
from assay.models import failures
from assay.models.direct.conversation import Conversation, ResponseIntercepted
from assay.models.failures import ServiceFault
from assay.models.streams import PartialCalls, SurrogateJoiner, decode, event_data, token_count

# Google's responses, chunk by chunk, without its client's types.

_STOPS: dict[str, StopReason] = {
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"), "refused"),
}
_FAULTS = frozenset(
    ("LANGUAGE", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL")
)


class FunctionCall(msgspec.Struct, frozen=True):
    """A call, which arrives complete."""

    name: str
    args: dict[str, Any] | None = None
    id: str | None = None


class GeminiPart(msgspec.Struct, frozen=True, rename="camel"):
    """Text, thinking or a call; other kinds were not requested."""

    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None


class GeminiContent(msgspec.Struct, frozen=True):
    """The parts of a chunk."""

    parts: tuple[GeminiPart, ...] | None = None


class Candidate(msgspec.Struct, frozen=True, rename="camel"):
    """Part of one of the answers; only one is ever requested."""

    content: GeminiContent | None = None
    finish_reason: str | None = None


class GeminiUsage(msgspec.Struct, frozen=True, rename="camel"):
    """Tokens used so far; thinking is not part of the candidates'."""

    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class Feedback(msgspec.Struct, frozen=True, rename="camel"):
    """Why there is no answer."""

    block_reason: str | None = None


class GeminiChunk(msgspec.Struct, frozen=True, rename="camel"):
    """One event of the stream."""

    candidates: tuple[Candidate, ...] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: GeminiUsage | None = None
    error: ServiceFault | None = None


class GeminiReader:
    """Takes the chunks of one stream in order."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls = PartialCalls()
        self._halves = {"text": SurrogateJoiner(), "thought": SurrogateJoiner()}
        self._finish = ""
        self._blocked = False
        self._gemini_usage = GeminiUsage()

    def feed(self, chunk: GeminiChunk) -> Iterator[Delta]:
        """What this chunk adds.

        Raises:
            ModelError, ModelFailed: it reports an error.
        """
        if chunk.error is not None:
            raise self._fault(chunk.error)
        self._gemini_usage = chunk.usage_metadata or self._gemini_usage
        self._blocked = self._blocked or bool(chunk.prompt_feedback and chunk.prompt_feedback.block_reason)
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content.parts or ()) if candidate.content else ():
                yield from self._part(part)
            self._finish = candidate.finish_reason or self._finish

    def end(self) -> Iterator[Delta]:
        """What was held back: the stream is over."""
        yield from self._calls.take_complete(final=True)

    def reply(self, request: Request, model: str) -> Reply:
        """The complete reply; call it after `end`.

        Raises:
            ModelError: the stream was cut before Google said why it stopped, or it stopped with an error.
        """
        if not (self._finish or self._blocked):
            raise ModelError("the stream was cut off")
        if self._finish in _FAULTS:
            raise ModelError(f"{self._service} stopped with an error: {self._finish}")
        calls = self._calls.tool_calls()
        stop: StopReason = _STOPS.get(self._finish, "calls" if calls else "end")
        return Reply(
            text="".join(self._text),
            calls=calls,
            thinking="".join(self._thinking),
            usage=self._usage(request),
            stop="refused" if self._blocked else stop,
            model=model,
        )

    def _part(self, part: GeminiPart) -> Iterator[Delta]:
        if part.text and part.thought:
            if thought := self._halves["thought"].feed(part.text):
                self._thinking.append(thought)
                yield ThinkingDelta(thought)
        elif part.text:
            if text := self._halves["text"].feed(part.text):
                self._text.append(text)
                yield TextDelta(text)
        elif part.function_call is not None:
            call = part.function_call
            arguments = msgspec.json.encode(call.args or {}).decode()
            yield self._calls.begin().add(call.id or "", call.name, arguments)
            yield from self._calls.take_complete(final=False)

    def _fault(self, fault: ServiceFault) -> ModelError | ModelFailed:
        status = fault.code if isinstance(fault.code, int) else 500
        return failures.status_error(self._service, status, fault.message_text, text=fault.text)

    def _usage(self, request: Request) -> Usage:
        """Google's counts, or without them an estimate on the safe side."""
        usage = self._gemini_usage
        thoughts = token_count(usage.thoughts_token_count)
        outputs = token_count(usage.candidates_token_count) + thoughts
        return Usage(
            model_calls=1,
            input_tokens=token_count(usage.prompt_token_count) or input_tokens(request),
            output_tokens=outputs or self._calls.estimate("".join(self._text), "".join(self._thinking)),
            cached_tokens=token_count(usage.cached_content_token_count),
            reasoning_tokens=thoughts,
        )


MAX_EVENT_BYTES = 4_000_000


class GoogleConversation(Conversation):
    """One of Google's models on one event loop."""

    async def answer(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        reader = GeminiReader(self._service.name)

        async def begin(stack: AsyncExitStack) -> AsyncIterator[GeminiChunk]:
            response = await self._library_response(request)
            stack.push_async_callback(response.aclose)
            events = await stack.enter_async_context(aclosing(event_data(response, MAX_EVENT_BYTES)))
            return (decode(data, GeminiChunk) async for data in events)

        async with aclosing(self._stream_events(request, begin)) as chunks:
            async for chunk in chunks:
                try:
                    deltas = tuple(reader.feed(chunk))
                except (ModelError, ModelFailed) as error:
                    raise failures.hide_key(error, self._key) from None
                for delta in deltas:
                    yield delta
        for delta in reader.end():
            yield delta
        yield reader.reply(request, self._profile.name)

    async def _library_response(self, request: Request) -> httpx2.Response:
        """The response to a request that the library made."""
        try:
            async with self._open(request):
                raise ModelError(f"{self._service.name} was not asked")
        except ResponseIntercepted as answered:
            return answered.response
