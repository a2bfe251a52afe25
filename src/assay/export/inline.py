"""Reading the report's Markdown: raw HTML and images off, links only to the web, claims and citations as tokens.

Claims are put in at token level. A token without width stands where a claim begins, ends or has its badge; the rules
of Markdown never see it.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from assay.core.clean import link_target
from assay.core.rendered_text import NumberedCitation
from assay.export.placement import BlockMarks, ClaimSpan, Mark, place

_TEXT, _CLAIMS, _CITES, _PLAN = "text", "claims", "cites", "plan"  # what the environment of a parse holds


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        """Only addresses of the web; any other link stays text."""
        return link_target(url) is not None


class _Plan:
    """The marks of the block which is being parsed, and how many are set."""

    def __init__(self, placed: BlockMarks) -> None:
        self.cites = placed.cites
        self._marks = placed.marks
        self._places = [mark.at for mark in placed.marks]
        self._set = 0

    def stop(self, after: int, end: int) -> int:
        """The first place after `after` where text has to be cut, at most `end`."""
        following = bisect_right(self._places, after)
        return min(self._places[following], end) if following < len(self._places) else end

    def due(self, at: int) -> Sequence[Mark]:
        """The marks up to `at` which are not set yet."""
        until = bisect_right(self._places, at)
        marks, self._set = self._marks[self._set : until], max(self._set, until)
        return marks


def parse(markdown: str, claims: Sequence[ClaimSpan], cites: Sequence[NumberedCitation]) -> list[Token]:
    """The tokens of `markdown`; among the children of `inline` ones `mark` (meta: a `Mark`) and `cite` (a
    `NumberedCitation`).

    A citation which is not found again becomes a link to `#source-N`.
    """
    numbers = sorted({cite.number for cite in cites})
    references = {str(number): {"href": f"#source-{number}", "title": ""} for number in numbers}
    return _reader().parse(markdown, {"references": references, _TEXT: markdown, _CLAIMS: claims, _CITES: cites})


@functools.cache
def _reader() -> MarkdownIt:
    reader = _Reader("commonmark", {"html": False, "linkify": False, "typographer": False})
    reader.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    reader.core.ruler.at("inline", _inline)
    reader.inline.ruler.at("text", _text)
    reader.inline.ruler.before("text", "mark", _mark)
    return reader


def _inline(state: StateCore) -> None:
    """The library's rule of this name, with what stands in each block."""
    placed = place(state.env[_TEXT], state.tokens, state.env[_CLAIMS], state.env[_CITES])
    for position, token in enumerate(state.tokens):
        if token.type == "inline":
            plan = state.env[_PLAN] = _Plan(placed.get(position, BlockMarks()))
            token.children = state.md.inline.parse(token.content, state.md, state.env, [])
            token.children += [Token("mark", "", 0, meta={"mark": mark}) for mark in plan.due(len(token.content))]


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
