"""Answers without a plan: their claims are found and checked while they stream, as those of reports are."""

from __future__ import annotations

import pytest
from research import Log, Sea
from runtime import fixed
from slow_writing import HARBOUR, Slow, brief, of_claims, places_are_right, report_facts

from assay.core import events as e
from assay.core.brief import Mode
from assay.core.messages import Reply
from assay.core.view import RunView, fold_events
from assay.models.script import Scene, fails, says
from assay.phases.without_plan import UNSOURCED
from assay.run.replay import replay
from assay.store.memory import memory_store

JOBS = "At Brest the port gives work to some people. [S1.1]"
HOURS = "The harbour of Brest closes at 9. [S1.2]"
FISH = "The port of Brest smells of fish on warm days. [S1.2]"
ANSWER = "\n\n".join((JOBS, HOURS, FISH, "So much of Brest."))


async def at_once(_: str) -> None:
    """An answer which comes in one piece."""


async def played(model: Slow, mode: Mode = "simple", sea: Sea | None = None) -> tuple[Log, Sea, str]:
    sea = sea or Sea({"harbour.md": HARBOUR})

    handle = sea.engine().start(fixed(brief(sea, mode=mode), sea.world(model)))
    log = Log([envelope async for envelope in handle], model)
    await handle.wait()
    return log, sea, handle.run_id


async def view(*scenes: Scene) -> RunView:
    log, _, _ = await played(Slow(scenes, pace=at_once))
    return fold_events(log.envelopes)


@pytest.mark.parametrize("mode", ["simple", "web_search"])
async def test_a_claim_is_checked_while_the_answer_goes_on(mode: Mode) -> None:
    model = Slow([says(ANSWER, task="answer")])
    log, sea, run_id = await played(model, mode)
    first = next(each.seq for each in log.envelopes if each.type == e.ClaimChecked.kind)
    assert first < max(each.seq for each in log.envelopes if each.type == e.ReportDelta.kind)
    events = of_claims(log.envelopes)
    assert len(events) == len(set(events)), "something was said twice of a claim"
    places_are_right(log.envelopes)
    found = fold_events(log.envelopes)
    assert [claim.verdict for claim in found.claims] == ["supported", "quoted"]
    assert "fish" not in found.report.text
    assert sum("gives work" in sentence for sentence in model.asked) == 1
    assert found.verified
    asked = len(model.asked)
    pipeline = sea.engine()._pipeline
    again = await replay(run_id, sea.journal, memory_store().journal, pipeline, lambda _: sea.world(model))
    assert again.differences == ()
    assert len(model.asked) == asked


async def test_it_comes_to_the_same_as_when_it_comes_at_once() -> None:
    log, _, _ = await played(Slow([says(ANSWER, task="answer")]))
    assert report_facts(fold_events(log.envelopes)) == report_facts(await view(says(ANSWER, task="answer")))


async def test_what_cites_nothing_is_not_checked() -> None:
    answer = "The port of Brest employs 400 people.\n\nIt was dug in 1631.\n\nSo much of Brest."
    log, _, _ = await played(Slow([says(answer, task="answer")]))
    found = fold_events(log.envelopes)
    assert found.report.text.startswith(f"*{UNSOURCED}*")
    assert {claim.reason for claim in found.claims} == {"no sources"}
    assert len(found.claims) == 3


@pytest.mark.parametrize(
    "scene",
    [
        Scene(answer=Reply(text=f"{JOBS}\n\n{HOURS}\n\nAnd it i", stop="refused"), task="answer", repeat=True),
        fails(task="answer", partial=f"{JOBS}\n\n{HOURS}\n\nAnd", repeat=True),
    ],
    ids=["refused", "died"],
)
async def test_what_was_said_of_an_answer_which_could_not_be_used_is_taken_back(scene: Scene) -> None:
    log, _, _ = await played(Slow([scene]))
    found = fold_events(log.envelopes)
    assert "gives work" not in found.report.text
    assert not any("gives work" in claim.text for claim in found.claims)
    assert found.gate is not None
    assert found.gate.passed, found.gate.problems
