"""Finds and checks claims while the report is written; the results are logged beside the stream.

They are logged under names made from their content, while the text stands. Verification, which reads the whole text at
the end, logs the rest, and a replay gives the same result. If a stream is dropped, the results for its claims are
dropped too; what was judged is not judged again.

A block of Markdown is read when the next one has begun, since a line may become a heading (by an underline) or the
header of a table; a table row when the next row has begun. Everything before the last top-level block is final and
freed (CommonMark 0.31: a closed block is never opened again), so a stream is read in about linear time.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Literal

import msgspec

from assay.core.blocks import parse_blocks
from assay.core.events import ClaimChecked, ClaimFound
from assay.core.markers import Marker
from assay.core.report_sentences import (
    ReportBlock,
    ReportSentence,
    add_markers,
    claims,
    number_claims,
    read_block,
    text_blocks,
)
from assay.core.scanner import Scanner
from assay.core.sources import Passage, sha256
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.run.run import Branch, Handle, Run
from assay.run.voice import StreamCompanion
from assay.verify.checks import AddedCheck
from assay.verify.claim_check import CheckRules, Checks, ClaimResult, PendingClaim, decide_by_code
from assay.verify.evidence_index import EvidenceIndex, has_inherited_citation
from assay.verify.judge import has_judge

_SMALL = 2_000
_GROWTH = 16
"""Unfinished text is parsed again after each line; if it is long, only when it has grown by 1 part in `_GROWTH`."""
_LINE_ENDS = "\r\n"
_MARKER_SIGNS = "[【［"


class SentenceStream:
    """Reads sentences out of a stream; together they equal what `claims.read` finds in the whole text."""

    def __init__(self) -> None:
        self._scanner = Scanner()
        self._markers: list[Marker] = []
        self._tail, self._base = "", 0  # the text from the last freed block on, and its start
        self._sections: dict[int, str] = {}  # the headings above the tail
        self._taken = 0  # blocks of the tail that were read
        self._number = 0  # blocks read
        self._held: list[ReportSentence] = []  # of the last block read: a block of markers alone belongs to it
        self._count = 0
        self._seen = 0  # how much of the tail was examined

    def feed(self, text: str) -> tuple[ReportSentence, ...]:
        """Add text of the report and return the sentences, of whole blocks, that are now final."""
        self._scanner.add(text)
        self._scan(final=False)
        begins_line = not self._tail or self._tail[-1] in _LINE_ENDS
        self._tail += text
        if not begins_line and not any(end in text for end in _LINE_ENDS):
            return ()  # almost always: no more complete lines than before
        seen = _settled_length(self._tail)
        least = max(1, len(self._tail) // _GROWTH if len(self._tail) > _SMALL else 1)
        if seen - self._seen < least:
            return ()
        return self._read(self._tail[:seen], final=False)

    def end(self) -> tuple[ReportSentence, ...]:
        """Return the rest; nothing may be fed afterwards."""
        self._scan(final=True)
        return (*self._read(self._tail, final=True), *self._take_pending())

    def _scan(self, final: bool) -> None:
        self._markers.extend(token.marker for token in self._scanner.tokens(final) if token.marker)

    def _read(self, seen: str, final: bool) -> tuple[ReportSentence, ...]:
        self._seen = len(seen)
        found = parse_blocks(seen)
        last = max((at for at, block in enumerate(found) if block.kind != "space"), default=0)
        sections = dict(self._sections)
        closed = list(text_blocks(found[:last], sections))
        above = dict(sections)
        still = list(text_blocks(found[last:], sections))
        whole = [*closed, *still]
        ready = whole if final else [each for each in whole[: len(whole) - bool(still)] if self._is_decided(each)]
        settled = [sentence for block in ready[self._taken :] for sentence in self._take(seen, block)]
        self._taken = max(self._taken, len(ready))
        if not final and still and still[-1].text[0] not in _MARKER_SIGNS and len(ready) == len(whole) - 1:
            settled.extend(self._take_pending())
        if not final and len(ready) >= len(closed) and last:
            self._drop_until(found[last].start, above, len(closed))
        return tuple(settled)

    def _is_decided(self, block: ReportBlock) -> bool:
        """True if all its markers are known."""
        return self._base + block.positions[-1] < self._scanner.decided_length

    def _take(self, seen: str, block: ReportBlock) -> tuple[ReportSentence, ...]:
        """Read a block, which makes the block before it final."""
        first, last = (self._base + place for place in (block.positions[0], block.positions[-1]))
        start = bisect_left(self._markers, first, key=attrgetter("start"))
        inside = self._markers[start : bisect_right(self._markers, last, key=attrgetter("start"))]
        near = [_move_marker(marker, -self._base) for marker in inside]
        sentences = [_shift_sentence(each, self._base) for each in read_block(seen, self._number, block, near)]
        self._number += 1
        if not sentences:
            if inside and self._held:
                self._held[-1] = add_markers(self._held[-1], inside)
            return ()
        before = self._take_pending()
        self._held = sentences
        return before

    def _take_pending(self) -> tuple[ReportSentence, ...]:
        """The pending sentences, with their ids."""
        given = number_claims(self._held, self._count)
        self._count += sum(bool(each.id) for each in given)
        self._held = []
        return given

    def _drop_until(self, cut: int, above: dict[int, str], blocks_before: int) -> None:
        self._tail, self._base = self._tail[cut:], self._base + cut
        self._seen -= cut
        self._sections = above
        self._taken -= blocks_before
        self._markers = [marker for marker in self._markers if marker.start >= self._base]


def _settled_length(text: str) -> int:
    """How much of a text may be examined: whole lines, and the first letter of a line that began with one.

    Such a line begins or continues a paragraph, whatever follows.
    """
    ends = max(text.rfind("\n"), text.rfind("\r")) + 1
    return ends + 1 if text[ends : ends + 1].isalpha() else ends


def _move_marker(marker: Marker, by: int) -> Marker:
    return msgspec.structs.replace(marker, start=marker.start + by, end=marker.end + by)


def _shift_sentence(sentence: ReportSentence, by: int) -> ReportSentence:
    markers = tuple(_move_marker(marker, by) for marker in sentence.markers)
    return msgspec.structs.replace(sentence, start=sentence.start + by, end=sentence.end + by, markers=markers)


# Finds claims of one text in another, after code has added, moved or removed text.

SentenceKey = tuple[str, tuple[tuple[str, ...], ...], tuple[str, ...]]


def carry_ids(before: Sequence[ReportSentence], now: Sequence[ReportSentence]) -> dict[str, str]:
    """The ids of claims in a changed text: maps each id of `now` to the claim's earlier id, or a new one.

    A claim is the same if its words, citations and columns are; equal ones are matched in order. Ids are unique, and a
    new claim never gets the id of a removed one.
    """
    known: defaultdict[SentenceKey, deque[str]] = defaultdict(deque)
    for sentence in before:
        known[_sentence_key(sentence)].append(sentence.id)
    ids: dict[str, str] = {}
    new = len(before)
    for sentence in now:
        if same := known[_sentence_key(sentence)]:
            ids[sentence.id] = same.popleft()
        else:
            new += 1
            ids[sentence.id] = f"c{new}"
    return ids


def streamed_spans(before: str, now: str) -> dict[str, tuple[int, int]]:
    """The places of the streamed claims in the present text, in code points, by id."""
    if not before:
        return {}
    found = claims(now)
    ids = carry_ids(claims(before), found)
    return {ids[each.id]: (each.start, each.end) for each in found}


def _sentence_key(sentence: ReportSentence) -> SentenceKey:
    return sentence.text, tuple(marker.ids for marker in sentence.markers), sentence.head


Asked = Literal["write", "answer"]
"""The task of the writer's model calls beside whose steps claims are logged."""


