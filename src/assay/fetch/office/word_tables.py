"""Tables of Word documents: their cells, and whether their first column has labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module
from assay.fetch.office.word_numbers import W
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

WRAPPER_TAGS = frozenset(f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "smartTag", "moveTo"))
"""Elements that wrap paragraphs, tables, rows and cells: content controls, tracked insertions."""


def _children(above: etree._Element, name: str) -> Iterator[etree._Element]:
    """The children of this name, including those that are wrapped."""
    stack = [above]
    while stack:
        node = stack.pop()
        if node is above or node.tag in WRAPPER_TAGS:
            stack.extend(reversed(node))
        elif node.tag == f"{W}{name}":
            yield node


def table_rows(table: etree._Element, text: Callable[[etree._Element], str]) -> list[list[str]]:
    """The table's cells. A cell merged with those above has their text; one over several columns is followed by empty
    cells.
    """
    rows: list[list[str]] = []
    for line in _children(table, "tr"):
        row: list[str] = []
        for cell in _children(line, "tc"):
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


MIN_FORM_ROWS = 3
MAX_LABEL_CHARS = 60
FORM_ROW = [True, False]
"""Which cells of a row in a form are bold, if any."""


def head_styles(styles: etree._Element) -> frozenset[str]:
    """The keys of the table styles that set off the first row."""
    marked = (
        style for style in styles.iter(f"{W}style") if style.find(f"{W}tblStylePr[@{W}type='firstRow']") is not None
    )
    return frozenset(str(style.get(f"{W}styleId")) for style in marked)


def is_form(table: etree._Element, rows: Sequence[Sequence[str]], with_head: frozenset[str]) -> bool:
    """True if a table has two columns, of which the first names what stands beside it, and no head.

    Its labels are bold alone, or end with a colon; or nothing marks a head, and the values are of several kinds.
    `with_head` are the styles that set off the first row.
    """
    if not rows or any(len(row) != len(FORM_ROW) for row in rows):
        return False
    bold = [[_is_bold(cell) for cell in _children(line, "tc")] for line in _children(table, "tr")]
    if all(row == FORM_ROW for row in bold):
        return True
    return has_labels(rows) and not _has_marked_head(table, bold, with_head)


def has_labels(rows: Sequence[Sequence[str]]) -> bool:
    """True if rows of two cells look like labels and values: the labels end with a colon, or the values are of several
    kinds.
    """
    labels = [row[0].strip() for row in rows if len(row) == len(FORM_ROW)]
    if len(rows) < MIN_FORM_ROWS or len(set(labels)) < len(rows) or not all(map(_is_label, labels)):
        return False
    have_figures = {any(map(str.isdigit, value)) for _, value in rows[1:] if value.strip()}
    return all(label.endswith(":") for label in labels) or len(have_figures) > 1


def _is_label(text: str) -> bool:
    is_short = 0 < len(text) <= MAX_LABEL_CHARS and "\n" not in text
    return is_short and text[0].isalpha() and not text.endswith((".", "!", "?"))


def _has_marked_head(table: etree._Element, bold: list[list[bool]], with_head: frozenset[str]) -> bool:
    """True if the first row is repeated on every page, bold, of another colour, or set off by a style."""
    first, second, *_ = _children(table, "tr")
    is_bold = all(bold[0]) and not all(map(all, bold[1:]))
    style, look = table.find(f"{W}tblPr/{W}tblStyle"), table.find(f"{W}tblPr/{W}tblLook")
    is_off = look is not None and look.get(f"{W}firstRow", "1") in ("0", "false")
    if style is not None and style.get(f"{W}val") in with_head and not is_off:
        return True
    return first.find(f"{W}trPr/{W}tblHeader") is not None or is_bold or _fill(first) != _fill(second)


def _fill(row: etree._Element) -> list[str]:
    """The colours behind the cells of a row."""
    shades = (cell.find(f"{W}tcPr/{W}shd") for cell in _children(row, "tc"))
    return ["" if shade is None else str(shade.get(f"{W}fill")) for shade in shades]


def _is_bold(cell: etree._Element) -> bool:
    """True if a cell has text, all of it bold."""
    runs = [run for run in cell.iter(f"{W}r") if (run.findtext(f"{W}t") or "").strip()]
    return bool(runs) and all(is_set(run, "b") for run in runs)


def is_set(run: etree._Element, name: str) -> bool:
    """True if a run has a property that is switched on."""
    switch = run.find(f"{W}rPr/{W}{name}")
    return switch is not None and switch.get(f"{W}val", "1") not in ("0", "false", "off")
