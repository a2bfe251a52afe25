"""Lines over two logarithmic axes, as SVG: small, and without a library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, BELOW, ABOVE, RIGHT = 640, 380, 64, 48, 20, 150
COLORS = ("#1b6ac9", "#c2410c", "#15803d", "#7e22ce")

Series = Mapping[str, Sequence[tuple[float, float]]]


def lines(series: Series, across: str, up: str, *, limit: float = 0.0, diagonal: bool = False) -> str:
    """The plot; `limit` is a line across which nothing should go, `diagonal` the line where both axes say the same."""
    points = [point for each in series.values() for point in each]
    x0, x1 = decades([x for x, _ in points] + ([y for _, y in points] if diagonal else []))
    y0, y1 = decades([y for _, y in points] + ([limit] if limit else []) + ([x for x, _ in points] if diagonal else []))

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (math.log10(x) - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BELOW - (math.log10(y) - y0) / (y1 - y0) * (HEIGHT - BELOW - ABOVE),
        )

    drawn = [*grid(x0, x1, y0, y1, at), *titles(across, up)]
    if limit:
        drawn.append(path([at(10**x0, limit), at(10**x1, limit)], "#b91c1c", "6 4"))
    if diagonal:
        low, high = 10 ** max(x0, y0), 10 ** min(x1, y1)
        drawn.append(path([at(low, low), at(high, high)], "#999", "6 4"))
    for number, (name, each) in enumerate(series.items()):
        color = COLORS[number % len(COLORS)]
        places = [at(x, y) for x, y in each]
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places]
        drawn += [] if diagonal else [path(places, color)]
        drawn.append(text(WIDTH - RIGHT + 12, ABOVE + 16 + 20 * number, name, color=color))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        f' font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(drawn)}</svg>\n'
    )


def decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def grid(x0: int, x1: int, y0: int, y1: int, at: object) -> list[str]:
    """A line and a number for each power of ten."""
    assert callable(at)
    drawn = []
    for power in range(x0, x1 + 1):
        x, _ = at(10**power, 10**y0)
        drawn.append(path([(x, ABOVE), (x, HEIGHT - BELOW)], "#ddd"))
        drawn.append(text(x, HEIGHT - BELOW + 16, f"{10**power:g}", anchor="middle"))
    for power in range(y0, y1 + 1):
        _, y = at(10**x0, 10**power)
        drawn.append(path([(LEFT, y), (WIDTH - RIGHT, y)], "#ddd"))
        drawn.append(text(LEFT - 6, y + 4, f"{10**power:g}", anchor="end"))
    return drawn


def titles(across: str, up: str) -> list[str]:
    middle = (HEIGHT - BELOW + ABOVE) / 2
    turned = f'<g transform="rotate(-90 14 {middle:.0f})">{text(14, middle, up, anchor="middle")}</g>'
    return [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, anchor="middle"), turned]


def path(points: Sequence[tuple[float, float]], color: str, dashes: str = "") -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="1.5"{dashed}/>'


def text(x: float, y: float, words: str, *, anchor: str = "start", color: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(words)}</text>'


def write_svg(path: Path, drawn: str) -> None:
    """Write it, for a page to show."""
    path.write_text(drawn, encoding="utf-8")