def make_proofreader(
    run: Run, ledger: Ledger, reader: DocumentReader, asked: Asked = "write", added: tuple[AddedCheck, ...] = ()
) -> Proofreader | None:
    """A proofreader for a run's report; None if it is not verified or the writer gets all of it at once."""
    writes = run.profile("complex")
    return Proofreader(run, ledger, reader, asked, added) if run.brief.verify and not writes.deterministic else None


class Proofreader:
    """Reads a report while it is written.

    Args:
        run: the run's own place.
        ledger: what may be cited; it may grow.
        reader: reads stored documents.
        asked: the task of the writer's model calls.
        added: checks of other packages.
    """

    def __init__(
        self, run: Run, ledger: Ledger, reader: DocumentReader, asked: Asked, added: tuple[AddedCheck, ...]
    ) -> None:
        rules = CheckRules(off=tuple(run.brief.checks_off), added=added, judged=has_judge(run))
        self._place = run.with_gate("verify").child("verify")
        self._written, self._step = run.child("write"), f"ask-{asked}"
        self._ledger = ledger
        self._held = EvidenceIndex({}, {}, reader)
        self._checks = Checks(self._place, rules)
        self._code_alone = rules.judged and run.limited  # the writer's worst case is held: little is left for others
        self._texts = 0  # how often the text was dropped
        self._blocks: list[Handle[None]] = []
        self._open = True

    def listener(self, before: str) -> Hearing:
        """A listener for one part of the report; `before` is the text before it, including the break between them."""
        return Hearing(self, before)

    def restart_text(self) -> None:
        """Start the text again: results for its claims are dropped, and no judge need be asked about them."""
        self._texts += 1
        for block in self._blocks:
            block.cancel()
        self._blocks = [block for block in self._blocks if block.done]
        self._checks.drop_waiting()

    async def close(self) -> VerificationStart:
        """The knowledge when the report is complete; nothing more is logged beside the writer's streams.

        Checks in progress go on.
        """
        self._open = False
        for block in self._blocks:
            if block.done:
                await block.result()  # a bug there must be raised too
            else:
                block.cancel()
        return VerificationStart(self._checks, self._was_emitted)

    def take_sentences(self, sentences: Sequence[ReportSentence], beside: StreamCompanion) -> None:
        """Take whole blocks of the report, and where to log their results."""
        claims = [sentence for sentence in sentences if sentence.id]
        if not claims or not self._open:
            return
        passages, sources = self._ledger.passages_and_sources()
        self._held.add(passages.values(), sources.values())
        cited = self._held.citable_ids.claims_with_passages(claims)
        for sentence, own in cited:
            event = _claim_found(sentence.id, sentence, own)
            self._emit_once(beside, event, self._name(event))
        work = partial(self._check, cited=cited, beside=beside, text=self._texts)
        self._blocks.append(self._place.in_background(f"block-{len(self._blocks)}", work))

    async def _check(
        self,
        place: Run,
        cited: Sequence[tuple[ReportSentence, tuple[Passage, ...]]],
        beside: StreamCompanion,
        text: int,
    ) -> None:
        await self._held.look_up_passages(place, (passage for _, passages in cited for passage in passages))

        async def one(_: Run, found: PendingClaim) -> None:
            if self._code_alone and not await self._is_decided(found):
                return
            checked = await self._checks.check(found)
            if self._texts == text and self._open:
                self._emit_once(beside, checked.event, self._name(_found_of(checked), checked.event))

        found = [
            PendingClaim(sentence.id, sentence, self._held.claim_evidence(passages)) for sentence, passages in cited
        ]
        await place.gather(*(Branch(each.id, partial(one, found=each)) for each in found))

    async def _is_decided(self, found: PendingClaim) -> bool:
        """True if code can decide a claim alone."""
        check, _ = await asyncio.to_thread(decide_by_code, found.sentence, found.evidence, self._checks.rules)
        return check is not None

    def _emit_once(self, beside: StreamCompanion, event: ClaimFound | ClaimChecked, name: str) -> None:
        if not self._written.was_emitted(self._step, name):
            beside.emit(event, name)

    def _name(self, found: ClaimFound, checked: ClaimChecked | None = None) -> str:
        return f"{self._texts}/{_result_key(found, checked)}"

    def _was_emitted(self, found: ClaimFound, checked: ClaimChecked | None = None) -> bool:
        return self._written.was_emitted(self._step, self._name(found, checked))


