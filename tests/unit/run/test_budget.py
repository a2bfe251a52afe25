"""Accounts: what is held and settled adds up, over any order and over a restart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import LimitReached, UsageError
from assay.core.ports import HoldRecord
from assay.core.usage import Budget, Usage
from assay.run.budget import MIN_CALL_USAGE, Accounts, budget_share, check_budget, remaining_budget

amounts = st.integers(0, 5_000)


def test_a_budget_below_one_report_is_refused() -> None:
    with pytest.raises(UsageError, match=str(MIN_CALL_USAGE.tokens)):
        check_budget(Budget(tokens=100))
    check_budget(Budget(tokens=MIN_CALL_USAGE.tokens))


@given(st.lists(st.tuples(amounts, amounts), max_size=20), st.integers(10_000, 100_000))
def test_what_is_held_never_exceeds_the_limit(calls: list[tuple[int, int]], limit: int) -> None:
    accounts = Accounts(Budget(tokens=limit))
    for number, (worst, actual) in enumerate(calls):
        step = f"step-{number}"
        if accounts.total_usage.tokens + worst > limit:
            with pytest.raises(LimitReached, match="tokens"):
                accounts.hold(0, step, Usage(output_tokens=worst), "verify")
            continue
        accounts.hold(0, step, Usage(output_tokens=worst), "verify")
        assert accounts.total_usage.tokens <= limit
        accounts.settle(0, step, Usage(output_tokens=min(worst, actual)))


@given(st.lists(st.tuples(amounts, st.booleans(), st.integers(0, 3)), max_size=20))
def test_accounts_are_the_same_after_a_restart(calls: list[tuple[int, bool, int]]) -> None:
    accounts = Accounts(Budget(tokens=10_000_000))
    stored: dict[str, HoldRecord] = {}
    for number, (worst, settled, lane) in enumerate(calls):
        step = f"step-{number}"
        stored[step] = accounts.hold(lane, step, Usage(output_tokens=worst), "work")
        if settled:
            stored[step] = accounts.settle(lane, step, Usage(output_tokens=worst // 2))
    again = Accounts(Budget(tokens=10_000_000), stored.values())
    assert again.total_usage == accounts.total_usage
    assert [again.room(lane, "verify") for lane in range(4)] == [accounts.room(lane, "verify") for lane in range(4)]


def test_an_attempt_that_died_is_settled_at_its_estimate() -> None:
    stored = HoldRecord(step="s", account="0", amount=Usage(output_tokens=700), state="held")
    accounts = Accounts(Budget(tokens=10_000), [stored])
    died = accounts.step_hold(0, "s")
    assert died == Usage(output_tokens=700)
    with pytest.raises(LimitReached):
        accounts.hold(0, "s", Usage(output_tokens=9_999_999), "work")
    accounts.hold(0, "s", Usage(output_tokens=500), "work")
    assert accounts.total_usage.tokens == 1_200
    assert accounts.settle(0, "s", Usage(output_tokens=300), died=died).amount.tokens == 1_000


def test_lanes_of_one_parent_share_alike_whatever_their_siblings_spent() -> None:
    accounts = Accounts(Budget(tokens=40_000))
    parent = ("research", "cycle-1")
    accounts.open_lane(1, parent, accounts.lane_budget(parent, 2))
    accounts.hold(1, "a", Usage(output_tokens=8_500), "work")
    accounts.open_lane(2, parent, accounts.lane_budget(parent, 2))
    assert accounts.room(2, "work").tokens == 9_000
    with pytest.raises(LimitReached):
        accounts.hold(1, "b", Usage(output_tokens=600), "work")


def test_what_is_too_little_for_two_calls_each_is_for_the_lanes_that_begin_first() -> None:
    accounts = Accounts(Budget(tokens=30_000, searches=6))
    parent = ("research", "cycle-1")
    for lane in (1, 2):
        accounts.open_lane(lane, parent, accounts.lane_budget(parent, 3))
    assert accounts.room(1, "work") == Budget(tokens=13_500, searches=6)
    accounts.hold(1, "a", Usage(output_tokens=13_000), "work")
    with pytest.raises(LimitReached):
        accounts.hold(2, "b", Usage(output_tokens=600), "work")


def test_the_writer_may_use_what_research_may_not() -> None:
    accounts = Accounts(Budget(tokens=10_000))
    accounts.hold(0, "research", Usage(output_tokens=4_400), "work")
    with pytest.raises(LimitReached):
        accounts.hold(0, "more", Usage(output_tokens=200), "work")
    accounts.hold(0, "write", Usage(output_tokens=5_000), "verify")


def test_low_is_said_once() -> None:
    accounts = Accounts(Budget(tokens=10_000))
    accounts.hold(0, "s", Usage(output_tokens=8_500), "verify")
    accounts.settle(0, "s", Usage(output_tokens=8_500))
    assert accounts.newly_low_measures() == [("tokens", 8500.0, 10000.0)]
    assert accounts.newly_low_measures() == []


@given(st.integers(0, 10_000), st.floats(0.01, 1.0))
def test_a_part_is_never_more_than_the_whole(limit: int, share: float) -> None:
    tokens = budget_share(Budget(tokens=limit), share).tokens
    assert tokens is not None
    assert 0 <= tokens <= max(1, limit)
    assert remaining_budget(Budget(tokens=limit), Usage(output_tokens=limit + 5)).tokens == 0
