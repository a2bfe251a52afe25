"""The sentences of a report, which of them state facts, and which markers belong to each.

Blocks are those of `core.blocks`, sentences are read with `core.text`, markers with `core.markers`.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.core.blocks import Block, BlockKind, line_spans, places, read_blocks
from assay.core.markers import Marker, parse
from assay.core.scanner import scan
from assay.core.text import sentences
from assay.core.translation import speech
from assay.verify.roles import Role, is_frame, role_of
from assay.verify.rows import cells


class ReportSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the report, or a table row.

    `text` is without markers, on one line. `[start, end)` are code points into the report as written: from the
    first character to the last before the markers which follow it. `block` numbers the block it stands in.
    `id` is "c1" and so on for what states a fact, else empty. `head` are the cells above those of a table row, none
    where the row has more or fewer.
    """

    id: str
    text: str
    start: int
    end: int
    role: Role
    block: int
    markers: tuple[Marker, ...] = ()
    head: tuple[str, ...] = ()


class ReportBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block's text without container signs; `places` has the place of each character in the report."""

    block: Block
    text: str
    places: tuple[int, ...]
    sections: tuple[str, ...]
    head: tuple[str, ...] = ()

    @property
    def is_structure(self) -> bool:
        """Whether nothing in it is a statement of the writer's."""
        return self.block.kind in ("heading", "head row") or self.block.origin != "writer"


def read(report: str) -> tuple[ReportSentence, ...]:
    """Every sentence of `report`, in order, with the markers inside it and directly after it.

    A marker after the final punctuation belongs to the sentence before; one which stands alone in its block, to
    the last sentence of the block before. Kept, as comparing, checking and the gate read one report.
    """
    return _read(report, frozenset(speech().stated.items()))


@functools.lru_cache(maxsize=128)
def _read(report: str, stated: frozenset[tuple[str, str]]) -> tuple[ReportSentence, ...]:
    del stated  # what code stated decides on roles: without it in the key an answer of before would be given
    markers = parse(report)
    starts = [marker.start for marker in markers]
    found: list[ReportSentence] = []
    alone: list[Marker] = []  # of the blocks since the last sentence, which hold nothing else
    for number, block in enumerate(readable(read_blocks(report), {})):
        inside = markers[bisect_left(starts, block.places[0]) : bisect_right(starts, block.places[-1])]
        sentences = read_block(report, number, block, inside)
        if not sentences:
            alone += inside if found else ()
            continue
        if alone:
            found[-1] = grown(found[-1], alone)
            alone.clear()
        found.extend(sentences)
    if alone:
        found[-1] = grown(found[-1], alone)
    return numbered(found)


def claims(report: str) -> tuple[ReportSentence, ...]:
    """The sentences of `report` which state something checkable: facts and frames."""
    return tuple(sentence for sentence in read(report) if sentence.id)


def numbered(found: Sequence[ReportSentence], count: int = 0) -> tuple[ReportSentence, ...]:
    """The sentences with the ids of those which are claims, after `count` others."""
    given = []
    for sentence in found:
        if sentence.role in ("fact", "frame"):
            count += 1
            given.append(msgspec.structs.replace(sentence, id=f"c{count}"))
        else:
            given.append(sentence)
    return tuple(given)


def grown(sentence: ReportSentence, markers: Sequence[Marker]) -> ReportSentence:
    """The last sentence before a block which holds nothing but markers."""
    role: Role = "frame" if sentence.role == "frame" else "fact"
    return msgspec.structs.replace(sentence, role=role, markers=(*sentence.markers, *markers))


# sentences of a block


def read_block(report: str, number: int, block: ReportBlock, markers: Sequence[Marker]) -> tuple[ReportSentence, ...]:
    """The sentences of a block, none of which has an id yet; `markers` are those inside it."""
    text, places = _without(block, markers)
    return tuple(_sentences(report, number, block, text, places, markers)) if text.strip() else ()


def _without(block: ReportBlock, markers: Sequence[Marker]) -> tuple[str, list[int]]:
    """The block's text without markers and the spaces before them, with the place of each character."""
    kept: list[str] = []
    places: list[int] = []
    last = 0
    for marker in markers:
        start = bisect_left(block.places, marker.start, last)
        kept.append(block.text[last:start].rstrip(" \t"))
        places.extend(block.places[last : last + len(kept[-1])])
        last = bisect_left(block.places, marker.end, start)
    return "".join((*kept, block.text[last:])), [*places, *block.places[last:]]


