"""A reply's text is read while it streams; a reply with another text is read as a whole."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from assay.core.citations.reader import citation_reading
from assay.core.messages import Delta, Reply, TextDelta, ThinkingDelta
from assay.run.steps import StepContext
from assay.run.voice import StreamHooks, Voice

WRITTEN = "The tide rises seven metres ([S1.1]). It turns twice."
READ = "The tide rises seven metres [S1.1]. It turns twice."


class Unwritten:
    """Takes what a voice would put on the log."""

    async def begin(self) -> None: ...


def text_read(deltas: list[Delta], text: str, *, before: list[Delta] | None = None) -> str:
    """The text of a reply, after these deltas; those `before` are of an attempt that failed."""

    async def heard() -> str:
        hooks = StreamHooks(reader_factory=citation_reading({"S1.1"}.__contains__), thinking=False)
        voice = Voice(cast(StepContext, Unwritten()), (), hooks)
        for delta in before or ():
            voice.add_delta(delta)
        if before:
            await voice.restart()
        for delta in deltas:
            voice.add_delta(delta)
        return voice.end(Reply(text=text)).text

    return asyncio.run(heard())


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_a_text_is_read_however_it_was_cut(size: int):
    pieces: list[Delta] = [TextDelta(WRITTEN[start : start + size]) for start in range(0, len(WRITTEN), size)]
    assert text_read(pieces, WRITTEN) == READ
    assert text_read(pieces, WRITTEN, before=[TextDelta("The tide rises ([S1")]) == READ


def test_a_reply_with_another_text_than_was_streamed_is_read_as_a_whole():
    assert text_read([TextDelta(WRITTEN[:20]), ThinkingDelta("or not")], WRITTEN) == READ
    assert text_read([], WRITTEN) == READ
