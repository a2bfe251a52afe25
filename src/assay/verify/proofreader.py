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
        self._taken_blocks = 0  # blocks of the tail that were read
        self._number = 0  # blocks read
        self._pending: list[ReportSentence] = []  # of the last block read: a block of markers alone belongs to it
        self._count = 0
        self._read_length = 0  # how much of the tail was examined

    def feed(self, text: str) -> tuple[ReportSentence, ...]:
        """Add text of the report and return the sentences, of whole blocks, that are now final."""
        self._scanner.add(text)
        self._scan(final=False)
        begins_line = not self._tail or self._tail[-1] in _LINE_ENDS
        self._tail += text
        if not begins_line and not any(end in text for end in _LINE_ENDS):
            return ()  # almost always: no more complete lines than before
        length = _settled_length(self._tail)
        least = max(1, len(self._tail) // _GROWTH if len(self._tail) > _SMALL else 1)
        if length - self._read_length < least:
            return ()
        return self._read(self._tail[:length], final=False)

    def end(self) -> tuple[ReportSentence, ...]:
        """Return the rest; nothing may be fed afterwards."""
        self._scan(final=True)
        return (*self._read(self._tail, final=True), *self._take_pending())

    def _scan(self, final: bool) -> None:
        self._markers.extend(token.marker for token in self._scanner.tokens(final) if token.marker)

    def _read(self, text: str, final: bool) -> tuple[ReportSentence, ...]:
        self._read_length = len(text)
        blocks = parse_blocks(text)
        last = max((index for index, block in enumerate(blocks) if block.kind != "space"), default=0)
        sections = dict(self._sections)
        closed_blocks = list(text_blocks(blocks[:last], sections))
        above = dict(sections)
        open_blocks = list(text_blocks(blocks[last:], sections))
        all_blocks = [*closed_blocks, *open_blocks]
        ready = (
            all_blocks
            if final
            else [
                text_block
                for text_block in all_blocks[: len(all_blocks) - bool(open_blocks)]
                if self._is_decided(text_block)
            ]
        )
        sentences = [sentence for block in ready[self._taken_blocks :] for sentence in self._take(text, block)]
        self._taken_blocks = max(self._taken_blocks, len(ready))
        if (
            not final
            and open_blocks
            and open_blocks[-1].text[0] not in _MARKER_SIGNS
            and len(ready) == len(all_blocks) - 1
        ):
            sentences.extend(self._take_pending())
        if not final and len(ready) >= len(closed_blocks) and last:
            self._drop_until(blocks[last].start, above, len(closed_blocks))
        return tuple(sentences)

    def _is_decided(self, block: ReportBlock) -> bool:
        """True if all its markers are known."""
        return self._base + block.positions[-1] < self._scanner.decided_length

    def _take(self, text: str, block: ReportBlock) -> tuple[ReportSentence, ...]:
        """Read a block, which makes the block before it final."""
        first, last = (self._base + position for position in (block.positions[0], block.positions[-1]))
        start = bisect_left(self._markers, first, key=attrgetter("start"))
        inside = self._markers[start : bisect_right(self._markers, last, key=attrgetter("start"))]
        markers = [_move_marker(marker, -self._base) for marker in inside]
        sentences = [
            _shift_sentence(sentence, self._base) for sentence in read_block(text, self._number, block, markers)
        ]
        self._number += 1
        if not sentences:
            if inside and self._pending:
                self._pending[-1] = add_markers(self._pending[-1], inside)
            return ()
        before = self._take_pending()
        self._pending = sentences
        return before

    def _take_pending(self) -> tuple[ReportSentence, ...]:
        """The pending sentences, with their ids."""
        numbered = number_claims(self._pending, self._count)
        self._count += sum(bool(sentence.id) for sentence in numbered)
        self._pending = []
        return numbered

    def _drop_until(self, end: int, above: dict[int, str], blocks_before: int) -> None:
        self._tail, self._base = self._tail[end:], self._base + end
        self._read_length -= end
        self._sections = above
        self._taken_blocks -= blocks_before
        self._markers = [marker for marker in self._markers if marker.start >= self._base]


def _settled_length(text: str) -> int:
    """How much of a text may be examined: whole lines, and the first letter of a line that began with one.

    Such a line begins or continues a paragraph, whatever follows.
    """
    ends = max(text.rfind("\n"), text.rfind("\r")) + 1
    return ends + 1 if text[ends : ends + 1].isalpha() else ends


def _move_marker(marker: Marker, offset: int) -> Marker:
    return msgspec.structs.replace(marker, start=marker.start + offset, end=marker.end + offset)


def _shift_sentence(sentence: ReportSentence, offset: int) -> ReportSentence:
    markers = tuple(_move_marker(marker, offset) for marker in sentence.markers)
    return msgspec.structs.replace(sentence, start=sentence.start + offset, end=sentence.end + offset, markers=markers)


# Finds claims of one text in another, after code has added, moved or removed text.

SentenceKey = tuple[str, tuple[tuple[str, ...], ...], tuple[str, ...]]


def carry_ids(before: Sequence[ReportSentence], after: Sequence[ReportSentence]) -> dict[str, str]:
    """The ids of claims in a changed text: maps each id of `after` to the claim's earlier id, or a new one.

    A claim is the same if its words, citations and columns are; equal ones are matched in order. Ids are unique, and a
    new claim never gets the id of a removed one.
    """
    ids_by_key: defaultdict[SentenceKey, deque[str]] = defaultdict(deque)
    for sentence in before:
        ids_by_key[_sentence_key(sentence)].append(sentence.id)
    ids: dict[str, str] = {}
    new = len(before)
    for sentence in after:
        if same := ids_by_key[_sentence_key(sentence)]:
            ids[sentence.id] = same.popleft()
        else:
            new += 1
            ids[sentence.id] = f"c{new}"
    return ids


def streamed_spans(before: str, after: str) -> dict[str, tuple[int, int]]:
    """The places of the streamed claims in the present text, in code points, by id."""
    if not before:
        return {}
    sentences = claims(after)
    ids = carry_ids(claims(before), sentences)
    return {ids[sentence.id]: (sentence.start, sentence.end) for sentence in sentences}


def _sentence_key(sentence: ReportSentence) -> SentenceKey:
    return sentence.text, tuple(marker.ids for marker in sentence.markers), sentence.head


WriterTask = Literal["write", "answer"]
"""The task of the writer's model calls beside whose steps claims are logged."""


def make_proofreader(
    run: Run,
    ledger: Ledger,
    reader: DocumentReader,
    task: WriterTask = "write",
    added_checks: tuple[AddedCheck, ...] = (),
) -> Proofreader | None:
    """A proofreader for a run's report; None if it is not verified or the writer gets all of it at once."""
    writes = run.profile("complex")
    return (
        Proofreader(run, ledger, reader, task, added_checks) if run.brief.verify and not writes.deterministic else None
    )


class Proofreader:
    """Reads a report while it is written.

    Args:
        run: the run's own place.
        ledger: what may be cited; it may grow.
        reader: reads stored documents.
        task: the task of the writer's model calls.
        added_checks: checks of other packages.
    """

    def __init__(
        self, run: Run, ledger: Ledger, reader: DocumentReader, task: WriterTask, added_checks: tuple[AddedCheck, ...]
    ) -> None:
        rules = CheckRules(checks_off=tuple(run.brief.checks_off), added_checks=added_checks, uses_judge=has_judge(run))
        self._run = run.with_gate("verify").child("verify")
        self._writer_run, self._step = run.child("write"), f"ask-{task}"
        self._ledger = ledger
        self._evidence_index = EvidenceIndex({}, {}, reader)
        self._checks = Checks(self._run, rules)
        self._code_alone = (
            rules.uses_judge and run.limited
        )  # the writer's worst case is held: little is left for others
        self._texts = 0  # how often the text was dropped
        self._blocks: list[Handle[None]] = []
        self._open = True

    def listener(self, before: str) -> ReportListener:
        """A listener for one part of the report; `before` is the text before it, including the break between them."""
        return ReportListener(self, before)

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

    def take_sentences(self, sentences: Sequence[ReportSentence], companion: StreamCompanion) -> None:
        """Take whole blocks of the report, and where to log their results."""
        claims = [sentence for sentence in sentences if sentence.id]
        if not claims or not self._open:
            return
        passages, sources = self._ledger.passages_and_sources()
        self._evidence_index.add(passages.values(), sources.values())
        cited_claims = self._evidence_index.citable_ids.claims_with_passages(claims)
        for sentence, claim_passages in cited_claims:
            event = _claim_found(sentence.id, sentence, claim_passages)
            self._emit_once(companion, event, self._name(event))
        work = partial(self._check, cited_claims=cited_claims, companion=companion, text=self._texts)
        self._blocks.append(self._run.in_background(f"block-{len(self._blocks)}", work))

    async def _check(
        self,
        run: Run,
        cited_claims: Sequence[tuple[ReportSentence, tuple[Passage, ...]]],
        companion: StreamCompanion,
        text: int,
    ) -> None:
        await self._evidence_index.look_up_passages(
            run, (passage for _, passages in cited_claims for passage in passages)
        )

        async def check_one(_: Run, claim: PendingClaim) -> None:
            if self._code_alone and not await self._is_decided(claim):
                return
            result = await self._checks.check(claim)
            if self._texts == text and self._open:
                self._emit_once(companion, result.event, self._name(_found_of(result), result.event))

        pending_claims = [
            PendingClaim(sentence.id, sentence, self._evidence_index.claim_evidence(passages))
            for sentence, passages in cited_claims
        ]
        await run.gather(*(Branch(claim.id, partial(check_one, claim=claim)) for claim in pending_claims))

    async def _is_decided(self, claim: PendingClaim) -> bool:
        """True if code can decide a claim alone."""
        check, _ = await asyncio.to_thread(decide_by_code, claim.sentence, claim.evidence, self._checks.rules)
        return check is not None

    def _emit_once(self, companion: StreamCompanion, event: ClaimFound | ClaimChecked, name: str) -> None:
        if not self._writer_run.was_emitted(self._step, name):
            companion.emit(event, name)

    def _name(self, claim: ClaimFound, check: ClaimChecked | None = None) -> str:
        return f"{self._texts}/{_result_key(claim, check)}"

    def _was_emitted(self, claim: ClaimFound, check: ClaimChecked | None = None) -> bool:
        return self._writer_run.was_emitted(self._step, self._name(claim, check))


class ReportListener:
    """Listens to one stream of the writer (a `Listener`)."""

    def __init__(self, reader: Proofreader, before: str) -> None:
        self._reader, self._before = reader, before
        self._stream = SentenceStream()
        self._companion: StreamCompanion | None = None

    def begin(self, companion: StreamCompanion) -> None:
        """Begin, or begin again: the text before it is read once more to see how it ends."""
        self._stream, self._companion = SentenceStream(), companion
        self.hear(self._before)

    def hear(self, text: str) -> None:
        """Take more of the report."""
        if self._companion is not None and text:
            self._reader.take_sentences(self._stream.feed(text), self._companion)


IsLogged = Callable[[ClaimFound, ClaimChecked | None], bool]


class VerificationStart:
    """The state verification begins with: `checks` done or begun, and what was logged about claims."""

    def __init__(self, checks: Checks, is_logged: IsLogged = lambda *_: False) -> None:
        self.checks, self._is_logged = checks, is_logged

    def emit_found(self, run: Run, claim: PendingClaim) -> None:
        """Log a claim if it is not logged."""
        event = _claim_found(claim.id, claim.sentence, claim.evidence.passages)
        if not self._is_logged(event, None):
            run.emit(event)

    def emit_checked(self, run: Run, result: ClaimResult) -> None:
        """Log a check's result if it is not logged."""
        if not self._is_logged(_found_of(result), result.event):
            run.emit(result.event)


def _claim_found(id: str, sentence: ReportSentence, passages: tuple[Passage, ...]) -> ClaimFound:
    return ClaimFound(
        id=id,
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        passages=passages,
        inherited=has_inherited_citation(sentence, passages),
    )


def _found_of(result: ClaimResult) -> ClaimFound:
    return _claim_found(result.id, result.sentence, result.evidence.passages)


def _result_key(claim: ClaimFound, check: ClaimChecked | None) -> str:
    """A name for the results of a claim, wherever it is in the text by now."""
    content = (claim.text, [passage.id for passage in claim.passages], check)
    return f"{claim.id}/{sha256(msgspec.json.encode(content))[:16]}"
