"""Claims found and checked while the report is written: what is said of them stands beside the stream, on the log.

It is said under names made of what it says, as long as the text stands: verification, which goes over the whole text in
the end, says what was not said yet, and on a replay comes to the same. What a stream said of its claims is taken back
with it; what was judged is not judged again, whoever asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import msgspec

from assay.core.events import ClaimChecked, ClaimFound
from assay.core.sources import Passage, sha256
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.run.run import Branch, Handle, Run
from assay.run.voice import Beside
from assay.verify.cited_passages import inherits
from assay.verify.claim_check import CheckRules, Checks, ClaimResult, PendingClaim, decided
from assay.verify.claims import ReportSentence
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.judge import has_judge
from assay.verify.stream.sentences import SentenceStream

Asked = Literal["write", "answer"]
"""The task beside whose steps claims are said: that for which the writer is asked."""


def proofreader(run: Run, ledger: Ledger, reader: DocumentReader, asked: Asked = "write") -> Proofreader | None:
    """What reads a run's report; nothing, where it is not verified, or its writer has all of it at once."""
    writes = run.profile("complex")
    return Proofreader(run, ledger, reader, asked) if run.brief.verify and not writes.deterministic else None


class Proofreader:
    """Reads a report as it is written.

    Args:
        run: the run's own place.
        ledger: what may be cited; it may grow.
        reader: reads stored documents.
        asked: the task for which the writer is asked.
    """

    def __init__(self, run: Run, ledger: Ledger, reader: DocumentReader, asked: Asked = "write") -> None:
        rules = CheckRules(off=tuple(run.brief.checks_off), judged=has_judge(run))
        self._place = run.at("verify").child("verify")
        self._written, self._step = run.child("write"), f"ask-{asked}"
        self._ledger = ledger
        self._held = EvidenceIndex({}, {}, reader)
        self._checks = Checks(self._place, rules)
        self._code_alone = rules.judged and run.limited  # the writer's worst case is held: little is left for others
        self._texts = 0  # how often the text was taken back
        self._blocks: list[Handle[None]] = []
        self._open = True

    def listener(self, before: str) -> Hearing:
        """What hears one part of the report; `before` is the text before it, with the break between them."""
        return Hearing(self, before)

    def take_back(self) -> None:
        """The text is begun anew: nothing that was said of its claims stands, and no judge need be asked of them."""
        self._texts += 1
        for block in self._blocks:
            block.cancel()
        self._blocks = [block for block in self._blocks if block.done]
        self._checks.let_go()

    async def closed(self) -> VerificationStart:
        """What is known when the report stands; from here on nothing is said beside the writer's streams.

        Checks which were begun go on.
        """
        self._open = False
        for block in self._blocks:
            if block.done:
                await block.result()  # a bug there is no less one
            else:
                block.cancel()
        return VerificationStart(self._checks, self._stands)

    def meet(self, sentences: Sequence[ReportSentence], beside: Beside) -> None:
        """Whole blocks of the report, and where what is found of them is said."""
        claims = [sentence for sentence in sentences if sentence.id]
        if not claims or not self._open:
            return
        passages, sources = self._ledger.everything()
        self._held.add(passages.values(), sources.values())
        cited = self._held.shown.all_cited(claims)
        for sentence, own in cited:
            event = _found(sentence.id, sentence, own)
            self._say(beside, event, self._name(event))
        work = partial(self._check, cited=cited, beside=beside, text=self._texts)
        self._blocks.append(self._place.in_background(f"block-{len(self._blocks)}", work))

    async def _check(
        self, place: Run, cited: Sequence[tuple[ReportSentence, tuple[Passage, ...]]], beside: Beside, text: int
    ) -> None:
        await self._held.look(place, (passage for _, passages in cited for passage in passages))

        async def one(_: Run, found: PendingClaim) -> None:
            if self._code_alone and not await self._is_decided(found):
                return
            checked = await self._checks.check(found)
            if self._texts == text and self._open:
                event = _checked(checked)
                self._say(beside, event, self._name(_found_of(checked), event))

        found = [PendingClaim(sentence.id, sentence, self._held.evidence(passages)) for sentence, passages in cited]
        await place.gather(*(Branch(each.id, partial(one, found=each)) for each in found))

    async def _is_decided(self, found: PendingClaim) -> bool:
        """Whether code decides a claim alone."""
        check, _ = await asyncio.to_thread(decided, found.sentence, found.evidence, self._checks.rules)
        return check is not None

    def _say(self, beside: Beside, event: ClaimFound | ClaimChecked, name: str) -> None:
        if not self._written.stands(self._step, name):
            beside.say(event, name)

    def _name(self, found: ClaimFound, checked: ClaimChecked | None = None) -> str:
        return f"{self._texts}/{_named(found, checked)}"

    def _stands(self, found: ClaimFound, checked: ClaimChecked | None = None) -> bool:
        return self._written.stands(self._step, self._name(found, checked))


class Hearing:
    """Hears one stream of the writer's; a `Listener`."""

    def __init__(self, reader: Proofreader, before: str) -> None:
        self._reader, self._before = reader, before
        self._stream = SentenceStream()
        self._beside: Beside | None = None

    def begin(self, beside: Beside) -> None:
        """Begin, or begin again: the text before is read once more, for where it ends."""
        self._stream, self._beside = SentenceStream(), beside
        self.hear(self._before)

    def hear(self, text: str) -> None:
        """More of the report."""
        if self._beside is not None and text:
            self._reader.meet(self._stream.feed(text), self._beside)


Stands = Callable[[ClaimFound, ClaimChecked | None], bool]


class VerificationStart:
    """What verification begins with: `checks` done or begun, and what was said of claims already."""

    def __init__(self, checks: Checks, stands: Stands = lambda *_: False) -> None:
        self.checks, self._stands = checks, stands

    def say_found(self, run: Run, found: PendingClaim) -> None:
        """Put a claim on the log, if it is not there."""
        event = _found(found.id, found.sentence, found.evidence.passages)
        if not self._stands(event, None):
            run.emit(event)

    def say_checked(self, run: Run, checked: ClaimResult) -> None:
        """Put a check's result on the log, if it is not there."""
        event = _checked(checked)
        if not self._stands(_found_of(checked), event):
            run.emit(event)


def _found(id: str, sentence: ReportSentence, passages: tuple[Passage, ...]) -> ClaimFound:
    return ClaimFound(
        id=id,
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        passages=passages,
        inherited=inherits(sentence, passages),
    )


def _found_of(checked: ClaimResult) -> ClaimFound:
    return _found(checked.id, checked.sentence, checked.evidence.passages)


def _checked(checked: ClaimResult) -> ClaimChecked:
    check = checked.check
    return ClaimChecked(
        id=checked.id,
        rule=check.rule,
        verdict=check.verdict,
        reason=check.reason,
        against=checked.against,
        nearest=check.nearest,
    )


def _named(found: ClaimFound, checked: ClaimChecked | None) -> str:
    """A name for what is said of a claim, wherever it stands by now."""
    said = (found.text, [passage.id for passage in found.passages], checked)
    return f"{found.id}/{sha256(msgspec.json.encode(said))[:16]}"
