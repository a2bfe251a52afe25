"""CSV and TSV: every row becomes a line that includes its headers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import msgspec

from assay.core.errors import ExtractError
from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import stem
from assay.fetch.text_form import SAMPLE_ROWS, Row, decode, names_of, one_cell, row_lines, split_head

DELIMITERS = (",", "\t", ";", "|")
SAMPLE = 64_000
MOST_TEXT = 256 * 1024 * 1024
NAMED = 3
NUL_SHARE = 100
"""A file with fewer NUL bytes than one in this many is text with a fault; with more it is something else."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class CsvExtractor:
    """One document; a row is `header: value | header: value`, without empty cells.

    A row that is too long for a passage becomes several lines, each with the first column. Delimiter and header are
    inferred from the first rows; without a header, the columns are `column 1` and so on. In values `|` becomes `¦`,
    because it separates the cells, and a line feed becomes a space.
    """

    name = "csv/1"
    suffixes = (".csv", ".tsv")
    media_type = "text/csv"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document.

        Raises:
            ExtractError: the bytes are not text; or, after the document, rows could not be read.
        """
        text = decode(_without_nul(data))
        rows = _Rows(text, name.lower().endswith(".tsv"))
        lines, size = [], 0
        for line in _table(rows):
            lines.append(line)
            size += len(line) + 2
            if size > MOST_TEXT:
                rows.bad.append(f"row {rows.number}: more than {MOST_TEXT >> 20} MB of text")
                break
        if lines:
            body = "\n\n".join(lines) + "\n"  # separated, so that no row reads as the end of the previous one
            facts = {"rows": str(rows.number), "columns": ", ".join(rows.header)[:1000]}
            title, language = stem(name), detect(body)
            yield Extracted(
                text=body, extractor=self.name, syntax="rows", title=title, language=language, metadata=facts
            )
        if rows.bad:
            more = f" and {len(rows.bad) - NAMED} more" if len(rows.bad) > NAMED else ""
            some = f"{len(rows.bad)} row{'' if len(rows.bad) == 1 else 's'}"
            raise ExtractError(f"{some} could not be read ({'; '.join(rows.bad[:NAMED])}{more})")


def _without_nul(data: bytes) -> bytes:
    faults = 0 if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) else data.count(b"\0")
    return data.replace(b"\0", b"") if 0 < faults * NUL_SHARE < len(data) else data


class TableShape(msgspec.Struct, frozen=True):
    """The form of a table: its delimiter, and how many columns most of its rows have."""

    delimiter: str
    columns: int


def sniff(text: str, tabs: bool = False) -> TableShape:
    """Find the delimiter with which most rows at the beginning of `text` agree on more than one column.

    `tabs`: the file's name suggests tabs. Without a working delimiter the table has one column.
    """
    sample = text[:SAMPLE]
    if len(text) > SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    best, rank = TableShape("\t" if tabs else ",", 1), (0.0, 0)
    for delimiter in sorted(DELIMITERS, key=lambda each: each != "\t") if tabs else DELIMITERS:
        counts = Counter(_widths(sample, delimiter))
        columns, times = max(counts.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        share = times / max(counts.total(), 1)
        if columns > 1 and (share, columns) > rank:
            best, rank = TableShape(delimiter, columns), (share, columns)
    return best


def _widths(sample: str, delimiter: str) -> Iterator[int]:
    try:
        for row in islice(csv.reader(_lines(sample), delimiter=delimiter), SAMPLE_ROWS):
            if any(row):
                yield len(row)
    except csv.Error:
        return


class _Rows:
    """The rows of a table; `bad` counts the unreadable ones, and `header` is known after the first row."""

    def __init__(self, text: str, tabs: bool) -> None:
        self.shape = sniff(text, tabs)
        self.header: Row = []
        self.number = 0
        self.bad: list[str] = []
        self._reader = csv.reader(_lines(text), delimiter=self.shape.delimiter)

    def __iter__(self) -> Iterator[Row]:
        while True:
            try:
                row = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                self.bad.append(f"line {self._reader.line_num}: {error}")
                continue
            cells = [one_cell(cell) for cell in row]
            if any(cells):
                self.number += 1
                yield cells


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends; one by one, because a list of them would take more memory than the text."""
    return (match[0] for match in _LINE.finditer(text))


def _table(rows: _Rows) -> Iterator[str]:
    """The lines of the table, beginning with the notes above its header."""
    above, head, body = split_head(rows, rows.shape.columns)
    columns = max(rows.shape.columns, len(head))
    rows.header = names_of(head or [""] * columns)
    rows.number -= len(above) + bool(head)
    for note in above:
        yield from row_lines(["", *note] if not note[0] else note, ())
    for row in body:
        yield from row_lines(row, rows.header)
