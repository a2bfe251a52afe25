"""The sentences of a report, the role of each, and the markers that belong to it.

Blocks are those of `core.blocks`, sentences are read with `core.text`, markers with `core.markers`. In doubt a sentence
states a fact. Only what is recognized as structure, or as a conclusion without anything to look up, needs no source.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Literal

import msgspec

from assay.core.blocks import Block, BlockKind, read_blocks
from assay.core.lazy import regex
from assay.core.markers import BLANKS, Marker, parse_markers
from assay.core.scanner import scan
from assay.core.tables.cells import row_cells
from assay.core.text import sentences, words
from assay.core.translation import Statement, current_phrases, statement_kind

# The role of a sentence: it states a fact, frames a field, concludes, or gives the report its structure.

SentenceRole = Literal["fact", "frame", "analysis", "structure"]

_FRAME = regex(r"(?=[^\W\d_])(?:[^\s:.!?]+[ ]){1,6}?of [^\n]{1,300}?: \S")
# Code's own sentences are known by their origin (`core.blocks`); these match what models write instead.
_SECTIONS = regex(
    r"(?:\d+[.)] )?(?:what could not be found|not found|limits|limitations?|assumptions?|references|sources|"
    r"bibliography|further reading|open questions)",
    re.IGNORECASE,
)
_ABSENCES = regex(
    r"[*_]*(?:nothing about this was found|"
    r"(?:the|these) (?:documents|sources|passages|pages)(?: searched| read| cited| at hand| consulted)? "
    r"(?:hold|contain|say|offer) nothing|"
    r"(?:i|we) (?:could not|did not|cannot) (?:find|answer|verify)|"
    r"this answer (?:is|was written) without sources)",
    re.IGNORECASE,
)
_TRANSITIONS = regex(
    r"(?:this (?:section|report|overview|summary|part)|the following|in what follows|below[, ]|"
    r"see (?:also|below|above)|here (?:is|are)|(?:we )?(?:now )?turn(?:ing)? to|"
    r"we (?:shall |will )?(?:now )?(?:return|come back) to|let us)\b",
    re.IGNORECASE,
)
_CONCLUDES = regex(
    r"(?:overall|all in all|in (?:sum|short|summary|conclusion)|to sum up|taken together|on balance|therefore|thus|"
    r"hence|in (?:our|my) (?:view|opinion)|this (?:suggests|means|implies|shows)|it follows|what follows|"
    r"these (?:findings|results|points) (?:suggest|mean|imply|show))\b",
    re.IGNORECASE,
)
_CHECKABLE = regex(
    r"\d|[\"“„«]|(?<!^)(?<![.!?] )\b[A-Z]"
    r"|\b(?i:no|not|never|none|nobody|nothing|all|every|most|least|only|first|last|best|worst|more|less|fewer|rose|fell|"
    r"increas\w+|decreas\w+|caus\w+|prov\w+|evidence|two|three|four|five|half|twice|million|\w{3,}est)\b"
)
"""Facts that could be looked up: figures, quotations, names, superlatives, quantities and negations."""
_ROW_NUMBERS = frozenset(("#", "№", "no", "nr", "s.no", "sr. no", "序号", "編號"))
"""Names of a column that only counts the rows of a table; lower case. Below another name a number may be a fact."""
_ROW_NUMBER = regex(r"\d{1,3}\.?")
_ENDED = regex(r"[.!?。！？؟۔।…][\"'”’»)\]*_`」』】）]*$")
_LABEL = regex(r"(\*\*|__).+\1:?")
_NUMBERING_WORDS = 2
"""The most words of a part of a title that ends with a dot. By hand."""
_BOLD_TITLE = regex(r"(\*\*|__)(?:(?!\1).){1,200}(?<![.!?。！？])\1:?")


def is_frame(text: str) -> bool:
    """True if `text` looks like `KEY of SUBJECT: VALUE`."""
    return _FRAME.match(text) is not None


def role_of(text: str, sections: Sequence[str], is_cited: bool) -> SentenceRole:
    """The role of a sentence under the headings `sections`; a sentence with a citation states a fact."""
    if not is_cited and ": " not in text and _is_fragment(text):  # checked first: it costs least
        return "structure"
    apart = any(
        statement_kind(section) == "missing" or _SECTIONS.fullmatch(section.strip("*_ ")) for section in sections
    )
    if is_frame(text) and (is_cited or not (text.endswith(":") or apart)):
        return "frame"
    if is_cited:
        return "fact"
    if apart or statement_kind(text) or _ABSENCES.match(text) or not words(text):
        return "structure"
    bare = text.rstrip("*_ ")
    if bare.endswith((":", "：", "?", "？", "؟")) or _LABEL.fullmatch(text):
        return "structure"
    digits = any(sign.isdecimal() for sign in text)
    if _TRANSITIONS.match(text) and not digits:
        return "structure"
    if _is_fragment(text):
        return "structure"
    return "analysis" if _CONCLUDES.match(text) and not _CHECKABLE.search(text) else "fact"


def _is_fragment(text: str) -> bool:
    """True if a text is a few words and not a sentence."""
    return not _ENDED.search(text) and not any(map(str.isdecimal, text)) and len(words(text)) <= 3


class ReportSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the report, or a table row.

    `text` is without markers, on one line. `[start, end)` are code points of the report as written: from the first
    character to the last before the markers that follow it. `block` numbers its block. `id` is "c1" and so on for a
    statement of fact, else empty. `head` has the header cells of a table row, empty if their number differs.
    """

    id: str
    text: str
    start: int
    end: int
    role: SentenceRole
    block: int
    markers: tuple[Marker, ...] = ()
    head: tuple[str, ...] = ()


class ReportBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block's text without container markup; `positions` has the place of each character in the report."""

    block: Block
    text: str
    positions: Sequence[int]
    sections: tuple[str, ...]
    head: tuple[str, ...] = ()

    @property
    def is_structure(self) -> bool:
        """True if nothing in it is a statement by the writer."""
        return self.block.kind in ("heading", "head row") or self.block.origin != "writer"


def read_sentences(report: str, *, html: bool = False) -> tuple[ReportSentence, ...]:
    """Every sentence of `report`, in order, with the markers inside it and directly after it; `html` as `read_blocks`.

    A marker after the final punctuation belongs to the sentence before it; one alone in its block, to the last sentence
    of the block before. Cached, since comparing, checking and the gate read the same report.
    """
    return _cached_sentences(report, frozenset(current_phrases().statements.items()), html)


@functools.lru_cache(maxsize=128)
def _cached_sentences(
    report: str, known_statements: frozenset[tuple[str, Statement]], html: bool
) -> tuple[ReportSentence, ...]:
    del known_statements  # only part of the key: what code stated decides on the roles of sentences
    markers = parse_markers(report)
    starts = [marker.start for marker in markers]
    all_sentences: list[ReportSentence] = []
    alone: list[Marker] = []  # of the blocks since the last sentence that contain nothing else
    for number, block in enumerate(text_blocks(read_blocks(report, html=html), {})):
        inside = markers[bisect_left(starts, block.positions[0]) : bisect_right(starts, block.positions[-1])]
        sentences = read_block(report, number, block, inside)
        if not sentences:
            alone += inside if all_sentences else ()
            continue
        if alone:
            all_sentences[-1] = add_markers(all_sentences[-1], alone)
            alone.clear()
        all_sentences.extend(sentences)
    if alone:
        all_sentences[-1] = add_markers(all_sentences[-1], alone)
    return number_claims(all_sentences)


def claims(report: str, *, html: bool = False) -> tuple[ReportSentence, ...]:
    """The sentences of `report` that state something checkable: facts and frames; `html` as `read_blocks`."""
    return tuple(sentence for sentence in read_sentences(report, html=html) if sentence.id)


def number_claims(unnumbered: Sequence[ReportSentence], count: int = 0) -> tuple[ReportSentence, ...]:
    """The sentences, with ids for those that are claims, after `count` others."""
    numbered = []
    for sentence in unnumbered:
        if sentence.role in ("fact", "frame"):
            count += 1
            numbered.append(msgspec.structs.replace(sentence, id=f"c{count}"))
        else:
            numbered.append(sentence)
    return tuple(numbered)


