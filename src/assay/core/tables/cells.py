"""Binds cells to the headers of their columns, in passages that are table rows.

Rows have two forms. `head: value | head: value` (with or without bars around it) contains its headers. `| value | value
|` has them in the row above all others of its table, or in the two above if the first names groups of columns. So has
text whose columns only spaces set apart (`core.plain_text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from assay.core.lazy import regex
from assay.core.measures import is_measure_name
from assay.core.plain_text import spaced_rows
from assay.core.sources import MAX_PASSAGE_CHARS
from assay.core.tables.heads import HEADER_SAMPLE_ROWS, read_head

MAX_HEAD_CHARS = 80
MAX_CAPTION_CHARS = 200
KEY_VALUE = regex(rf"(?P<head>[^:|\n]{{1,{MAX_HEAD_CHARS}}}?):[ ](?P<value>.*\S)", re.DOTALL)
_PLACE = regex(r"cells: [A-Z]{1,3}\d+:[A-Z]{1,3}\d+")
"""The place of a row in a sheet."""
_PLACE_AT_END = regex(rf"\s*\|\s*{_PLACE.pattern}\s*\Z")
UNNAMED_COLUMN = regex(r"column (?:\d+|[A-Z]{1,3})")
"""The name of a column with an empty header."""
CELL_SEPARATOR = regex(r"(?<!\\)\|")
"""Separates the cells of a row."""
_RULE = regex(r"\|[-:=|+ ]*\|")
"""The line between the header and the rows of a table in Markdown."""


class TablePiece(msgspec.Struct, frozen=True):
    """A passage of a document for reading tables: its name, its text, and its first byte.

    `label` is the header row of its table, which may be no passage at hand.
    """

    name: str
    text: str
    start: int = 0
    heading: tuple[str, ...] = ()
    label: str = ""


class TableCell(msgspec.Struct, frozen=True, gc=False):
    """A cell's text, at bytes `[start, end)` of the document, in passage `name`."""

    text: str
    name: str
    start: int
    end: int


class TableRow(msgspec.Struct, frozen=True):
    """Cells by column number, and the passages that contain them."""

    cells: dict[int, TableCell]
    names: tuple[str, ...]

    def text(self, column: int) -> str:
        """The text of a cell; empty if there is none."""
        cell = self.cells.get(column)
        return cell.text if cell is not None else ""


