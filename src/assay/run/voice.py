"""A reply's stream as events: its text, and what it thinks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from assay.core.citations.reader import Reading, TextReader, read_all
from assay.core.events import Event
from assay.core.messages import CallDelta, CallDone, Delta, Reply, TextDelta, ThinkingDelta, ToolCall, ToolDefinition
from assay.run.steps import StepContext
from assay.run.thoughts import Thoughts

DELTA_SECONDS = 0.1

Deltas = Callable[[str], Event | None]
"""Makes the event for a piece of a reply's text; None where there is nothing to say yet."""


class Beside:
    """Puts events on the log beside a stream: they are taken back with it, and may be said after its end."""

    def __init__(self, step_context: StepContext) -> None:
        self._step_context, self._attempt = step_context, step_context.attempt

    def say(self, event: Event, once: str) -> None:
        """Say `event` under a name of its own; nothing, where the stream was taken back."""
        if self._step_context.attempt == self._attempt:
            self._step_context.write_beside(event, once)


class Listener(Protocol):
    """Hears the text of a reply while it streams; never on a replay."""

    def begin(self, beside: Beside) -> None:
        """A stream begins, the first or again: what was heard of it before is taken back."""
        ...

    def hear(self, text: str) -> None:
        """More of the text; it is on the log."""
        ...


class Voice:
    """Turns a reply's stream into events, at most ten a second."""

    def __init__(
        self,
        step_context: StepContext,
        tools: Sequence[ToolDefinition],
        deltas: Deltas | None,
        thinking: bool,
        on_call: Callable[[int, ToolCall], None] | None,
        listener: Listener | None = None,
        reading: Reading | None = None,
    ) -> None:
        """`tools` are those of the request; the others see `Run.ask`."""
        self._step_context, self._tools, self._deltas, self._thinking = step_context, tools, deltas, thinking
        self._on_call, self._listener = on_call, listener
        self._text: list[str] = []
        self._reading, self._reader = reading, _begun(reading)
        self._thoughts = self._listen()
        self._said_at = float("-inf")
        if listener is not None:
            listener.begin(Beside(step_context))

    async def restart(self) -> None:
        """Take back what the attempt before this one said."""
        self._text.clear()
        self._reader = _begun(self._reading)
        self._thoughts = self._listen()
        await self._step_context.begin()
        if self._listener is not None:
            self._listener.begin(Beside(self._step_context))

    def say(self, delta: Delta) -> None:
        """One delta of the stream."""
        match delta:
            case TextDelta(text=text):
                self._text.append(self._reader.feed(text) if self._reader else text)
            case CallDone(index=index, call=call):
                if self._on_call is not None:
                    self._on_call(index, call)
        if self._thoughts is not None:
            self._think(self._thoughts, delta)
        now = asyncio.get_running_loop().time()
        if now - self._said_at >= DELTA_SECONDS:
            self._said_at = now
            self._flush()

    def end(self, reply: Reply) -> Reply:
        """The stream is over: say the rest. The reply as it was read."""
        self._finish()
        if self._thoughts is not None:
            self._thoughts.end(reply)
        self._flush()
        return msgspec.structs.replace(reply, text=read_all(self._reading, reply.text)) if self._reading else reply

    def stop(self) -> None:
        """No attempt came to its end: what is open is finished as it stands."""
        self._finish()
        if self._thoughts is not None:
            self._thoughts.stop()
        self._flush()

    def _finish(self) -> None:
        """Nothing more comes: what the reader held back is said."""
        reader, self._reader = self._reader, None
        if reader is not None:
            self._text.append(reader.finish())

    def _listen(self) -> Thoughts | None:
        return Thoughts(self._tools, self._step_context.write) if self._thinking else None

    def _think(self, thoughts: Thoughts, delta: Delta) -> None:
        match delta:
            case TextDelta():
                thoughts.spoken()
            case ThinkingDelta(text=text):
                self._say_text()
                thoughts.native(text)
            case CallDelta():
                thoughts.part(delta)
            case CallDone(index=index, call=call):
                thoughts.done(index, call)

    def _flush(self) -> None:
        if self._thoughts is not None:
            self._thoughts.flush()
        self._say_text()

    def _say_text(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if self._deltas is not None and text:
            event = self._deltas(text)
            if event is not None:
                self._step_context.write(event)
            if self._listener is not None:
                self._listener.hear(text)


def _begun(reading: Reading | None) -> TextReader | None:
    return reading() if reading is not None else None
