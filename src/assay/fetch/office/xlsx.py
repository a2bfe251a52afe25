"""Spreadsheets of Excel, old and new, and of OpenDocument: one document per sheet, one line per row."""

from __future__ import annotations

import datetime
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from assay.core.document_dates import stated_date
from assay.core.errors import ExtractError
from assay.core.languages import detect_language
from assay.core.sources import MAX_PASSAGE_CHARS, Extracted
from assay.core.tables.heads import find_head, holds_figures, read_head
from assay.fetch.fields import title_from_name
from assay.fetch.office.package import DAMAGED, LOCKED, OLE, open_checked, require_module
from assay.fetch.office.sheet_views import MAX_COLUMNS, SheetView, sheet_views
from assay.fetch.text_form import SAMPLE_ROWS, Row, clean, one_cell, row_lines, unique_column_names

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook, SheetMetadata


MAX_TEXT_CHARS = 128 * 1024 * 1024
"""The most code points taken from one workbook."""
MAX_MERGED_ROWS = 1_000
"""The most rows of a merged cell that repeat its text."""
NOT_COMPUTED = "(not computed)"
ALPHABET_SIZE = 26

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


class SheetRow(NamedTuple):
    """A row's number, as the program shows it, its cells with plain numbers, and its cells as the program shows them.

    It begins a block if an empty row is above it.
    """

    number: int
    cells: Row
    shown: Row
    begins: bool


class XlsxExtractor:
    """One document per sheet; a row is `header: value | header: value | cells: A2:C2`, without empty cells.

    Values of formulas are those that the program stored; nothing is computed, and no macro runs. Where none is stored,
    the formula stands itself. Numbers have the units and percent signs of their formats. The header and the notes above
    it are inferred from the first rows, as in a CSV file. Hidden sheets, rows and columns are omitted. Rows of a merged
    cell all have its text.
    """

    name = "xlsx/5"
    suffixes: tuple[str, ...] = (".xlsx", ".xlsm")
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    isolated = True
    old = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        require_module("python_calamine", "python-calamine")
        with nullcontext() if self.old and data.startswith(OLE) else open_checked(data) as archive:
            view_of = sheet_views(archive)
            yield from _sheets(_open_workbook(data), view_of, name, self.name)


def _open_workbook(data: bytes) -> CalamineWorkbook:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError  # noqa: PLC0415 - of the extra `office`

    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError as error:
        raise ExtractError(LOCKED) from error
    except CalamineError as error:
        raise ExtractError(DAMAGED) from error


def _sheets(
    book: CalamineWorkbook, view_of: Callable[[str], SheetView], name: str, extractor: str
) -> Iterator[Extracted]:
    names = [info.name for info in book.sheets_metadata if _is_shown(info)]
    remaining, count, formulas = MAX_TEXT_CHARS, 0, 0
    for sheet in names:
        view = view_of(sheet)
        document = _document(_read(book, sheet), view, name, extractor, alone=len(names) == 1)
        if document is None:
            continue
        remaining -= len(document.text)
        if remaining < 0:
            raise ExtractError(f"it holds more than {MAX_TEXT_CHARS >> 20} million characters; split it")
        count += 1
        formulas += sum(map(len, view.formulas.values()))
        yield document
    if not count:
        raise ExtractError("no values on its sheets")
    if formulas:
        count_of_formulas = f"{formulas} formula{'' if formulas == 1 else 's'}"
        raise ExtractError(f"{count_of_formulas} without a stored value; save it anew in a program for spreadsheets")


def _is_shown(sheet: SheetMetadata) -> bool:
    """True if it is a visible sheet of cells."""
    return sheet.visible == type(sheet.visible).Visible and sheet.typ == type(sheet.typ).WorkSheet


def _read(book: CalamineWorkbook, sheet: str) -> CalamineSheet:
    from python_calamine import CalamineError  # noqa: PLC0415 - of the extra `office`

    try:
        return book.get_sheet_by_name(sheet)
    except CalamineError as error:
        raise ExtractError(f"sheet {clean(sheet)[:80]!r} cannot be read") from error


def _document(sheet: CalamineSheet, view: SheetView, name: str, extractor: str, *, alone: bool) -> Extracted | None:
    """The document of a sheet in the file `name`, None if the sheet is empty; if it is not `alone`, its title has its
    name.
    """
    rows = list(_rows(sheet, view))
    if not rows:
        return None
    title = " ".join(clean(sheet.name).split())[:100]
    header, notes, lines = _lines(rows, _column_names(sheet, view))
    full_title = title_from_name(name) if alone else f"{title_from_name(name)}: {title}"
    text = "\n\n".join(lines) + "\n"
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="rows",
        title=full_title,
        name=full_title,
        published=stated_date(title, notes, name),
        language=detect_language(text),
        metadata={"sheet": title, "rows": str(len(rows)), "columns": ", ".join(header)[:1000]} | _hidden(sheet, view),
    )


