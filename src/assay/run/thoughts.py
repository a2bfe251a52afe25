"""What a reply thinks, as events: the model's own reasoning, and what it writes into the argument of a thinking tool.

This is the one place which puts thoughts on the log, each once and one after the other, while they stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.core.events import Event, ThinkFinished, ThinkStarted
from assay.core.events import ThinkDelta as Thought
from assay.core.incremental import FieldText, field_text
from assay.core.messages import CallDelta, Reply, ToolCall, ToolDefinition

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