def _sentences(
    report: str, number: int, block: ReportBlock, text: str, places: list[int], markers: Sequence[Marker]
) -> Iterator[ReportSentence]:
    spans = _spans(block.block.kind, text, places, markers)
    owned: list[list[Marker]] = [[] for _ in spans]
    starts = [places[start] for start, _ in spans]
    for marker in markers:
        owned[max(0, bisect_left(starts, marker.start) - 1)].append(marker)
    for (start, end), own in zip(spans, owned, strict=True):
        line = " ".join(text[start:end].split())
        yield ReportSentence(
            id="",
            text=line,
            start=places[start],
            end=_end(report, places[start], places[end - 1] + 1, own),
            role="structure" if block.is_structure else role_of(line, block.sections, cited=bool(own)),
            block=number,
            markers=tuple(own),
            head=block.head,
        )


def _spans(kind: BlockKind, text: str, places: list[int], markers: Sequence[Marker]) -> list[tuple[int, int]]:
    """Sentences; a row, and a frame which is cited at its end, is one."""
    spans = sentences(_masked(text))
    whole = [(spans[0][0], spans[-1][1])]
    if kind != "paragraph":
        return whole
    cited_at_end = markers and all(marker.start > places[spans[-1][0]] for marker in markers)
    return whole if len(spans) > 1 and cited_at_end and is_frame(text.strip()) else spans


_HIDING = re.compile(r"[\\`~$<\[【［]")


def _masked(text: str) -> str:
    """`text` with the points inside code, links and formulas hidden, so that no sentence ends there."""
    if not _HIDING.search(text):
        return text
    return "".join(
        text[token.start : token.end]
        if token.kind == "text"
        else re.sub(r"[.!?。！？…]", "x", text[token.start : token.end])
        for token in scan(text)
    )


PAIRED = '*_~()“”„"«»'
"""Signs at a sentence's ends which may go to the one beside it."""
_END_SIGNS = re.compile(r"[\s.!?…。！？؟۔।,;:\"'”’»)\]*_|]*")


def _end(report: str, start: int, end: int, markers: Sequence[Marker]) -> int:
    """The end of a sentence before its last markers, which only signs that end sentences follow."""
    for marker in reversed(markers):
        if start < marker.start < end and _END_SIGNS.fullmatch(report, marker.end, end):
            end = start + len(report[start : marker.start].rstrip())
    return end


# blocks


def readable(blocks: Iterable[Block], sections: dict[int, str]) -> Iterator[ReportBlock]:
    """The blocks with text in them: headings, paragraphs, list items, quotations, table rows. Code and HTML are none.

    `blocks` are those of a report, or some of them; `sections` the headings above them, by level, which change as
    headings are met.
    """
    head: tuple[str, ...] = ()
    for block in (leaf for each in blocks for leaf in each.leaves()):
        if block.kind == "head row":
            head = cells(block.line)
            yield from _row(block, tuple(sections.values()), ())
        elif block.kind == "row":
            found = cells(block.line)
            above = head if len(found) == len(head) and found[0] else ()
            yield from _row(block, tuple(sections.values()), above)
        elif block.kind in ("heading", "paragraph"):
            if block.kind == "heading":
                _enter(sections, block.level, block.content)
            yield from _text(block, tuple(sections.values()))


def _enter(sections: dict[int, str], level: int, name: str) -> None:
    """A heading ends the sections of its level and below."""
    for at in [at for at in sections if at >= level]:
        del sections[at]
    sections[level] = name


def _row(block: Block, sections: tuple[str, ...], head: tuple[str, ...]) -> Iterator[ReportBlock]:
    """A table row, from its first cell's first character to its last cell's last."""
    line = block.line
    start = len(line) - len(line.lstrip(" \t>|"))
    end = len(line.rstrip(" \t|"))
    if start < end:
        places = tuple(range(block.start + start, block.start + end))
        yield ReportBlock(block=block, text=line[start:end], places=places, sections=sections, head=head)


def _text(block: Block, sections: tuple[str, ...]) -> Iterator[ReportBlock]:
    """A paragraph or heading, past the signs of lists and quotations."""
    if block.content.strip():
        there = tuple(block.start + at for at in places(block.content, block.text, line_spans(block.text)))
        yield ReportBlock(block=block, text=block.content, places=there, sections=sections)
