"""The lines of a PDF's pages and their positions, by PDFium."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from typing import Any

import msgspec
import pypdfium2  # type: ignore[import-untyped]  # it ships no types
from pypdfium2 import raw

from assay.core.errors import ExtractError
from assay.core.lazy import regex
from assay.fetch.pdf.paragraphs import PrintedLine
from assay.fetch.pdf.printed_tables import PrintedPart
from assay.fetch.text_form import MAX_BASE_CHARS, POWER_BASE, SUPERSCRIPTS

FLATTENED = 1
SPARSE_SHARE = 0.5
"""A line is searched for cells if a character takes more than this share of the font's size: prose takes less."""
WIDE_SPACE = 0.95
"""White space wider than this many font sizes separates cells."""
GROUP_SPACE = 0.8
"""The same, of a line beside a row with more cells: names of groups stand above several. By hand."""
TIGHT_SPACE = 0.4
"""The same, of a row beside one with cells at the same places."""
SAME_LEVEL = 0.4
"""Lines whose bases differ by less than this many font sizes are of one row."""
MIN_UP, MIN_UPS, MAX_UPS_SHARE = 3.0, 4, 0.25
"""How many font sizes above the line before a line is out of order: parts of a formula are nearer. How many such lines
a page may have, and which share: a table drawn column by column, of four cells each, has a fourth. By hand.
"""
LINE_END_HYPHEN = "\ufffe"
"""What PDFium writes in place of a hyphen at the end of a line and the line's end."""

