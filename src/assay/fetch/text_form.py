"""Text from bytes: decoding, and the form to which all formats are converted."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from assay.core.charsets import codec, is_escaped
from assay.core.errors import ExtractError
from assay.core.lazy import lazy_module, regex
from assay.core.sources import MAX_PASSAGE_CHARS
from assay.core.tables.heads import find_head

if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = lazy_module("charset_normalizer")


SAMPLE_SIZE = 64_000
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Guesses of scripts other than Latin are accepted; among Latin code pages a guess is no better than the commonest
# one.
TRUSTED_ENCODINGS = regex(
    r"cp125[1356]|cp932|cp949|cp936|cp950|koi8|mac_cyrillic|shift_jis|euc_|gb|big5|hz|iso2022|iso8859_[5678]$|johab"
)
CYRILLIC = ("cp1251", "koi8_r", "mac_cyrillic", "iso8859_5", "cp866")
"""Code pages of Cyrillic that differ in few letters, the commonest first."""
_HIGH, _RUNS = regex(rb"[\x80-\xff]"), regex(rb"[\x80-\xff]{2,}")
UNWANTED_CHARS = regex(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_CONTROLS = bytes((*range(0x09), *range(0x0E, 0x20), 0x7F))


def decode(data: bytes, charset: str = "") -> str:
    """Decode `data`: by its byte order mark, as UTF-8, as `charset`, as guessed, else as Windows-1252.

    Raises:
        ExtractError: the bytes are not text.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return clean(data.decode(encoding, errors="replace"))
    if b"\0" in data[:SAMPLE_SIZE]:
        raise ExtractError("binary, not text")
    codec_name = codec(charset)
    if is_escaped(codec_name, data):
        return clean(data.decode(codec_name, errors="replace"))
    try:
        return clean(data.decode())
    except UnicodeDecodeError:
        return clean(data.decode(codec_name or _guess(data), errors="replace"))


def clean(text: str) -> str:
    """`text` in a form that can be stored: control characters and surrogate halves become U+FFFD."""
    if text.startswith("\ufeff"):
        text = text[1:]
    return text if _is_storable(text) else UNWANTED_CHARS.sub("\ufffd", text)


