"""Whole runs whose claims are found and checked while the report streams."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from research import Log, Sea
from runtime import Dying, fixed, outcome, phase, taken_up
from sampling import sampled
from simulated_time import in_simulated_time
from slow_writing import DUG, FISH, HARBOUR, HOURS, JOBS, Slow, brief, of_claims, places_are_right, report_facts

from assay.core import events as e
from assay.core.claims import Verdict
from assay.core.errors import Cancelled, Paused
from assay.core.messages import Reply
from assay.core.usage import Budget
from assay.core.view import RunView, fold_events
from assay.models.script import Scene, fails, says
from assay.run.replay import replay
from assay.store.memory import memory_store
from assay.verify.claim_check import CLAIMS_AT_ONCE

REPORT = "\n\n".join((JOBS, HOURS, f"## History\n\n{DUG}", f"- {FISH}", "It is open."))
EVERY = 6
"""So many writes are between two at which one test kills a run; together they kill it at each."""
VERDICTS: list[Verdict] = ["supported", "quoted", "supported"]


async def played(model: Slow, sea: Sea | None = None, **changes: object) -> tuple[Log, Sea, str]:
    sea = sea or Sea({"harbour.md": HARBOUR})

    handle = sea.engine(ttl=0.05).start(fixed(brief(sea, **changes), sea.world(model)))
    log = Log([envelope async for envelope in handle], model)
    await handle.wait()
    return log, sea, handle.run_id


def writes(*scenes: Scene) -> Slow:
    return Slow(scenes)


async def at_once(_: str) -> None:
    """A writer whose text comes in one piece."""


async def quickly() -> RunView:
    """The run with next to nothing done before the report stands."""
    model = Slow([says(REPORT, task="write")], pace=at_once)
    log, _, _ = await played(model)
    return fold_events(log.envelopes)


def last(log: Log, kind: type[e.Event]) -> int:
    return max(each.seq for each in log.envelopes if each.type == kind.kind)


@in_simulated_time
async def test_a_claim_is_checked_while_the_writer_goes_on() -> None:
    judged = asyncio.Event()

    async def pace(text: str) -> None:
        if text.endswith("\n\n"):
            await asyncio.sleep(0.11)
        if text.endswith("It is o"):
            judged.set()
            while len(model.asked) < 2:
                await asyncio.sleep(0.005)

    model = Slow([says(REPORT, task="write")], pace=pace)
    log, sea, run_id = await played(model)
    assert judged.is_set()
    first = next(each.seq for each in log.envelopes if each.type == e.ClaimChecked.kind)
    assert first < last(log, e.ReportDelta)
    assert sum("gives work" in sentence for sentence in model.asked) == 1
    events = of_claims(log.envelopes)
    assert len(events) == len(set(events)), "something was said twice of a claim"
    view = fold_events(log.envelopes)
    assert report_facts(view) == report_facts(await quickly())
    assert [claim.verdict for claim in view.claims] == VERDICTS
    assert [claim.id for claim in view.removed] == ["c4", "c5"]
    for claim in view.claims:
        assert view.report.text[claim.start : claim.end].startswith(claim.text[:10])
    asked = len(model.asked)
    pipeline = sea.engine()._pipeline
    again = await replay(run_id, sea.journal, memory_store().journal, pipeline, lambda _: sea.world(model))
    assert again.differences == ()
    assert len(model.asked) == asked


@in_simulated_time
async def test_a_reader_never_sees_a_claim_where_it_does_not_stand() -> None:
    log, _, _ = await played(writes(says(REPORT, task="write")))
    seen = places_are_right(log.envelopes)
    assert ("unchecked",) in seen  # being checked
    assert len(seen) > 3


@in_simulated_time
async def test_what_a_writer_takes_back_its_claims_are_taken_back_with() -> None:
    wrong = "The port of Brest is a bakery. [S1001.1]"
    cut = f"{wrong}\n\n{JOBS}\n\n{HOURS}\n\nAnd it i"
    model = writes(Scene(answer=Reply(text=cut, stop="length"), task="write"), says(REPORT, task="write"))
    log, _, _ = await played(model)
    assert report_facts(fold_events(log.envelopes)) == report_facts(await quickly())
    started = last(log, e.ReportStarted)
    begun = next(each for each in log.envelopes if each.seq == started)
    assert [each.text for each in log.of(e.ClaimFound)][:1] == ["The port of Brest is a bakery."]
    assert fold_events([each for each in log.envelopes if each.seq <= begun.seq]).claims == ()
    assert sum("gives work" in sentence for sentence in model.asked) == 1  # it is judged once, whoever wrote it


@in_simulated_time
async def test_of_a_text_which_is_taken_back_no_more_is_judged() -> None:
    many = "\n\n".join(
        f"The port of Brest is older than wall number {name}. [S1001.1]" for name in "abcdefghijklmnopqrst"
    )
    cut = Scene(answer=Reply(text=f"{many}\n\nIt i", stop="length"), task="write")

    async def pace(text: str) -> None:
        if text.endswith(("number t. [S1001.1]\n\n", "It i")):
            await asyncio.sleep(0.11)

    model = Slow([cut, says(REPORT, task="write")], pace=pace, judging=1.0)
    log, _, _ = await played(model)
    assert 0 < sum("wall number" in sentence for sentence in model.asked) <= CLAIMS_AT_ONCE
    assert report_facts(fold_events(log.envelopes)) == report_facts(await quickly())


@in_simulated_time
async def test_a_stream_which_dies_and_begins_again_takes_its_claims_back() -> None:
    lost = f"The port of Brest is a bakery. [S1001.1]\n\n{HOURS}\n\nAnd"
    model = writes(fails(task="write", partial=lost), says(REPORT, task="write"))
    log, _, _ = await played(model)
    assert log.of(e.StepRestarted)
    assert report_facts(fold_events(log.envelopes)) == report_facts(await quickly())
    events = of_claims(log.envelopes)
    assert len(events) == len(set(events))


@in_simulated_time
async def test_a_writer_which_fails_leaves_nothing_of_its_claims() -> None:
    partial = f"{FISH}\n\n{HOURS}\n\nAnd"
    model = writes(fails("no", transient=False, task="write", partial=partial, repeat=True))
    log, _, _ = await played(model)
    view = fold_events(log.envelopes)
    assert "fish" not in view.report.text
    assert not any("fish" in each.text for each in (*view.claims, *view.removed))
    assert view.status == "completed"
    assert view.gate
    assert view.gate.passed


@in_simulated_time
async def test_where_money_is_short_the_judge_waits_for_the_writer() -> None:
    model = writes(says(REPORT, task="write"))
    log, _, _ = await played(model, budget=Budget(tokens=200_000))
    before = [each for each in log.envelopes if each.seq < last(log, e.ReportDelta)]
    rules = {event.rule for event in map(e.decode, before) if isinstance(event, e.ClaimChecked)}
    assert rules == {"verbatim"}
    assert report_facts(fold_events(log.envelopes))[1:] == report_facts(await quickly())[1:]


@pytest.mark.parametrize("changes", [{"verify": False}, {"checks_off": ("judge",)}])
@in_simulated_time
async def test_what_is_switched_off_is_not_done_while_streaming(changes: dict[str, object]) -> None:
    model = writes(says(REPORT, task="write"))
    await played(model, **changes)
    assert model.asked == []


# killed


async def killed(at: int) -> tuple[RunView, int, list[str], list[str], Sequence[e.Envelope]]:
    """A run killed at a write from the writer's first on, and taken up again."""
    sea = Sea({"harbour.md": HARBOUR})
    dying, first = Dying(sea.journal, at, phase("write")), writes(says(REPORT, task="write"))

    handle = sea.engine(dying, holder="one", ttl=0.05).start(fixed(brief(sea), sea.world(first)))
    await outcome(handle)
    judged = [key for key in (await sea.journal.load(handle.run_id)).steps if ":ask-judge:" in key]
    second = writes(says(REPORT, task="write"))
    if at:
        await taken_up(sea.engine(holder="two", ttl=0.05), handle.run_id, sea.world(second))
    return (
        fold_events(await sea.journal.events(handle.run_id)),
        dying.writes,
        judged,
        second.asked,
        await sea.journal.events(handle.run_id),
    )


