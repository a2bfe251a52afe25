"""Chunks become deltas at once, and a whole reply at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from assay.core.counting import input_tokens
from assay.core.errors import ModelError
from assay.core.messages import Delta, Reply, Request, StopReason, TextDelta, ThinkDelta
from assay.core.text import estimate_tokens
from assay.core.usage import Usage
from assay.models.calls import PartialCall, PartialCalls
from assay.models.halves import Halves
from assay.models.openai.wire import CallPart, Chunk, Counted, Function, Part

_STOPS: dict[str, StopReason] = {"length": "length", "model_length": "length", "content_filter": "refused"}
_OPEN, _CLOSE = "<think>", "</think>"


class Assembler:
    """Takes the chunks of one stream in order.

    What comes out joined does not depend on how the text was cut: reasoning which a model writes between `<think>` tags
    before its answer is told from the answer, and a call is given as soon as its arguments are whole.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls = PartialCalls()
        self._held = ""
        self._halves = {"content": Halves(), "thought": Halves(), "refusal": Halves()}
        self._place: Literal["start", "thinking", "after", "answer"] = "start"
        self._refusal: list[str] = []
        self._finish = ""
        self._counted: Counted | None = None

    @property
    def finished(self) -> bool:
        """Whether the service said why it stopped: without that, the stream was cut."""
        return bool(self._finish)

    def take(self, chunk: Chunk) -> Iterator[Delta]:
        """What this chunk adds."""
        self._counted = chunk.counted or self._counted
        for choice in (chunk.choices or ())[:1]:
            if choice.delta is not None:
                yield from self._part(choice.delta)
            self._finish = choice.finish_reason or self._finish

    def end(self) -> Iterator[Delta]:
        """What was held back: the stream is over."""
        yield from self._flush()
        yield from self._calls.ready(final=True)

    def reply(self, request: Request, model: str) -> Reply:
        """The whole reply; to be asked for after `end`.

        Raises:
            ModelError: the stream was cut before the service said why it stopped, or it stopped by a fault.
        """
        if not self.finished:
            raise ModelError("the stream was cut off")
        if self._finish == "error":
            raise ModelError("the service stopped with a fault")
        calls = self._calls.done()
        refusal = "".join(self._refusal)
        stop: StopReason = "refused" if refusal else _STOPS.get(self._finish, "calls" if calls else "end")
        text = "".join(self._text) or refusal
        return Reply(
            text=text,
            calls=calls,
            thinking="".join(self._thinking),
            usage=self._usage(request, text),
            stop=stop,
            model=model,
        )

    def _part(self, part: Part) -> Iterator[Delta]:
        thought = self._halves["thought"].take(part.thought)
        if thought:
            self._thinking.append(thought)
            yield ThinkDelta(thought)
        if part.refusal:
            self._refusal.append(self._halves["refusal"].take(part.refusal))
        if text := part.text:
            yield from self._content(self._halves["content"].take(text))
        for piece in part.tool_calls or ():
            said = piece.function or Function()
            yield self._call(piece).add(piece.id or "", said.name or "", said.text)
        yield from self._calls.ready(final=False)

    # calls

    def _call(self, part: CallPart) -> PartialCall:
        """The call a part belongs to.

        By its index, unless it names another id (some services count every call as 0); without an index the last one,
        unless it names another id or function.
        """
        for call in reversed(self._calls.all):
            if part.index is None:
                named = part.function is not None and bool(part.function.name)
                if not named or (part.id and part.id == call.id):
                    return call
                break
            if part.index == call.key and part.id in (None, "", call.id):
                return call
        return self._calls.begin(part.index)

    # text, and reasoning written into it

    def _content(self, text: str) -> Iterator[Delta]:
        self._held += text
        if self._place == "start":
            begun = self._held.lstrip()
            if not begun or (begun != _OPEN and _OPEN.startswith(begun)):
                return
            self._place = "thinking" if begun.startswith(_OPEN) else "answer"
            self._held = begun.removeprefix(_OPEN) if self._place == "thinking" else self._held
        if self._place == "thinking":
            yield from self._thought()
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "answer" if self._held else "after"
        if self._place == "answer":
            yield from self._flush()

    def _thought(self) -> Iterator[Delta]:
        thought, tag, rest = self._held.partition(_CLOSE)
        if not tag:
            kept = len(self._held) - _overlap(self._held)
            thought, rest = self._held[:kept], self._held[kept:]
        self._place, self._held = "after" if tag else "thinking", rest
        if thought:
            self._thinking.append(thought)
            yield ThinkDelta(thought)

    def _flush(self) -> Iterator[Delta]:
        held, self._held = self._held, ""
        if not held:
            return
        if self._place == "thinking":
            self._thinking.append(held)
            yield ThinkDelta(held)
        else:
            self._text.append(held)
            yield TextDelta(held)

    # counts

    def _usage(self, request: Request, text: str) -> Usage:
        """As the service counted; where it did not, an estimate on the safe side."""
        counted = self._counted or Counted()
        prompt, completion = counted.prompt_tokens_details, counted.completion_tokens_details
        written = (text, "".join(self._thinking), *("".join(call.pieces) for call in self._calls.all))
        inputs, outputs = counted.prompt_tokens, counted.completion_tokens
        return Usage(
            model_calls=1,
            input_tokens=input_tokens(request) if inputs is None else inputs,
            output_tokens=sum(map(estimate_tokens, written)) if outputs is None else outputs,
            cached_tokens=(prompt.cached_tokens or 0) if prompt else 0,
            cache_write_tokens=(prompt.cache_write_tokens or 0) if prompt else 0,
            reasoning_tokens=(completion.reasoning_tokens or 0) if completion else 0,
        )


def _overlap(text: str) -> int:
    """How many signs at the end of `text` may begin the closing tag."""
    return next((size for size in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:size])), 0)
