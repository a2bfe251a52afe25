"""What calamine does not tell of a spreadsheet: formats of numbers, formulas without values, hidden rows and columns.

Rows that a filter hides, and rows and columns of a folded group, are not hidden: a click shows them.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module, regex
from assay.fetch.office.number_formats import PERCENT_IDS, NumberFormat, parse_number_format
from assay.fetch.office.package import parse_xml
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

WORKBOOK, CONTENT = "xl/workbook.xml", "content.xml"
"""The parts by which an Excel file and one of OpenDocument are told."""
MAX_COLUMNS = 1_000
MAX_FORMULA_CHARS = 100
MAX_REPEATS = 10_000
"""The most rows that one element may repeat; more are the empty ones below a sheet."""
_REFERENCE = regex(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_FORMULA = regex(rb"<(?:\w+:)?f[\s/>]")
_TRUE = frozenset(("1", "true", "on"))


@dataclass(frozen=True)
class SheetView:
    """The formats of cells and formulas without a value, by row and column, and what is hidden, all from 0."""

    formats: dict[int, dict[int, NumberFormat]] = field(default_factory=dict)
    formulas: dict[int, dict[int, str]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)


def sheet_views(archive: zipfile.ZipFile | None) -> Callable[[str], SheetView]:
    """A function that gives the view of a sheet by its name; of old files, which are no archives, it knows nothing.

    Of a sheet whose parts cannot be read the values stand alone: calamine decides which file is damaged.
    """
    if archive is None:
        return lambda _: SheetView()
    names = frozenset(archive.namelist())
    read = _read_excel if WORKBOOK in names else _read_open_document if CONTENT in names else None
    views: dict[str, Callable[[], SheetView]] = {}
    try:
        views = {} if read is None else dict(read(archive))
    except (KeyError, etree.XMLSyntaxError):
        views = {}

    def view(sheet: str) -> SheetView:
        try:
            return views[sheet]() if sheet in views else SheetView()
        except (KeyError, etree.XMLSyntaxError):
            return SheetView()

    return view


def _parse(data: bytes, target: _ExcelSheet | _OpenSheets) -> None:
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False)
    etree.fromstring(data, parser)


def _is_on(attributes: dict[str, str], name: str) -> bool:
    return attributes.get(name, "") in _TRUE


# Excel


def _read_excel(archive: zipfile.ZipFile) -> Iterator[tuple[str, Callable[[], SheetView]]]:
    parts = {key: part for key, _, part in _relations(archive, WORKBOOK)}
    styles = next((part for _, kind, part in _relations(archive, WORKBOOK) if kind == "styles"), "")
    formats = _excel_formats(parse_xml(archive.read(styles))) if styles else []
    workbook = parse_xml(archive.read(WORKBOOK))
    recalculates = any(_is_on(dict(node.attrib), "fullCalcOnLoad") for node in workbook.iter("{*}calcPr"))
    for sheet in workbook.iter("{*}sheet"):
        key = next((str(value) for name, value in sheet.items() if name.endswith("}id")), "")
        if key in parts:
            yield str(sheet.get("name")), partial(_excel_view, archive, parts[key], formats, recalculates)


def _relations(archive: zipfile.ZipFile, part: str) -> list[tuple[str, str, str]]:
    """The keys, kinds and names of the parts to which a part refers."""
    folder, name = posixpath.split(part)
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in archive.namelist():
        return []
    return [
        (
            str(node.get("Id")),
            str(node.get("Type")).rpartition("/")[2],
            posixpath.normpath(posixpath.join(f"/{folder}", str(node.get("Target")))).lstrip("/"),
        )
        for node in parse_xml(archive.read(relations)).iter("{*}Relationship")
    ]


def _excel_formats(styles: etree._Element) -> list[NumberFormat | None]:
    """The formats to whose places cells refer."""
    codes = PERCENT_IDS | {str(node.get("numFmtId")): str(node.get("formatCode")) for node in styles.iter("{*}numFmt")}
    cells = styles.find("{*}cellXfs")
    return [] if cells is None else [parse_number_format(codes.get(str(cell.get("numFmtId")), "")) for cell in cells]


def _excel_view(
    archive: zipfile.ZipFile, part: str, formats: list[NumberFormat | None], recalculates: bool
) -> SheetView:
    data = archive.read(part)
    if not any(formats) and b"hidden=" not in data and not _FORMULA.search(data):
        return SheetView()
    sheet = _ExcelSheet(formats, recalculates)
    _parse(data, sheet)
    if sheet.view.hidden_rows:
        for _, kind, table in _relations(archive, part):
            if kind == "table":
                _parse(archive.read(table), sheet)
    return sheet.view


class _ExcelSheet:
    """Notes what the parts of a sheet, and then of its tables, say of rows, columns and cells.

    If the file is to be computed when it is opened, the program that wrote it computes nothing: zeros of its formulas
    are no values.
    """

    def __init__(self, formats: list[NumberFormat | None], recalculates: bool) -> None:
        self.view = SheetView()
        self._formats = formats
        self._no_values = ("", "0") if recalculates else ("",)
        self._formula: str | None = None
        self._value = self._inside = ""
        self._row = self._column = -1
        self._format: NumberFormat | None = None
        self._filtered = range(0)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition("}")[2]
        if kind == "c":
            self._start_cell(attributes)
        elif kind in ("f", "v"):
            self._start_part(kind)
        elif kind == "row":
            self._row = parse_number(attributes.get("r", ""), self._row + 2) - 1
            self._column = -1
            if _is_on(attributes, "hidden") and attributes.get("outlineLevel", "0") == "0":
                self.view.hidden_rows.add(self._row)
        elif kind == "col":
            if _is_on(attributes, "hidden") and attributes.get("outlineLevel", "0") == "0":
                first, last = parse_number(attributes.get("min", ""), 1), parse_number(attributes.get("max", ""), 0)
                self.view.hidden_columns.update(range(first - 1, min(last, MAX_COLUMNS)))
        elif kind == "autoFilter":
            rows = [int(row) for _, row in _REFERENCE.findall(attributes.get("ref", ""))]
            self._filtered = range(min(rows), max(rows)) if rows else range(0)
        elif kind == "filterColumn":
            self.view.hidden_rows.difference_update(self._filtered)

    def _start_cell(self, attributes: dict[str, str]) -> None:
        match = _REFERENCE.fullmatch(attributes.get("r", ""))
        self._column = _column_number(match[1]) if match else self._column + 1
        index = parse_number(attributes.get("s", "0"), 0) if attributes.get("t", "n") == "n" else len(self._formats)
        self._format = self._formats[index] if index < len(self._formats) else None
        self._formula, self._value = None, "a text" if attributes.get("t") == "str" else ""

    def _start_part(self, kind: str) -> None:
        """Begin the formula or the value of a cell."""
        self._inside = kind
        if kind == "f":
            self._formula = ""
        elif self._format is not None and self._column < MAX_COLUMNS:
            self.view.formats.setdefault(self._row, {})[self._column] = self._format

    def data(self, text: str) -> None:
        if self._inside == "f":
            self._formula = f"{self._formula}{text}"[:MAX_FORMULA_CHARS]
        elif self._inside == "v" and self._formula is not None:
            self._value += text

    def end(self, tag: str) -> None:
        self._inside = ""
        is_formula = self._formula is not None and tag.endswith("}c") and self._column < MAX_COLUMNS
        if is_formula and self._value.strip() in self._no_values:
            self.view.formulas.setdefault(self._row, {})[self._column] = self._formula or ""

    def close(self) -> None:
        """Called at the end of each part."""


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


# OpenDocument


def _read_open_document(archive: zipfile.ZipFile) -> Iterator[tuple[str, Callable[[], SheetView]]]:
    sheets = _OpenSheets()
    _parse(archive.read(CONTENT), sheets)
    for name in sheets.views:
        yield name, partial(sheets.views.__getitem__, name)


class _OpenSheets:
    """Notes what the content says of rows, columns and cells of each sheet; rows and cells may be repeated."""

    def __init__(self) -> None:
        self.views: dict[str, SheetView] = {}
        self._view = SheetView()
        self._row = self._column = self._repeats = self._groups = self._columns = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        namespace, _, kind = tag.rpartition("}")
        if not namespace.endswith(":table:1.0"):
            return
        facts = {name.rpartition("}")[2]: value for name, value in attributes.items()}
        hidden = facts.get("visibility") == "collapse" and not self._groups
        if kind == "table":
            self._view = self.views[facts.get("name", "")] = SheetView()
            self._row = self._columns = self._groups = 0
        elif kind == "table-column":
            first, self._columns = self._columns, self._columns + _columns_of(facts)
            if hidden:
                self._view.hidden_columns.update(range(first, min(self._columns, MAX_COLUMNS)))
        elif kind == "table-row":
            self._column = 0
            self._repeats = parse_number(facts.get("number-rows-repeated", ""), 1)
            if hidden:
                self._view.hidden_rows.update(self._rows())
        elif kind in ("table-cell", "covered-table-cell"):
            self._add_cells(facts)
        elif kind in ("table-row-group", "table-column-group"):
            self._groups += 1

    def end(self, tag: str) -> None:
        kind = tag.rpartition("}")[2]
        if kind == "table-row":
            self._row += self._repeats
        elif kind in ("table-row-group", "table-column-group"):
            self._groups -= 1

    def close(self) -> None:
        """Called at the end of the content."""

    def _add_cells(self, facts: dict[str, str]) -> None:
        first, self._column = self._column, self._column + _columns_of(facts)
        if (found := _open_format(facts)) is not None:
            cells = dict.fromkeys(range(first, min(self._column, MAX_COLUMNS)), found)
            for row in self._rows():
                self._view.formats.setdefault(row, {}).update(cells)
        if "formula" in facts and "value-type" not in facts and first < MAX_COLUMNS:
            formula = facts["formula"].rpartition(":=")[2][:MAX_FORMULA_CHARS]
            self._view.formulas.setdefault(self._row, {})[first] = formula

    def _rows(self) -> range:
        return range(self._row, self._row + min(self._repeats, MAX_REPEATS))


def _columns_of(facts: dict[str, str]) -> int:
    return parse_number(facts.get("number-columns-repeated", ""), 1)


def _open_format(facts: dict[str, str]) -> NumberFormat | None:
    """The format of a cell by the kind of its value."""
    kind, currency = facts.get("value-type"), facts.get("currency", "")
    if kind == "percentage":
        return NumberFormat(power=2, behind="%")
    return NumberFormat(behind=f" {currency}") if kind == "currency" and currency else None
