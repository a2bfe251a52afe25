"""Numbers, tokens and money, as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.usage import Usage


def joined(parts: Iterable[str], between: str = " · ") -> str:
    """The parts which say something, in one string."""
    return between.join(part for part in parts if part)


def short(number: int) -> str:
    """`950`, `4.1k`, `45k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.1f}{unit}"
    return str(number)


def tokens(usage: Usage) -> str:
    """`4.1k tokens`, or nothing."""
    return f"{short(usage.tokens)} token{'' if usage.tokens == 1 else 's'}" if usage.tokens else ""


def money(usage: Usage) -> str:
    """`$0.0312`, and a `+` where calls without a known price are not in it; `$?` where no price is known.

    Nothing where nothing cost.
    """
    more = "+" if usage.unpriced_calls else ""
    return f"${usage.usd:.4f}{more}" if usage.usd else "$?" if usage.unpriced_calls else ""


def price(usage: Usage) -> str:
    """The same in words: `$0.0312`, `$0.0312 and 3 calls without a known price`, `cost unknown: 3 calls …`."""
    if not usage.unpriced_calls:
        return money(usage)
    unpriced = f"{usage.unpriced_calls} call{'' if usage.unpriced_calls == 1 else 's'} without a known price"
    return f"${usage.usd:.4f} and {unpriced}" if usage.usd else f"cost unknown: {unpriced}"