class Hearing:
    """Listens to one stream of the writer (a `Listener`)."""

    def __init__(self, reader: Proofreader, before: str) -> None:
        self._reader, self._before = reader, before
        self._stream = SentenceStream()
        self._beside: StreamCompanion | None = None

    def begin(self, beside: StreamCompanion) -> None:
        """Begin, or begin again: the text before it is read once more to see how it ends."""
        self._stream, self._beside = SentenceStream(), beside
        self.hear(self._before)

    def hear(self, text: str) -> None:
        """Take more of the report."""
        if self._beside is not None and text:
            self._reader.take_sentences(self._stream.feed(text), self._beside)


Stands = Callable[[ClaimFound, ClaimChecked | None], bool]


class VerificationStart:
    """The state verification begins with: `checks` done or begun, and what was logged about claims."""

    def __init__(self, checks: Checks, stands: Stands = lambda *_: False) -> None:
        self.checks, self._stands = checks, stands

    def emit_found(self, run: Run, found: PendingClaim) -> None:
        """Log a claim if it is not logged."""
        event = _claim_found(found.id, found.sentence, found.evidence.passages)
        if not self._stands(event, None):
            run.emit(event)

    def emit_checked(self, run: Run, checked: ClaimResult) -> None:
        """Log a check's result if it is not logged."""
        if not self._stands(_found_of(checked), checked.event):
            run.emit(checked.event)


def _claim_found(id: str, sentence: ReportSentence, passages: tuple[Passage, ...]) -> ClaimFound:
    return ClaimFound(
        id=id,
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        passages=passages,
        inherited=has_inherited_citation(sentence, passages),
    )


def _found_of(checked: ClaimResult) -> ClaimFound:
    return _claim_found(checked.id, checked.sentence, checked.evidence.passages)


def _result_key(found: ClaimFound, checked: ClaimChecked | None) -> str:
    """A name for the results of a claim, wherever it is in the text by now."""
    content = (found.text, [passage.id for passage in found.passages], checked)
    return f"{found.id}/{sha256(msgspec.json.encode(content))[:16]}"
