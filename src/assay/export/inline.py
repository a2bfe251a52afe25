"""What is inside a block of a report, as tokens of markdown-it: its claims and citations are tokens among them.

A claim is put in where it begins, ends or has its badge, as a token without width, which the rules of Markdown never
see.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

import msgspec
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore, text_join
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from assay.core.bibliography import NumberedCitation
from assay.core.blocks import Block, BlockClaim, markdown
from assay.export.report_text import ReportText

Edge = Literal["end", "badge", "start"]
_ORDER: tuple[Edge, ...] = ("end", "badge", "start")
_PLAN = "plan"  # what the environment of a parse holds


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim begins or ends in a block, or its badge stands: before character `at` of the block's content."""

    at: int
    edge: Edge
    claim: int


def read_inline(text: ReportText, block: Block, claims: Sequence[BlockClaim]) -> list[Token]:
    """The tokens of a heading, paragraph or cell; among them `mark` (meta: a `Mark`) for these of its claims, and
    `cite` (a `NumberedCitation`).
    """
    plan = _Plan(claims, _cites(text, block))
    environment = {"references": text.links, _PLAN: plan}
    reader = _reader()
    inline = Token("inline", "", 0, children=reader.inline.parse(block.content, reader, environment, []))
    assert inline.children is not None
    inline.children += [Token("mark", "", 0, meta={"mark": mark}) for mark in plan.due(len(block.content))]
    text_join(StateCore("", reader, environment, [inline]))
    return inline.children


def _cites(text: ReportText, block: Block) -> dict[int, NumberedCitation]:
    """The citations whose text is whole in the block, by the character at which they begin."""
    points = block.points
    if not points:
        return {}
    first = bisect_left(text.cites, points[0], key=lambda cite: cite.start)
    last = bisect_right(text.cites, points[-1], key=lambda cite: cite.start)
    found: dict[int, NumberedCitation] = {}
    for cite in text.cites[first:last]:
        at = bisect_left(points, cite.start)
        if points[at] == cite.start and block.content.startswith(f"[{cite.number}]", at):
            found[at] = cite
    return found


class _Plan:
    """The marks of the block which is being parsed, and how many are set."""

    def __init__(self, claims: Sequence[BlockClaim], cites: dict[int, NumberedCitation]) -> None:
        self.cites = cites
        marks = [mark for claim in claims for mark in _marks(claim)]
        self._marks = sorted(marks, key=lambda mark: (mark.at, _ORDER.index(mark.edge)))
        self._places = [mark.at for mark in self._marks]
        self._set = 0

    def stop(self, after: int, end: int) -> int:
        """The first place after `after` where text has to be cut, at most `end`."""
        following = bisect_right(self._places, after)
        return min(self._places[following], end) if following < len(self._places) else end

    def due(self, at: int) -> Sequence[Mark]:
        """The marks up to `at` which are not set yet."""
        first = self._set
        while self._set < len(self._places) and self._places[self._set] <= at:
            self._set += 1
        return self._marks[first : self._set]


def _marks(claim: BlockClaim) -> list[Mark]:
    edges: list[tuple[Edge, int]] = [("start", claim.start), ("end", claim.end), ("badge", claim.close)]
    return [Mark(at=at, edge=edge, claim=claim.index) for edge, at in edges if at >= 0]


@functools.cache
def _reader() -> MarkdownIt:
    reader = markdown()
    reader.inline.ruler.at("text", _text)
    reader.inline.ruler.before("text", "mark", _mark)
    return reader


def _mark(state: StateInline, silent: bool) -> bool:
    """Set the marks that are due; take a citation."""
    plan: _Plan = state.env[_PLAN]
    for mark in () if silent else plan.due(state.pos):
        state.push("mark", "", 0).meta["mark"] = mark
    cite = plan.cites.get(state.pos)
    if cite is None or state.pos + cite.end - cite.start > state.posMax:
        return False
    if not silent:
        state.push("cite", "", 0).meta["cite"] = cite
    state.pos += cite.end - cite.start
    return True


def _text(state: StateInline, silent: bool) -> bool:
    """The library's rule of this name, which stops at marks too."""
    sign = state.md.inline.terminator_re.search(state.src, state.pos, state.posMax)
    plan: _Plan = state.env[_PLAN]
    end = plan.stop(state.pos, sign.start() if sign else state.posMax)
    if end == state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True
