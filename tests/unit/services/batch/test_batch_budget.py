"""The total of a batch: never overspent, whatever runs at once and whatever they use of their parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.usage import Budget, Usage
from assay.services.batch.rows import BatchBudget
from assay.services.daily import narrower_budget


@given(
    st.integers(0, 10**6),
    st.floats(0, 100),
    st.lists(st.tuples(st.integers(1, 5), st.floats(0, 1), st.booleans()), max_size=40),
)
def test_all_together_never_spend_more_than_the_total(tokens: int, usd: float, runs: list[tuple[int, float, bool]]):
    batch_budget = BatchBudget(Budget(usd=usd, tokens=tokens))
    going: list[tuple[str, Budget, float]] = []
    for number, (places, part, end_one) in enumerate(runs):
        limit = batch_budget.share(places)
        assert limit.tokens is not None
        assert limit.usd is not None
        batch_budget.hold(str(number), limit)
        going.append((str(number), limit, part))
        left = batch_budget.remaining()
        assert left.tokens is not None
        assert left.tokens >= 0
        if end_one:
            key, kept, used = going.pop(0)
            batch_budget.settle(key, Usage(usd=(kept.usd or 0) * used, input_tokens=int((kept.tokens or 0) * used)))
    for key, kept, used in going:
        batch_budget.settle(key, Usage(usd=(kept.usd or 0) * used, input_tokens=int((kept.tokens or 0) * used)))
    assert batch_budget.tokens <= tokens
    assert batch_budget.usd <= usd * (1 + 1e-9) + 1e-9


def test_what_a_run_leaves_comes_back():
    batch_budget = BatchBudget(Budget(tokens=100))
    batch_budget.hold("a", batch_budget.share(2))
    assert batch_budget.remaining().tokens == 50
    batch_budget.settle("a", Usage(input_tokens=10))
    assert (batch_budget.remaining().tokens, batch_budget.tokens) == (90, 10)


def test_without_a_total_nothing_is_limited():
    assert BatchBudget(Budget()).share(3) == Budget()


def test_the_narrower_limit_holds_and_the_rest_of_the_own_ones_stay():
    assert narrower_budget(Budget(tokens=5, usd=None, pages=3), Budget(tokens=9, usd=1.0)) == Budget(
        tokens=5, usd=1.0, pages=3
    )
