"""The same question is put once: within a run, across runs, in both stores; and a replay gives the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_of import evidence, passage
from judging import JUDGE, Judging, rules
from runtime import Journals, Killed, again, first

from assay.core.brief import ROLES
from assay.core.ports import World
from assay.core.ports.store import Store
from assay.models.script import Scripted, fails, says
from assay.run.engine import Outcome
from assay.run.process import SystemClock
from assay.run.run import Branch, Run
from assay.store.memory import memory_store
from assay.store.sql import open_store
from assay.verify.checks import examine
from assay.verify.judge import JudgeRuling, ask_judge

TEXT = "The northern plant employs 400 people. It was founded in 1950."
PLANT = evidence(passage("S1.1", TEXT))
CLAIM = "The northern plant has 400 people."


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return memory_store() if request.param == "memory" else open_store(tmp_path)


async def test_the_same_question_is_put_once(store: Store) -> None:
    judging = Judging(store)
    one = await judging.judged([rules("supported", A="400")], CLAIM, PLANT)
    two = await judging.judged([], CLAIM, PLANT)
    assert one == two
    assert len(judging.requests) == 1
    # The values are no part of the question, and are compared anew.
    three = await judging.judged([], "The northern plant has 900 people.", PLANT)
    assert three.check.verdict == "contradicted"
    await store.close()


async def test_another_question_is_put(store: Store) -> None:
    judging = Judging(store)
    await judging.judged([rules("supported", A="400")], CLAIM, PLANT)
    other = evidence(passage("S1.1", TEXT + " It is old."))
    assert (await judging.judged([rules("partial", A="400")], CLAIM, other)).check.verdict == "partial"
    assert (await judging.judged([rules("partial")], "The plant is old.", PLANT)).check.verdict == "partial"
    await store.close()


async def test_neither_failures_nor_useless_answers_are_remembered() -> None:
    judging = Judging()
    for script in ([fails("down", transient=False)], [says("?"), says("?")], [rules("supported")] * 2):
        assert (await judging.judged(script, CLAIM, PLANT)).check.verdict == "unchecked"
    assert (await judging.judged([rules("supported", A="400")], CLAIM, PLANT)).check.verdict == "supported"


async def test_a_model_which_stands_in_for_the_judge_is_not_taken_for_it() -> None:
    judging = Judging()
    spare = Scripted([rules("supported", A="400")], profile=JUDGE)

    async def body(run: Run) -> JudgeRuling:
        return await ask_judge(run, CLAIM, PLANT, examine(CLAIM, PLANT))

    judging.world = lambda model, make=judging.world: _with(make(model), spare)  # type: ignore[method-assign,misc]
    roles = dict.fromkeys(ROLES, ("judge", "spare"))
    judged = await judging.within([fails("down", transient=False)], body, models=roles)
    assert (judged.check.verdict, judged.model) == ("supported", "spare")
    assert (await judging.judged([rules("partial", A="400")], CLAIM, PLANT)).check.verdict == "partial"


def _with(world: World, spare: Scripted) -> World:
    world.models["spare"] = spare
    return world


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_taken_up_again_no_answer_is_asked_for_twice(kind: str, tmp_path: Path) -> None:
    journals, store = Journals(kind, tmp_path / "journal"), memory_store()
    claims = [CLAIM, "It was founded in 1950.", "The plant is old."]
    script = [
        rules("supported", A="400"),
        rules("supported", A="1950"),
        rules("unsupported", "nothing of that"),
    ]
    model = Scripted(script, profile=JUDGE)
    at = World(
        models={"scripted": model},
        searches=(),
        library=store.library,
        blobs=store.blobs,
        clock=SystemClock(),
        cache=store.cache,
    )
    received: list[list[JudgeRuling]] = []

    async def pipeline(run: Run, deadly: bool = False) -> Outcome:
        async def one(claim: str, place: Run) -> JudgeRuling:
            return await ask_judge(place, claim, PLANT, examine(claim, PLANT))

        for claim in claims[:2]:
            received[-1].append(await one(claim, run))
        if deadly:
            raise Killed
        received[-1] += await run.gather(Branch("c3", lambda place: one(claims[2], place)))
        return Outcome()

    async def dies(run: Run) -> Outcome:
        return await pipeline(run, deadly=True)

    received.append([])
    handle = await first(journals, dies, at)
    received.append([])
    await again(journals, handle.run_id, pipeline, at)
    assert received[1][:2] == received[0]
    assert [judged.check.verdict for judged in received[1]] == ["supported", "supported", "unsupported"]
    assert len(model.requests) == 3
    await journals.close()
