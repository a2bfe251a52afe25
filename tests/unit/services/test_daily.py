"""The limits of a day: what is left is the run's own limit, and below one report nothing is begun."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from assay import Assay, judge_rows, settings
from assay.core.allowance import OwnerLimits, remainder_of
from assay.core.errors import UsageError
from assay.core.messages import Price, Profile, Reply
from assay.core.usage import Usage
from assay.models.script import Scene, Scripted
from assay.services import daily
from assay.services.claim_checks import ClaimRow
from assay.settings.sections import Limits
from assay.store.memory import memory_store

ANSWER = Reply(text="Hello!", usage=Usage(model_calls=1, input_tokens=2_000, output_tokens=1_000))
ROW = ClaimRow(id=1, doc="The pier was opened by the mayor.", claim="Townspeople admired the new landing stage.")


def model() -> Scripted:
    profile = Profile(name="m", price=Price(input=10.0, output=100.0))
    return Scripted([Scene(answer=ANSWER, repeat=True)], profile=profile)


def assay(home: Path, **limits: float) -> Assay:
    return Assay(settings.load(model="m", verify=False, limits=limits), home=home, models={"m": model()})


async def ask(of: Assay, **wanted: float) -> str:
    handle = of.start("Hi", mode="simple", **wanted)
    await handle.report()
    return handle.run_id


async def test_what_the_day_leaves_is_the_limit_of_the_next_run(tmp_path: Path) -> None:
    async with assay(tmp_path, usd_per_day=0.5) as of:
        first = await ask(of)
        brief = (await of.view(first)).brief
        assert brief is not None
        assert brief.budget.usd == 0.5
        spent = (await of.view(first)).usage.total.usd
        assert spent == pytest.approx(0.12)
        second = (await of.view(await ask(of, max_usd=0.2))).brief
        third = (await of.view(await ask(of))).brief
        assert second is not None
        assert third is not None
        assert second.budget.usd == 0.2
        assert third.budget.usd == pytest.approx(0.5 - 2 * spent)


async def test_a_day_that_is_used_up_refuses_and_stores_nothing(tmp_path: Path) -> None:
    async with assay(tmp_path) as of:
        await ask(of)
    async with assay(tmp_path, tokens_per_day=5_000) as of:
        with pytest.raises(UsageError, match=r"3,000 of 5,000 tokens \(limits.tokens_per_day\).*00:00 UTC"):
            await ask(of)
        assert len(await of.runs()) == 1
        models = of._context.own_models["m"]
        assert isinstance(models, Scripted)
        assert models.requests == []


async def test_a_judge_of_texts_gets_what_the_day_leaves(tmp_path: Path) -> None:
    async with assay(tmp_path) as of:
        await ask(of)
    asked, lines = model(), list[object]()

    async def judged(limit: int) -> Usage:
        loaded = settings.load(limits={"tokens_per_day": limit})
        return await judge_rows([ROW], lines.append, model="m", settings=loaded, home=tmp_path, models={"m": asked})

    with pytest.raises(UsageError, match=r"3,000 of 5,000 tokens \(limits.tokens_per_day\).*00:00 UTC"):
        await judged(5_000)
    assert asked.requests == []
    assert 0 < (await judged(9_000)).tokens <= 6_000
    assert len(lines) == 1


@pytest.mark.parametrize("remember", [True, False])
async def test_what_a_judge_of_texts_spends_counts(tmp_path: Path, remember: bool) -> None:
    async def judged(limit: int) -> Usage:
        loaded = settings.load(limits={"tokens_per_day": limit})
        wanted = {"model": "m", "home": tmp_path, "models": {"m": model()}, "remember": remember}
        return await judge_rows([ROW], lambda _: None, settings=loaded, **wanted)

    used = (await judged(20_000)).tokens
    assert used > 0
    async with assay(tmp_path, tokens_per_day=20_000) as of:
        brief = (await of.view(await of.create("Hi", mode="simple", max_tokens=8_000))).brief
        assert brief is not None
        await of.delete((await of.runs())[0].run_id)
        assert (await of.used_today()).tokens == used
    with pytest.raises(UsageError, match=rf"have used {used:,} of {used + 10:,} tokens"):
        await judged(used + 10)


async def test_what_a_judge_spends_counts_on_its_day_and_for_its_owner() -> None:
    cache, day = memory_store().cache, daily.allowances(Limits(usd_per_day=1.0), "ana", OwnerLimits(usd_per_day=0.5))
    cache.keep(f"{daily.OUTSIDE}2020-01-01/ana/x", msgspec.json.encode(Usage(usd=9.0)))
    for owner, usd in (("ana", 0.1), ("ana", 0.2), ("bob", 0.4), ("", 0.0)):
        await daily.count_outside(cache, owner, Usage(usd=usd))
    everybody, ana = await daily.add_outside(cache, day)
    assert (everybody.outside.usd, ana.outside.usd) == (pytest.approx(0.7), pytest.approx(0.3))
    assert remainder_of(ana, ()).usd == pytest.approx(0.2)
    assert len(cache.entries(daily.OUTSIDE)) == 3


async def test_runs_side_by_side_never_pass_the_limit_together(tmp_path: Path) -> None:
    """Each is given a fifth of the day: of eight which begin at the same moment, in two processes, five get it."""
    async with assay(tmp_path, usd_per_day=1.0) as one, assay(tmp_path, usd_per_day=1.0) as two:
        made = [(one, two)[n % 2].create("Hi", mode="simple", max_usd=0.2) for n in range(8)]
        found = await asyncio.gather(*made, return_exceptions=True)
        assert sum(isinstance(each, str) for each in found) == 5
        refused = [str(each) for each in found if isinstance(each, UsageError)]
        assert len(refused) == 3
        assert "5 of them that have not ended keep their limits" in refused[0]
        budgets = [view.brief.budget.usd for view in [await one.view(run.run_id) for run in await one.runs()]]
        assert budgets == [0.2] * 5


async def test_a_run_without_a_limit_keeps_all_the_day_until_it_ends(tmp_path: Path) -> None:
    async with assay(tmp_path, usd_per_day=1.0) as of:
        run_id = await of.create("Hi", mode="simple")
        with pytest.raises(
            UsageError, match=r"1 of them that have not ended keep their limits .limits\.usd, --max-usd"
        ):
            await of.create("Hi", mode="simple")
        handle = await of.resume(run_id)
        await handle.report()
        brief = (await of.view(await of.create("Hi", mode="simple"))).brief
        assert brief is not None
        assert brief.budget.usd == pytest.approx(0.88)
