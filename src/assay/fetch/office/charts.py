"""Charts in office documents: the figures that are drawn, as the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DRAWING_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MAX_POINTS = 10_000
"""Points of a series, and rows of a chart, that are read."""
MAX_SERIES = 100
MAX_LEVELS = 4
DIGITS, DIGITS_OF_LARGE = 12, 15
"""The digits of a figure that are no rest of a division; one from a thousand million on has few decimals."""


def chart_title(chart: etree._Element) -> str:
    """The title of a chart; "" if it has none of its own."""
    title = chart.find(f".//{C}chart/{C}title")
    return "" if title is None else "".join(node.text or "" for node in title.iter(DRAWING_TEXT))


def chart_rows(chart: etree._Element) -> list[list[str]]:
    """A head with the names of the series, and below it a row for each category or value of x."""
    series = [
        (
            _points(each, "tx"),
            _points(each, "cat") or _points(each, "xVal"),
            _points(each, "val") or _points(each, "yVal"),
        )
        for each in islice(chart.iter(f"{C}ser"), MAX_SERIES)
    ]
    series = [each for each in series if each[2]]
    if not series:
        return []
    categories = next((each[1] for each in series if each[1]), {})
    head = ["", *(names.get(0, f"series {number}") for number, (names, _, _) in enumerate(series, 1))]
    points = sorted({point for _, _, values in series for point in values})[:MAX_POINTS]
    return [head, *([categories.get(at, str(at + 1)), *_cells(series, at)] for at in points)]


def _cells(series: Sequence[tuple[dict[int, str], dict[int, str], dict[int, str]]], at: int) -> list[str]:
    return [values.get(at, "") for _, _, values in series]


def _points(series: etree._Element, kind: str) -> dict[int, str]:
    """The texts or figures of a series of one kind, by number; of categories in groups "2024 May".

    A figure is written without the rest of its division.
    """
    above = series.find(f"{C}{kind}")
    points: dict[int, str] = {}
    if above is None:
        return points
    direct = above.findtext(f"{C}v")  # a name that is written, and no reference to a cell
    if direct is not None:
        return {0: direct}
    is_number = above.find(f".//{C}numCache") is not None or above.find(f".//{C}numLit") is not None
    levels = list(above.iter(f"{C}lvl"))
    for point in (levels[0] if levels else above).iter(f"{C}pt"):
        text = (point.findtext(f"{C}v") or "").strip()
        if text and len(points) < MAX_POINTS:
            points[_number(point)] = _plain_figure(text) if is_number else text
    for level in levels[1:MAX_LEVELS]:
        groups = {_number(point): (point.findtext(f"{C}v") or "").strip() for point in level.iter(f"{C}pt")}
        group = ""
        for at in sorted({*points, *groups}):
            group = groups.get(at, group)
            if at in points:
                points[at] = f"{group} {points[at]}".strip()
    return points


def _number(point: etree._Element) -> int:
    return parse_number(str(point.get("idx")), 0)


def _plain_figure(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value) or text.lstrip("-").isdecimal():
        return text
    digits = DIGITS_OF_LARGE if abs(value) >= 10**9 else DIGITS
    return f"{Decimal(f'{value:.{digits}g}'):f}"
