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


def apply_changes(report: str, changes: Mapping[str, Change], *, emptied: str = "") -> str:
    """`report` with the claims of these ids (as `claims.read_sentences` counts them in it) changed.

    A list item, table row, list, table, quotation or heading that becomes empty is removed too. With `emptied`,
    headings stay, with that sentence under each that lost everything.
    """
    sentences = read_sentences(report)
    found = extents(report, sentences)
    wanted = {at: changes[each.sentence.id] for at, each in enumerate(found) if each.sentence.id in changes}
    edits = [edit for at, change in wanted.items() for edit in _edits(report, found[at], change)]
    gone = {at for at, change in wanted.items() if isinstance(change, Remove)}
    if gone:
        edits += _removal_edits(report, found, gone, emptied)
    return _tidy(report, EditedText(report, _merge_edits(edits)).text)


def _tidy(report: str, text: str) -> str:
    """Trim new space at the end."""
    end = report[len(report.rstrip()) :]
    return text.rstrip() + end if text.strip() else ""


def _merge_edits(edits: list[Edit]) -> list[Edit]:
    """Edits without overlaps: cuts are joined, and removed text needs no other change."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
        elif not edit.text and not kept[-1].text:
            kept[-1] = Edit(kept[-1].start, max(kept[-1].end, edit.end), "")
    return kept


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
    own = [each for each in extent.sentence.markers if each not in extent.apart]
    if not own:
        yield Edit(extent.stop, extent.stop, f" {marker}")
        return
    last = own[-1].start
    for each in reversed(own[:-1]):
        if not report[each.end : last].strip(" \t"):
            last = each.start
            continue
        start = each.start
        while start > extent.start and report[start - 1] in " \t":
            start -= 1
        yield Edit(start, each.end, "")
    yield Edit(last, own[-1].end, marker)


def _emptying_edits(report: str, row: ReportSentence, emptied: Sequence[int]) -> Iterator[Edit]:
    """Replace the words of these cells by a dash."""
    ending = re.compile(r"[\r\n]").search(report, row.start)
    end = ending.start() if ending else len(report)
    bars = [row.start - 1, *(match.start() for match in CELL_SEPARATOR.finditer(report, row.start, end)), end]
    for at in emptied:
        start, stop = bars[at] + 1, bars[at + 1]
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


def _removal_edits(report: str, found: Sequence[SentenceExtent], gone: set[int], emptied: str) -> list[Edit]:
    blocks = Pruning(report)
    leaves: dict[int, Block] = {}
    members: defaultdict[int, list[int]] = defaultdict(list)
    for at, extent in enumerate(found):
        leaf = blocks.leaf_at(extent.sentence.start)
        if leaf is not None:
            leaves[extent.sentence.block] = leaf
            members[extent.sentence.block].append(at)
    gone = _add_labels(found, gone, members)
    while True:
        blocks.remove([leaf for block, leaf in leaves.items() if gone.issuperset(members[block])])
        blocks.remove(
            [leaf for at in gone for each in found[at].apart if (leaf := blocks.leaf_at(each.start)) is not None]
        )
        left = _lead_ins(found, blocks, leaves, members) - gone
        if not left:
            break
        gone |= left
    kept = _kept_headings(blocks, emptied) if emptied else []
    edits = blocks.edits()
    for block, inside in members.items():
        leaf = leaves[block]
        if not blocks.is_removed(leaf):
            edits += _remove_sentences(report, found, inside, gone)
        elif blocks.keeps_list_marker(leaf) and gone.issuperset(inside):
            edits.append(_remove_item_text(found, blocks.sibling(leaf, 1), inside))
    return [*edits, *kept]


_LABEL = regex(r"(?:\*\*|__)[^\n]+(?:\*\*|__):?")


def _add_labels(found: Sequence[SentenceExtent], gone: set[int], members: Mapping[int, list[int]]) -> set[int]:
    """Add sentences that only introduce others, if none of these is left in the block."""
    more = set(gone)
    for inside in members.values():
        kept = [at for at in inside if at not in gone]
        if len(kept) < len(inside) and all(_is_label(found[at].sentence) for at in kept):
            more.update(kept)
    return more


def _is_label(sentence: ReportSentence) -> bool:
    return not sentence.id and (sentence.text.endswith((":", "：")) or _LABEL.fullmatch(sentence.text) is not None)


def _lead_ins(
    found: Sequence[SentenceExtent], blocks: Pruning, leaves: Mapping[int, Block], members: Mapping[int, list[int]]
) -> set[int]:
    """The sentences ending with a colon that introduce a list or table that is removed."""
    leading = {id(node) for node in blocks.lead_ins()}
    last = [members[block][-1] for block, leaf in leaves.items() if id(leaf) in leading]
    return {at for at in last if _is_label(found[at].sentence)}


def _kept_headings(blocks: Pruning, emptied: str) -> list[Edit]:
    """Keep headings; one that has lost everything gets the line `emptied`."""
    edits = []
    for at, block in enumerate(blocks.blocks):
        if block.kind == "heading" and id(block) in blocks.dead:
            blocks.dead.discard(id(block))
            if not any(below.kind == "heading" for below in blocks.content_below(blocks.blocks, at)):
                edits.append(Edit(block.end, block.end, f"\n{emptied}\n"))
    return edits


def _remove_sentences(
    report: str, found: Sequence[SentenceExtent], inside: Sequence[int], gone: set[int]
) -> Iterator[Edit]:
    """Remove sentences from a block in which others stay, a run of them at once."""
    run: list[int] = []
    kept = -1
    for at in (*inside, -1):
        if at in gone:
            run.append(at)
            continue
        if run:
            closing, opening = _unpaired_marks(report[found[run[0]].start : found[run[-1]].stop])
            if kept >= 0 and (at < 0 or closing):  # closing punctuation stays where the sentence before ends
                yield Edit(found[kept].stop, found[run[-1]].stop, closing + opening)
            else:
                yield Edit(found[run[0]].start, found[at].start, closing + opening)
        run, kept = [], at


def _remove_item_text(found: Sequence[SentenceExtent], after: Block | None, inside: Sequence[int]) -> Edit:
    """Remove the text of an item that has more content: what follows takes its place, unless it is a list."""
    start, stop = found[inside[0]].start, found[inside[-1]].stop
    if after is not None and after.kind == "paragraph" and inside[-1] + 1 < len(found):
        stop = found[inside[-1] + 1].start
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


def align_claims(report: str, wanted: Sequence[ClaimChange]) -> tuple[ReportSentence, ...] | None:
    """The claims of `report`, if they are exactly those `wanted`, in order; else None."""
    found = claims(report)
    return found if [claim_change_of(sentence) for sentence in found] == list(wanted) else None
