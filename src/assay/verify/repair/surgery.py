"""Changes single sentences of a report exactly: every other claim keeps its words and its markers.

After a change the report is read again (`align_claims`); if any other claim would change, the change is not made.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay.core.blocks import Block
from assay.core.clean import Edit, EditedText
from assay.core.lazy import regex
from assay.core.report_sentences import PAIRED_SIGNS, ReportSentence, claims, read_sentences
from assay.core.tables.cells import CELL_SEPARATOR
from assay.verify.repair.structure import Pruning, SentenceExtent, extents


class Rewrite(msgspec.Struct, frozen=True, tag="rewrite"):
    """Replaces a sentence; `text` has its markers."""

    text: str


class Recite(msgspec.Struct, frozen=True, tag="recite"):
    """Puts other markers on the same words."""

    passages: tuple[str, ...]

    @property
    def marker(self) -> str:
        """The marker of these passages."""
        return f"[{', '.join(self.passages)}]"


class Remove(msgspec.Struct, frozen=True, tag="remove"):
    """Removes the sentence, and what becomes empty."""


class Blank(msgspec.Struct, frozen=True, tag="blank"):
    """Empties these cells of a table row (`EMPTY`), the first being 0; markers in them stay."""

    cells: tuple[int, ...]


EMPTY = "—"
Change = Rewrite | Recite | Remove | Blank


def apply_changes(report: str, changes: Mapping[str, Change], *, placeholder: str = "") -> str:
    """`report` with the claims of these ids (as `claims.read_sentences` counts them in it) changed.

    A list item, table row, list, table, quotation or heading that becomes empty is removed too. With `placeholder`,
    headings stay, with that sentence under each that lost everything.
    """
    sentences = read_sentences(report)
    sentence_extents = extents(report, sentences)
    changes_by_index = {
        index: changes[extent.sentence.id]
        for index, extent in enumerate(sentence_extents)
        if extent.sentence.id in changes
    }
    edits = [
        edit for index, change in changes_by_index.items() for edit in _edits(report, sentence_extents[index], change)
    ]
    removed = {index for index, change in changes_by_index.items() if isinstance(change, Remove)}
    if removed:
        edits += _removal_edits(report, sentence_extents, removed, placeholder)
    return _tidy(report, EditedText(report, _merge_edits(edits)).text)


def _tidy(report: str, text: str) -> str:
    """Trim new space at the end."""
    end = report[len(report.rstrip()) :]
    return text.rstrip() + end if text.strip() else ""


def _merge_edits(edits: list[Edit]) -> list[Edit]:
    """Edits without overlaps: cuts are joined, and removed text needs no other change."""
    merged: list[Edit] = []
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if not merged or edit.start >= merged[-1].end:
            merged.append(edit)
        elif not edit.text and not merged[-1].text:
            merged[-1] = Edit(merged[-1].start, max(merged[-1].end, edit.end), "")
    return merged


# one sentence


def _edits(report: str, extent: SentenceExtent, change: Change) -> Iterator[Edit]:
    for marker in extent.apart:
        start = len(report[: marker.start].rstrip(" \t\r\n>"))
        yield Edit(start, marker.end, "")
    if isinstance(change, Rewrite):
        yield Edit(extent.start, extent.stop, change.text)
    elif isinstance(change, Recite):
        yield from _citation_edits(report, extent, change.marker)
    elif isinstance(change, Blank):
        yield from _emptying_edits(report, extent.sentence, change.cells)


def _citation_edits(report: str, extent: SentenceExtent, marker: str) -> Iterator[Edit]:
    """Replace the last marker, or add one after the sentence if there is none."""
    own_markers = [own_marker for own_marker in extent.sentence.markers if own_marker not in extent.apart]
    if not own_markers:
        yield Edit(extent.stop, extent.stop, f" {marker}")
        return
    last = own_markers[-1].start
    for own_marker in reversed(own_markers[:-1]):
        if not report[own_marker.end : last].strip(" \t"):
            last = own_marker.start
            continue
        start = own_marker.start
        while start > extent.start and report[start - 1] in " \t":
            start -= 1
        yield Edit(start, own_marker.end, "")
    yield Edit(last, own_markers[-1].end, marker)


def _emptying_edits(report: str, row: ReportSentence, columns: Sequence[int]) -> Iterator[Edit]:
    """Replace the words of these cells by a dash."""
    ending = re.compile(r"[\r\n]").search(report, row.start)
    end = ending.start() if ending else len(report)
    bars = [row.start - 1, *(match.start() for match in CELL_SEPARATOR.finditer(report, row.start, end)), end]
    for column in columns:
        start, stop = bars[column] + 1, bars[column + 1]
        marks = [marker for marker in row.markers if start <= marker.start < stop]
        sign = EMPTY
        for left, right in zip(
            (start, *(mark.end for mark in marks)), (*(mark.start for mark in marks), stop), strict=True
        ):
            words = report[left:right]
            if words.strip():
                begins = left + len(words) - len(words.lstrip())
                yield Edit(begins, left + len(words.rstrip()), sign)
                sign = ""


# taking out


def _removal_edits(
    report: str, sentence_extents: Sequence[SentenceExtent], removed: set[int], placeholder: str
) -> list[Edit]:
    blocks = Pruning(report)
    leaves: dict[int, Block] = {}
    members: defaultdict[int, list[int]] = defaultdict(list)
    for index, extent in enumerate(sentence_extents):
        leaf = blocks.leaf_at(extent.sentence.start)
        if leaf is not None:
            leaves[extent.sentence.block] = leaf
            members[extent.sentence.block].append(index)
    removed = _add_labels(sentence_extents, removed, members)
    while True:
        blocks.remove([leaf for block, leaf in leaves.items() if removed.issuperset(members[block])])
        blocks.remove(
            [
                leaf
                for index in removed
                for marker in sentence_extents[index].apart
                if (leaf := blocks.leaf_at(marker.start)) is not None
            ]
        )
        lead_ins = _lead_ins(sentence_extents, blocks, leaves, members) - removed
        if not lead_ins:
            break
        removed |= lead_ins
    heading_edits = _kept_headings(blocks, placeholder) if placeholder else []
    edits = blocks.edits()
    for block, inside in members.items():
        leaf = leaves[block]
        if not blocks.is_removed(leaf):
            edits += _remove_sentences(report, sentence_extents, inside, removed)
        elif blocks.keeps_list_marker(leaf) and removed.issuperset(inside):
            edits.append(_remove_item_text(sentence_extents, blocks.sibling(leaf, 1), inside))
    return [*edits, *heading_edits]


_LABEL = regex(r"(?:\*\*|__)[^\n]+(?:\*\*|__):?")


def _add_labels(
    sentence_extents: Sequence[SentenceExtent], removed: set[int], members: Mapping[int, list[int]]
) -> set[int]:
    """Add sentences that only introduce others, if none of these is left in the block."""
    extended = set(removed)
    for inside in members.values():
        remaining = [index for index in inside if index not in removed]
        if len(remaining) < len(inside) and all(_is_label(sentence_extents[index].sentence) for index in remaining):
            extended.update(remaining)
    return extended


def _is_label(sentence: ReportSentence) -> bool:
    return not sentence.id and (sentence.text.endswith((":", "：")) or _LABEL.fullmatch(sentence.text) is not None)


def _lead_ins(
    sentence_extents: Sequence[SentenceExtent],
    blocks: Pruning,
    leaves: Mapping[int, Block],
    members: Mapping[int, list[int]],
) -> set[int]:
    """The sentences ending with a colon that introduce a list or table that is removed."""
    lead_in_ids = {id(node) for node in blocks.lead_ins()}
    last = [members[block][-1] for block, leaf in leaves.items() if id(leaf) in lead_in_ids]
    return {index for index in last if _is_label(sentence_extents[index].sentence)}


def _kept_headings(blocks: Pruning, placeholder: str) -> list[Edit]:
    """Keep headings; one that has lost everything gets the line `placeholder`."""
    edits = []
    for index, block in enumerate(blocks.blocks):
        if block.kind == "heading" and id(block) in blocks.dead:
            blocks.dead.discard(id(block))
            if not any(below.kind == "heading" for below in blocks.content_below(blocks.blocks, index)):
                edits.append(Edit(block.end, block.end, f"\n{placeholder}\n"))
    return edits


def _remove_sentences(
    report: str, sentence_extents: Sequence[SentenceExtent], inside: Sequence[int], removed: set[int]
) -> Iterator[Edit]:
    """Remove sentences from a block in which others stay, a run of them at once."""
    run: list[int] = []
    last_kept = -1
    for index in (*inside, -1):
        if index in removed:
            run.append(index)
            continue
        if run:
            closing, opening = _unpaired_marks(report[sentence_extents[run[0]].start : sentence_extents[run[-1]].stop])
            if last_kept >= 0 and (index < 0 or closing):  # closing punctuation stays where the sentence before ends
                yield Edit(sentence_extents[last_kept].stop, sentence_extents[run[-1]].stop, closing + opening)
            else:
                yield Edit(sentence_extents[run[0]].start, sentence_extents[index].start, closing + opening)
        run, last_kept = [], index


def _remove_item_text(sentence_extents: Sequence[SentenceExtent], after: Block | None, inside: Sequence[int]) -> Edit:
    """Remove the text of an item that has more content: what follows takes its place, unless it is a list."""
    start, stop = sentence_extents[inside[0]].start, sentence_extents[inside[-1]].stop
    if after is not None and after.kind == "paragraph" and inside[-1] + 1 < len(sentence_extents):
        stop = sentence_extents[inside[-1] + 1].start
    return Edit(start, stop, "")


_SIGNS = regex(r"\*+|(?<!\w)_+|_+(?!\w)|~~|[()“”„«»\"]")
_CLOSES = {")": "(", "”": "“", "»": "«"}


def _unpaired_marks(text: str) -> tuple[str, str]:
    """The emphasis signs, brackets and quotation marks in `text` without a partner: closing ones, then opening ones."""
    open: list[str] = []
    lone: list[str] = []
    for sign in _SIGNS.findall(text):
        partner = _CLOSES.get(sign, sign)
        if partner in open and (sign in _CLOSES or sign not in "(“«„"):
            open.remove(partner)
        elif sign in _CLOSES:
            lone.append(sign)
        else:
            open.append(sign)
    if open and not lone and text.endswith(open[-1]) and not text.startswith(open[0]):
        return "".join(open), ""  # a closing sign looks like an opening one
    return "".join(lone), "".join(open)


# reading again


class ClaimChange(msgspec.Struct, frozen=True):
    """The words of a claim, and the ids its markers must name, after a change.

    Emphasis signs and brackets at its ends do not count: of two sentences in one pair, the remaining one gets both.
    """

    text: str
    ids: tuple[str, ...]


def claim_change_of(sentence: ReportSentence) -> ClaimChange:
    """The words and ids of a sentence."""
    return ClaimChange(sentence.text.strip(PAIRED_SIGNS), tuple(id for marker in sentence.markers for id in marker.ids))


def align_claims(report: str, expected: Sequence[ClaimChange]) -> tuple[ReportSentence, ...] | None:
    """The claims of `report`, if they are exactly those `expected`, in order; else None."""
    sentences = claims(report)
    return sentences if [claim_change_of(sentence) for sentence in sentences] == list(expected) else None
