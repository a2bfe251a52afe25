"""Replies that go on far beyond what was asked: they are read no further, and taken as cut for length."""

from __future__ import annotations

import msgspec

from assay.core.messages import (
    CallDelta,
    CallDone,
    Delta,
    Profile,
    Reply,
    Request,
    Retracted,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    input_tokens,
)
from assay.core.text import estimate_tokens
from assay.core.usage import Usage
from assay.run.budget import reasoning_tokens

OVERRUN = 4
"""How often a reply may have the tokens that it was asked for, with those for reasoning, before it is left."""
MIN_ALLOWED_TOKENS = 16_000
"""Tokens that every reply may have: some services count a model's reasoning in no limit."""
MAX_CALLS_READ = 32
"""Tool calls that are read of one reply; a model that makes more has gone astray."""
SHOWN_CHARS = 1_000
"""Characters of a call that was cut: enough to tell its model which one it was."""
CHARS_PER_TOKEN = 4
"""Characters that count as a token here: rather fewer tokens than there are, so that no proper reply is cut."""


class ReplySoFar:
    """What came of one reply as it streams; a service may ignore how many tokens it was asked for, and never end."""

    def __init__(self, profile: Profile, request: Request) -> None:
        """A model that only quotes is our own, and keeps to what it is asked."""
        room = request.room if isinstance(request.room, int) else 0
        requested_tokens = request.max_tokens + max(room, reasoning_tokens(profile, request.effort))
        self._remaining_chars = (
            float("inf") if profile.quotes else CHARS_PER_TOKEN * max(MIN_ALLOWED_TOKENS, OVERRUN * requested_tokens)
        )
        self._request, self._model = request, profile.name
        self._came: list[str] = []
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[ToolCall] = []
        self._begun: dict[int, ToolCall] = {}

    def exceeds(self, delta: Delta) -> bool:
        """Add `delta`; True if with it there is far too much: it is counted then, and not part of the reply."""
        match delta:
            case TextDelta(text=text) | ThinkingDelta(text=text) | CallDelta(text=text):
                self._came.append(text)
                self._remaining_chars -= len(text)
        if isinstance(delta, CallDelta):
            if delta.index >= MAX_CALLS_READ:
                return True
            self._begin_call(delta)
        if self._remaining_chars < 0:
            return True
        match delta:
            case TextDelta(text=text):
                self._text.append(text)
            case ThinkingDelta(text=text):
                self._thinking.append(text)
            case CallDone(index=index, call=call):
                self._calls.append(call)
                self._begun.pop(index, None)
            case Retracted():
                self._text, self._thinking, self._calls, self._begun = [], [], [], {}
        return False

    def _begin_call(self, delta: CallDelta) -> None:
        """Keep the beginning of a call, in case it never ends."""
        call = self._begun.get(delta.index) or ToolCall(id=f"cut-{delta.index}", name="")
        self._begun[delta.index] = msgspec.structs.replace(
            call,
            id=delta.id or call.id,
            name=call.name or delta.name,
            malformed=call.malformed + delta.text[: SHOWN_CHARS - len(call.malformed)],
        )

    def to_cut_reply(self) -> Reply:
        """What came before there was too much, as a reply cut for length; its tokens are estimated.

        A call that had begun is malformed: its model is told, as of any such call.
        """
        return Reply(
            text="".join(self._text),
            calls=(*self._calls, *self._begun.values()),
            thinking="".join(self._thinking),
            usage=Usage(
                model_calls=1,
                input_tokens=input_tokens(self._request),
                output_tokens=estimate_tokens("".join(self._came)),
            ),
            stop="length",
            model=self._model,
        )
