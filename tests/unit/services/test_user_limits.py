"""What one user may take: runs and money a day, runs at once; another's are his own affair."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assay import Assay, settings
from assay.core.allowance import OwnerLimits
from assay.core.errors import TooMany, UsageError
from assay.core.messages import Price, Profile, Reply
from assay.core.usage import Usage
from assay.models.script import Scene, Scripted

ANSWER = Reply(text="Hello!", usage=Usage(model_calls=1, input_tokens=2_000, output_tokens=1_000))


def opened(home: Path | None, database: str | None = None, **limits: float) -> Assay:
    model = Scripted([Scene(answer=ANSWER, repeat=True)], profile=Profile(name="m", price=Price(input=10, output=100)))
    loaded = settings.load(model="m", verify=False, limits=limits, database=database)
    return Assay(loaded, home=home, models={"m": model})


async def ask(of: Assay, **wanted: float) -> str:
    handle = of.start("Hi", mode="simple", **wanted)
    await handle.report()
    return handle.run_id


async def test_runs_a_day(tmp_path: Path) -> None:
    async with opened(tmp_path, user_runs_per_day=2) as assay:
        ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
        await ask(ana)
        await ask(ana)
        with pytest.raises(TooMany, match=r"2 runs begun today, and 2 a day.*limits.user_runs_per_day") as raised:
            await ask(ana)
        assert raised.value.seconds is not None
        assert 0 < raised.value.seconds <= 86_400
        assert len(await ana.runs()) == 2
        await ask(bob)
        await ask(assay)
        own = assay.owned_by("ana", OwnerLimits(runs_per_day=3))  # what is said of her comes first
        await ask(own)
        with pytest.raises(TooMany):
            await ask(own)


async def test_money_a_day_is_each_user_s_own_and_within_that_of_all(tmp_path: Path) -> None:
    async with opened(tmp_path, user_usd_per_day=0.3, usd_per_day=0.5) as assay:
        ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
        first = (await ana.view(await ask(ana))).brief
        assert first is not None
        assert first.budget.usd == 0.3
        await ask(ana)
        with pytest.raises(UsageError, match=r"your runs of today.*\$0.24.* of \$0.3 \(limits.user_usd_per_day\)"):
            await ask(ana)
        last = (await bob.view(await ask(bob))).brief
        assert last is not None
        assert last.budget.usd == pytest.approx(0.5 - 0.24)
        await ask(bob)
        with pytest.raises(UsageError, match=r"today's runs.* of \$0.5 \(limits.usd_per_day\)"):
            await ask(bob)
        used = await ana.used_today()
        assert (used.runs, used.tokens, used.going, used.limits.usd_per_day) == (2, 6_000, 0, 0.3)
        assert used.usd == pytest.approx(0.24)


async def test_runs_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path, user_runs_at_once=2) as assay:
        ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
        made = [await ana.create("Hi", mode="simple") for _ in range(2)]
        with pytest.raises(TooMany, match=r"2 runs are queued or executed, and 2 at once.*limits.user_runs_at_once"):
            await ana.create("Hi", mode="simple")
        await bob.create("Hi", mode="simple")
        assert (await ana.used_today()).going == 2
        await ana.control(made[0], "cancel")
        await ana.create("Hi", mode="simple")


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgres"])
async def test_begun_at_one_moment_they_are_counted_one_after_the_other(
    request: pytest.FixtureRequest, tmp_path: Path, store: str
) -> None:
    home, url = None if store == "memory" else tmp_path, None
    if store == "postgres":
        url = request.getfixturevalue("new_database")()
    async with opened(home, url, user_runs_per_day=3) as one, opened(home, url, user_runs_per_day=3) as two:
        views = [(one, one if home is None else two)[n % 2].owned_by("ana") for n in range(8)]
        found = await asyncio.gather(*(each.create("Hi", mode="simple") for each in views), return_exceptions=True)
        assert sum(isinstance(each, str) for each in found) == 3
        assert sum(isinstance(each, TooMany) for each in found) == 5
        assert len(await one.owned_by("ana").runs()) == 3
