"""Paragraphs from positioned lines: reads a page of print."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise, product
from math import log
from statistics import median

import msgspec

from assay.core.lazy import regex
from assay.fetch.pdf.printed_tables import LineOfPrint, PrintedPart, TableLines, find_tables
from assay.fetch.text_form import FIELD_LINE

SENTENCE_END = regex(r"[.!?:;…。！？：；؟۔।][\"'”’»)\]】」』]*$")
CLOSING = regex(r"[.,;:!?)\]](?!\d)")
ITEM = regex(r"(?:[-*•‣◦▪●–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S")
TAIL = regex(r"[^\W\d_]\S*(?:\s+|$)")
WORD = regex(r"[^\W\d_]+(?:-[^\W\d_]+)*")
UNSPACED = regex(r"[\u0e00-\u0eff\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")

SIMILAR_SIZE = 1.25
"""Fonts whose sizes differ by no more than this factor may be of one paragraph."""
SAME_ROW = 0.4
"""Lines whose bases differ by less than this many font sizes are beside each other."""
MAX_CELL_LINES, CELL_STEP = 4, 1.6
"""Lines of a table's cell, and how many font sizes they are apart at most. By hand."""
PIECE_GAP = 0.5
"""Adjacent lines closer than this many font sizes are one piece: a superscript, a changed font."""
PARAGRAPH_GAP, SENTENCE_GAP = 1.35, 1.6
"""A distance of more than this many usual ones separates paragraphs; in a sentence, as in a title, it may be wider."""
SHORT_END_SHARE, SHORT_SHARE = 0.12, 0.3
"""A line ends its paragraph if it leaves this share of its column free: after a sentence, and before a capital."""
JUSTIFIED_TOLERANCE, MIN_LETTERS_SHARE, MIN_COLUMN_WIDTH = 0.4, 0.6, 12
"""Lines of justified text end within this share of a font size, are letters for this share, and wider than this many
font sizes. By hand.
"""
MIN_HEAD_LETTERS = 2
SUSPENDED = regex(
    r"(?:and|or|to|und|oder|bis|bzw|sowie|et|ou|y|o|e|ed|en|of|och|eller|og|i|oraz|lub|и|или|та|або)(?!\w)"
)
"""The words after a hyphen that stands for a part both words share, and is not the second half of a word."""


class PrintedLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A line of print. In points, y upwards: it runs from `left` to `right` on `base`, in a font `size` high.

    `hyphen`: its last word continues in the next line; the hyphen is not in `text`. `parts` are its pieces, separated
    by more white space than words are.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    hyphen: bool = False
    parts: tuple[PrintedPart, ...] = ()


def paragraphs(lines: Sequence[PrintedLine], words: Collection[str] = frozenset()) -> list[str]:
    """The paragraphs of a page, each on one line.

    `words` are those of the whole document (see `vocabulary`): they decide whether a hyphen at the end of a line
    belongs to the word.
    """
    rows, tables = _rows_and_tables(lines)
    usual, edges = _usual_step(rows), _ColumnEdges(rows)
    texts: list[str] = []
    until = -1
    for index, (above, line) in enumerate(pairwise([None, *rows])):
        if line is None or index < until:
            continue
        if index in tables:
            until = tables[index].last
            texts += tables[index].rows
        elif above is None or index == until or _begins_paragraph(above, line, usual, edges):
            texts.append(line.text)
        else:
            texts[-1] = join_lines(texts[-1], line.text, above.hyphen, words)
    return texts


_Stretch = tuple[int, int]


def _rows_and_tables(lines: Sequence[PrintedLine]) -> tuple[list[PrintedLine], dict[int, TableLines]]:
    """The rows of a page, and its tables by their first rows.

    Cells of several lines, which follow each other in the text, are a row of a table only if one is found there.
    """
    stretches = list(_cell_stretches(lines))
    while True:
        rows, places = _merge_cells(lines, stretches)
        bottoms = {place: lines[last - 1].base for place, (_, last) in zip(places, stretches, strict=True)}
        printed = [LineOfPrint(pieces(row), row.base, row.size, bottoms.get(at)) for at, row in enumerate(rows)]
        tables = {table.first: table for table in find_tables(printed)}
        inside = {at for table in tables.values() for at in range(table.first, table.last)}
        if inside.issuperset(places):
            return rows, tables
        stretches = [stretch for stretch, place in zip(stretches, places, strict=True) if place in inside]


def _merge_cells(lines: Sequence[PrintedLine], stretches: Sequence[_Stretch]) -> tuple[list[PrintedLine], list[int]]:
    """The rows, with each stretch as one, and the places of these among them."""
    rows, places = list[PrintedLine](), list[int]()
    start = 0
    for first, last in stretches:
        rows += _merge_rows(lines[start:first])
        places.append(len(rows))
        rows.append(_row_of_cells(lines[first:last]))
        start = last
    return rows + _merge_rows(lines[start:]), places


