"""Spreadsheets of Excel, old and new, and of OpenDocument: one document per sheet, one line per row."""

from __future__ import annotations

import datetime
import io
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.errors import ExtractError
from assay.core.languages import detect_language
from assay.core.sources import MAX_PASSAGE_CHARS, Extracted
from assay.core.tables.heads import find_head, holds_figures, read_head
from assay.fetch.fields import title_from_name
from assay.fetch.office.package import DAMAGED, LOCKED, OLE, open_checked, require_module
from assay.fetch.text_form import SAMPLE_ROWS, Row, clean, one_cell, row_lines, unique_column_names

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook, SheetMetadata


MAX_TEXT_CHARS = 128 * 1024 * 1024
"""The most code points taken from one workbook."""
MAX_COLUMNS = 1_000
MAX_MERGED_ROWS = 1_000
"""The most rows of a merged cell that repeat its text."""
ALPHABET_SIZE = 26

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta
NumberedRow = tuple[int, Row]
"""A row's number, as the program shows it, and its cells."""


class XlsxExtractor:
    """One document per sheet; a row is `header: value | header: value | cells: A2:C2`, without empty cells.

    Values of formulas are those that the program stored; nothing is computed, and no macro runs. The header and the
    notes above it are inferred from the first rows, as in a CSV file. Hidden sheets are omitted. Rows that share a
    merged cell all have its text.
    """

    name = "xlsx/3"
    suffixes: tuple[str, ...] = (".xlsx", ".xlsm")
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    isolated = True
    old = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        require_module("python_calamine", "python-calamine")
        if not (self.old and data.startswith(OLE)):
            with open_checked(data):
                pass
        yield from _sheets(_open_workbook(data), name, self.name)


def _open_workbook(data: bytes) -> CalamineWorkbook:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError  # noqa: PLC0415 - of the extra `office`

    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError as error:
        raise ExtractError(LOCKED) from error
    except CalamineError as error:
        raise ExtractError(DAMAGED) from error


def _sheets(book: CalamineWorkbook, name: str, extractor: str) -> Iterator[Extracted]:
    names = [info.name for info in book.sheets_metadata if _is_shown(info)]
    remaining, count = MAX_TEXT_CHARS, 0
    for sheet in names:
        document = _document(_read(book, sheet), title_from_name(name), extractor, alone=len(names) == 1)
        if document is None:
            continue
        remaining -= len(document.text)
        if remaining < 0:
            raise ExtractError(f"it holds more than {MAX_TEXT_CHARS >> 20} million characters; split it")
        count += 1
        yield document
    if not count:
        raise ExtractError("no values on its sheets")


def _is_shown(sheet: SheetMetadata) -> bool:
    """True if it is a visible sheet of cells."""
    return sheet.visible == type(sheet.visible).Visible and sheet.typ == type(sheet.typ).WorkSheet


def _read(book: CalamineWorkbook, sheet: str) -> CalamineSheet:
    from python_calamine import CalamineError  # noqa: PLC0415 - of the extra `office`

    try:
        return book.get_sheet_by_name(sheet)
    except CalamineError as error:
        raise ExtractError(f"sheet {clean(sheet)[:80]!r} cannot be read") from error


def _document(sheet: CalamineSheet, name: str, extractor: str, *, alone: bool) -> Extracted | None:
    rows = list(_rows(sheet))
    if not rows:
        return None
    title = " ".join(clean(sheet.name).split())[:100]
    first = (sheet.start or (0, 0))[1]
    header, lines = _lines(rows, first)
    text = "\n\n".join(lines) + "\n"
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="rows",
        title=name if alone else f"{name}: {title}",
        name=name if alone else f"{name}: {title}",
        language=detect_language(text),
        metadata={"sheet": title, "rows": str(len(rows)), "columns": ", ".join(header)[:1000]},
    )


def _rows(sheet: CalamineSheet) -> Iterator[NumberedRow]:
    """The rows that are not empty, cells merged with those above with their text; calamine omits the rows above the
    first value.
    """
    top, left = sheet.start or (0, 0)
    merged_cells = {
        (row, first[1] - left)
        for first, last in sheet.merged_cell_ranges or ()
        for row in range(first[0] + 1, min(last[0], first[0] + MAX_MERGED_ROWS) + 1)
    }
    above: Row = []
    for number, row in enumerate(sheet.to_python(skip_empty_area=True), top):
        cells = [one_cell(clean(format_value(value))) for value in row[:MAX_COLUMNS]]
        above = [
            above[column] if (number, column) in merged_cells and column < len(above) else cell
            for column, cell in enumerate(cells)
        ]
        if any(cells):
            yield number + 1, above


def _lines(rows: list[NumberedRow], first: int) -> tuple[Row, list[str]]:
    """The columns' names and the lines of a sheet whose first column has the number `first`, from 0.

    Below an empty row another table may begin, with a head of its own.
    """
    width = max(len(cells) for _, cells in rows)
    place = column_letters(first), column_letters(first + width - 1)
    columns = [f"column {column_letters(first + number)}" for number in range(width)]
    header: Row = []
    lines: list[str] = []
    for table in _tables(rows):
        start, head, end = _head(table)
        names = unique_column_names(head) if head else columns
        header = header or names
        for index, (number, cells) in enumerate(table):
            if not start <= index < end:
                cell_range = f" | cells: {place[0]}{number}:{place[1]}{number}"
                shown = row_lines(cells, () if index < start else names, MAX_PASSAGE_CHARS - len(cell_range))
                lines += [line + cell_range for line in shown]
    return header, lines or [" | ".join(header)]


def _tables(rows: list[NumberedRow]) -> Iterator[list[NumberedRow]]:
    """The tables of a sheet; one begins below an empty row with a head that has figures below one of its names."""
    begin, end = 0, _head(rows)[2]
    for at in range(end + 1, len(rows) if end else 0):
        if rows[at][0] > rows[at - 1][0] + 1:
            near = enumerate(rows[at : at + SAMPLE_ROWS], rows[at][0])
            block = [_trim_row(cells) for expected, (number, cells) in near if number == expected]
            names, below = read_head(block)
            if any(holds_figures(name, column, block[below:]) for column, name in enumerate(names)):
                yield rows[begin:at]
                begin = at
    yield rows[begin:]


def _head(rows: list[NumberedRow]) -> tuple[int, Row, int]:
    usual = Counter(len(_trim_row(cells)) for _, cells in rows).most_common(1)[0][0]
    return find_head([_trim_row(cells) for _, cells in rows[:SAMPLE_ROWS]], usual)


def _trim_row(cells: Row) -> Row:
    """A row up to its last non-empty cell."""
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]


def column_letters(column: int) -> str:
    """The letters of a column, from 0: A, Z, AA."""
    letters = ""
    column += 1
    while column:
        column, remainder = divmod(column - 1, ALPHABET_SIZE)
        letters = chr(ord("A") + remainder) + letters
    return letters


def format_value(value: Value) -> str:
    """A cell's value as text: whole numbers without `.0`, dates as ISO."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        bare = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return value.date().isoformat() if bare else value.isoformat(" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


class OdsExtractor(XlsxExtractor):
    """Like `XlsxExtractor`."""

    name = "ods/3"
    suffixes = (".ods",)
    media_type = "application/vnd.oasis.opendocument.spreadsheet"


class XlsExtractor(XlsxExtractor):
    """Like `XlsxExtractor`."""

    name = "xls/3"
    suffixes = (".xls", ".xlsb")
    media_type = "application/vnd.ms-excel"
    old = True
