"""Holds of many lanes at once, with processes which die between any two of them: no limit is ever passed."""

from __future__ import annotations

import math

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sampling import scaled

from assay.core.errors import LimitReached
from assay.core.ports import HoldRecord
from assay.core.usage import MEASURES, Budget, Usage
from assay.run.budget import Accounts, Gate

LIMIT = Budget(usd=1.0, tokens=10_000, searches=8, pages=8, agents=4)
GATES: tuple[Gate, ...] = ("work", "report", "write", "verify")
costs = st.builds(
    Usage,
    input_tokens=st.integers(0, 3_000),
    output_tokens=st.integers(0, 2_000),
    usd=st.integers(0, 40).map(lambda cents: cents / 100),
    searches=st.integers(0, 3),
    pages=st.integers(0, 3),
    agents=st.integers(0, 1),
)


def portion(cost: Usage, share: float) -> Usage:
    return Usage(*(type(value)(value * share) for value in (getattr(cost, name) for name in Usage.__struct_fields__)))


def same(one: Usage, other: Usage) -> bool:
    return all(math.isclose(getattr(one, name), getattr(other, name), abs_tol=1e-9) for name in MEASURES)


class Budgets(RuleBasedStateMachine):
    """A run's accounts, and beside them what the journal has and what providers were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts = Accounts(LIMIT)
        self.journal: dict[str, HoldRecord] = {}
        self.slices: dict[int, Budget] = {}
        self.open: dict[str, tuple[int, Gate, Usage, Usage]] = {}  # lane, gate, what this attempt holds, what died
        self.dead: dict[str, tuple[int, Gate]] = {}
        self.real = Usage()
        self.number = 0

    @rule(at_once=st.integers(1, 3))
    def spawn(self, at_once: int) -> None:
        lane, parent = len(self.slices) + 1, (f"cycle-{len(self.slices) // 2}",)
        self.slices[lane] = self.accounts.lane_budget(parent, at_once)
        self.accounts.open_lane(lane, parent, self.slices[lane])

    def _begin(self, lane: int, step: str, gate: Gate, cost: Usage) -> None:
        died = self.accounts.step_hold(lane, step) or Usage()
        before = self.accounts.total_usage
        over = self.accounts.room(lane, gate).exceeded_by(cost)
        if over is None:
            self.journal[step] = self.accounts.hold(lane, step, cost, gate)
        else:
            with pytest.raises(LimitReached, match=over):
                self.accounts.hold(lane, step, cost, gate)
            assert same(self.accounts.total_usage, before)
            if died != Usage():  # the step is stored as failed, and what its dead attempt held is spent
                self.journal[step] = self.accounts.settle(lane, step, Usage(), died=died)
                self.dead.pop(step)
            return
        used, ceiling = self.accounts.total_usage, self.accounts.ceiling(gate)
        wanted = [name for name in MEASURES if getattr(cost, name)]
        assert all(getattr(used, name) <= getattr(ceiling, name) + 1e-9 for name in wanted)
        self.dead.pop(step, None)
        self.open[step] = (lane, gate, cost, died)

    @rule(data=st.data(), cost=costs, gate=st.sampled_from(GATES))
    def hold(self, data: st.DataObject, cost: Usage, gate: Gate) -> None:
        lane = data.draw(st.sampled_from([0, *self.slices]))
        self.number += 1
        self._begin(lane, f"step-{self.number}", gate, cost)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), share=st.floats(0, 1))
    def settle(self, data: st.DataObject, share: float) -> None:
        step = data.draw(st.sampled_from(sorted(self.open)))
        lane, _, cost, died = self.open.pop(step)
        actual = portion(cost, share)
        self.real = self.real + actual
        self.journal[step] = self.accounts.settle(lane, step, actual, died=died)

    @rule(share=st.floats(0, 1))
    def kill(self, share: float) -> None:
        """The process dies with calls in flight, which cost something nobody will ever be told."""
        for step, (lane, gate, cost, _) in self.open.items():
            self.real = self.real + portion(cost, share)
            self.dead[step] = (lane, gate)
        self.open.clear()
        before = self.accounts
        self.accounts = Accounts(LIMIT, self.journal.values())
        for lane, limit in self.slices.items():
            self.accounts.open_lane(lane, (f"cycle-{(lane - 1) // 2}",), limit)
        assert same(self.accounts.total_usage, before.total_usage)
        assert [self.accounts.room(lane, "work") for lane in self.slices] == [
            _near(self.accounts.room(lane, "work"), before.room(lane, "work")) for lane in self.slices
        ]

    @precondition(lambda self: self.dead)
    @rule(data=st.data(), cost=costs)
    def again(self, data: st.DataObject, cost: Usage) -> None:
        """The next process does a step again whose attempt died."""
        step = data.draw(st.sampled_from(sorted(self.dead)))
        lane, gate = self.dead[step]
        self._begin(lane, step, gate, cost)

    @invariant()
    def never_over_the_limit(self) -> None:
        assert all(getattr(self.accounts.total_usage, name) <= getattr(LIMIT, name) + 1e-9 for name in MEASURES)

    @invariant()
    def nothing_spent_is_forgotten(self) -> None:
        assert all(getattr(self.real, name) <= getattr(self.accounts.total_usage, name) + 1e-9 for name in MEASURES)

    @invariant()
    def the_journal_says_the_same(self) -> None:
        stored = Usage()
        for record in self.journal.values():
            stored = stored + record.amount
        assert same(stored, self.accounts.total_usage)

    def teardown(self) -> None:
        self.journal.update((record.step, record) for record in self.accounts.close())
        assert {record.state for record in self.journal.values()} <= {"settled"}
        assert same(self.accounts.total_usage, self.accounts.settled_usage)
        self.the_journal_says_the_same()


def _near(one: Budget, other: Budget) -> Budget | None:
    """`one`, where it is as the other: sums of floats depend on their order."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in MEASURES]
    return one if all(math.isclose(a or 0, b or 0, abs_tol=1e-9) for a, b in pairs) else None


TestBudgets = Budgets.TestCase
TestBudgets.settings = settings(max_examples=scaled(40), stateful_step_count=40, deadline=None)