class ReadTable(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of cells under `heads`; `names` are passages that contain only the headers.

    `columns` are the texts of the cells by column. `title` is the name of its document and `language` its language, if
    known (ISO 639-1); `heading` has the headings above the table, the nearest last, and `caption` the line directly
    above. `of_records` says that it is a list of `records`, `of_documents` that each is a document.
    """

    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    names: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    caption: str = ""
    title: str = ""
    language: str = ""
    columns: tuple[tuple[str, ...], ...]
    of_records: bool = False
    of_documents: bool = False

    def column(self, number: int) -> tuple[str, ...]:
        """The texts of a column, one per row."""
        return self.columns[number]

    def subject(self, row: TableRow, columns: Sequence[int]) -> str:
        """The subject of a row, by some of its cells. Figures alone have their headers before them: `pep 744`."""
        has_words = any(any(map(str.isalpha, row.text(column))) for column in columns)
        cell_text = self.cell_with_measure if has_words else self.cell_with_header
        parts = (cell_text(row, column) for column in columns)
        return ", ".join(dict.fromkeys(filter(None, parts)))

    def cell_with_measure(self, row: TableRow, column: int) -> str:
        """The text of a cell, with its header behind it if that is only the measure of the table: "£ million"."""
        text, head = row.text(column), self.heads[column]
        return f"{text} ({head})" if text and is_measure_name(head) else text

    def cell_with_header(self, row: TableRow, column: int) -> str:
        """The text of a cell after its header, if there is one."""
        text, head = row.text(column), self.heads[column]
        return f"{head} {text}" if text and not UNNAMED_COLUMN.fullmatch(head) else text


def read_tables(pieces: Iterable[TablePiece], title: str = "", language: str = "") -> tuple[ReadTable, ...]:
    """The tables of a document's passages, in order. Other lines separate tables, or are captions."""
    tables: list[ReadTable] = []
    group: _Group | None = None
    caption = ""
    for piece in pieces:
        if _RULE.fullmatch(piece.text.strip()):
            continue
        for line in _lines(piece):
            if line is None:
                tables += _tables_of_group(group, caption)
                group, caption = None, piece.text if len(piece.text) <= MAX_CAPTION_CHARS else ""
            elif group is None or not group.accepts(line):
                tables += _tables_of_group(group, caption)
                caption = caption if group is None else group.caption()
                group = _begin_group(line)
            else:
                group.add(line)
    tables += _tables_of_group(group, caption)
    return tuple(msgspec.structs.replace(table, title=title, language=language) for table in tables)


def _begin_group(line: _Line) -> _Group:
    """A group that begins with a line, or with the header row that is its label."""
    piece = line.piece
    head = (
        _parse_line(msgspec.structs.replace(piece, text=piece.label, label="")) if piece.label.startswith("|") else None
    )
    if head is None or head.heads or piece.label == " ".join(piece.text.split()):
        return _Group(line)
    group = _Group(head)
    group.add(line)
    return group


class _Line(msgspec.Struct, frozen=True):
    """A row as written: its cells, with their headers if it contains them."""

    piece: TablePiece
    cells: tuple[TableCell, ...]
    heads: tuple[str, ...] = ()
    is_spaced: bool = False


def _lines(piece: TablePiece) -> list[_Line | None]:
    """The rows of a piece: several, if only spaces set its columns apart."""
    rows = spaced_rows(piece.text)
    lines = (tuple(span(piece, start, end) for start, end in row) for row in rows)
    return [_Line(piece, cells, is_spaced=True) for cells in lines] or [_parse_line(piece)]


def span(piece: TablePiece, start: int, end: int) -> TableCell:
    """The code points `[start, end)` of a piece as a cell."""
    first, text = piece.start + _utf8_length(piece.text[:start]), piece.text[start:end]
    return TableCell(text, piece.name, first, first + _utf8_length(text))


def _utf8_length(text: str) -> int:
    """The bytes of a text in UTF-8; a half of a surrogate pair, which a caller's text may have, counts as three."""
    return len(text.encode(errors="surrogatepass"))


def _parse_line(piece: TablePiece) -> _Line | None:
    body = piece.text.strip()
    if "|" not in body and KEY_VALUE.fullmatch(body) is None:
        return None
    has_bars = body.startswith("|") and body.endswith("|") and len(body) > 1
    cells = list(_split_cells(piece, body[1:-1] if has_bars else body, piece.text.index(body) + has_bars))
    if cells and _PLACE.fullmatch(cells[-1].text):
        cells = cells[:-1]
    pairs = [KEY_VALUE.fullmatch(cell.text) for cell in cells if cell.text]
    label_matches = [match for match in pairs if match is not None]
    if pairs and len(label_matches) == len(pairs):
        labelled_cells = zip((cell for cell in cells if cell.text), label_matches, strict=True)
        values = tuple(_value_cell(cell, match) for cell, match in labelled_cells)
        return _Line(piece, values, tuple(match["head"] for match in label_matches))
    if not has_bars or len(cells) < 2:
        return None
    return _Line(piece, tuple(cells))


def without_place(row: str) -> str:
    """A row of a sheet without its place, as it is quoted."""
    return _PLACE_AT_END.sub("", row)


def row_cells(line: str) -> tuple[str, ...]:
    """The cells of a row of a Markdown table, including empty ones."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.replace("\\|", "|").strip() for cell in CELL_SEPARATOR.split(inner))


def _split_cells(piece: TablePiece, body: str, offset: int) -> Iterator[TableCell]:
    """The cells of a row with their bytes, including empty ones."""
    start = 0
    for bar in [*(match.start() for match in CELL_SEPARATOR.finditer(body)), len(body)]:
        raw = body[start:bar]
        first = offset + start + len(raw) - len(raw.lstrip())
        cell = span(piece, first, first + len(raw.strip()))
        yield msgspec.structs.replace(cell, text=cell.text.replace("\\|", "|"))  # bytes as written
        start = bar + 1


def _value_cell(cell: TableCell, match: re.Match[str]) -> TableCell:
    start = cell.start + _utf8_length(cell.text[: match.start("value")])
    return TableCell(match["value"], cell.name, start, cell.end)


class _Group:
    """Rows that may be one table, with the headers seen so far in order."""

    def __init__(self, line: _Line) -> None:
        self.lines: list[_Line] = []
        self._next: dict[str, str] = {"": ""}
        """Behind each header the one after it; the first and the last are beside ""."""
        self.add(line)

    @property
    def heads(self) -> list[str]:
        heads, head = list[str](), ""
        while head := self._next[head]:
            heads.append(head)
        return heads

    def accepts(self, line: _Line) -> bool:
        """True if a row continues the table: under the same headings, with headers of which the first are known."""
        last = self.lines[-1]
        if line.piece.heading != last.piece.heading or bool(line.heads) != bool(last.heads):
            return False
        if line.is_spaced != last.is_spaced or (line.is_spaced and len(line.cells) != len(last.cells)):
            return False
        return not line.heads or any(head in self._next for head in line.heads)

    def caption(self) -> str:
        """The text of a group that is only a single line with a colon: "Table 3: Ports"."""
        text = self.lines[-1].piece.text
        return text if len(self._next) == 2 and len(text) <= MAX_CAPTION_CHARS else ""

    def add(self, line: _Line) -> None:
        """Add a row; a new header is inserted after the one before it."""
        self.lines.append(line)
        before = ""
        for head in line.heads:
            if head not in self._next:
                self._next[before], self._next[head] = head, self._next[before]
            before = head


def _tables_of_group(group: _Group | None, caption: str) -> Iterator[ReadTable]:
    """The table of a group; a single pair, or bars without a header, is not a table."""
    if group is None:
        return
    heading = group.lines[0].piece.heading
    if labelled := tuple(group.heads):
        if len(labelled) > 1:
            yield _table(labelled, tuple(_labelled_rows(group, labelled)), (), heading, caption)
        return
    heads, names, lines = _split_headers(group.lines)
    lines = [line for line in lines if not _spans_all(line)]
    if heads and lines:
        rows = tuple(
            TableRow({column: cell for column, cell in enumerate(line.cells) if cell.text}, (line.piece.name,))
            for line in lines
        )
        yield _table(heads, rows, names, heading, caption)


def _table(
    heads: tuple[str, ...], rows: tuple[TableRow, ...], names: tuple[str, ...], heading: tuple[str, ...], caption: str
) -> ReadTable:
    columns = tuple(tuple(row.text(number) for row in rows) for number in range(len(heads)))
    return ReadTable(heads=heads, rows=rows, names=names, heading=heading, caption=caption, columns=columns)


def _labelled_rows(group: _Group, heads: Sequence[str]) -> list[TableRow]:
    number = {head: column for column, head in enumerate(heads)}
    rows: list[TableRow] = []
    for before, line in pairwise((None, *group.lines)):
        cells = {number[head]: cell for head, cell in zip(line.heads, line.cells, strict=True)} if line else {}
        if before is not None and line is not None and _continues_row(before, line):
            rows[-1] = _merge_row(rows[-1], cells, line.piece.name)
        elif line is not None:
            rows.append(TableRow(cells, (line.piece.name,)))
    return rows


def _continues_row(before: _Line, line: _Line) -> bool:
    """True if a line continues the row above: it repeats the first cell, and both are too long for one line."""
    if len(before.piece.text) + len(line.piece.text) <= MAX_PASSAGE_CHARS or len(line.heads) < 2:
        return False
    same = (before.heads[0], before.cells[0].text) == (line.heads[0], line.cells[0].text)
    return same and set(before.heads[1:-1]).isdisjoint(line.heads[1:])


def _merge_row(row: TableRow, added_cells: dict[int, TableCell], name: str) -> TableRow:
    cells = dict(row.cells)
    first = min(added_cells)
    for column, cell in added_cells.items():
        existing = cells.get(column)
        if existing is None:
            cells[column] = cell
        elif column != first:  # a cell that was cut between words
            cells[column] = TableCell(f"{existing.text} {cell.text}", existing.name, existing.start, existing.end)
    return TableRow(cells, (*row.names, name))


# headers above their columns


def _split_headers(lines: Sequence[_Line]) -> tuple[tuple[str, ...], tuple[str, ...], Sequence[_Line]]:
    """The headers of rows that do not contain them, the passages with these headers, and the rows below."""
    texts = [[cell.text for cell in line.cells] for line in lines[: HEADER_SAMPLE_ROWS + 2]]
    width = max(map(len, texts))
    head, end = read_head(texts)
    if head:
        return column_names(head, width), tuple(line.piece.name for line in lines[:end]), lines[end:]
    return (), (), ()


def _spans_all(line: _Line) -> bool:
    """True if one cell spans the whole row: it names the rows below, and is not one of them."""
    return len(line.cells) > 1 and len({cell.text for cell in line.cells}) == 1


def column_names(heads: Sequence[str], width: int) -> tuple[str, ...]:
    """The columns' names, made unique."""
    names, seen = list[str](), set[str]()
    for number in range(width):
        head = heads[number] if number < len(heads) else ""
        name = head[:MAX_HEAD_CHARS].strip() or f"column {number + 1}"
        names.append(name if name not in seen else f"{name} ({number + 1})")
        seen.add(names[-1])
    return tuple(names)
