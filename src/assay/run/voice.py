"""Turns a reply's stream into events: its text and its thinking."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from assay.core.citations.reader import ReaderFactory, TextReader, read_all
from assay.core.events import Event, ThinkDelta, ThinkFinished, ThinkStarted
from assay.core.json_decoders import FieldText, field_text
from assay.core.lazy import regex
from assay.core.messages import CallDelta, CallDone, Delta, Reply, TextDelta, ThinkingDelta, ToolCall, ToolDefinition
from assay.run.steps import StepContext

# A reply's thinking as events: native reasoning, and the argument of a thinking tool.

OWN = -1
"""The speaker of native reasoning; the speaker of a call is its index."""
MAX_NATIVE_THOUGHTS = 16
"""The most native thoughts of one reply; if a model keeps switching between thinking and text, the last one grows."""


class _Call:
    """A call in progress: its name may come late, and its thought waits until no other is being written."""

    def __init__(self) -> None:
        self.name, self.unread = "", ""
        self.reader: FieldText | None = None
        self.pending: list[str] = []


class Thoughts:
    """The thoughts of one attempt at a reply."""

    def __init__(self, tools: Sequence[ToolDefinition], write: Callable[[Event], None]) -> None:
        """`write` puts an event on the log; of `tools`, those that name a `thought` count."""
        self._fields = {tool.name: tool.thought for tool in tools if tool.thought}
        self._write = write
        self._calls: dict[int, _Call] = {}
        self._finished: set[int] = set()
        self._speaker: int | None = None
        self._emitted: list[str] = []
        self._pending: list[str] = []
        self._native = 0
        self._waiting_thoughts: list[str] = []

    def add_native(self, text: str) -> None:
        """Add to the model's native reasoning."""
        self._add_thought(OWN, text)

    def end_native(self) -> None:
        """Text came: the native thought before it is complete."""
        if self._speaker == OWN and self._native < MAX_NATIVE_THOUGHTS:
            self._finish("".join(self._emitted))

    def add_call_part(self, delta: CallDelta) -> None:
        if not self._fields or delta.index in self._finished:
            return
        call = self._calls.setdefault(delta.index, _Call())
        call.name, call.unread = call.name or delta.name, call.unread + delta.text
        field = self._fields.get(call.name)
        if field:
            call.reader = call.reader or FieldText(field)
            call.pending.append(call.reader.feed(call.unread))
        if call.name:
            call.unread = ""
        if self._speaker in (None, OWN, delta.index):
            self._add_thought(delta.index, "".join(call.pending))
            call.pending.clear()

    def finish_call(self, index: int, call: ToolCall) -> None:
        """A call is complete; the thought is its argument as finally read."""
        field = self._fields.get(call.name)
        if not field or index in self._finished:
            return
        self._finished.add(index)
        thought = _argument(call, field)
        if self._speaker not in (None, OWN, index):
            self._waiting_thoughts += [thought] if thought else []  # another call's thought is not complete yet
        elif thought or self._speaker == index:
            self._open(index)
            self._pending += self._calls[index].pending if index in self._calls else []
            self._finish(thought)

    def flush(self) -> None:
        """Emit what was not emitted yet."""
        text, self._pending = "".join(self._pending), []
        if text:
            self._write(ThinkDelta(text=text))

    def finish_reply(self, reply: Reply) -> None:
        """The reply is complete: emit the rest."""
        if reply.thinking and not self._native:
            self._add_thought(OWN, reply.thinking)  # an adapter that returns it only at the end
        for index, call in enumerate(reply.calls):
            self.finish_call(index, call)
        self.stop()

    def stop(self) -> None:
        """Cut short the thought in progress."""
        if self._speaker is not None:
            self._finish("".join(self._emitted))

    def _add_thought(self, speaker: int, text: str) -> None:
        if text:
            self._open(speaker)
            self._emitted.append(text)
            self._pending.append(text)

    def _open(self, speaker: int) -> None:
        if speaker == self._speaker:
            return
        self.stop()
        self._speaker = speaker
        self._native += speaker == OWN
        self._write(ThinkStarted())

    def _finish(self, text: str) -> None:
        self.flush()
        self._write(ThinkFinished(text=text))
        self._emitted.clear()
        waiting, self._waiting_thoughts, self._speaker = self._waiting_thoughts, [], None
        for thought in waiting:
            self._write(ThinkStarted())
            self._write(ThinkFinished(text=thought))


