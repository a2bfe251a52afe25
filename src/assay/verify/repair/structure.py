"""The blocks of a report, and which of them become empty when their sentences are removed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.core.blocks import Block, line_spans, read_blocks
from assay.core.clean import Edit
from assay.core.lazy import regex
from assay.core.markers import Marker
from assay.core.report_sentences import ReportSentence

_LEAVES = frozenset(("paragraph", "heading", "head row", "row"))
_RULES = frozenset(("rule", "head row", "space"))
"""Blocks that do not keep their parent."""
_NUMBER = regex(r"[ \t>]*(?:[-*+][ \t]+)*([0-9]{1,9})[.)]")


class Pruning:
    """The blocks of one report, and which are to be removed: `dead`, by identity."""

    def __init__(self, report: str) -> None:
        self.report, self.blocks = report, read_blocks(report)
        self.dead: set[int] = set()
        self._starts = [start for start, _ in line_spans(report)[:-2]]
        self._context: dict[int, tuple[Block | None, Sequence[Block]]] = {}
        self._every = list(self._walk(None, self.blocks))
        self._leaves = [block for block in self._every if block.kind in _LEAVES]
        self._leaf_starts = [leaf.start for leaf in self._leaves]

    def _walk(self, parent: Block | None, blocks: Sequence[Block]) -> Iterator[Block]:
        for block in blocks:
            self._context[id(block)] = parent, blocks
            yield block
            yield from self._walk(block, block.children)

    def leaf_at(self, point: int) -> Block | None:
        """The text block that contains code point `point`."""
        index = bisect_right(self._leaf_starts, point) - 1
        return self._leaves[index] if index >= 0 and point < self._leaves[index].end else None

    def sibling(self, block: Block, offset: int) -> Block | None:
        """The block `offset` places after this one in its parent, not counting blank lines."""
        siblings = [other for other in self._context[id(block)][1] if other.kind != "space"]
        index = [id(other) for other in siblings].index(id(block)) + offset
        return siblings[index] if 0 <= index < len(siblings) else None

    def remove(self, leaves: Iterable[Block]) -> None:
        """Remove these blocks, and all that become empty: items, lists, tables, quotations, headings."""
        self.dead.update(map(id, leaves))
        while self._spread(self.blocks):
            pass

    def is_removed(self, block: Block | None) -> bool:
        """True if a block or one of its parents is removed."""
        while block is not None and id(block) not in self.dead:
            block = self._context[id(block)][0]
        return block is not None

    def _spread(self, blocks: Sequence[Block]) -> bool:
        """Mark what is dead because of what is; return whether anything was."""
        before = len(self.dead)
        for block in blocks:
            if block.children:
                self._spread(block.children)
                self._note(block, block.children)
        for index in reversed(range(len(blocks))):
            self._note(blocks[index], self.content_below(blocks, index))
        return len(self.dead) > before

    def _note(self, block: Block, contents: Iterable[Block]) -> None:
        """Mark a block as dead if all it rests on is."""
        counted = [child for child in contents if child.kind not in _RULES]
        if counted and all(id(child) in self.dead for child in counted):
            self.dead.add(id(block))

    def content_below(self, blocks: Sequence[Block], index: int) -> list[Block]:
        """The content under the heading `blocks[at]`, with its sections; empty if it is not a heading."""
        content: list[Block] = []
        for block in blocks[index + 1 :] if blocks[index].kind == "heading" else ():
            if block.kind == "heading" and block.level <= blocks[index].level:
                break
            content.append(block)
        return content

    def lead_ins(self) -> Iterator[Block]:
        """Paragraphs before a list, table or quotation that is removed."""
        for block in self._every:
            if id(block) in self.dead and block.kind in ("list", "table", "quote"):
                before = self.sibling(block, -1)
                if before is not None and before.kind == "paragraph" and not self.is_removed(before):
                    yield before

    def keeps_list_marker(self, leaf: Block) -> bool:
        """True if a dead block is on the line of a list marker that stays."""
        item, siblings = self._context[id(leaf)]
        return item is not None and item.kind == "item" and siblings[0] is leaf and not self.is_removed(item)

    def edits(self) -> list[Edit]:
        """The edits that remove the dead blocks and their blank lines, and renumber lists."""
        return [*self._cuts(self.blocks), *self._numbers()]

    def _cuts(self, blocks: Sequence[Block]) -> Iterator[Edit]:
        for block in blocks:
            if id(block) not in self.dead:
                yield from self._cuts(block.children)
            elif not self.keeps_list_marker(block):
                yield self._removal(bisect_left(self._starts, block.start), bisect_left(self._starts, block.end))

    def _removal(self, first: int, after: int) -> Edit:
        while after - 1 > first and self._is_blank(after - 1):
            after -= 1
        if first == 0 or self._is_blank(first - 1):
            while after < len(self._starts) and self._is_blank(after):
                after += 1
        return Edit(self._starts[first], self._start(after), "")

    def _is_blank(self, line: int) -> bool:
        return not self.report[self._starts[line] : self._start(line + 1)].strip(" \t\r\n>")

    def _start(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self.report)

    def _numbers(self) -> Iterator[Edit]:
        for block in self._every:
            if block.kind != "list" or block.number is None or self.is_removed(block):
                continue
            signs = [(item, _NUMBER.match(item.text)) for item in block.children]
            remaining = [(item, sign) for item, sign in signs if id(item) not in self.dead and sign is not None]
            first = next((sign for _, sign in signs if sign is not None), None)
            if len(remaining) == len(signs) or first is None:
                continue
            for number, (item, sign) in enumerate(remaining, int(first[1])):
                if sign[1] != str(number):
                    yield Edit(item.start + sign.start(1), item.start + sign.end(1), str(number))


# The extent of each sentence in the report: its words, its markers, its final punctuation.

_CLOSING = regex(r"[.!?…。！？؟۔।,;:\"'”’»)\]*_~`」』】）]*")
_BLANK_LINE = regex(r"\n[ \t>]*\n")


class SentenceExtent(msgspec.Struct, frozen=True, kw_only=True):
    """Code points `[start, stop)` of the report: a sentence with the markers beside it and its final punctuation.

    `apart` are its markers in a separate block below it.
    """

    sentence: ReportSentence
    start: int
    stop: int
    apart: tuple[Marker, ...] = ()


def extents(report: str, sentences: Sequence[ReportSentence]) -> tuple[SentenceExtent, ...]:
    """The extent of every sentence; `sentences` are all of the report, in order. None overlap."""
    all_extents = []
    for index, sentence in enumerate(sentences):
        next_sentence = sentences[index + 1] if index + 1 < len(sentences) else None
        limit = next_sentence.start if next_sentence and next_sentence.block == sentence.block else len(report)
        if next_sentence and limit < len(report):
            limit = min((marker.start for marker in next_sentence.markers if marker.start < limit), default=limit)
        all_extents.append(_extent(report, sentence, limit))
    return tuple(all_extents)


def _extent(report: str, sentence: ReportSentence, limit: int) -> SentenceExtent:
    start = min([sentence.start, *(marker.start for marker in sentence.markers)])
    stop = _after_punctuation(report, sentence.end, limit)
    apart: list[Marker] = []
    for marker in sentence.markers:
        if marker.end <= stop:
            continue
        gap = report[stop : marker.start]
        if apart or gap.strip(" \t\r\n>") or _BLANK_LINE.search(gap):
            apart.append(marker)
        else:
            stop = _after_punctuation(report, marker.end, limit)
    return SentenceExtent(sentence=sentence, start=start, stop=stop, apart=tuple(apart))


def _after_punctuation(report: str, position: int, limit: int) -> int:
    """`position`, moved past the punctuation that ends a sentence there."""
    match = _CLOSING.match(report, position, limit)
    return match.end() if match else position
