"""What goes on beside a stream, over every journal: branches which are no barrier, and what is said of a text."""

from __future__ import annotations

import asyncio
from collections import Counter

import msgspec
from runtime import ASK, DONE, Journals, Killed, again, first, log, world

from assay.core.events import ReportDelta, StepRestarted, Warned, decode
from assay.core.view import fold_events
from assay.models.script import Scripted, fails, says
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.run.voice import StreamCompanion, StreamHooks


class Counting:
    """Says of each text it hears how long the whole is by now."""

    def __init__(self) -> None:
        self.begun, self.length = list[StreamCompanion](), 0

    def begin(self, companion: StreamCompanion) -> None:
        self.begun.append(companion)
        self.length = 0

    def hear(self, text: str) -> None:
        self.length += len(text)
        self.begun[-1].emit(Warned(message=f"{self.length} signs"), f"length-{self.length}")


async def asked(run: Run, listener: Counting) -> None:
    await run.ask("complex", ASK, StreamHooks(deltas=lambda text: ReportDelta(text=text), listener=listener))


async def test_a_branch_beside_goes_on_while_others_do_and_is_done_once(journals: Journals) -> None:
    done = Counter[str]()

    async def pipeline(run: Run) -> Outcome:
        async def judge(place: Run) -> int:
            async def work(_: StepContext) -> int:
                done["judge"] += 1
                return 7

            return await place.step("judge", work, returns=int)

        beside = run.in_background("c1", judge)
        assert not beside.done
        while not done["judge"] and not done["died"]:
            await asyncio.sleep(0)
        assert await beside.result() == 7
        done["died"] += 1
        if done["died"] == 1:
            raise Killed
        return DONE

    handle = await first(journals, pipeline, world())
    await again(journals, handle.run_id, pipeline, world())
    assert done == {"judge": 1, "died": 2}


async def test_a_branch_nobody_waits_for_ends_with_the_run(journals: Journals) -> None:
    stopped = asyncio.Event()

    async def pipeline(run: Run) -> Outcome:
        async def forever(_: Run) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                stopped.set()
                raise

        run.in_background("c1", forever)
        await asyncio.sleep(0)
        return DONE

    await first(journals, pipeline, world())
    assert stopped.is_set()


async def test_what_is_said_beside_a_stream_is_taken_back_with_it(journals: Journals) -> None:
    heard = Counting()
    stood: list[bool] = []

    async def pipeline(run: Run) -> Outcome:
        await asked(run, heard)
        heard.begun[0].emit(Warned(message="late"), "late")  # of the stream which died
        heard.begun[1].emit(Warned(message="after its end"), "after")
        heard.begun[1].emit(Warned(message="after its end"), "after")
        stood.extend(run.was_emitted(f"ask-{ASK.task}", once) for once in ("length-9", "late", "after", "length-6"))
        return DONE

    model = Scripted([fails(partial="It rises."), says("It turns.")], chunk=100)
    handle = await first(journals, pipeline, world(model))
    envelopes = await journals.journal().events(handle.run_id)
    assert stood == [True, False, True, False]
    found = [each.message for each in fold_events(envelopes).warnings]
    assert found == ["9 signs", "after its end"]
    dropped = [event.dropped for event in map(decode, envelopes) if isinstance(event, StepRestarted)]
    assert [len(each) for each in dropped] == [2]


async def test_whether_something_stands_is_the_same_when_a_run_is_taken_up(journals: Journals) -> None:
    stood: list[tuple[bool, ...]] = []

    async def pipeline(run: Run) -> Outcome:
        heard = Counting()
        await asked(run, heard)
        assert bool(heard.begun) == (not stood)  # a replay hears nothing
        stood.append(tuple(run.was_emitted(f"ask-{ASK.task}", once) for once in ("length-9", "length-8")))
        if not stood[-1][0] or len(stood) == 1:
            await run.step("stored", _nothing, returns=int)
            raise Killed
        return DONE

    handle = await first(journals, pipeline, world(Scripted([says("It turns.")], chunk=100)))
    await again(journals, handle.run_id, pipeline, world())
    assert stood == [(True, False), (True, False)]
    warned = [data for kind, _, data in await log(journals, handle.run_id) if kind == Warned.kind]
    assert [msgspec.json.decode(each)["message"] for each in warned] == ["9 signs"]


async def _nothing(_: StepContext) -> int:
    return 0