def _argument(call: ToolCall, field: str) -> str:
    """The thought in a call's arguments, as far as they can be read."""
    value = call.arguments.get(field)
    if value is None and call.malformed:
        return field_text(call.malformed, field)
    return "" if value is None else str(value)


DELTA_SECONDS = 0.1
DeltaToEvent = Callable[[str], Event | None]
"""Makes the event for a piece of a reply's text; None if there is nothing to emit yet."""


class StreamCompanion:
    """Writes events beside a stream: they are dropped with it, and may follow its end."""

    def __init__(self, step_context: StepContext) -> None:
        self._step_context, self._attempt = step_context, step_context.attempt

    def emit(self, event: Event, once: str) -> None:
        """Emit `event` under a unique name; does nothing if the stream was dropped."""
        if self._step_context.attempt == self._attempt:
            self._step_context.write_beside(event, once)


class Listener(Protocol):
    """Receives the text of a reply while it streams; never on a replay."""

    def begin(self, companion: StreamCompanion) -> None:
        """A stream begins, for the first time or again: text received before is dropped."""
        ...

    def hear(self, text: str) -> None:
        """Receive more of the text; it is on the log."""
        ...


class StreamHooks(msgspec.Struct, frozen=True, kw_only=True):
    """The handling of a reply while it streams.

    Args:
        deltas: makes the event for a piece of the reply's text, None if there is nothing to emit yet. Without it the
            text stays off the log.
        thinking: whether the model's reasoning goes on the log.
        on_call: called with each tool call the moment it is complete in the stream, and not on replay.
        listener: receives the text as it goes on the log, and may emit events beside it.
        reader_factory: how to read the text, for the log and the reply: wrappers around it are removed.
        on_begin: called when the call is under way, at each attempt, and not on replay: what probably follows may be
            begun (see `Run.foresee`).
        slot: under which this call may have been begun ahead; "" for none.
    """

    deltas: DeltaToEvent | None = None
    thinking: bool = True
    on_call: Callable[[int, ToolCall], None] | None = None
    listener: Listener | None = None
    reader_factory: ReaderFactory | None = None
    on_begin: Callable[[], None] | None = None
    slot: str = ""


HEARD = StreamHooks()
"""Logs the model's reasoning, and nothing else of the stream."""
SILENT = StreamHooks(thinking=False)
"""Logs nothing of the stream."""


