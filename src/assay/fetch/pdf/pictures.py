"""Pages of a PDF as printed: a picture of a page, and the place of a passage on it.

Like all of PDFium's work, both run in a separate process, because the file is untrusted. That process reads files, so
the question is passed as the file's name, and the answer as its one document.
"""

from __future__ import annotations

import ctypes
import struct
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec
import pypdfium2  # type: ignore[import-untyped]  # it ships no types
from pypdfium2 import raw

from assay.core.errors import ExtractError
from assay.core.sources import Extracted, PageAsked, PageBox, PagePlaces
from assay.fetch.pdf.lines import Pdf, characters

TALLEST = 6
"""A page that is this many times as high as wide, or as wide as high, gets no picture: it would have too many
pixels.
"""
PIECE_LETTERS = 24
"""Letters of a piece of a passage, if the whole is not on the page in one stretch."""
SCALE = 10_000
MAX_WORD_GAP = 0.02
"""The most space between two words of a line, as a share of the page's width."""


class PagePictures:
    """Answers a `PageAsked`: a PNG in `body` if a width is requested, else `PagePlaces` as JSON in `text`."""

    name = "pdf-pages/1"
    suffixes: tuple[str, ...] = ()
    media_type = "application/pdf"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        asked = msgspec.json.decode(name, type=PageAsked)
        with closing(Pdf(data)) as pdf, pdf.open_page(asked.number) as page:
            if asked.width:
                yield Extracted(text="", extractor=self.name, syntax="plain", body=_render_picture(page, asked.width))
            else:
                found = msgspec.json.encode(_page_places(page, asked)).decode()
                yield Extracted(text=found, extractor=self.name, syntax="plain")


def _render_picture(page: Any, width: int) -> bytes:
    wide, high = page.get_size()
    if not wide or not high or max(wide / high, high / wide) > TALLEST:
        raise ExtractError("the page is too long or too wide for a picture; read its text")
    bitmap = page.render(scale=(width - 0.5) / wide, rev_byteorder=True, no_smoothimage=False)
    rows = bytes(bitmap.buffer)
    kept = bitmap.n_channels * bitmap.width
    lines = b"".join(b"\0" + rows[at : at + kept] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride))
    kind = {1: 0, 3: 2, 4: 6}[bitmap.n_channels]
    return _encode_png(bitmap.width, bitmap.height, kind, lines)


def _encode_png(width: int, height: int, kind: int, lines: bytes) -> bytes:
    """Encode unfiltered lines as a PNG. `kind` is its colour type: grey, RGB, RGB with alpha."""
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, body) for name, body in parts)


def _png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _page_places(page: Any, asked: PageAsked) -> PagePlaces:
    """The places of the passage: a box for each of its lines, in shares of the page."""
    width, height = page.get_size()
    with closing(page.get_textpage()) as text:
        try:
            boxes = _merge_boxes(list(_boxes(page, text, asked)))
        except pypdfium2.PdfiumError:
            boxes = ()
    return PagePlaces(number=asked.number, width=width, height=height, boxes=boxes)


def _boxes(page: Any, text: Any, asked: PageAsked) -> Iterator[PageBox]:
    body, numbers = characters(text)
    letters, index = _letters(body)
    wanted, _ = _letters(asked.passage)
    for first, last in _find_spans(letters, wanted, len(_letters(asked.before)[0])):
        start, end = numbers[index[first]], numbers[index[last]]
        for number in range(text.count_rects(start, end - start + 1)):
            left, bottom, right, top = text.get_rect(number)
            yield _box(page, (left, top), (right, bottom))


def _box(page: Any, *corners: tuple[float, float]) -> PageBox:
    """A rectangle of the page's own coordinates, after the rotation and cropping of the visible page."""
    seen = []
    for x, y in corners:
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, SCALE, SCALE, 0, x, y, across, down)
        seen.append((across.value / SCALE, down.value / SCALE))
    (left, top), (right, bottom) = ((min(pair), max(pair)) for pair in zip(*seen, strict=True))
    return PageBox(left=left, top=right, width=top - left, height=bottom - right)


def _merge_boxes(boxes: list[PageBox]) -> tuple[PageBox, ...]:
    """Merge boxes beside each other on a line: PDFium returns one per stretch of type."""
    made: list[PageBox] = []
    for box in boxes:
        last = made[-1] if made else box
        low, high = max(last.top, box.top), min(last.top + last.height, box.top + box.height)
        gap = max(box.left - last.left - last.width, last.left - box.left - box.width)
        if not made or 2 * (high - low) < min(last.height, box.height) or gap > MAX_WORD_GAP:
            made.append(box)
            continue
        left, top = min(last.left, box.left), min(last.top, box.top)
        right = max(last.left + last.width, box.left + box.width)
        bottom = max(last.top + last.height, box.top + box.height)
        made[-1] = PageBox(left=left, top=top, width=right - left, height=bottom - top)
    return tuple(made)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in a normal form, and the character that each comes from.

    White space, hyphens and punctuation are left out, because a text joined from lines differs in them.
    """
    made: list[str] = []
    index: list[int] = []
    for at, character in enumerate(text):
        for letter in unicodedata.normalize("NFKC", character).casefold():
            if letter.isalnum():
                made.append(letter)
                index.append(at)
    return "".join(made), index


def _find_spans(letters: str, wanted: str, expected: int) -> list[tuple[int, int]]:
    """Where `wanted` is in `letters`, first and last letter, nearest to `expected`; in pieces if not whole."""
    if not wanted:
        return []
    whole = _nearest(letters, wanted, expected)
    if whole is not None:
        return [(whole, whole + len(wanted) - 1)]
    starts = range(0, len(wanted), PIECE_LETTERS)
    places = [
        (place, place + len(piece) - 1)
        for start in starts
        if len(piece := wanted[start : start + PIECE_LETTERS]) > PIECE_LETTERS // 2
        and (place := _nearest(letters, piece, expected + start)) is not None
    ]
    return _merge_spans(sorted(places)) if 2 * len(places) > len(starts) else []


def _nearest(letters: str, wanted: str, expected: int) -> int | None:
    places = []
    at = letters.find(wanted)
    while at >= 0:
        places.append(at)
        at = letters.find(wanted, at + len(wanted))
    if not places:
        return None
    after = bisect_left(places, expected)
    return min(places[max(0, after - 1) : after + 1], key=lambda place: abs(place - expected))


def _merge_spans(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge adjacent stretches."""
    made: list[tuple[int, int]] = []
    for first, last in places:
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(last, made[-1][1]))
        else:
            made.append((first, last))
    return made