def _is_storable(text: str) -> bool:
    """True if `text` can be stored unchanged; testing its bytes takes less than half the time of a search."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return False
    return len(data.translate(None, _CONTROLS)) == len(data)


def _guess(data: bytes) -> str:
    """Guess an encoding from the bytes. Scripts other than Latin are accepted only if their bytes are adjacent, as in
    words of these scripts, and not single among ASCII letters, as umlauts are.
    """
    high = len(_HIGH.findall(data[:SAMPLE_SIZE]))
    if 2 * sum(map(len, _RUNS.findall(data[:SAMPLE_SIZE]))) < high:
        return "cp1252"
    best = charset_normalizer.from_bytes(data[:SAMPLE_SIZE]).best()
    if best is not None and best.encoding in CYRILLIC:
        return max(
            (best.encoding, *CYRILLIC),
            key=lambda each: _count_plausible_letters(data[:SAMPLE_SIZE].decode(each, "replace")),
        )
    return best.encoding if best is not None and TRUSTED_ENCODINGS.match(best.encoding) else "cp1252"


def _count_plausible_letters(text: str) -> int:
    """The number of letters of the Russian alphabet in a text, without capitals behind small letters."""
    return sum(
        char.islower() or not before.islower()
        for before, char in zip(" " + text, text, strict=False)
        if "А" <= char <= "я" or char in "Ёё"
    )


def parse_number(value: str, otherwise: int) -> int:
    """The number that an attribute states; `otherwise` if it states none, or one that no document needs."""
    text = value.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else otherwise


SUPERSCRIPTS = str.maketrans("0123456789-−+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺")
POWER_BASE = regex(r"(?:[\d)\]]|(?<![^\W_])(?:[A-Za-z]|[cdkmnµμ]m|ft|in|yd|mi))$")
"""The end of what has a power: a number, a bracket, a variable or a unit. Behind other words a raised number is a
note's.
"""
FIELD_LINE = regex(r"[^\W_](?:[^\s:]{0,40}[ ]){0,4}[^\s:]{0,40}:\s+\S.{0,100}")
"""A line with a name and a value; lines of nothing else stay apart, as in a form."""
MAX_BASE_CHARS = 4
"""As many characters as `POWER_BASE` looks at, at most."""

# The text form to which all formats are converted: headings, paragraphs, items, and rows that include their headers.

SAMPLE_ROWS = 200
MAX_HEADER_CHARS = 80
MAX_LABEL_CHARS = 120
"""A longer first cell is not repeated if its row is split."""

Row = list[str]


def one_cell(text: str) -> str:
    """A cell on one line; `|` separates cells, so inside a cell it becomes `¦`."""
    return " ".join(text.replace("|", "¦").split())


def split_head(rows: Iterable[Row], columns: int) -> tuple[list[Row], Row, Iterator[Row]]:
    """Split off the notes above the table and its header ([] if none); most rows below have this many `columns`."""
    stream = iter(rows)
    first = list(islice(stream, SAMPLE_ROWS))
    start, head, end = find_head(first, columns)

    def body() -> Iterator[Row]:
        yield from first[end:]
        yield from stream

    return first[:start], head, body()


def unique_column_names(head: Sequence[str]) -> Row:
    """Unique names for the columns: an empty one becomes `column 3`, a second `year` becomes `year (3)`."""
    names: Row = []
    seen: set[str] = set()
    for number, cell in enumerate(head, 1):
        name = " ".join(cell.replace(":", " ").split())[:MAX_HEADER_CHARS].rstrip() or f"column {number}"
        if name.casefold() in seen:
            name = f"{name} ({number})"
        seen.add(name.casefold())
        names.append(name)
    return names


def row_lines(row: Sequence[str], header: Sequence[str], longest: int = MAX_PASSAGE_CHARS) -> Iterator[str]:
    """The row as one line; if that is longer than `longest`, several lines that each repeat its first cell.

    Cells are labelled with their names in `header`, cells beyond it with their number, and without a header not at all.
    """
    pairs = [
        (f"{header[number] if number < len(header) else f'column {number + 1}'}: " if header else "", cell)
        for number, cell in enumerate(row)
        if cell
    ]
    if not pairs:
        return
    full_line = " | ".join(name + cell for name, cell in pairs)
    if len(full_line) <= longest:
        yield full_line
        return
    label = pairs[0][0] + pairs[0][1]
    prefix = label + " | " if len(label) <= MAX_LABEL_CHARS else ""
    line = prefix
    for name, cell in pairs[1:] if prefix else pairs:
        for part in _parts(name, cell, longest - len(prefix)):
            if len(line) > len(prefix) and len(line) + len(part) > longest:
                yield line.removesuffix(" | ")
                line = prefix
            line += part + " | "
    yield line.removesuffix(" | ")


def _parts(name: str, cell: str, room: int) -> Iterator[str]:
    """A pair as one text; if it is longer than `room`, split between words, each part with the name."""
    room -= len(name)
    while len(cell) > room:
        end = cell.rfind(" ", room // 2, room + 1)
        end = end if end > 0 else room
        yield name + cell[:end].rstrip()
        cell = cell[end:].lstrip()
    yield name + cell


MAX_TEXT_CHARS = 64 * 1024 * 1024
"""The most code points taken from one document."""
MAX_HEADING_LEVEL = 6
BARS_LENGTH = len("|  |")


class TextBuilder:
    """Collects blocks, one below the other; `text` is all of them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._item = False

    def heading(self, text: str, level: int) -> None:
        """Add a heading; levels beyond the deepest become the deepest."""
        if text := _one_line(text):
            self._add(f"{'#' * max(1, min(level, MAX_HEADING_LEVEL))} {text}")

    def paragraph(self, text: str) -> None:
        if text := _one_line(text):
            # a mark at the beginning would make it something else
            self._add(f"\\{text}" if text[0] in "#|" else text)

    def item(self, text: str, level: int = 0) -> None:
        """Add an item of a list, `level` lists deep."""
        if text := _one_line(text):
            self._add("  " * max(0, min(level, MAX_HEADING_LEVEL)) + f"- {text}", item=True)

    def table(self, rows: Sequence[Sequence[str]], *, has_head: bool = True) -> None:
        """Add a table with rows `| header: cell | header: cell |`, if it has a header, which `has_head` may rule out;
        empty cells are left out.

        A table with one column or one row is layout: its cells become paragraphs.
        """
        cells = [[one_cell(clean(cell)) for cell in row] for row in rows]
        cells = [row for row in cells if any(row)]
        if len(cells) < 2 or max(map(len, cells)) < 2:
            for row in cells:
                for cell in filter(None, row):
                    self.paragraph(cell)
            return
        lines = [f"| {line} |" for line in labelled_lines(cells, MAX_PASSAGE_CHARS - BARS_LENGTH, has_head=has_head)]
        self._add("\n".join(lines))

    def block(self, text: str) -> None:
        """Add text that already is in the text form."""
        if text.strip():
            self._add(text.strip("\n"))

    @property
    def text(self) -> str:
        """All blocks, with a final line feed."""
        return "".join(self._parts) + "\n" if self._parts else ""

    def _add(self, block: str, *, item: bool = False) -> None:
        self._size += len(block) + 2
        if self._size > MAX_TEXT_CHARS:
            raise ExtractError(f"it holds more than {MAX_TEXT_CHARS >> 20} million characters; split it")
        gap = "" if not self._parts else "\n" if item and self._item else "\n\n"
        self._parts.append(gap + block)
        self._item = item


def labelled_lines(rows: list[list[str]], longest: int, *, has_head: bool = True) -> list[str]:
    """The lines of a table, with its header inferred from its rows; notes above it come first."""
    if not has_head:
        return [line for row in rows for line in row_lines(row, (), longest)]
    columns = Counter(map(len, rows)).most_common(1)[0][0]
    above, head, below = split_head(rows, columns)
    header = unique_column_names(head) if head else []
    lines = [line for row in above for line in row_lines(row, (), longest)]
    return lines + [line for row in below for line in row_lines(row, header, longest)]


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