@pytest.mark.parametrize("beginning", sampled(range(1, 1 + EVERY), EVERY))
@in_simulated_time
async def test_a_run_killed_while_it_is_checked_ends_the_same_and_asks_no_judge_again(beginning: int) -> None:
    whole, count, known, _, _ = await killed(0)
    assert count > 20
    stored = []
    for at in range(beginning, count + 1, EVERY):
        view, _, judged, asked, events = await killed(at)
        assert report_facts(view) == report_facts(whole), f"killed at write {at} of {count}"
        assert len(judged) + len(asked) == len(known), f"killed at write {at}: {asked} were asked, {judged} were known"
        assert [each.seq for each in events] == list(range(1, len(events) + 1))
        claims_logged = of_claims(events)
        assert len(claims_logged) == len(set(claims_logged)), f"killed at write {at}"
        stored.append(len(judged))
    assert len(set(stored)) > 2  # before all judgements, between them and after


@in_simulated_time
async def test_a_run_paused_in_the_middle_goes_on_and_ends_the_same() -> None:
    sea, reached = Sea({"harbour.md": HARBOUR}), asyncio.Event()

    async def pace(text: str) -> None:
        if text.endswith("\n\n"):
            await asyncio.sleep(0.11)
        if text.endswith("They dug"):
            reached.set()

    first = Slow([says(REPORT, task="write")], pace=pace, judging=30.0)

    handle = sea.engine(ttl=0.05).start(fixed(brief(sea), sea.world(first)))
    await asyncio.wait_for(reached.wait(), 60)
    assert first.asked  # a judge is at work, and will not be heard
    handle.pause()
    with pytest.raises(Paused):
        await asyncio.wait_for(handle.wait(), 1)
    second = writes(says(REPORT, task="write"))
    again = await sea.engine(holder="two", ttl=0.05).resume(handle.run_id, lambda _: sea.world(second))
    await again.wait()
    assert report_facts(fold_events(await sea.journal.events(handle.run_id))) == report_facts(await quickly())


@in_simulated_time
async def test_a_run_cancelled_in_the_middle_ends_at_once() -> None:
    before = asyncio.all_tasks()
    sea, reached = Sea({"harbour.md": HARBOUR}), asyncio.Event()

    async def pace(text: str) -> None:
        if text.endswith("\n\n"):
            await asyncio.sleep(0.11)
        if text.endswith("They dug"):
            reached.set()
            await asyncio.sleep(30)

    model = Slow([says(REPORT, task="write")], pace=pace, judging=30.0)

    handle = sea.engine(ttl=0.05).start(fixed(brief(sea), sea.world(model)))
    await asyncio.wait_for(reached.wait(), 60)
    handle.cancel()
    with pytest.raises(Cancelled):
        await asyncio.wait_for(handle.wait(), 1)
    assert fold_events(await sea.journal.events(handle.run_id)).status == "cancelled"
    assert {task.get_name() for task in asyncio.all_tasks() - before - {asyncio.current_task()}} == set()
