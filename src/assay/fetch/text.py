"""Files of text: plain text, Markdown and reStructuredText, source code, and rows of CSV, TSV and JSON lines."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import PurePath

import msgspec

from assay.core.document_dates import stated_date
from assay.core.errors import ExtractError
from assay.core.languages import detect_language
from assay.core.lazy import regex
from assay.core.sources import Extracted, Syntax
from assay.fetch import calendars, notebooks, rich_text, subtitles
from assay.fetch.data_files import DATA_SUFFIXES, read_data
from assay.fetch.fields import clean_title, find_date, first_line, read_fields, title_from_name
from assay.fetch.html import HtmlExtractor
from assay.fetch.json_text import number_repeated_names, read_json
from assay.fetch.text_form import SAMPLE_ROWS, Row, clean, decode, one_cell, row_lines, split_head, unique_column_names
from assay.fetch.xml_documents import is_xml_document


class TextExtractor:
    """Text unchanged. Also reads files of unknown kinds if they are text, as notebooks, calendars, subtitles and RTF.

    The title is the first line if that is not a sentence, else the file's name.
    """

    name = "text/5"
    suffixes = (".txt", ".text", ".log", ".org", ".tex")
    media_type = "text/plain"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        text = decode(data)
        syntax: Syntax = "plain"
        if text.startswith(rich_text.MARK):
            text = rich_text.read_rich_text(text)
        elif text.startswith(calendars.MARKS) and (events := calendars.read_calendar(text)):
            text, syntax = events, "markdown"
        elif name.lower().endswith(notebooks.SUFFIX) and (cells := notebooks.read_notebook(text)):
            text, syntax = cells, "markdown"
        elif subtitles.MARK.match(text):
            text = subtitles.read_subtitles(text) or text
        title = title_from_name(name) if syntax == "markdown" else first_line(text) or title_from_name(name)
        published = find_date(text, title, name)
        yield Extracted(
            text=text,
            extractor=self.name,
            syntax=syntax,
            title=title,
            published=published,
            language=detect_language(text),
        )


class MarkdownExtractor:
    """Markdown unchanged; title, author and date come from its front matter, header lines or first heading."""

    name = "markdown/2"
    suffixes = (".md", ".markdown", ".mdx", ".rst", ".rest", ".rst.txt", ".md.txt")
    media_type = "text/markdown"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        text = decode(data)
        fields = read_fields(text)
        title = fields.title or title_from_name(name)
        yield Extracted(
            text=text,
            extractor=self.name,
            syntax="markdown",
            title=title,
            author=fields.author,
            published=fields.published or find_date(text, title, name),
            language=fields.language or detect_language(text),
            metadata=fields.other,
        )


CODE_SUFFIXES = (
    *(".py", ".pyi", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".go", ".js", ".mjs", ".jsx", ".ts", ".tsx"),
    *(".java", ".kt", ".scala", ".swift", ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".hs", ".ml", ".ex", ".erl"),
    *(".clj", ".dart", ".zig", ".nim", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".sql", ".json", ".css"),
    *(".scss", ".proto", ".graphql", ".tf", ".cmake", ".mk", ".gradle", ".vue", ".svelte", ".diff", ".patch"),
)


class CodeExtractor:
    """The file unchanged; passages are groups of its lines. JSON is read as `json_text` says, whatever it is called;
    settings and data in other formats are read as `data_trees` says.

    XML in which people write documents is read as the page that `xml_documents` makes of it.
    """

    name = "code/3"
    suffixes = (*CODE_SUFFIXES, *DATA_SUFFIXES)
    media_type = "text/x-source"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        text = decode(data)
        if name.lower().endswith(".xml") and is_xml_document(text):
            yield from HtmlExtractor().extract(data, name)
            return
        document = read_json(text, name) if _may_be_json(text, name) else read_data(text, name)
        yield document or Extracted(text=text, extractor=self.name, syntax="code", title=title_from_name(name))


def _may_be_json(text: str, name: str) -> bool:
    """True if a file is called JSON, or is no source code by its name, and begins as JSON does."""
    suffix = PurePath(name).suffix.lower()
    return (suffix == ".json" or suffix not in (*CODE_SUFFIXES, *DATA_SUFFIXES)) and text.lstrip()[:1] in ("{", "[")


# Rows of CSV and TSV: each becomes a line that includes its headers.

DELIMITERS = (",", "\t", ";", "|")
SAMPLE_CHARS = 64_000
MAX_TEXT_CHARS = 256 * 1024 * 1024
"""Code points of a CSV file's lines."""
MAX_ROWS_NAMED = 3
"""Faulty rows that an error names."""
NUL_SHARE = 100
"""A file with fewer NUL bytes than one in this many is text with a fault; with more it is something else."""

