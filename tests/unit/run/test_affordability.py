"""What a budget pays for: the worst case of a call, the least that makes a report, what is set apart for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.messages import Message, Price, Profile, Request, input_tokens
from assay.core.usage import Budget, Usage
from assay.models.script import Scripted
from assay.run.budget import MIN_CALL_USAGE, MIN_OUTPUT_TOKENS, Reserve, check_budget, fit_output, worst_case

CHEAP, DEAR = Price(input=1.0, output=4.0), Price(input=10.0, output=50.0)
LOCAL = Profile(name="local:m", price=Price(input=0.0, output=0.0), local=True)


def model(name: str, price: Price | None, **facts: bool) -> Scripted:
    return Scripted([], profile=Profile(name=name, price=price, **facts))  # type: ignore[arg-type]


def request(max_tokens: int = 1_000) -> Request:
    return Request(task="write", system="s", messages=(Message(role="user", text="hello"),), max_tokens=max_tokens)


def test_each_measure_below_the_least_is_refused() -> None:
    for budget, found in (
        (Budget(tokens=MIN_CALL_USAGE.tokens - 1), "allow at least 4000"),
        (Budget(seconds=0), "0 seconds"),
        (Budget(searches=0), "0 searches"),
        (Budget(pages=0), "0 pages"),
        (Budget(agents=0), "0 agents"),
        (Budget(usd=0.01), r"by dear; allow at least \$0.0800"),
    ):
        with pytest.raises(UsageError, match=found):
            check_budget(budget, Profile(name="dear", price=DEAR))
    check_budget(
        Budget(usd=0.08, tokens=MIN_CALL_USAGE.tokens, searches=1, pages=1, agents=1), Profile(name="dear", price=DEAR)
    )


def test_a_limit_of_money_names_the_setting_of_a_missing_price() -> None:
    unpriced = Profile(name="openai:new")
    with pytest.raises(UsageError, match=r'\[catalogue."openai:new"\] with input_price and output_price'):
        check_budget(Budget(usd=5.0), LOCAL, [LOCAL, unpriced])
    check_budget(Budget(tokens=10_000), unpriced, [unpriced])
    check_budget(Budget(usd=0.01), LOCAL, [LOCAL])


def test_a_model_which_reasons_needs_room_for_it() -> None:
    thinking = Profile(name="o", native_reasoning=True)
    with pytest.raises(UsageError, match="allow at least 14000"):
        check_budget(Budget(tokens=MIN_CALL_USAGE.tokens), thinking)
    assert worst_case([model("o", CHEAP, native_reasoning=True)], request()).output_tokens == 11_000


def test_the_worst_case_is_that_of_the_dearest_fallback() -> None:
    usage = worst_case([model("cheap", CHEAP), model("dear", DEAR)], request())
    assert usage.usd == pytest.approx(DEAR.max_cost(Usage(input_tokens=usage.input_tokens, output_tokens=1_000)))


@given(st.integers(1, 30_000), st.one_of(st.none(), st.integers(0, 40_000)), st.one_of(st.none(), st.floats(0, 3)))
def test_a_fitted_call_is_paid_for_or_as_it_was(output: int, tokens: int | None, usd: float | None) -> None:
    models, asked = [model("cheap", CHEAP), model("dear", DEAR)], request(output)
    fits = fit_output(models, asked, Budget(tokens=tokens, usd=usd))
    assert fits.max_tokens <= output
    paid = Budget(tokens=tokens, usd=usd).exceeded_by(worst_case(models, fits)) is None
    assert paid or fits == asked
    if not paid:  # then not even the least useful answer is paid for
        least = worst_case(models, request(MIN_OUTPUT_TOKENS))
        spare = worst_case(models, request(MIN_OUTPUT_TOKENS + 1)).usd - least.usd
        assert output < MIN_OUTPUT_TOKENS or Budget(
            tokens=tokens, usd=None if usd is None else usd - spare
        ).exceeded_by(least)
    assert input_tokens(fits) == input_tokens(asked)


@given(st.integers(MIN_CALL_USAGE.tokens, 10**7), st.floats(0.01, 100), st.booleans())
def test_a_reserve_leaves_research_its_part(tokens: int, usd: float, verify: bool) -> None:
    budget = Budget(tokens=tokens, usd=usd, pages=7)
    reserve = Reserve.of(budget, Profile(name="dear", price=DEAR), verify=verify)
    research, writing = reserve.without_later(budget, is_writing=False), reserve.without_later(budget, is_writing=True)
    assert 0.44 * tokens <= (research.tokens or 0) < (writing.tokens or 0) <= tokens
    assert 0.44 * usd <= (research.usd or 0) < (writing.usd or 0) <= usd
    assert research.pages == writing.pages == 7
    assert (writing == budget) is not verify


def test_of_a_large_budget_no_more_is_set_apart_than_one_report_can_cost() -> None:
    small = Profile(name="small", window=32_000, max_output=8_000, price=CHEAP)
    kept = Reserve.of(Budget(tokens=1_000_000, usd=10.0), small).report
    assert kept.tokens == 32_000
    assert kept.usd == pytest.approx((24_000 * 1.0 + 8_000 * 4.0) / 1e6)
