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
        request = msgspec.json.decode(name, type=PageAsked)
        with closing(Pdf(data)) as pdf, pdf.open_page(request.number) as page:
            if request.width:
                yield Extracted(text="", extractor=self.name, syntax="plain", body=_render_picture(page, request.width))
            else:
                encoded = msgspec.json.encode(_page_places(page, request)).decode()
                yield Extracted(text=encoded, extractor=self.name, syntax="plain")


def _render_picture(page: Any, width: int) -> bytes:
    wide, high = page.get_size()
    if not wide or not high or max(wide / high, high / wide) > TALLEST:
        raise ExtractError("the page is too long or too wide for a picture; read its text")
    bitmap = page.render(scale=(width - 0.5) / wide, rev_byteorder=True, no_smoothimage=False)
    rows = bytes(bitmap.buffer)
    row_bytes = bitmap.n_channels * bitmap.width
    lines = b"".join(
        b"\0" + rows[offset : offset + row_bytes] for offset in range(0, bitmap.stride * bitmap.height, bitmap.stride)
    )
    kind = {1: 0, 3: 2, 4: 6}[bitmap.n_channels]
    return _encode_png(bitmap.width, bitmap.height, kind, lines)


def _encode_png(width: int, height: int, kind: int, lines: bytes) -> bytes:
    """Encode unfiltered lines as a PNG. `kind` is its colour type: grey, RGB, RGB with alpha."""
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, body) for name, body in parts)


def _png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _page_places(page: Any, request: PageAsked) -> PagePlaces:
    """The places of the passage: a box for each of its lines, in shares of the page."""
    width, height = page.get_size()
    with closing(page.get_textpage()) as text:
        try:
            boxes = _merge_boxes(list(_boxes(page, text, request)))
        except pypdfium2.PdfiumError:
            boxes = ()
    return PagePlaces(number=request.number, width=width, height=height, boxes=boxes)


def _boxes(page: Any, text: Any, request: PageAsked) -> Iterator[PageBox]:
    body, numbers = characters(text)
    letters, index = _letters(body)
    passage_letters, _ = _letters(request.passage)
    for first, last in _find_spans(letters, passage_letters, len(_letters(request.before)[0])):
        start, end = numbers[index[first]], numbers[index[last]]
        for number in range(text.count_rects(start, end - start + 1)):
            left, bottom, right, top = text.get_rect(number)
            yield _box(page, (left, top), (right, bottom))


def _box(page: Any, *corners: tuple[float, float]) -> PageBox:
    """A rectangle of the page's own coordinates, after the rotation and cropping of the visible page."""
    points = []
    for x, y in corners:
        device_x, device_y = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, SCALE, SCALE, 0, x, y, device_x, device_y)
        points.append((device_x.value / SCALE, device_y.value / SCALE))
    (left, top), (right, bottom) = ((min(pair), max(pair)) for pair in zip(*points, strict=True))
    return PageBox(left=left, top=right, width=top - left, height=bottom - right)


def _merge_boxes(boxes: list[PageBox]) -> tuple[PageBox, ...]:
    """Merge boxes beside each other on a line: PDFium returns one per stretch of type."""
    merged: list[PageBox] = []
    for box in boxes:
        last = merged[-1] if merged else box
        low, high = max(last.top, box.top), min(last.top + last.height, box.top + box.height)
        gap = max(box.left - last.left - last.width, last.left - box.left - box.width)
        if not merged or 2 * (high - low) < min(last.height, box.height) or gap > MAX_WORD_GAP:
            merged.append(box)
            continue
        left, top = min(last.left, box.left), min(last.top, box.top)
        right = max(last.left + last.width, box.left + box.width)
        bottom = max(last.top + last.height, box.top + box.height)
        merged[-1] = PageBox(left=left, top=top, width=right - left, height=bottom - top)
    return tuple(merged)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in a normal form, and the character that each comes from.

    White space, hyphens and punctuation are left out, because a text joined from lines differs in them.
    """
    letters: list[str] = []
    index: list[int] = []
    for position, character in enumerate(text):
        for letter in unicodedata.normalize("NFKC", character).casefold():
            if letter.isalnum():
                letters.append(letter)
                index.append(position)
    return "".join(letters), index


def _find_spans(letters: str, passage: str, expected_start: int) -> list[tuple[int, int]]:
    """Where `passage` is in `letters`, first and last letter, nearest to `expected_start`; in pieces if not whole."""
    if not passage:
        return []
    whole_start = _nearest(letters, passage, expected_start)
    if whole_start is not None:
        return [(whole_start, whole_start + len(passage) - 1)]
    starts = range(0, len(passage), PIECE_LETTERS)
    spans = [
        (position, position + len(piece) - 1)
        for start in starts
        if len(piece := passage[start : start + PIECE_LETTERS]) > PIECE_LETTERS // 2
        and (position := _nearest(letters, piece, expected_start + start)) is not None
    ]
    return _merge_spans(sorted(spans)) if 2 * len(spans) > len(starts) else []


def _nearest(letters: str, piece: str, expected_start: int) -> int | None:
    positions = []
    position = letters.find(piece)
    while position >= 0:
        positions.append(position)
        position = letters.find(piece, position + len(piece))
    if not positions:
        return None
    after = bisect_left(positions, expected_start)
    return min(positions[max(0, after - 1) : after + 1], key=lambda place: abs(place - expected_start))


def _merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge adjacent stretches."""
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
