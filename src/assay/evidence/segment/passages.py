"""Passages: blocks cut to a size that a model can cite and a reader can check."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from assay.core.sources import LONGEST_PASSAGE, BlockKind, PassageSpan
from assay.core.text import sentences
from assay.evidence.segment import lines as shape
from assay.evidence.segment.blocks import TextBlock
from assay.evidence.segment.lines import ENDING

LIMIT = LONGEST_PASSAGE
"""The longest passage, in code points."""
ENOUGH = 300
"""A passage this long takes no further sentence."""
SENTENCES = 3
WINDOW = 50_000
"""Code points in which sentences are looked for at a time: nobody writes longer paragraphs, and a page that is one line
of megabytes would block everything else in this process.
"""
BREAKS = re.compile(r"[.!?…。！？؟۔।](?:(?<=[。！？؟۔।])|[\"'”’)\]]*\s)")
"""Every place where a sentence may end inside a block."""
WHOLE = frozenset(("row", "field", "record", "heading", "navigation"))
"""Kinds of blocks that are one passage each, unless they are too long."""
Range = tuple[int, int]


def spans(text: str, blocks: Iterable[TextBlock]) -> tuple[PassageSpan, ...]:
    """The passages of `blocks`, with byte offsets."""
    found: list[PassageSpan] = []
    ascii_only = text.isascii()
    point = byte = 0
    for block in blocks:
        for number, (start, end) in enumerate(_cut(text, block)):
            piece = text[start:end]
            if ascii_only:
                first, last = start, end
            else:
                first = byte + len(text[point:start].encode())
                last = first + len(piece.encode())
            point, byte = end, last
            label = block.term if number and block.term else block.label
            above = (block.heading, block.page, label, block.lead)
            found.append(PassageSpan(len(found), first, last, piece, block.kind, *above))
    return tuple(found)


def _cut(text: str, block: TextBlock) -> Iterator[Range]:
    code = block.kind == "code"
    for start, end in _pieces(text, block):
        bounded = ((start, end),) if end - start <= LIMIT else _bounded(text, start, end)
        for low, high in bounded:
            trimmed = _trim(text, low, high, lines=code)
            if trimmed[0] < trimmed[1]:
                yield trimmed


def _pieces(text: str, block: TextBlock) -> Iterable[Range]:
    if block.kind == "code":
        return _code(text, block.start, block.end)
    if block.kind in WHOLE or _is_one(text, block):
        return ((block.start, block.end),)
    return _prose(text, block.start, block.end)


def _is_one(text: str, block: TextBlock) -> bool:
    """Whether `_prose` would make one passage, without looking for sentences, which costs ten times more."""
    if block.end - block.start > ENOUGH:
        return False
    return len(BREAKS.findall(text, block.start, block.end)) < SENTENCES


def _prose(text: str, start: int, end: int) -> Iterator[Range]:
    """One to three sentences at a time."""
    while end - start > WINDOW:
        cut = text.rfind(" ", start + WINDOW // 2, start + WINDOW) + 1 or start + WINDOW
        while cut > start + WINDOW // 2 and _joins(text[cut - 1], text[cut]):
            cut -= 1
        yield from _grouped(text, start, cut)
        start = cut
    yield from _grouped(text, start, end)


def _grouped(text: str, start: int, end: int) -> Iterator[Range]:
    first = last = -1
    count = 0
    for before, behind in sentences(text[start:end]):
        low, high = before + start, behind + start
        full = count == SENTENCES or (count and high - first > ENOUGH)
        if full:
            yield first, last
            count = 0
        if not count:
            first = low
        last = high
        count += 1
    if count:
        yield first, last


def _code(text: str, start: int, end: int) -> Iterator[Range]:
    """Groups of whole lines up to `LIMIT`; a blank line ends a group of half that size."""
    first = start
    last = start
    for low, high in _line_ranges(text, start, end):
        blank = not text[low:high].strip()
        if last > first and (high - first > LIMIT or (blank and last - first > LIMIT // 2)):
            yield first, last
            first = low
        last = high
    if last > first:
        yield first, last


def _line_ranges(text: str, start: int, end: int) -> Iterator[Range]:
    low = start
    for match in ENDING.finditer(text, start, end):
        yield low, match.start()
        low = match.end()
    yield low, end


def _bounded(text: str, start: int, end: int) -> Iterator[Range]:
    """Pieces of at most `LIMIT`, cut after a clause, else between words, else between characters."""
    while end - start > LIMIT:
        cut = _cut_point(text, start)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _cut_point(text: str, start: int) -> int:
    window = text[start : start + LIMIT]
    for marks in ("\n", "；;。", "，、,", " \t"):
        best = max(map(window.rfind, marks))
        if best >= LIMIT // 2:
            return start + best + 1
    cut = start + LIMIT
    while cut > start + LIMIT // 2 and _joins(text[cut - 1], text[cut]):
        cut -= 1
    return cut


def _joins(left: str, right: str) -> bool:
    """Whether two characters are displayed as one: combining marks, joiners, variation selectors, flags."""
    return (
        unicodedata.category(right) in ("Mn", "Me", "Mc", "Sk")
        or right in "\u200d\ufe0f"
        or left == "\u200d"
        or "\U0001f1e6" <= right <= "\U0001f1ff"
    )


def _trim(text: str, start: int, end: int, *, lines: bool) -> Range:
    """The range without surrounding white space; code keeps the indent of its first line."""
    if start < end and not (text[start].isspace() or text[end - 1].isspace()):
        return start, end
    first = start
    piece = text[start:end]
    end = start + len(piece.rstrip())
    start = end - len(piece[: end - start].lstrip())
    if lines and start > first:
        start = max(text.rfind("\n", first, start), text.rfind("\r", first, start), first - 1) + 1
    return start, end


# Texts whose lines are blocks already: printed pages and table rows.

PAGE_BREAK = "\f"


def pages(text: str) -> Iterator[TextBlock]:
    """A paragraph or list item per line, each with its page, from 1; a form feed ends a page."""
    start = 0
    for number, page in enumerate(text.split(PAGE_BREAK), 1):
        for line in shape.lines(page):
            if not line.body:
                continue
            bullet = shape.BULLET.match(line.body)
            first = start + line.start + line.text.index(line.body)
            kind: BlockKind = "item" if bullet or shape.NUMBERED.match(line.body) else "paragraph"
            kind = "navigation" if shape.is_leader(line.body) else kind
            if line.body.startswith("| ") and line.body.endswith(" |"):
                kind = "row"
            yield TextBlock(kind, first + (bullet.end() if bullet else 0), start + line.end, (), number)
        start += len(page) + len(PAGE_BREAK)


def rows(text: str) -> Iterator[TextBlock]:
    """A table row per line."""
    for line in shape.lines(text):
        if line.body:
            yield TextBlock("row", line.start, line.end, ())