def _cell_stretches(lines: Sequence[PrintedLine]) -> Iterator[_Stretch]:
    """Where lines may be a row of cells with several lines: each cell begins up, at the right of the one before."""
    first = 0
    while first < len(lines):
        last, cell_lines, goes_up, top = first + 1, 1, False, first
        above = pieces(lines[first])[-1]
        right = above.right
        while last < len(lines) and cell_lines <= MAX_CELL_LINES:
            line = lines[last]
            step = lines[last - 1].base - line.base
            if (
                len(line.parts) < 2
                and 0 < step < CELL_STEP * line.size
                and line.left < above.right
                and line.right > above.left
            ):
                cell_lines += 1
            elif step < SAME_ROW * line.size and _is_same_row(lines[first], line) and line.left > right:
                goes_up, cell_lines, top = goes_up or cell_lines > 1, 1, last
            else:
                break
            last, right, above = last + 1, max(right, line.right), pieces(line)[-1]
        if cell_lines > MAX_CELL_LINES:
            first = max(top, first + 1)  # a row that begins before this cell has it too
            continue
        if goes_up:
            yield first, last
        first = last


def _row_of_cells(lines: Sequence[PrintedLine]) -> PrintedLine:
    """The row whose cells are printed below each other in these lines."""
    parts: list[PrintedPart] = []
    for above, line in pairwise([None, *lines]):
        if line is None:
            continue
        if above is None or _is_same_row(lines[0], line):
            parts += pieces(line)
        else:
            text = join_lines(parts[-1].text, line.text, above.hyphen)
            parts[-1] = PrintedPart(text, min(parts[-1].left, line.left), max(parts[-1].right, line.right))
    text = " ".join(part.text for part in parts)
    return PrintedLine(
        text=text, left=parts[0].left, right=parts[-1].right, base=lines[0].base, size=lines[0].size, parts=tuple(parts)
    )


def vocabulary(lines: Iterable[PrintedLine]) -> frozenset[str]:
    """The words in `lines`, case-folded; hyphenated words as a whole."""
    return frozenset(word.casefold() for line in lines for word in WORD.findall(line.text))


def join_split_words(pages: Iterable[Sequence[PrintedLine]], words: Collection[str]) -> list[list[PrintedLine]]:
    """The pages, with a word that is split across pages moved whole to the first one."""
    joined_pages = [list(page) for page in pages]
    for page, next_page in pairwise(joined_pages):
        if not (page and page[-1].hyphen and next_page):
            continue
        last, first = page[-1], next_page[0]
        tail = TAIL.match(first.text)
        word = join_lines(last.text, tail[0].strip(), hyphen=True, words=words) if tail else f"{last.text}-"
        page[-1] = msgspec.structs.replace(last, text=word, hyphen=False, parts=())
        if tail and tail.end() < len(first.text):
            next_page[0] = msgspec.structs.replace(first, text=first.text[tail.end() :], parts=())
        elif tail:
            del next_page[0]
    return joined_pages


def join_lines(above: str, below: str, hyphen: bool, words: Collection[str] = frozenset()) -> str:
    """Join two lines of a paragraph.

    A hyphen at the line's end is dropped if the whole word occurs elsewhere in the document, and kept if the hyphenated
    word does. Otherwise it is dropped between letters if the second is lower case.
    """
    if hyphen:
        if SUSPENDED.match(below):  # import- and export
            return f"{above}- {below}"
        head, tail = WORD.findall(above)[-1:], WORD.match(below)
        if not head or tail is None or not above.endswith(head[0]):
            return f"{above}-{below}"
        joined_word, hyphenated = f"{head[0]}{tail[0]}".casefold(), f"{head[0]}-{tail[0]}".casefold()
        keeps_hyphen = hyphenated in words or not (tail[0][0].islower() and len(head[0]) >= MIN_HEAD_LETTERS)
        return f"{above}-{below}" if keeps_hyphen and joined_word not in words else above + below
    if above.endswith("-") and above[-2:-1].isalnum():
        return above + below
    apart = UNSPACED.match(above[-1:]) is None or UNSPACED.match(below) is None
    return f"{above} {below}" if apart else above + below