_LINE = regex(rf"[^\r\n{LINE_END_HYPHEN}]+(?:{LINE_END_HYPHEN}|$)?")
_RIGHT_TO_LEFT = regex(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{3,}")


class Pdf:
    """An open document. Not thread-safe, because PDFium is not.

    Raises:
        ExtractError: encrypted with a password, or damaged.
    """

    def __init__(self, data: bytes) -> None:
        # PDFium sets no error for some failures, which would leave the previous one: this sets one that bytes never
        # cause.
        raw.FPDF_LoadDocument(b"\0", None)
        try:
            self._document = pypdfium2.PdfDocument(data, password="")
        except pypdfium2.PdfiumError as error:
            raise ExtractError(_reason(error, data)) from error
        self.pages = len(self._document)
        self.encrypted = raw.FPDF_GetSecurityHandlerRevision(self._document) >= 0

    def facts(self) -> dict[str, str]:
        """What the document says about itself: Title, Author, CreationDate and so on; "" for missing values."""
        metadata: dict[str, str] = self._document.get_metadata_dict()
        return metadata

    def page(self, number: int) -> list[PrintedLine]:
        """The lines of a page (from 1), in the order of its content if that is one, including the entries in a form.

        Raises:
            ExtractError: the page cannot be read.
        """
        try:
            page = self._document[number - 1]
            if raw.FPDFPage_GetAnnotCount(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == FLATTENED:
                page.close()
                page = self._document[number - 1]
        except pypdfium2.PdfiumError as error:
            raise ExtractError("damaged") from error
        try:
            with closing(page.get_textpage()) as text:
                return _in_order(list(_lines(text)))
        except pypdfium2.PdfiumError as error:
            raise ExtractError("damaged") from error
        finally:
            page.close()

    @contextmanager
    def open_page(self, number: int) -> Iterator[Any]:
        """A page (from 1) as PDFium's object.

        Raises:
            ExtractError: there is no such page, or it cannot be read or drawn.
        """
        if not 1 <= number <= self.pages:
            raise ExtractError(f"it has {self.pages} pages, and no page {number}")
        try:
            with closing(self._document[number - 1]) as page:
                yield page
        except (pypdfium2.PdfiumError, ValueError) as error:
            raise ExtractError(f"page {number} is damaged") from error

    def shows_anything(self) -> bool:
        """True if anything is drawn on a page."""
        for number in range(self.pages):
            with suppress(pypdfium2.PdfiumError), closing(self._document[number]) as page:
                if raw.FPDFPage_CountObjects(page) > 0:
                    return True
        return False

    def picture(self, number: int, dots: int, widest: int) -> tuple[Any, float]:
        """A page (from 1) as an array of grey or coloured pixels, `dots` per inch, and the number of pixels per point.

        Raises:
            ExtractError: the page cannot be drawn.
        """
        with self.open_page(number) as page:
            scale = min(dots / 72, widest / max(*page.get_size(), 1.0))
            return page.render(scale=scale, grayscale=False, rev_byteorder=True).to_numpy()[:, :, :3], scale

    def close(self) -> None:
        self._document.close()


def _reason(error: pypdfium2.PdfiumError, data: bytes) -> str:
    code = getattr(error, "err_code", None)
    if code == raw.FPDF_ERR_PASSWORD:
        return "encrypted; remove the password first"
    if code == raw.FPDF_ERR_SECURITY or (code == raw.FPDF_ERR_FILE and b"/Encrypt" in data):
        return "encrypted in a way which cannot be read; remove the protection first"
    return "damaged, or not a PDF; open it in a viewer and save it again"


def _in_order(lines: list[PrintedLine]) -> list[PrintedLine]:
    """Lines as they were drawn, unless that order is none, as of some scanned pages: then from the top, row by row.

    Columns and cells go up as often as there are some; in no order at all, nearly half of the lines do.
    """
    ups = sum(line.base - above.base > MIN_UP * line.size for above, line in pairwise(lines))
    if ups <= max(MIN_UPS, MAX_UPS_SHARE * len(lines)):
        return lines
    rows: list[list[PrintedLine]] = []
    for line in sorted(lines, key=lambda line: -line.base):
        if rows and rows[-1][0].base - line.base < SAME_LEVEL * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _lines(page: pypdfium2.PdfTextPage) -> Iterator[PrintedLine]:
    text, index = characters(page)
    text = _raise_digits(page, text, index)
    lines: list[PrintedLine] = []
    spans: list[tuple[int, int]] = []
    sparse: list[int] = []
    for match in _LINE.finditer(text):
        body = match[0].rstrip(LINE_END_HYPHEN)
        if not body.strip():
            continue
        first = match.start() + len(body) - len(body.lstrip())
        last = match.start() + len(body.rstrip()) - 1
        positions = [_character_place(page, index[number]) for number in (first, (first + last) // 2, last)]
        left, right = min(positions[0].x, positions[2].x), max(positions[0].x, positions[2].x) + positions[2].size / 2
        size = max(position.size for position in positions)
        if right - left > SPARSE_SHARE * size * (last + 1 - first) and positions[0].x <= positions[2].x:
            sparse.append(len(lines))
        spans.append((first, last + 1))
        lines.append(
            PrintedLine(
                text=_without_marks(
                    _reading_order(page, body, index[match.start() : match.start() + len(body)]).strip()
                ),
                left=left,
                right=right,
                base=positions[0].y,
                size=size,
                hyphen=match[0].endswith(LINE_END_HYPHEN) or body.endswith("\u00ad"),
            )
        )
    parts_by_line: dict[int, tuple[PrintedPart, ...]] = {}
    queue: list[tuple[int, tuple[PrintedPart, ...]]] = [(number, ()) for number in reversed(sparse)]
    while queue:
        number, neighbour_parts = queue.pop()
        if (
            not 0 <= number < len(lines)
            or len(parts_by_line.get(number, ())) > 1
            or (neighbour_parts and number in sparse)
        ):
            continue
        part, size = slice(*spans[number]), lines[number].size
        parts_by_line[number] = tuple(_parts(page, text[part], index[part], size, neighbour_parts)) or (
            tuple(_parts(page, text[part], index[part], size, wide=GROUP_SPACE)) if neighbour_parts else ()
        )
        lines[number] = msgspec.structs.replace(lines[number], parts=parts_by_line[number])
        if len(parts_by_line[number]) > 1:
            queue += [(number - 1, parts_by_line[number]), (number + 1, parts_by_line[number])]
    yield from lines


def _parts(
    page: pypdfium2.PdfTextPage,
    text: str,
    index: range | list[int],
    size: float,
    neighbour_parts: Sequence[PrintedPart] = (),
    *,
    wide: float = WIDE_SPACE,
) -> Iterator[PrintedPart]:
    """The pieces of a line that are separated by more white space than words are: `wide` font sizes.

    A row with longer cells than its neighbour, which has `neighbour_parts`, has less space between them: where the
    neighbour has some, in all places.
    """
    gaps = [(left_part.right, right_part.left) for left_part, right_part in pairwise(neighbour_parts)]
    parts: list[PrintedPart] = []
    start = 0
    left = _character_place(page, index[0]).x
    for space in re.finditer(r"\s+", text):
        part_end = _character_end(page, index[space.start() - 1])
        next_left = _character_place(page, index[space.end()]).x
        is_aligned = not gaps or any(part_end < right and next_left > left_end for left_end, right in gaps)
        if is_aligned and next_left - part_end > (TIGHT_SPACE if gaps else wide) * size:
            parts.append(PrintedPart(_without_marks(text[start : space.start()]), left, part_end))
            start, left = space.end(), next_left
    if start and (not gaps or len(parts) == len(gaps)):
        last = PrintedPart(_without_marks(text[start:]), left, _character_end(page, index[len(text) - 1]))
        yield from (*parts, last)


def _character_end(page: pypdfium2.PdfTextPage, number: int) -> float:
    """Where a character ends, in the frame of `_character_place`."""
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(page, number, box)
    angle = max(raw.FPDFText_GetCharAngle(page, number), 0.0)
    corners = [x * math.cos(angle) + y * math.sin(angle) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    return float(max(corners))


def characters(page: pypdfium2.PdfTextPage) -> tuple[str, range | list[int]]:
    """The text, and PDFium's number of each character.

    PDFium omits characters without a meaning from the text, and counts halves of characters.
    """
    count = page.count_chars()
    text = page.get_text_range() if count > 0 else ""
    if len(text) == count:
        return text, range(count)
    units: list[tuple[str, int]] = []
    for number in range(count):
        code = raw.FPDFText_GetUnicode(page, number)
        low = 0xDC00 <= code <= 0xDFFF
        if low and units and 0xD800 <= ord(units[-1][0]) <= 0xDBFF:
            high = ord(units[-1][0])
            units[-1] = (chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00), units[-1][1])
        elif 0 < code <= 0x10FFFF:
            units.append((chr(code), number))
    return "".join(char for char, _ in units), [number for _, number in units]


class _Place:
    """A character's position, in a frame rotated so that its line runs to the right; `size` is its font's height."""

    __slots__ = ("size", "x", "y")

    def __init__(self, x: float, y: float, size: float) -> None:
        self.x, self.y, self.size = x, y, size


def _character_place(page: pypdfium2.PdfTextPage, number: int) -> _Place:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(page, number, x, y)
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(page, number, box)
    angle = max(raw.FPDFText_GetCharAngle(page, number), 0.0)
    cos, sin = math.cos(angle), math.sin(angle)
    height = abs(box.right - box.left) if abs(sin) > abs(cos) else abs(box.top - box.bottom)
    return _Place(x.value * cos + y.value * sin, y.value * cos - x.value * sin, height)


# Digits set higher and smaller: exponents, which are written as such, and the marks of footnotes.

RAISED_SIZE, RAISED_SHARE = 0.85, 0.15
"""How large a raised digit is at most, and how far it is raised at least, in sizes of the character beside it."""
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MAY_BE_RAISED = regex(r"(?<=[^\s\d(\[{])\d{1,3}(?!\w)|(?<=\d)\d(?!\w)|(?<![^\r\n])\d{1,2}(?=\s?[^\W\d_])")
_RAISED = regex(r"(?:^(?P<first>[⁰¹²³⁴-⁹]+)\s?|(?P<before>\S)(?P<mark>[⁰¹²³⁴-⁹]+)(?:\s(?=[.,;:!?)\]]))?)")


def _raise_digits(page: pypdfium2.PdfTextPage, text: str, index: range | list[int]) -> str:
    """The text with raised digits as superscripts: as long as before."""

    def raised(match: re.Match[str]) -> str:
        beside = match.end() if match.start() == 0 or text[match.start() - 1] in "\r\n" else match.start() - 1
        digit, other = (_character_place(page, index[position]) for position in (match.start(), beside))
        is_raised = digit.size < RAISED_SIZE * other.size and digit.y - other.y > RAISED_SHARE * other.size
        return match[0].translate(SUPERSCRIPTS) if is_raised else match[0]

    return _MAY_BE_RAISED.sub(raised, text)


def _without_marks(text: str) -> str:
    """A text without the marks of footnotes behind words; one that begins a footnote is apart from it."""
    if text.isascii():
        return text

    def shown(match: re.Match[str]) -> str:
        if match["first"]:
            return f"{match['first'].translate(_PLAIN)} "
        mark = match.start("mark")
        return match["before"] + (
            match["mark"] if POWER_BASE.search(text[max(0, mark - MAX_BASE_CHARS) : mark]) else ""
        )

    return _RAISED.sub(shown, text)


def _reading_order(page: pypdfium2.PdfTextPage, text: str, index: range | list[int]) -> str:
    """`text` in reading order.

    PDFium reverses words of right-to-left scripts, from the order on the page to the order of reading. If one glyph
    stands for a whole word, its letters were in reading order already.
    """

    def reverse(match: re.Match[str]) -> str:
        origins = {_character_place(page, index[position]).x for position in range(match.start(), match.end())}
        return match[0][::-1] if len(origins) == 1 else match[0]

    return _RIGHT_TO_LEFT.sub(reverse, text) if not text.isascii() else text