def add_markers(sentence: ReportSentence, markers: Sequence[Marker]) -> ReportSentence:
    """The last sentence before a block of markers, with these added."""
    role: SentenceRole = "frame" if sentence.role == "frame" else "fact"
    return msgspec.structs.replace(sentence, role=role, markers=(*sentence.markers, *markers))


# sentences of a block


def read_block(report: str, number: int, block: ReportBlock, markers: Sequence[Marker]) -> tuple[ReportSentence, ...]:
    """The sentences of a block, without ids; `markers` are those inside it."""
    text, positions = _strip_markers(block, markers)
    return tuple(_split_block(report, number, block, text, positions, markers)) if text.strip() else ()


def _strip_markers(block: ReportBlock, markers: Sequence[Marker]) -> tuple[str, Sequence[int]]:
    """The block's text without markers and the spaces before them, with the place of each character."""
    if not markers:
        return block.text, block.positions
    parts: list[str] = []
    positions: list[int] = []
    last = 0
    for marker in markers:
        start = bisect_left(block.positions, marker.start, last)
        parts.append(block.text[last:start].rstrip(BLANKS))
        positions.extend(block.positions[last : last + len(parts[-1])])
        last = bisect_left(block.positions, marker.end, start)
    positions.extend(block.positions[last:])
    return "".join((*parts, block.text[last:])), positions


def _split_block(
    report: str, number: int, block: ReportBlock, text: str, positions: Sequence[int], markers: Sequence[Marker]
) -> Iterator[ReportSentence]:
    spans = _sentence_spans(block.block.kind, text, positions, markers)
    markers_by_span: list[list[Marker]] = [[] for _ in spans]
    starts = [positions[start] for start, _ in spans]
    for marker in markers:
        markers_by_span[max(0, bisect_left(starts, marker.start) - 1)].append(marker)
    for (start, end), span_markers in zip(spans, markers_by_span, strict=True):
        line = " ".join(text[start:end].split())
        yield ReportSentence(
            id="",
            text=line,
            start=positions[start],
            end=_sentence_end(report, positions[start], positions[end - 1] + 1, span_markers),
            role="structure" if block.is_structure else role_of(line, block.sections, is_cited=bool(span_markers)),
            block=number,
            markers=tuple(span_markers),
            head=block.head,
        )


def _sentence_spans(
    kind: BlockKind, text: str, positions: Sequence[int], markers: Sequence[Marker]
) -> list[tuple[int, int]]:
    """The spans of sentences; a row, a title in bold ("**26.1. Dumps**"), or a frame cited at its end, is one."""
    spans = sentences(_mask_dots(text))
    whole_span = [(spans[0][0], spans[-1][1])]
    if kind != "paragraph" or (len(spans) > 1 and not markers and _is_bold_title(text, spans)):
        return whole_span
    spans = _split_at_citations(text, spans, {bisect_left(positions, marker.start) for marker in markers})
    cited_at_end = markers and all(marker.start > positions[spans[-1][0]] for marker in markers)
    return whole_span if len(spans) > 1 and cited_at_end and is_frame(text.strip()) else spans


