"""Lines of fixed width: what stands left gives way to what stands right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from assay.cli.terminal import clean
from assay.core.usage import Usage

GAP = 2


def words(text: str, style: str = "") -> Text:
    """Text that others wrote, on one line and harmless."""
    return Text(clean(text), style=style, no_wrap=True)


def row(left: Text, right: Text, width: int) -> Text:
    """One line of at most `width` cells; `right` ends at the edge, and is left out where it takes more than half."""
    if not right.cell_len or right.cell_len + GAP > width / 2:
        return cut(left, width)
    left = cut(left, width - right.cell_len - GAP)
    space = width - left.cell_len - right.cell_len
    return Text.assemble(left, " " * space, right, no_wrap=True)


def cut(text: Text, width: int) -> Text:
    """`text` in at most `width` cells, its end an ellipsis where something is missing."""
    text = text.copy()
    text.truncate(max(width, 0), overflow="ellipsis")
    return text


def fill(text: Text, width: int) -> Text:
    """`text` in exactly `width` cells."""
    text = cut(text, width)
    text.pad_right(width - text.cell_len)
    return text


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
