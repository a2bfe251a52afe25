"""A service which ignores how many tokens it was asked for: how far its reply is read, and what it counts."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec
import pytest
from runtime import ASK, ready, world
from runtime import DONE as OUTCOME

from assay.core.events import ThinkDelta, decode
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
)
from assay.core.text import estimate_tokens
from assay.models.script import Scripted
from assay.run.engine import Engine, Outcome
from assay.run.reply_length import CHARS_PER_TOKEN, MAX_CALLS_READ, MIN_ALLOWED_TOKENS, OVERRUN, SHOWN_CHARS, ReplySoFar
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.store.memory import memory_store

PIECE = "The tide rises. "
ASKED = msgspec.structs.replace(ASK, max_tokens=500)


class Rambling(Scripted):
    """Never comes to an end."""

    def __init__(self) -> None:
        super().__init__([])
        self.pieces, self.left = 0, False

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        try:
            while self.pieces < 1_000_000:
                self.pieces += 1
                yield TextDelta(PIECE)
        finally:
            self.left = True


async def test_it_is_left_and_counted_as_cut_for_length() -> None:
    model, store, replies = Rambling(), memory_store(), list[Reply]()

    async def pipeline(run: Run) -> Outcome:
        replies.append(await run.ask("analytical", ASKED, StreamHooks(deltas=lambda text: ThinkDelta(text=text))))
        return OUTCOME

    handle = Engine(store.journal, pipeline).start(ready(world(model)))
    log = [decode(envelope) async for envelope in handle]
    await handle.wait()
    (reply,) = replies
    assert model.left
    assert len(PIECE) * model.pieces <= CHARS_PER_TOKEN * MIN_ALLOWED_TOKENS + len(PIECE)
    assert reply.stop == "length"
    assert reply.text == PIECE * (model.pieces - 1)
    assert reply.text == "".join(event.text for event in log if isinstance(event, ThinkDelta))
    assert reply.usage.output_tokens == estimate_tokens(PIECE * model.pieces)


@pytest.mark.parametrize(
    ("profile", "asked", "most"),
    [
        (Profile(name="m"), 500, MIN_ALLOWED_TOKENS),
        (Profile(name="m"), 10_000, OVERRUN * 10_000),
        (Profile(name="m", native_reasoning=True), 10_000, OVERRUN * 20_000),
        (Profile(name="m", quotes=True), 500, 1_000_000),
    ],
)
def test_how_much_is_read(profile: Profile, asked: int, most: int) -> None:
    request = msgspec.structs.replace(ASK, max_tokens=asked, effort="medium")
    assert not ReplySoFar(profile, request).exceeds(TextDelta("x" * CHARS_PER_TOKEN * most))
    assert ReplySoFar(profile, request).exceeds(ThinkingDelta("x" * (CHARS_PER_TOKEN * most + 1))) == (
        not profile.quotes
    )


def test_what_is_kept_and_what_is_counted() -> None:
    so_far, call = ReplySoFar(Profile(name="m"), ASKED), ToolCall(id="a", name="search")
    for delta in (TextDelta("void"), Retracted(), ThinkingDelta("Hm."), TextDelta("So."), CallDone(0, call)):
        assert not so_far.exceeds(delta)
    assert so_far.exceeds(TextDelta("x" * CHARS_PER_TOKEN * MIN_ALLOWED_TOKENS))
    reply = so_far.to_cut_reply()
    assert (reply.text, reply.thinking, reply.calls, reply.stop) == ("So.", "Hm.", (call,), "length")
    assert reply.usage.output_tokens > MIN_ALLOWED_TOKENS
    assert reply.usage.model_calls == 1


def test_a_call_without_end_is_cut_and_malformed() -> None:
    so_far, whole = ReplySoFar(Profile(name="m"), ASKED), ToolCall(id="a", name="search", arguments={"query": "tide"})
    begun = CallDelta(1, '{"query": "', name="search", id="b")
    for delta in (CallDelta(0, "{", name="search", id="a"), CallDone(0, whole), begun):
        assert not so_far.exceeds(delta)
    assert so_far.exceeds(CallDelta(1, "tide " * CHARS_PER_TOKEN * MIN_ALLOWED_TOKENS))
    first, cut = so_far.to_cut_reply().calls
    assert first == whole
    assert (cut.id, cut.name, cut.arguments, len(cut.malformed)) == ("b", "search", {}, SHOWN_CHARS)
    assert cut.malformed.startswith('{"query": "tide tide')


def test_more_calls_than_are_read() -> None:
    so_far = ReplySoFar(Profile(name="m"), ASKED)
    made = [ToolCall(id=str(index), name="search") for index in range(MAX_CALLS_READ)]
    for index, call in enumerate(made):
        assert not so_far.exceeds(CallDelta(index, "{}", name="search"))
        assert not so_far.exceeds(CallDone(index, call))
    assert so_far.exceeds(CallDelta(MAX_CALLS_READ, "{}", name="search"))
    assert so_far.to_cut_reply().calls == tuple(made)
