"""An estimate in words."""

from __future__ import annotations

from collections.abc import Callable

from assay.cli.figures import joined, short
from assay.cli.live.times import clock
from assay.core.brief import Brief, Estimate, Span

CENT = 0.01


def told(estimate: Estimate) -> str:
    """`8 to 30 model calls, 20k to 200k tokens, $0.01 to $0.09, 0:10 to 2:00 (by the rules of the depth)`."""
    money = "cost unknown" if estimate.usd is None else _span(estimate.usd, amount) if estimate.usd.most else "$0"
    parts = (
        f"{_span(estimate.calls, lambda value: str(round(value)))} model calls",
        f"{_span(estimate.tokens, lambda value: short(round(value)))} tokens",
        money,
        _span(estimate.seconds, clock),
    )
    rests = f"by {estimate.runs} runs like it" if estimate.basis == "runs" else "by the rules of its depth"
    return f"{joined(parts, ', ')} ({rests})"


def told_money(brief: Brief | None) -> str:
    """` (estimated $0.01 to $0.09)`, where money was thought to be spent; else nothing."""
    usd = brief.estimate.usd if brief and brief.estimate else None
    return f" (estimated {_span(usd, amount)})" if usd and usd.most else ""


def amount(usd: float) -> str:
    """Dollars, with more places where they are few."""
    return f"${usd:.2f}" if usd >= CENT or not usd else f"${usd:.4f}"


def _span(span: Span, form: Callable[[float], str]) -> str:
    least, most = form(span.least), form(span.most)
    return most if least == most else f"{least} to {most}"