def _rows(sheet: CalamineSheet, view: SheetView) -> Iterator[SheetRow]:
    """The visible rows that are not empty, cells merged with those above with their text; calamine omits the rows above
    the first value.
    """
    top, left = sheet.start or (0, 0)
    merged_cells = {
        (row, first[1] - left)
        for first, last in sheet.merged_cell_ranges or ()
        for row in range(first[0] + 1, min(last[0], first[0] + MAX_MERGED_ROWS) + 1)
    }
    above: tuple[Row, Row] = ([], [])
    begins = False
    for number, values in enumerate(sheet.to_python(skip_empty_area=True), top):
        cells = [one_cell(clean(format_value(value))) for value in values[:MAX_COLUMNS]]
        shown = cells.copy()
        for column, number_format in view.formats.get(number, {}).items():
            if 0 <= column - left < len(cells) and type(values[column - left]) in (int, float):
                shown[column - left] = number_format.write(cells[column - left])
        for column, formula in view.formulas.get(number, {}).items():
            if 0 <= column - left < len(cells):
                text = one_cell(clean(f"={formula} {NOT_COMPUTED}" if formula else NOT_COMPUTED))
                cells[column - left] = shown[column - left] = text
        seen = [column for column in range(len(cells)) if column + left not in view.hidden_columns]
        is_empty = not any(shown[column] for column in seen)
        for column in range(min(len(cells), len(above[0]))):
            if (number, column) in merged_cells:
                cells[column], shown[column] = above[0][column], above[1][column]
        above = cells, shown
        if number not in view.hidden_rows:
            if not is_empty:
                yield SheetRow(number + 1, [cells[at] for at in seen], [shown[at] for at in seen], begins)
            begins = is_empty


def _column_names(sheet: CalamineSheet, view: SheetView) -> Row:
    """The letters of the visible columns, as the program shows them."""
    (_, first), (_, last) = sheet.start or (0, 0), sheet.end or (0, 0)
    columns = range(first, min(last + 1, first + MAX_COLUMNS))
    return [column_letters(column) for column in columns if column not in view.hidden_columns]


def _hidden(sheet: CalamineSheet, view: SheetView) -> dict[str, str]:
    """The hidden rows and columns among those with values."""
    (top, left), (bottom, right) = sheet.start or (0, 0), sheet.end or (0, 0)
    rows = [str(row + 1) for row in sorted(view.hidden_rows) if top <= row <= bottom]
    columns = [column_letters(column) for column in sorted(view.hidden_columns) if left <= column <= right]
    hidden = {"hidden rows": ", ".join(rows)[:1000], "hidden columns": ", ".join(columns)[:1000]}
    return {key: value for key, value in hidden.items() if value}


def _lines(rows: list[SheetRow], letters: Row) -> tuple[Row, list[str], list[str]]:
    """The columns' names, the notes above them, and the lines of a sheet.

    Below an empty row another table may begin, with a head of its own.
    """
    columns = [f"column {letter}" for letter in letters]
    header: Row = []
    notes: list[str] = []
    lines: list[str] = []
    for table in _tables(rows):
        start, head, end = _head(table)
        names = unique_column_names(head) if head else columns
        if not header:
            header, notes = names, [" ".join(filter(None, row.shown)) for row in table[:start]]
        for index, row in enumerate(table):
            if not start <= index < end:
                cell_range = f" | cells: {letters[0]}{row.number}:{letters[-1]}{row.number}"
                parts = row_lines(row.shown, () if index < start else names, MAX_PASSAGE_CHARS - len(cell_range))
                lines += [line + cell_range for line in parts]
    return header, notes, lines or [" | ".join(header)]


def _tables(rows: list[SheetRow]) -> Iterator[list[SheetRow]]:
    """The tables of a sheet; one begins below an empty row with a head that has figures below one of its names."""
    begin, end = 0, _head(rows)[2]
    for at in range(end + 1, len(rows) if end else 0):
        if rows[at].begins:
            below_first = takewhile(lambda row: not row.begins, rows[at + 1 : at + SAMPLE_ROWS])
            block = [_trim_row(row.cells) for row in (rows[at], *below_first)]
            names, below = read_head(block)
            if any(holds_figures(name, column, block[below:]) for column, name in enumerate(names)):
                yield rows[begin:at]
                begin = at
    yield rows[begin:]


def _head(rows: list[SheetRow]) -> tuple[int, Row, int]:
    usual = Counter(len(_trim_row(row.cells)) for row in rows).most_common(1)[0][0]
    return find_head([_trim_row(row.cells) for row in rows[:SAMPLE_ROWS]], usual)


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

    name = "ods/5"
    suffixes = (".ods",)
    media_type = "application/vnd.oasis.opendocument.spreadsheet"


class XlsExtractor(XlsxExtractor):
    """Like `XlsxExtractor`."""

    name = "xls/5"
    suffixes = (".xls", ".xlsb")
    media_type = "application/vnd.ms-excel"
    old = True
