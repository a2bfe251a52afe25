"""A reply's stream as events: its text, and what it thinks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from assay.core.citations.reader import Reading, TextReader, read_all
from assay.core.events import Event, ThinkFinished, ThinkStarted
from assay.core.events import ThinkDelta as Thought
from assay.core.json_decoders import FieldText, field_text
from assay.core.messages import CallDelta, CallDone, Delta, Reply, TextDelta, ThinkingDelta, ToolCall, ToolDefinition
from assay.run.steps import StepContext

# What a reply thinks, as events: the model's own reasoning, and what it writes into the argument of a thinking tool.

OWN = -1
"""The speaker of native reasoning; a call speaks under its index."""
MOST = 16
"""Native thoughts of one reply; where a model goes on changing between thinking and speaking, the last one grows."""


class _Call:
    """A call in the making: its name may come late, and its thought waits until no other speaks."""

    def __init__(self) -> None:
        self.name, self.unread = "", ""
        self.reader: FieldText | None = None
        self.waiting: list[str] = []


class Thoughts:
    """The thoughts of one attempt at a reply."""

    def __init__(self, tools: Sequence[ToolDefinition], write: Callable[[Event], None]) -> None:
        """`write` puts an event on the log; of `tools`, those which name a `thought` are listened to."""
        self._fields = {tool.name: tool.thought for tool in tools if tool.thought}
        self._write = write
        self._calls: dict[int, _Call] = {}
        self._done: set[int] = set()
        self._speaker: int | None = None
        self._said: list[str] = []
        self._pending: list[str] = []
        self._native = 0
        self._held: list[str] = []

    def native(self, text: str) -> None:
        """More of the model's own reasoning."""
        self._speak(OWN, text)

    def spoken(self) -> None:
        """The model spoke aloud: its own thought before is whole."""
        if self._speaker == OWN and self._native < MOST:
            self._finish("".join(self._said))

    def part(self, delta: CallDelta) -> None:
        """More of a call."""
        if not self._fields or delta.index in self._done:
            return
        call = self._calls.setdefault(delta.index, _Call())
        call.name, call.unread = call.name or delta.name, call.unread + delta.text
        field = self._fields.get(call.name)
        if field:
            call.reader = call.reader or FieldText(field)
            call.waiting.append(call.reader.feed(call.unread))
        if call.name:
            call.unread = ""
        if self._speaker in (None, OWN, delta.index):
            self._speak(delta.index, "".join(call.waiting))
            call.waiting.clear()

    def done(self, index: int, call: ToolCall) -> None:
        """A call is whole; its argument as it was read in the end is the thought."""
        field = self._fields.get(call.name)
        if not field or index in self._done:
            return
        self._done.add(index)
        thought = _argument(call, field)
        if self._speaker not in (None, OWN, index):
            self._held += [thought] if thought else []  # another call's thought is not whole yet
        elif thought or self._speaker == index:
            self._open(index)
            self._pending += self._calls[index].waiting if index in self._calls else []
            self._finish(thought)

    def flush(self) -> None:
        """Say what was not said yet."""
        text, self._pending = "".join(self._pending), []
        if text:
            self._write(Thought(text=text))

    def end(self, reply: Reply) -> None:
        """The reply is whole: say the rest."""
        if reply.thinking and not self._native:
            self._speak(OWN, reply.thinking)  # an adapter which gives it at the end only
        for index, call in enumerate(reply.calls):
            self.done(index, call)
        self.stop()

    def stop(self) -> None:
        """Whoever speaks is cut short."""
        if self._speaker is not None:
            self._finish("".join(self._said))

    def _speak(self, speaker: int, text: str) -> None:
        if text:
            self._open(speaker)
            self._said.append(text)
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
        self._said.clear()
        held, self._held, self._speaker = self._held, [], None
        for thought in held:
            self._write(ThinkStarted())
            self._write(ThinkFinished(text=thought))


def _argument(call: ToolCall, field: str) -> str:
    """The thought in a call's arguments, as far as they can be read."""
    value = call.arguments.get(field)
    if value is None and call.malformed:
        return field_text(call.malformed, field)
    return "" if value is None else str(value)


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