_LINE = regex(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class CsvExtractor:
    """One document; a row is `header: value | header: value`, without empty cells.

    A row that is too long for a passage becomes several lines, each with the first column. Delimiter and header are
    inferred from the first rows; without a header, the columns are `column 1` and so on. In values `|` becomes `¦`,
    because it separates the cells, and a line feed becomes a space.
    """

    name = "csv/3"
    suffixes = (".csv", ".tsv")
    media_type = "text/csv"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        text = decode(_remove_stray_nuls(data))
        rows = _CsvRows(text, name.lower().endswith(".tsv"))
        lines, size = [], 0
        for line in _csv_lines(rows):
            lines.append(line)
            size += len(line) + 2
            if size > MAX_TEXT_CHARS:
                rows.bad.append(f"row {rows.number}: more than {MAX_TEXT_CHARS >> 20} MB of text")
                break
        if lines:
            body = "\n\n".join(lines) + "\n"  # separated, so that no row reads as the end of the previous one
            facts = {"rows": str(rows.number), "columns": ", ".join(rows.header)[:1000]}
            yield Extracted(
                text=body,
                extractor=self.name,
                syntax="rows",
                title=title_from_name(name),
                published=stated_date("", rows.notes, name),
                language=detect_language(body),
                metadata=facts,
            )
        if rows.bad:
            more = f" and {len(rows.bad) - MAX_ROWS_NAMED} more" if len(rows.bad) > MAX_ROWS_NAMED else ""
            row_count = f"{len(rows.bad)} row{'' if len(rows.bad) == 1 else 's'}"
            raise ExtractError(f"{row_count} could not be read ({'; '.join(rows.bad[:MAX_ROWS_NAMED])}{more})")


def _remove_stray_nuls(data: bytes) -> bytes:
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
    sample = text[:SAMPLE_CHARS]
    if len(text) > SAMPLE_CHARS and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    best, rank = TableShape("\t" if tabs else ",", 1), (0.0, 0)
    for delimiter in sorted(DELIMITERS, key=lambda each: each != "\t") if tabs else DELIMITERS:
        counts = Counter(_row_widths(sample, delimiter))
        columns, times = max(counts.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        share = times / max(counts.total(), 1)
        if columns > 1 and (share, columns) > rank:
            best, rank = TableShape(delimiter, columns), (share, columns)
    return best


def _row_widths(sample: str, delimiter: str) -> Iterator[int]:
    try:
        for row in islice(csv.reader(_whole_lines(sample), delimiter=delimiter), SAMPLE_ROWS):
            if any(row):
                yield len(row)
    except csv.Error:
        return


class _CsvRows:
    """The rows of a table; `bad` counts the unreadable ones. After the first row `header` and the `notes` above it are
    known.
    """

    def __init__(self, text: str, tabs: bool) -> None:
        self.shape = sniff(text, tabs)
        self.header: Row = []
        self.notes: list[str] = []
        self.number = 0
        self.bad: list[str] = []
        self._reader = csv.reader(_whole_lines(text), delimiter=self.shape.delimiter)

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
                yield cells


def _whole_lines(text: str) -> Iterator[str]:
    """Lines with their ends; one by one, because a list of them would take more memory than the text."""
    return (match[0] for match in _LINE.finditer(text))


def _csv_lines(rows: _CsvRows) -> Iterator[str]:
    """The lines of the table, beginning with the notes above its header."""
    above, head, body = split_head(rows, rows.shape.columns)
    columns = max(rows.shape.columns, len(head))
    rows.header = unique_column_names(head or [""] * columns)
    rows.notes = [" ".join(filter(None, note)) for note in above]
    for note in above:
        yield from row_lines(["", *note] if not note[0] else note, ())
    for rows.number, row in enumerate(body, 1):
        yield from row_lines(row, rows.header)


# JSON lines: one document per row, plain or gzipped.

MAX_ROW_BYTES = 64 * 1024 * 1024
MAX_UNZIPPED_BYTES = 4 * 1024 * 1024 * 1024
MAX_ROWS = 10_000_000
"""Includes blank rows: a few megabytes can unzip to billions of empty lines."""
JSON_FIELDS = frozenset(("title", "url", "text", "id", "author", "published", "date", "language"))

Scalar = str | int | float | bool | None


class JsonLinesExtractor:
    """Rows with `text`, and optionally `title`, `url`, `id`, `author`, `published`, `language`.

    Other fields with a single value are kept as metadata. The body of a document is its row as it stands in the file.
    A file in which no row has a field `text` is one document: what a JSON list of its rows would be.
    """

    name = "jsonl/2"
    suffixes = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
    media_type = "application/jsonl"
    isolated = False
    streams = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        bad: list[str] = []
        count = size = 0
        records: list[bytes] | None = None if _has_texts(data) else []
        for number, row in _json_rows(data):
            try:
                fields = _json_fields(row)
                if records is None or not fields:
                    yield _json_document(self.name, row, fields, f"{name}#{number}")
                    continue
                if (size := size + len(row)) > MAX_TEXT_CHARS:
                    raise ExtractError(f"more than {MAX_TEXT_CHARS >> 20} MB of rows without `text`")
                records.append(row)
            except ExtractError as error:
                count += 1
                if count <= MAX_ROWS_NAMED:
                    bad.append(f"row {number}: {error}")
        if records and (table := read_json(decode(b"[%s]" % b",\n".join(records)), name)) is not None:
            yield table
        if bad:
            more = f" and {count - MAX_ROWS_NAMED} more" if count > MAX_ROWS_NAMED else ""
            raise ExtractError(f"{count} rows could not be read ({'; '.join(bad)}{more})")


def _json_rows(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Non-blank lines with their numbers, unzipped while reading."""
    stream: io.BufferedIOBase = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        stream = gzip.GzipFile(fileobj=stream)
    number = total = 0
    try:
        while line := stream.readline(MAX_ROW_BYTES):
            number += 1
            total += len(line)
            if total > MAX_UNZIPPED_BYTES:
                raise ExtractError(f"unzips to more than {MAX_UNZIPPED_BYTES >> 30} GB")
            if number > MAX_ROWS:
                raise ExtractError(f"more than {MAX_ROWS:,} rows; split it")
            row = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
            if row:
                yield number, row
    except (EOFError, OSError, zlib.error) as error:
        raise ExtractError(f"damaged after row {number}: {error}") from error


def _has_texts(data: bytes) -> bool:
    """True if a row has a field `text`."""
    for _, row in _json_rows(data):
        if b'"text"' in row:
            with suppress(ExtractError):
                if any(key == "text" for key, _ in _json_fields(row)):
                    return True
    return False


def _json_fields(row: bytes) -> list[tuple[str, object]]:
    """The fields of an object, in order, with all values of names that it gives several times."""
    try:
        fields: list[tuple[str, object]] = list(msgspec.json.decode(row, type=dict[str, object]).items())
        if row.count(b":") > len(fields):  # it may give a name several times, and msgspec keeps the last
            fields = json.loads(row, object_pairs_hook=list, parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise ExtractError(f"not a JSON object ({error})") from error
    return fields


def _json_document(extractor: str, row: bytes, fields: Sequence[tuple[str, object]], name: str) -> Extracted:
    pairs = [(clean(key), _scalar(value)) for key, value in fields if isinstance(value, Scalar)]
    text = "\n\n".join(value for key, value in pairs if key == "text" and value)
    values = number_repeated_names([pair for pair in pairs if pair[0] != "text"])
    if not text.strip():
        raise ExtractError("no `text`")
    header = read_fields(text)
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="markdown",
        title=clean_title(values.get("title", "")) or header.title,
        url=values.get("url", ""),
        name=values.get("id") or name,
        body=row,
        author=values.get("author") or header.author,
        published=values.get("published") or values.get("date") or header.published,
        language=values.get("language") or detect_language(text),
        metadata={key: value[:1000] for key, value in values.items() if key not in JSON_FIELDS and value},
    )


def _scalar(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean(value) if isinstance(value, str) else str(value)
