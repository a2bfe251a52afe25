"""Thoughts on the log of a run, over every journal: each once, whatever dies and is taken up again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from runtime import ASK, DONE, Journals, Killed, again, first, world

from assay.agents.findings import THINK
from assay.core.errors import ModelError
from assay.core.events import decode
from assay.core.messages import CallDelta, CallDone, Delta, Reply, Request, TextDelta, ThinkingDelta, ToolCall
from assay.core.view import fold_events
from assay.models.script import Scripted, calls
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.run.voice import SILENT

CALL = ToolCall(id="a", name="think", arguments={"reasoning": "The tide 😀 first."})
REQUEST = msgspec.structs.replace(ASK, tools=(THINK,))
PIECES = ('{"reaso', 'ning": "The tide \\ud83d', "\\ude00 fir", 'st."}')


class Thinking(Scripted):
    """Thinks by itself, then in a call which streams; the first stream is cut in the middle of it."""

    def __init__(self, cut: bool) -> None:
        super().__init__([])
        self._cut = cut

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        cut, self._cut = self._cut, False
        yield ThinkingDelta("Hm")
        yield ThinkingDelta("m.")
        yield TextDelta("So.")
        for place, piece in enumerate(PIECES):
            yield CallDelta(0, piece, name="" if place else "think")
            if cut and place == 2:
                raise ModelError("cut off")
        yield CallDone(0, CALL)
        yield Reply(text="So.", thinking="Hmm.", calls=(CALL,), stop="calls", model="scripted")


async def thought(journals: Journals, run_id: str) -> tuple[list[tuple[str, Any]], tuple[str, ...]]:
    """The events of thoughts which count, and the thoughts of the view."""
    log = await journals.journal().events(run_id)
    dropped = {seq for each in log if each.type == "step.restarted" for seq in decode(each).dropped}
    kept = [each for each in log if each.type.startswith("think.") and each.seq not in dropped]
    turns = [turn for phase in fold_events(log).phases for turn in phase.turns]
    assert not any(turn.thinking for turn in turns)
    rows = [(each.type, msgspec.json.decode(each.data).get("text", "")) for each in kept]
    return _joined(rows), tuple(text for turn in turns for text in turn.thoughts)


def _joined(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rows with neighbouring deltas as one: how often they are said depends on the clock."""
    made: list[tuple[str, str]] = []
    for kind, text in rows:
        if made and kind == made[-1][0] == "think.delta":
            made[-1] = (kind, made[-1][1] + text)
        else:
            made.append((kind, text))
    return made


WHOLE = [
    ("think.started", ""),
    ("think.delta", "Hmm."),
    ("think.finished", "Hmm."),
    ("think.started", ""),
    ("think.delta", "The tide 😀 first."),
    ("think.finished", "The tide 😀 first."),
]


async def pipeline(run: Run) -> Outcome:
    async with run.phase("research") as phase:
        await phase.ask("analytical", REQUEST)
    return DONE


async def test_thoughts_of_both_kinds_stream_once_and_a_cut_one_is_taken_back(journals: Journals) -> None:
    for cut in (False, True):
        handle = await first(journals, pipeline, world(Thinking(cut)))
        assert await thought(journals, handle.run_id) == (WHOLE, ("Hmm.", "The tide 😀 first."))


async def test_a_replay_says_nothing_again(journals: Journals) -> None:
    died: list[int] = []

    async def dying(run: Run) -> Outcome:
        outcome = await pipeline(run)
        if not died:
            died.append(1)
            raise Killed
        return outcome

    at = world(Thinking(cut=False))
    handle = await first(journals, dying, at)
    before = await thought(journals, handle.run_id)
    await again(journals, handle.run_id, dying, at)
    assert await thought(journals, handle.run_id) == before == (WHOLE, ("Hmm.", "The tide 😀 first."))


async def test_who_dies_in_the_middle_of_a_thought_begins_it_anew(journals: Journals) -> None:
    class Dying(Thinking):
        async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
            yield CallDelta(0, PIECES[0] + PIECES[1], name="think")
            raise Killed

    handle = await first(journals, pipeline, world(Dying(cut=False)))
    await again(journals, handle.run_id, pipeline, world(Thinking(cut=False)))
    assert await thought(journals, handle.run_id) == (WHOLE, ("Hmm.", "The tide 😀 first."))


async def test_a_call_that_comes_in_pieces_of_the_scripted_model(journals: Journals) -> None:
    scene = calls(("think", CALL.arguments), task="research")
    handle = await first(journals, pipeline, world(Scripted([scene])))
    assert (await thought(journals, handle.run_id))[0] == WHOLE[3:]


async def test_a_thought_is_kept_off_the_log_where_nobody_wants_it(journals: Journals) -> None:
    async def quiet(run: Run) -> Outcome:
        await run.ask("analytical", REQUEST, SILENT)
        return DONE

    handle = await first(journals, quiet, world(Thinking(cut=False)))
    assert await thought(journals, handle.run_id) == ([], ())