def _is_bold_title(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """True if a text is a title in bold whose dots end no sentences but numbers and the like."""
    if not _BOLD_TITLE.fullmatch(text.strip()):
        return False
    return sum(len(words(text[start:end])) > _NUMBERING_WORDS for start, end in spans) < 2


_CLOSED = regex(r"[^\W\d_]{3}[\"'”’»)\]*_]*[.!?…][\"'”’»)\]*_]*\s*$")
_CLOSING = 200
"""The most code points of the last letters of a sentence and of the signs and spaces after them. By hand."""
_END_AHEAD = regex(r"(?:[.!?…]+[\"'”’»)\]*_]*(?=\s))?")
_OPENS = regex(r"[\"'“„«‘(\[*_]*[^\W\d_]")


def _split_at_citations(
    text: str, spans: Sequence[tuple[int, int]], citation_starts: Set[int]
) -> list[tuple[int, int]]:
    """The spans, cut where a citation stands at an end of sentence, before a capital.

    By words alone "every month. For the next" may be one sentence; with a citation between them it is two.
    """
    parts = []
    ends = sorted(
        {ahead.end() for citation_start in citation_starts if (ahead := _END_AHEAD.match(text, citation_start))}
    )
    for first, end in spans:
        start = first
        for boundary in ends[bisect_right(ends, first) : bisect_left(ends, end)]:
            remainder = text[boundary:end].lstrip()
            opening = _OPENS.match(remainder)
            if opening and opening[0][-1].isupper() and _CLOSED.search(text, max(start, boundary - _CLOSING), boundary):
                parts.append((start, start + len(text[start:boundary].rstrip())))
                start = end - len(remainder)
        parts.append((start, end))
    return parts


_HIDING = regex(r"[\\`~$<\[【［]")


def _mask_dots(text: str) -> str:
    """`text` with the dots in code, links and formulas masked, so that no sentence ends there."""
    if not _HIDING.search(text):
        return text
    return "".join(
        text[token.start : token.end]
        if token.kind == "text"
        else re.sub(r"[.!?。！？…]", "x", text[token.start : token.end])
        for token in scan(text)
    )


PAIRED_SIGNS = '*_~()“”„"«»'
"""Punctuation at a sentence's ends that may go to its neighbour."""
_END_SIGNS = regex(r"[\s.!?…。！？؟۔।,;:\"'”’»)\]*_|]*")


def _sentence_end(report: str, start: int, end: int, markers: Sequence[Marker]) -> int:
    """The end of a sentence before its last markers, with only sentence-ending punctuation after them."""
    for marker in reversed(markers):
        if start < marker.start < end and _END_SIGNS.fullmatch(report, marker.end, end):
            end = start + len(report[start : marker.start].rstrip())
    return end


# blocks


def text_blocks(blocks: Iterable[Block], sections: dict[int, str]) -> Iterator[ReportBlock]:
    """The blocks with text: headings, paragraphs, list items, quotations, table rows. No code or HTML.

    `blocks` are those of a report, or some of them; `sections` are the headings above them, by level, updated on the
    way.
    """
    head: tuple[str, ...] = ()
    for block in (leaf for parent in blocks for leaf in parent.leaves()):
        if block.kind == "head row":
            head = row_cells(block.line)
            yield from _row(block, tuple(sections.values()), ())
        elif block.kind == "row":
            cells = row_cells(block.line)
            above = head if len(cells) == len(head) and cells[0] else ()
            is_numbered = len(cells) > 1 and _ROW_NUMBER.fullmatch(cells[0]) is not None and _heads_numbers(above)
            yield from _row(block, tuple(sections.values()), above[is_numbered:], numbered=is_numbered)
        elif block.kind in ("heading", "paragraph"):
            if block.kind == "heading":
                _enter_section(sections, block.level, block.content)
            yield from _text(block, tuple(sections.values()))


def _enter_section(sections: dict[int, str], level: int, name: str) -> None:
    """Enter a heading, which ends the sections of its level and below."""
    for depth in [depth for depth in sections if depth >= level]:
        del sections[depth]
    sections[level] = name


def _heads_numbers(head: Sequence[str]) -> bool:
    """True if the first column of a table only counts its rows."""
    return bool(head) and head[0].strip("*_.: ").casefold() in _ROW_NUMBERS


def _row(
    block: Block, sections: tuple[str, ...], head: tuple[str, ...], numbered: bool = False
) -> Iterator[ReportBlock]:
    """A table row, from the first character of its first cell to its last cell's last; without its number."""
    line = block.line
    start = len(line) - len(line.lstrip(" \t>|"))
    if numbered:
        start = line.index("|", start) + 1
        start += len(line[start:]) - len(line[start:].lstrip(" \t|"))
    end = len(line.rstrip(" \t|"))
    if start < end:
        positions = range(block.start + start, block.start + end)
        yield ReportBlock(block=block, text=line[start:end], positions=positions, sections=sections, head=head)


def _text(block: Block, sections: tuple[str, ...]) -> Iterator[ReportBlock]:
    """A paragraph or heading, without list and quotation markup."""
    if block.content.strip():
        yield ReportBlock(block=block, text=block.content, positions=block.points, sections=sections)