class StreamHooks(msgspec.Struct, frozen=True, kw_only=True):
    """What is done with a reply while it streams.

    Args:
        deltas: makes the event for a piece of the reply's text, None where it says nothing yet; without it the text
            stays off the log.
        thinking: whether the model's reasoning goes on the log.
        on_call: told of each tool call the moment it is complete in the stream, and not on replay.
        listener: hears the text as it goes on the log, and may say events beside it.
        reading: how the text is read, on the log and in the reply: what it holds in wrappers is made plain.
    """

    deltas: Deltas | None = None
    thinking: bool = True
    on_call: Callable[[int, ToolCall], None] | None = None
    listener: Listener | None = None
    reading: Reading | None = None


HEARD = StreamHooks()
"""The model's reasoning goes on the log, and nothing else of the stream."""
SILENT = StreamHooks(thinking=False)
"""Nothing of the stream goes on the log."""


class Voice:
    """Turns a reply's stream into events, at most ten a second."""

    def __init__(self, step_context: StepContext, tools: Sequence[ToolDefinition], hooks: StreamHooks) -> None:
        """`tools` are those of the request."""
        self._step_context, self._tools, self._deltas, self._thinking = (
            step_context,
            tools,
            hooks.deltas,
            hooks.thinking,
        )
        self._on_call, self._listener = hooks.on_call, hooks.listener
        self._text: list[str] = []
        self._reading, self._reader = hooks.reading, _begun(hooks.reading)
        self._thoughts = self._listen()
        self._said_at = float("-inf")
        if self._listener is not None:
            self._listener.begin(Beside(step_context))

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
            self._text = [reader.feed("".join(self._text)), reader.finish()]

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
        if self._reader is not None:
            text = self._reader.feed(text)
        if self._deltas is not None and text:
            event = self._deltas(text)
            if event is not None:
                self._step_context.write(event)
            if self._listener is not None:
                self._listener.hear(text)


def _begun(reading: Reading | None) -> TextReader | None:
    return reading() if reading is not None else None


# Thinking which a model writes before its prose and does not mark: "Okay, the user asks … Let me start with …".

_ASKED = r"the user (?:asks|wants|is asking|asked|has asked|would like)|the question (?:asks|is)|let(?:'s|’s| me)"
_WE = r"we (?:need|have to|are asked|should|must)"
_OPENS = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|hmm+|well|so|right|first|now)\b[,.:… ]*)*"
    rf"(?:{_ASKED}|{_WE}|i(?:'ll|’ll| need| should| will| have to| must| am asked| can| want)|my task"
    r"|looking at the (?:findings|passages))\b"
    r"|(?:好的|首先|嗯)[，,].{0,40}?(?:用户|我)|用户(?:问|想|要)",
    re.IGNORECASE,
)
_OF_THE_TASK = re.compile(
    rf"\b(?:{_ASKED}|{_WE}|i(?:'ll|’ll|'m|’m| need| should| will| have| must| can| think| want)"
    r"|my (?:task|answer|report)|the (?:findings|instructions|rules) (?:say|state|show|give|require))\b"
    r"|用户|我(?:需要|应该|要|会)",
    re.IGNORECASE,
)
_CITES = re.compile(r"\bS\d+\.\d+")
_HEADING = re.compile(r"#{1,6} ")
_BREAK = re.compile(r"\n[ \t]*(?:\n|(?=#{1,6} ))|\n(?=---+\s*\n)")


def musing(text: str) -> int:
    """How many code points of thinking `text` begins with; 0 where it is not clear that it does."""
    start = len(text) - len(text.lstrip())
    if not _OPENS.match(text, start):
        return 0
    while start < len(text):
        found = _BREAK.search(text, start)
        end = found.end() if found else len(text)
        paragraph = text[start:end].strip()
        if paragraph and not _thinks(paragraph):
            break
        start = end
    rest = text[start:]
    return start if _HEADING.match(rest) or _CITES.search(rest) else 0


def _thinks(paragraph: str) -> bool:
    """Whether a paragraph speaks of the task and not of its subject."""
    if _HEADING.match(paragraph) or _CITES.search(paragraph):
        return False
    return not paragraph.strip("-* \n") or _OF_THE_TASK.search(paragraph) is not None
