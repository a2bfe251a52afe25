"""Formats numbers, tokens, money and times for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from assay.core.brief import Brief, Estimate, Span
from assay.core.claims import RELEVANT, VERDICTS, Summary
from assay.core.milestones import counted
from assay.core.usage import Usage
from assay.core.view import RunView


def joined(parts: Iterable[str], between: str = " · ") -> str:
    """Join the parts that are not empty."""
    return between.join(part for part in parts if part)


def short(number: int) -> str:
    """Format a number: `950`, `4.1k`, `45k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.1f}{unit}"
    return str(number)


def size(count: int) -> str:
    """Format a number of bytes: `812 bytes`, `3.4 kB`, `48 kB`, `1.2 MB`, `1,204 MB`."""
    if count < 1_000:
        return counted(count, "byte")
    value, unit = (count / 1e3, "kB") if count < 999_500 else (count / 1e6, "MB")
    return f"{value:,.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def tokens(usage: Usage) -> str:
    """Format tokens: `4.1k tokens`, or nothing."""
    return f"{short(usage.tokens)} token{'' if usage.tokens == 1 else 's'}" if usage.tokens else ""


def money(usage: Usage) -> str:
    """Format a cost: `$0.0312`, with a `+` if it omits calls without a known price; `$?` if no price is known.

    Nothing if nothing was spent.
    """
    more = "+" if usage.unpriced_calls else ""
    return f"${usage.usd:.4f}{more}" if usage.usd else "$?" if usage.unpriced_calls else ""


def price(usage: Usage) -> str:
    """A cost in words: `$0.0312`, `$0.0312 and 3 calls without a known price`, `cost unknown: 3 calls …`."""
    if not usage.unpriced_calls:
        return money(usage)
    unpriced = f"{usage.unpriced_calls} call{'' if usage.unpriced_calls == 1 else 's'} without a known price"
    return f"${usage.usd:.4f} and {unpriced}" if usage.usd else f"cost unknown: {unpriced}"


# Verdicts and relevance counted, in a line.


def summed(summary: Summary) -> str:
    """The counts in one line: `3 claims: 2 quoted, 1 unsupported; 1 answering the question, 2 related`."""
    counts = ((verdict, getattr(summary, verdict)) for verdict in VERDICTS)
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    return f"{counted(summary.claims, 'claim')}{': ' if text else ''}{text}{answering(summary)}"


def answering(summary: Summary) -> str:
    """How far the claims answer the question: `; 2 answer the question, 1 related`; nothing if that was not judged."""
    found = ((name, getattr(summary, name)) for name in RELEVANT)
    text = ", ".join(f"{count} {_ANSWERING[name]}" for name, count in found if count)
    return f"; {text}" if text else ""


_ANSWERING = {"answers": "answering the question", "related": "related", "unrelated": "not related"}


# An estimate in words.

CENT = 0.01


def describe_estimate(estimate: Estimate) -> str:
    """An estimate: `8 to 30 model calls, 20k to 200k tokens, $0.01 to $0.09, 0:10 to 2:00 (by the rules of the
    depth)`.
    """
    money = "cost unknown" if estimate.usd is None else _span(estimate.usd, amount) if estimate.usd.most else "$0"
    parts = (
        f"{_span(estimate.calls, lambda value: str(round(value)))} model calls",
        f"{_span(estimate.tokens, lambda value: short(round(value)))} tokens",
        money,
        _span(estimate.seconds, clock),
    )
    rests = f"by {estimate.runs} runs like it" if estimate.basis == "runs" else "by the rules of its depth"
    return f"{joined(parts, ', ')} ({rests})"


def describe_expected_cost(brief: Brief | None) -> str:
    """The estimated cost: ` (estimated $0.01 to $0.09)`, if a cost was expected; else nothing."""
    usd = brief.estimate.usd if brief and brief.estimate else None
    return f" (estimated {_span(usd, amount)})" if usd and usd.most else ""


def amount(usd: float) -> str:
    """Format dollars, with more decimals for small amounts."""
    return f"${usd:.2f}" if usd >= CENT or not usd else f"${usd:.4f}"


def _span(span: Span, form: Callable[[float], str]) -> str:
    least, most = form(span.least), form(span.most)
    return most if least == most else f"{least} to {most}"


def moment(at: str) -> datetime:
    """Parse the time of an event, which is ISO 8601 UTC."""
    return datetime.fromisoformat(at)


def elapsed(view: RunView, began: str, ended: str, now: datetime) -> float:
    """Seconds from `began` to `ended` (empty: to `now`) in which a process worked on the run; 0 before it began."""
    if not began:
        return 0.0
    start, end = moment(began), moment(ended) if ended else now
    idle = sum((_overlap(start, end, moment(p.began_at), moment(p.ended_at)) for p in view.pauses), timedelta())
    return max(0.0, (end - start - idle).total_seconds())


def _overlap(start: datetime, end: datetime, began: datetime, ended: datetime) -> timedelta:
    return max(timedelta(), min(end, ended) - max(start, began))


def clock(seconds: float) -> str:
    """Format seconds: `0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