def _merge_rows(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Merge lines beside each other: the cells of a table's row, a number and its heading."""
    rows: list[PrintedLine] = []
    for line in lines:
        above = rows[-1] if rows else None
        if above is None or above.hyphen or line.left < above.right - line.size or not _is_same_row(above, line):
            rows.append(line)
            continue
        rows[-1] = PrintedLine(
            text=f"{above.text}{'' if CLOSING.match(line.text) else ' '}{line.text}",
            left=above.left,
            right=line.right,
            base=above.base,
            size=max(above.size, line.size),
            hyphen=line.hyphen,
            parts=_merge_parts(above, line),
        )
    return rows


def _merge_parts(above: PrintedLine, line: PrintedLine) -> tuple[PrintedPart, ...]:
    """The pieces of two lines beside each other; the last and the first are merged if they are close together."""
    before, after = pieces(above), pieces(line)
    last, first = before[-1], after[0]
    if first.left - last.right > PIECE_GAP * max(above.size, line.size):
        return (*before, *after)
    separator = (
        "" if _is_similar_size(above, line) or CLOSING.match(line.text) else " "
    )  # a footnote's figure is not a digit of the number before it
    return (*before[:-1], PrintedPart(f"{last.text}{separator}{first.text}", last.left, first.right), *after[1:])


def pieces(line: PrintedLine) -> tuple[PrintedPart, ...]:
    """The separate pieces of a line; the whole line if there are none."""
    return line.parts or (PrintedPart(line.text, line.left, line.right),)


def _is_same_row(above: PrintedLine, line: PrintedLine) -> bool:
    return abs(above.base - line.base) < SAME_ROW * max(above.size, line.size)


def _usual_step(rows: Sequence[PrintedLine]) -> float:
    """The usual distance between lines on this page, in points; 0 if unknown."""
    steps = [above.base - line.base for above, line in pairwise(rows) if _is_similar_size(above, line)]
    near_steps = [step for step, row in zip(steps, rows, strict=False) if 0 < step < 3 * max(row.size, 1.0)]
    return median(near_steps) if near_steps else 0.0


def _is_similar_size(above: PrintedLine, line: PrintedLine) -> bool:
    return above.size / SIMILAR_SIZE <= line.size <= SIMILAR_SIZE * above.size


class _ColumnEdges:
    """How far to the right lines of about the same beginning and size reach: the edge of their column, which a title
    above it does not set.

    Lines of text below each other that end at the same place fill their column, though a wider one is above it.
    """

    def __init__(self, rows: Sequence[PrintedLine]) -> None:
        self._unit = max(3 * median([row.size for row in rows]), 1.0) if rows else 1.0
        self._full = {row for pair in pairwise(rows) if _is_justified(*pair) for row in pair}
        self._right: dict[tuple[int, int], float] = {}
        for row in rows:
            place = (int(row.left // self._unit), _size_class(row))
            self._right[place] = max(self._right.get(place, row.right), row.right)

    def free_share(self, line: PrintedLine) -> float:
        """The share of its column that `line` leaves free at its end, 0 to 1."""
        if line in self._full:
            return 0.0
        slot, size = int(line.left // self._unit), _size_class(line)
        nearby = product((slot - 1, slot, slot + 1), (size - 1, size, size + 1))
        right = max(self._right.get(place, line.right) for place in nearby)
        return max(0.0, right - line.right) / max(right - line.left, 1.0)


def _size_class(line: PrintedLine) -> int:
    """A number for the size of a font: similar sizes have the same number, or neighbours."""
    return round(log(max(line.size, 1.0), SIMILAR_SIZE))


def _is_justified(above: PrintedLine, line: PrintedLine) -> bool:
    """True if two lines of justified text are below each other; figures may be set to the right in a table."""
    same = (
        abs(above.right - line.right) < JUSTIFIED_TOLERANCE * line.size and abs(above.left - line.left) < 3 * line.size
    )
    return same and _is_similar_size(above, line) and all(map(_is_prose, (above, line)))


def _is_prose(line: PrintedLine) -> bool:
    letters = sum(map(str.isalpha, line.text))
    return (
        len(line.parts) < 2
        and letters >= MIN_LETTERS_SHARE * len(line.text.replace(" ", ""))
        and line.right - line.left > MIN_COLUMN_WIDTH * line.size
    )


def _begins_paragraph(above: PrintedLine, line: PrintedLine, usual: float, edges: _ColumnEdges) -> bool:
    """True if `line` begins a paragraph."""
    if above.hyphen:
        return False
    if not _is_similar_size(above, line) or ITEM.match(line.text):
        return True
    if line.text[0].isupper() and FIELD_LINE.fullmatch(line.text) and FIELD_LINE.fullmatch(above.text):
        return True
    step = above.base - line.base
    ends_sentence = SENTENCE_END.search(above.text) is not None
    if step < -SAME_ROW * line.size:  # up: another column, or text set beside it
        return ends_sentence or not line.text[0].islower()
    gap = PARAGRAPH_GAP if ends_sentence or not line.text[0].islower() else SENTENCE_GAP
    if usual and step > gap * max(usual, line.size):
        return True
    if ends_sentence:
        return line.left - above.left > 0.7 * line.size or edges.free_share(above) > SHORT_END_SHARE
    return edges.free_share(above) > SHORT_SHARE and not line.text[0].islower()
