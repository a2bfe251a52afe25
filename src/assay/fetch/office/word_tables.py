"""Tables of Word documents: their cells, and whether their first column has labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module
from assay.fetch.office.word_numbers import W
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")


def table_rows(table: etree._Element, text: Callable[[etree._Element], str]) -> list[list[str]]:
    """The table's cells. A cell merged with those above has their text; one over several columns is followed by empty
    cells.
    """
    rows: list[list[str]] = []
    for line in table.iterchildren(f"{W}tr"):
        row: list[str] = []
        for cell in line.iterchildren(f"{W}tc"):
            merge = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merge is not None and merge.get(f"{W}val", "continue") == "continue"
            above = rows[-1][len(row)] if goes_on and rows and len(rows[-1]) > len(row) else ""
            row += [above or text(cell)] + [""] * (_width(cell) - 1)
        rows.append(row)
    return rows


def _width(cell: etree._Element) -> int:
    span = cell.find(f"{W}tcPr/{W}gridSpan")
    value = "1" if span is None else str(span.get(f"{W}val", "1"))
    return min(max(parse_number(value, 1), 1), 100)


def has_bold_labels(table: etree._Element) -> bool:
    """True if each row has two cells, of which only the first is bold: it names what stands beside it, as in a form."""
    bold = [[_is_bold(cell) for cell in line.iterchildren(f"{W}tc")] for line in table.iterchildren(f"{W}tr")]
    return bool(bold) and all(row == [True, False] for row in bold)


def _is_bold(cell: etree._Element) -> bool:
    """True if a cell has text, all of it bold."""
    runs = [run for run in cell.iter(f"{W}r") if (run.findtext(f"{W}t") or "").strip()]
    return bool(runs) and all(is_set(run, "b") for run in runs)


def is_set(run: etree._Element, name: str) -> bool:
    """True if a run has a property that is switched on."""
    switch = run.find(f"{W}rPr/{W}{name}")
    return switch is not None and switch.get(f"{W}val", "1") not in ("0", "false", "off")
