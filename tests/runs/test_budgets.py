"""Whole runs under limits: nothing is spent beyond them, research ends gracefully, and there is a report."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from research import ONE_STEP, ROSE, TIDE, Log, Sea, agent, planned, report_wanted, sends, whole
from runtime import fixed
from sampling import scaled

from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import UsageError
from assay.core.messages import Price, Profile
from assay.core.phrases import LIMIT_REASONS
from assay.core.usage import MEASURES, Budget
from assay.core.view import fold_events
from assay.models.extractive import Extractive
from assay.models.script import Scripted, calls, says
from assay.run.budget import MIN_CALL_USAGE

QUESTION = "How far does the tide rise at Brest, and where does the mistral blow from?"
PRICE = Price(input=2.0, output=10.0)


class Priced(Extractive):
    """The built-in model, for money."""

    @property
    def profile(self) -> Profile:
        return msgspec.structs.replace(super().profile, price=PRICE, window=32_000)


async def limited(budget: Budget, strategy: str, mode: str = "auto") -> Log:
    """A run of the built-in model under `budget`."""
    sea, model = Sea(), Priced()
    name = model.profile.name
    roles = dict.fromkeys(ROLES, (name,))
    brief = sea.brief(question=QUESTION, models=roles, budget=budget, strategy=strategy, mode=mode)

    world = msgspec.structs.replace(sea.world(model), models={name: model})  # type: ignore[arg-type]
    handle = sea.engine().start(fixed(brief, world))
    log = Log([envelope async for envelope in handle], model)  # type: ignore[arg-type]
    await handle.wait()
    memory = await sea.journal.load(handle.run_id)
    assert {hold.state for hold in memory.holds} <= {"settled"}
    total = fold_events(log.envelopes).usage.total
    assert sum(hold.amount.tokens for hold in memory.holds) == total.tokens  # nothing died, so that is all
    return log


budgets = st.builds(
    Budget,
    usd=st.one_of(st.none(), st.floats(0.02, 0.4)),
    tokens=st.one_of(st.none(), st.integers(4_000, 60_000)),
    searches=st.one_of(st.none(), st.integers(1, 12)),
    pages=st.one_of(st.none(), st.integers(1, 8)),
    agents=st.one_of(st.none(), st.integers(1, 4)),
)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
@settings(max_examples=scaled(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(budget=budgets)
def test_no_limit_is_passed_and_there_is_a_report(strategy: str, budget: Budget) -> None:
    log = asyncio.run(limited(budget, strategy))
    spent = fold_events(log.envelopes).usage.total
    assert budget.exceeded_by(spent) is None, spent
    assert whole(log)
    assert log.text.strip()
    reason = log.last(e.RunCompleted).stop_reason
    assert reason in {*LIMIT_REASONS, "done", "no_evidence"}
    exhausted = [event.reason for event in log.of(e.RunExhausted)]
    assert exhausted == ([reason] if reason in MEASURES else [])
    low = [event.measure for event in log.of(e.BudgetLow)]
    assert sorted(low) == sorted(
        measure
        for measure in MEASURES
        if (limit := getattr(budget, measure)) and getattr(spent, measure) >= 0.8 * limit
    )


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
@pytest.mark.parametrize("mode", ["auto", "deep_research", "agent", "web_search", "simple"])
@pytest.mark.parametrize("budget", [Budget(tokens=MIN_CALL_USAGE.tokens), Budget(usd=PRICE.max_cost(MIN_CALL_USAGE))])
async def test_the_least_budget_is_enough_to_search_and_quote(strategy: str, mode: str, budget: Budget) -> None:
    """A search uses up neither tokens nor money: a limit too small for research still leaves passages."""
    log = await limited(budget, strategy, mode)
    assert len(log.of(e.SearchPerformed)) >= 1
    assert "The tide at Brest rises seven metres." in log.text, log.text


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
@pytest.mark.parametrize("tokens", [6_000, 12_000, 20_000, 30_000])
async def test_the_writers_part_of_a_small_budget_is_for_the_writer(strategy: str, tokens: int) -> None:
    """Whether agents could work or not: then for the passages that were found before."""
    log = await limited(Budget(tokens=tokens), strategy)
    tasks = [event.task for event in log.of(e.ModelAttempted)]
    assert tasks[-1] == "write"
    assert ("research" in tasks) == (tokens >= 20_000 or (strategy == "reflective" and tokens == 12_000))
    assert not log.text.startswith("*")
    assert "rises seven metres" in log.text


async def test_the_last_search_ends_research_and_the_report_is_written() -> None:
    script = [
        *planned(ONE_STEP),
        sends(TIDE),
        calls(("search", {"query": "tide at Brest"}), task="research", turn=0),
        calls(("search", {"query": "tide sea"}), task="research", turn=1),
        says(ROSE, task="find"),
        says("Seven. [S1001.1]", task="write"),
    ]
    log = await Sea().run(script, budget=Budget(searches=2))
    assert [event.reason for event in log.of(e.RunExhausted)] == ["searches"]
    assert log.last(e.RunCompleted).stop_reason == "searches"
    assert "Seven. [S1001.1]" in log.text
    assert [event.stop for event in log.of(e.AgentFinished)] == ["searches"]
    assert [(event.measure, event.used) for event in log.of(e.BudgetLow)] == [("searches", 2.0)]


async def test_agents_at_work_go_on_where_no_more_may_be_sent() -> None:
    script = [
        *planned(),
        sends(TIDE, "Find the mistral"),
        *agent(TIDE, "tide Brest", ROSE),
        says("Seven. [S1001.1]", task="write"),
    ]
    log = await Sea().run(script, budget=Budget(agents=1))
    assert log.last(e.RunCompleted).stop_reason == "agents"
    assert [event.stop for event in log.of(e.AgentFinished) if event.lane == 1] == ["done"]
    assert "Seven. [S1001.1]" in log.text


async def test_as_many_pages_are_opened_as_are_left() -> None:
    opening = calls(("open", {"documents": ["tides.md", "winds.md"]}), task="research", turn=0)
    script = [
        *planned(ONE_STEP),
        sends(TIDE),
        opening,
        says("done", task="research", turn=1),
        says(ROSE, task="find"),
        report_wanted(),
        says("Seven. [S1001.1]", task="write"),
    ]
    log = await Sea().run(script, budget=Budget(pages=1))
    assert fold_events(log.envelopes).usage.total.pages == 1
    assert log.last(e.RunCompleted).stop_reason == "done"


async def test_what_does_not_pay_for_a_report_is_refused_before_anything_is_asked() -> None:
    for budget, profile in (
        (Budget(tokens=500), Profile(name="scripted", price=Price(input=1.0, output=1.0))),
        (Budget(usd=0.001), Profile(name="scripted", price=Price(input=1.0, output=1.0))),
        (Budget(usd=5.0), Profile(name="scripted")),
    ):
        model, sea = Scripted([], profile=profile), Sea()
        with pytest.raises(UsageError):
            await sea.start(model, budget=budget).wait()
        assert model.requests == []
        assert await sea.journal.runs() == []
