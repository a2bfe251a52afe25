"""JSON lines: one document per row, plain or gzipped."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator

import msgspec

from assay.core.errors import ExtractError
from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import fit, read_fields
from assay.fetch.text_form import clean

LONGEST_ROW = 64 * 1024 * 1024
MOST_BYTES = 4 * 1024 * 1024 * 1024
MOST_ROWS = 10_000_000
"""Includes blank rows: a few megabytes can unzip to billions of empty lines."""
NAMED = 3
KNOWN = frozenset(("title", "url", "text", "id", "author", "published", "date", "language"))

Scalar = str | int | float | bool | None


class JsonLinesExtractor:
    """Rows with `text`, and optionally `title`, `url`, `id`, `author`, `published`, `language`.

    Other fields with a single value are kept as metadata. The body of a document is its row as it stands in the file.
    """

    name = "jsonl/2"
    suffixes = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
    media_type = "application/jsonl"
    isolated = False
    streams = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Yield the readable rows.

        Raises:
            ExtractError: after the last row, if some could not be read; it names the first few.
        """
        bad: list[str] = []
        count = 0
        for number, row in _rows(data):
            try:
                yield _document(self.name, row, f"{name}#{number}")
            except ExtractError as error:
                count += 1
                if count <= NAMED:
                    bad.append(f"row {number}: {error}")
        if bad:
            more = f" and {count - NAMED} more" if count > NAMED else ""
            raise ExtractError(f"{count} rows could not be read ({'; '.join(bad)}{more})")


def _rows(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Non-blank lines with their numbers, unzipped while reading."""
    stream: io.BufferedIOBase = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        stream = gzip.GzipFile(fileobj=stream)
    number = total = 0
    try:
        while line := stream.readline(LONGEST_ROW):
            number += 1
            total += len(line)
            if total > MOST_BYTES:
                raise ExtractError(f"unzips to more than {MOST_BYTES >> 30} GB")
            if number > MOST_ROWS:
                raise ExtractError(f"more than {MOST_ROWS:,} rows; split it")
            row = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
            if row:
                yield number, row
    except (EOFError, OSError, zlib.error) as error:
        raise ExtractError(f"damaged after row {number}: {error}") from error


def _document(extractor: str, row: bytes, name: str) -> Extracted:
    try:
        fields = msgspec.json.decode(row, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ExtractError(f"not a JSON object ({error})") from error
    values = {clean(key): _scalar(value) for key, value in fields.items() if isinstance(value, Scalar)}
    text = values.get("text", "")
    if not text.strip():
        raise ExtractError("no `text`")
    stated = read_fields(text)
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="markdown",
        title=fit(values.get("title", "")) or stated.title,
        url=values.get("url", ""),
        name=values.get("id") or name,
        body=row,
        author=values.get("author") or stated.author,
        published=values.get("published") or values.get("date") or stated.published,
        language=values.get("language") or detect(text),
        metadata={key: value[:1000] for key, value in values.items() if key not in KNOWN and value},
    )


def _scalar(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean(value) if isinstance(value, str) else str(value)