class Voice:
    """Turns a reply's stream into events, at most ten per second."""

    def __init__(self, step_context: StepContext, tools: Sequence[ToolDefinition], hooks: StreamHooks) -> None:
        """`tools` are those of the request."""
        self._step_context, self._tools = step_context, tools
        self._deltas, self._thinking = hooks.deltas, hooks.thinking
        self._on_call, self._listener = hooks.on_call, hooks.listener
        self._text: list[str] = []
        self._reader_factory, self._reader = hooks.reader_factory, _new_reader(hooks.reader_factory)
        self._fed: list[str] = []
        self._read: list[str] = []
        self._thoughts = self._listen()
        self._said_at = float("-inf")
        if self._listener is not None:
            self._listener.begin(StreamCompanion(step_context))

    async def restart(self) -> None:
        """Drop what the previous attempt emitted."""
        for pieces in (self._text, self._fed, self._read):
            pieces.clear()
        self._reader = _new_reader(self._reader_factory)
        self._thoughts = self._listen()
        await self._step_context.begin()
        if self._listener is not None:
            self._listener.begin(StreamCompanion(self._step_context))

    def add_delta(self, delta: Delta) -> None:
        """Process one delta of the stream."""
        match delta:
            case TextDelta(text=text):
                self._text.append(text)
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
        """End the stream: emit the rest and return the reply as it was read."""
        self._finish()
        if self._thoughts is not None:
            self._thoughts.finish_reply(reply)
        self._flush()
        if self._reader_factory is None:
            return reply
        was_streamed = "".join(self._fed) == reply.text
        text = "".join(self._read) if was_streamed else read_all(self._reader_factory, reply.text)
        return msgspec.structs.replace(reply, text=text)

    def stop(self) -> None:
        """Finish what is open as it stands: no attempt was completed."""
        self._finish()
        if self._thoughts is not None:
            self._thoughts.stop()
        self._flush()

    def _finish(self) -> None:
        """Emit what the reader held back: nothing more comes."""
        reader, self._reader = self._reader, None
        if reader is not None:
            self._text = [self._feed(reader), reader.finish()]
            self._read.append(self._text[-1])

    def _listen(self) -> Thoughts | None:
        return Thoughts(self._tools, self._step_context.write) if self._thinking else None

    def _think(self, thoughts: Thoughts, delta: Delta) -> None:
        match delta:
            case TextDelta():
                thoughts.end_native()
            case ThinkingDelta(text=text):
                self._say_text()
                thoughts.add_native(text)
            case CallDelta():
                thoughts.add_call_part(delta)
            case CallDone(index=index, call=call):
                thoughts.finish_call(index, call)

    def _flush(self) -> None:
        if self._thoughts is not None:
            self._thoughts.flush()
        self._say_text()

    def _say_text(self) -> None:
        text = "".join(self._text) if self._reader is None else self._feed(self._reader)
        self._text.clear()
        if self._deltas is not None and text:
            event = self._deltas(text)
            if event is not None:
                self._step_context.write(event)
            if self._listener is not None:
                self._listener.hear(text)

    def _feed(self, reader: TextReader) -> str:
        """Give the reader the text that came, and return its own text for it."""
        self._fed.append("".join(self._text))
        self._read.append(reader.feed(self._fed[-1]))
        return self._read[-1]


def _new_reader(reader_factory: ReaderFactory | None) -> TextReader | None:
    return reader_factory() if reader_factory is not None else None


# Unmarked thinking that a model writes before its prose: "Okay, the user asks … Let me start with …".

_ASKED = r"the user (?:asks|wants|is asking|asked|has asked|would like)|the question (?:asks|is)|let(?:'s|’s| me)"
_WE = r"we (?:need|have to|are asked|should|must)"
_OPENS = regex(
    r"(?:(?:ok(?:ay)?|alright|all right|hmm+|well|so|right|first|now)\b[,.:… ]*)*"
    rf"(?:{_ASKED}|{_WE}|i(?:'ll|’ll| need| should| will| have to| must| am asked| can| want)|my task"
    r"|looking at the (?:findings|passages))\b"
    r"|(?:好的|首先|嗯)[，,].{0,40}?(?:用户|我)|用户(?:问|想|要)",
    re.IGNORECASE,
)
_OF_THE_TASK = regex(
    rf"\b(?:{_ASKED}|{_WE}|i(?:'ll|’ll|'m|’m| need| should| will| have| must| can| think| want)"
    r"|my (?:task|answer|report)|the (?:findings|instructions|rules) (?:say|state|show|give|require))\b"
    r"|用户|我(?:需要|应该|要|会)",
    re.IGNORECASE,
)
_CITES = regex(r"\bS\d+\.\d+")
_HEADING = regex(r"#{1,6} ")
_BREAK = regex(r"\n[ \t]*(?:\n|(?=#{1,6} ))|\n(?=---+\s*\n)")


def thinking_length(text: str) -> int:
    """The number of code points of thinking that `text` begins with; 0 if that is unclear."""
    start = len(text) - len(text.lstrip())
    if not _OPENS.match(text, start):
        return 0
    while start < len(text):
        match = _BREAK.search(text, start)
        end = match.end() if match else len(text)
        paragraph = text[start:end].strip()
        if paragraph and not _is_about_task(paragraph):
            break
        start = end
    answer = text[start:]
    return start if _HEADING.match(answer) or _CITES.search(answer) else 0


def _is_about_task(paragraph: str) -> bool:
    """True if a paragraph is about the task rather than its subject."""
    if _HEADING.match(paragraph) or _CITES.search(paragraph):
        return False
    return not paragraph.strip("-* \n") or _OF_THE_TASK.search(paragraph) is not None
