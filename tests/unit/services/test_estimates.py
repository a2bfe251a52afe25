"""Estimates: by the rules of a depth, and by runs of the same kind."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.brief import ROLES, Brief, Estimate, SetDepth, Span
from assay.core.events import Envelope, TriageClassified
from assay.core.messages import Price, Profile
from assay.core.plan import Triage
from assay.core.ports import RunSpending, World
from assay.core.usage import Budget, Usage
from assay.models.script import Scripted
from assay.run.process import SystemClock
from assay.services.estimates import (
    at_pace,
    clamp_estimate,
    estimate,
    estimate_from_rules,
    estimate_from_runs,
    similar_runs,
)
from assay.store.memory import memory_store

PRICED = Profile(name="m", price=Price(input=1.0, output=5.0))


def brief(**changes: object) -> Brief:
    roles = dict.fromkeys(ROLES, ("m",))
    return Brief(**{"question": "?", "date": "2026-01-01", "models": roles} | changes)  # type: ignore[arg-type]


def profiles(profile: Profile = PRICED) -> dict:
    return dict.fromkeys(ROLES, profile)


def run(of: Brief, number: int = 1, status: str = "completed") -> RunSpending:
    return RunSpending(
        run_id=f"r{number}",
        status=status,  # type: ignore[arg-type]
        brief=msgspec.json.encode(of),
        active_seconds=10.0 * number,
        usage=Usage(model_calls=10 + number, input_tokens=1_000 * number, usd=0.01 * number, agents=1),
    )


briefs = st.builds(
    brief,
    depth=st.sampled_from(["auto", *get_args(SetDepth)]),
    strategy=st.sampled_from(["orchestrated", "reflective"]),
    mode=st.sampled_from(["auto", "simple", "web_search", "deep_research", "agent"]),
    verify=st.booleans(),
)


@given(briefs, st.integers(0, 10), st.sampled_from([PRICED, Profile(name="m"), Profile(name="m", window=8_192)]))
def test_a_range_has_its_ends_in_order(of: Brief, steps: int, profile: Profile) -> None:
    guess = estimate_from_rules(of, profiles(profile), None, steps)
    for span in (guess.calls, guess.tokens, guess.seconds, guess.usd):
        assert span is None or 0 <= span.least <= span.most
    assert (guess.usd is None) == (profile.price is None)
    assert guess.calls.least >= 1


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
def test_deeper_is_more_and_a_plan_narrows_it(strategy: str) -> None:
    light, medium, extended = (
        estimate_from_rules(brief(depth=depth, strategy=strategy), profiles())
        for depth in ("light", "medium", "extended")
    )
    assert light.tokens.most < medium.tokens.most < extended.tokens.most
    auto = estimate_from_rules(brief(strategy=strategy), profiles())
    assert (auto.calls.least, auto.calls.most) == (light.calls.least, extended.calls.most)
    planned = estimate_from_rules(brief(strategy=strategy), profiles(), "medium", 4)
    assert planned.calls.most < medium.calls.most


@given(st.integers(1, 12))
def test_by_runs_from_the_least_to_the_most(count: int) -> None:
    runs = [run(brief(), number) for number in range(1, count + 1)]
    guess = estimate_from_runs(runs)
    assert all(guess.tokens.holds(each.usage.tokens) and guess.seconds.holds(each.active_seconds) for each in runs)
    assert guess.usd == Span(0.01, 0.01 * count)
    assert (guess.basis, guess.runs) == ("runs", count)


def test_only_runs_of_the_same_kind_which_ended_are_alike() -> None:
    asked = brief(depth="light")
    others = [
        run(brief(depth="medium"), 1),
        run(brief(depth="light", strategy="reflective"), 2),
        run(brief(depth="light", models=dict.fromkeys(ROLES, ("n",))), 3),
        run(asked, 4, status="failed"),
        run(brief(depth="light", question="another", length=300), 5),
        run(brief(depth="light", budget=Budget(tokens=12_000)), 6),  # half of it used: research may have been cut
        run(brief(depth="light", budget=Budget(tokens=120_000)), 7),
        run(brief(depth="light", mode="deep_research"), 8),
        msgspec.structs.replace(run(asked, 9), usage=Usage(model_calls=1)),  # answered at once
    ]
    assert [each.run_id for each in similar_runs(asked, others)] == ["r5", "r7", "r8"]


async def test_three_runs_tell_more_than_the_rules() -> None:
    store, asked = memory_store(), brief()
    world = World(
        models={"m": Scripted([], profile=PRICED)},
        searches=(),
        library=store.library,
        blobs=store.blobs,
        clock=SystemClock(),
    )

    class Before:
        """A journal, of which only this is asked."""

        def __init__(self, runs: int) -> None:
            self.runs = [run(asked, number) for number in range(1, runs + 1)]

        async def spending(self, since: str = "", limit: int | None = None) -> list[RunSpending]:
            return self.runs

        async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
            depth = "light" if run_id in ("r1", "r2", "r3") else "extended"
            data = msgspec.json.encode(TriageClassified(triage=Triage(), mode="deep_research", depth=depth))
            kind = TriageClassified.kind
            return [Envelope(seq=1, run_id=run_id, at="", path=(), type=kind, data=msgspec.Raw(data))]

    assert (await estimate(Before(2), asked, world)).basis == "rules"  # type: ignore[arg-type]
    assert (await estimate(Before(3), asked, world)).tokens == Span(1_000, 3_000)  # type: ignore[arg-type]
    light = await estimate(Before(5), asked, world, "light", 2)  # type: ignore[arg-type]
    assert (light.basis, light.runs, light.tokens) == ("runs", 3, Span(1_000, 3_000))
    assert (await estimate(Before(5), asked, world, "extended", 2)).basis == "rules"  # type: ignore[arg-type]


def test_an_estimate_keeps_to_the_limits() -> None:
    guess = Estimate(calls=Span(1, 9), tokens=Span(5_000, 90_000), seconds=Span(1, 600), usd=Span(0.5, 2.0))
    kept = clamp_estimate(Budget(usd=1.0, tokens=4_000, seconds=60), guess)
    assert (kept.usd, kept.tokens, kept.seconds) == (Span(0.5, 1.0), Span(4_000, 4_000), Span(1, 60))


def test_the_least_time_is_at_the_pace_of_the_runs_own_calls() -> None:
    guess = Estimate(calls=Span(14, 97), tokens=Span(1, 2), seconds=Span(7, 600), usd=None)
    slow = msgspec.structs.replace(run(brief()), active_seconds=42.0, usage=Usage(model_calls=3))
    assert at_pace(guess, slow, at_once=3).seconds == Span(42 + 11 * 14 / 3, 600)
    assert at_pace(guess, msgspec.structs.replace(slow, active_seconds=0.3), at_once=3).seconds == Span(7, 600)
    assert at_pace(guess, msgspec.structs.replace(slow, active_seconds=900.0), at_once=3).seconds == Span(600, 600)
