"""The blocks of a report, and which of them are left empty when their sentences go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from markdown_it.tree import SyntaxTreeNode

from assay.core.clean import Edit
from assay.core.markers import Marker
from assay.verify.claims import ReportSentence, markdown

_LEAVES = frozenset(("paragraph", "heading", "tr"))
_RULES = frozenset(("hr", "thead"))
"""What holds no block up."""
_NUMBER = re.compile(r"[ \t>]*(?:[-*+][ \t]+)*([0-9]{1,9})[.)]")


class Blocks:
    """The blocks of one report by line; `dead` ones are to go."""

    def __init__(self, report: str) -> None:
        self.report = report
        self.starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", report))]
        self.root = SyntaxTreeNode(markdown().parse(report))
        self.dead: set[int] = set()
        self.leaves = [node for node in self.root.walk() if node.type in _LEAVES and node.map]

    def leaf(self, point: int) -> SyntaxTreeNode | None:
        """The block with text in it which holds code point `point`."""
        line = self._line(point)
        inside = [node for node in self.leaves if node.map and node.map[0] <= line < node.map[1]]
        return inside[-1] if inside else None

    def kill(self, leaves: Sequence[SyntaxTreeNode]) -> None:
        """Let these blocks go, and with them all that they leave empty: items, lists, tables, quotations, headings."""
        self.dead.update(map(id, leaves))
        while self._spread(self.root):
            pass

    def gone(self, node: SyntaxTreeNode | None) -> bool:
        """Whether a block is to go, or one it stands in."""
        while node is not None and node.type != "root":
            if id(node) in self.dead:
                return True
            node = node.parent
        return False

    def _spread(self, node: SyntaxTreeNode) -> bool:
        """Note what is dead because of what is; whether anything was."""
        before = len(self.dead)
        for child in node.children:
            if child.children and child.type not in _LEAVES:
                self._spread(child)
        self._headings(node)
        held = [child for child in node.children if child.type not in _RULES]
        if node.type != "root" and held and all(id(child) in self.dead for child in held):
            self.dead.add(id(node))
        return len(self.dead) > before

    def _headings(self, node: SyntaxTreeNode) -> None:
        children = node.children
        for at in reversed(range(len(children))):
            below = self.below(children, at)
            held = [child for child in below if child.type not in _RULES]
            if held and all(id(child) in self.dead for child in held):
                self.dead.add(id(children[at]))

    def below(self, children: Sequence[SyntaxTreeNode], at: int) -> list[SyntaxTreeNode]:
        """What stands under the heading which is `children[at]`, its sections too; nothing where that is none."""
        if children[at].type != "heading":
            return []
        level = children[at].tag
        found: list[SyntaxTreeNode] = []
        for child in children[at + 1 :]:
            if child.type == "heading" and child.tag <= level:
                break
            found.append(child)
        return found

    def led_in(self) -> Iterator[SyntaxTreeNode]:
        """Paragraphs which stand before a list, table or quotation that goes."""
        for node in self.root.walk():
            if id(node) in self.dead and node.type in {"bullet_list", "ordered_list", "table", "blockquote"}:
                before = node.previous_sibling
                if before is not None and before.type == "paragraph" and not self.gone(before):
                    yield before

    def keeps_a_sign(self, leaf: SyntaxTreeNode) -> bool:
        """Whether a dead block stands on the line of a list's sign which stays."""
        item = leaf.parent
        return bool(item and item.type == "list_item" and item.children[0] is leaf and not self.gone(item))

    def edits(self) -> list[Edit]:
        """The edits which take the dead blocks out, with the blank lines they leave, and number lists anew."""
        return [*self._cuts(self.root), *self._numbers()]

    def _cuts(self, node: SyntaxTreeNode) -> Iterator[Edit]:
        for child in node.children:
            if id(child) not in self.dead:
                yield from self._cuts(child)
            elif child.map and not self.keeps_a_sign(child):
                yield self._cut(*child.map)

    def _cut(self, first: int, after: int) -> Edit:
        while after - 1 > first and self._blank(after - 1):
            after -= 1
        if first == 0 or self._blank(first - 1):
            while after < len(self.starts) and self._blank(after):
                after += 1
        end = self.starts[after] if after < len(self.starts) else len(self.report)
        return Edit(self.starts[first], end, "")

    def _blank(self, line: int) -> bool:
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.report)
        return not self.report[self.starts[line] : end].strip(" \t\r\n>")

    def _numbers(self) -> Iterator[Edit]:
        for node in self.root.walk():
            if node.type != "ordered_list" or self.gone(node):
                continue
            signs = [(child, self._sign(child)) for child in node.children]
            kept = [sign for child, sign in signs if id(child) not in self.dead and sign is not None]
            first = next((sign for _, sign in signs if sign is not None), None)
            if len(kept) == len(signs) or first is None:
                continue
            for place, sign in enumerate(kept):
                number = str(int(first[1]) + place)
                if sign[1] != number:
                    yield Edit(sign.start(1), sign.end(1), number)

    def _sign(self, item: SyntaxTreeNode) -> re.Match[str] | None:
        return _NUMBER.match(self.report, self.starts[item.map[0]]) if item.map else None

    def _line(self, point: int) -> int:
        low, high = 0, len(self.starts)
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= point else (low, middle)
        return low


# What belongs to each sentence of a report as written: its words, its markers, the signs which end it.

_CLOSING = re.compile(r"[.!?…。！？؟۔।,;:\"'”’»)\]*_~`」』】）]*")
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")


class SentenceExtent(msgspec.Struct, frozen=True, kw_only=True):
    """Code points `[start, stop)` of the report: a sentence with the markers beside it and what ends it.

    `apart` are its markers which stand in a block of their own, below it.
    """

    sentence: ReportSentence
    start: int
    stop: int
    apart: tuple[Marker, ...] = ()


def extents(report: str, sentences: Sequence[ReportSentence]) -> tuple[SentenceExtent, ...]:
    """The extent of every sentence; `sentences` are all of the report, in order. None overlap."""
    found = []
    for at, sentence in enumerate(sentences):
        following = sentences[at + 1] if at + 1 < len(sentences) else None
        limit = following.start if following and following.block == sentence.block else len(report)
        if following and limit < len(report):
            limit = min((marker.start for marker in following.markers if marker.start < limit), default=limit)
        found.append(_extent(report, sentence, limit))
    return tuple(found)


def _extent(report: str, sentence: ReportSentence, limit: int) -> SentenceExtent:
    start = min([sentence.start, *(marker.start for marker in sentence.markers)])
    stop = _closed(report, sentence.end, limit)
    apart: list[Marker] = []
    for marker in sentence.markers:
        if marker.end <= stop:
            continue
        gap = report[stop : marker.start]
        if apart or gap.strip(" \t\r\n>") or _BLANK_LINE.search(gap):
            apart.append(marker)
        else:
            stop = _closed(report, marker.end, limit)
    return SentenceExtent(sentence=sentence, start=start, stop=stop, apart=tuple(apart))


def _closed(report: str, at: int, limit: int) -> int:
    """`at` past the signs which end a sentence there."""
    match = _CLOSING.match(report, at, limit)
    return match.end() if match else at
