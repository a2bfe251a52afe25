"""Repairs in rounds: every failing claim is re-cited, else narrowed; what still fails is searched for, then removed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Literal

import msgspec

from assay.core.claims import HOLDING
from assay.core.errors import Failed, LimitReached
from assay.core.events import ClaimRemoved, ClaimRevised, ReportRevised
from assay.core.phrases import stop_reason_phrase, verdict, verdict_reason
from assay.core.sources import Passage
from assay.core.translation import format_number, join_list, label_text, ngettext
from assay.core.translation import gettext as _
from assay.run.run import Branch, Run
from assay.verify.claim_check import CLAIMS_AT_ONCE, CheckRules, ClaimResult, RepairMeans, check_claim
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.repair.candidates import candidates
from assay.verify.repair.edition import Edition, EmptiedRow, empty_cells, is_failing_row
from assay.verify.repair.remedies import find_other_citation, narrow_claim, rewritten_text, search_for_claims
from assay.verify.repair.surgery import Change, Recite, Remove, Rewrite

MAX_ROUNDS = 2
MAX_CLAIMS = 40
"""Claims for which models are called in one round, in the order of the report. If more fail, further calls would not
save it: for the others code only looks for passages that state them word for word.
"""


class MendedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim before and after; `stage` is the stage that repaired it."""

    before: ClaimResult
    after: ClaimResult
    stage: Literal["recite", "narrow", "empty"]
    emptied_row: EmptiedRow | None = None

    @property
    def change(self) -> Change:
        """The change in the text."""
        if self.stage == "recite":
            return Recite(self.after.passages)
        if self.emptied_row is not None:
            return self.emptied_row.change
        return Rewrite(rewritten_text(self.after.sentence, self.after.passages))

    @property
    def why(self) -> str:
        """Why the claim was revised."""
        text = _("another citation") if self.stage == "recite" else _("narrowed to what its passages say")
        if self.emptied_row is not None:
            text = _("left empty under {columns}").format(columns=join_list(self.emptied_row.names))
        before = label_text(
            verdict(self.before.check.verdict), _(self.before.check.reason) if self.before.check.reason else ""
        )
        return _("; ").join((text, _("it was {verdict}").format(verdict=before)))


class RepairedReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report after repair, its claims, and how many sentences were re-cited, rewritten and removed.

    `emptied` counts table rows with emptied cells.
    """

    text: str
    results: tuple[ClaimResult, ...]
    recited: int = 0
    rewritten: int = 0
    removed: int = 0
    emptied: int = 0

    @property
    def limits(self) -> tuple[str, ...]:
        """A note for readers about it."""
        changes = _describe_changes(self.recited, self.rewritten, self.removed, self.emptied)
        text = _("Verification changed the report as it was written: {changes}.")
        return (text.format(changes=changes),) if changes else ()


def _describe_changes(recited: int, rewritten: int, removed: int, emptied: int) -> str:
    parts = (
        (recited, ngettext("{count} sentence got another citation", "{count} sentences got another citation", recited)),
        (
            rewritten,
            ngettext(
                "{count} sentence narrowed to what the sources say",
                "{count} sentences narrowed to what the sources say",
                rewritten,
            ),
        ),
        (removed, ngettext("{count} sentence taken out", "{count} sentences taken out", removed)),
        (
            emptied,
            ngettext("{count} table row left with empty cells", "{count} table rows left with empty cells", emptied),
        ),
    )
    return join_list(text.format(count=format_number(count)) for count, text in parts if count)


class Mender:
    """Repairs one report; `text` and `results` are the present state, as logged."""

    def __init__(self, run: Run, evidence_index: EvidenceIndex, rules: CheckRules, means: RepairMeans) -> None:
        self.run, self.evidence_index, self.rules, self.means = run, evidence_index, rules, means
        self.text = ""
        self.results: list[ClaimResult] = []
        self.counts = {"recite": 0, "narrow": 0, "remove": 0, "empty": 0}
        self.stopped = False  # a limit was reached: no more models, no more searches
        self._asked: set[tuple[str, frozenset[str]]] = set()
        self.writes = not run.profile("complex").deterministic and "narrow" not in means.repairs_off

    async def repair(self, report: str, results: Sequence[ClaimResult]) -> RepairedReport:
        """Remove what nothing supports. A limit or a failing model never empties the report."""
        self.text, self.results = report, list(results)
        for turn in range(1, MAX_ROUNDS + 1):
            failing = [result for result in self.results if self._may_be_mended(result, turn)]
            round_run = self.run.child(f"round-{turn}")
            if not failing or (turn > 1 and not await self._search_for_evidence(round_run, failing)):
                break
            self._apply_changes(await self._mend_claims(round_run, failing), ())
        if "remove" not in self.means.repairs_off:
            self._apply_changes(await self._empty_failing_cells(self.run.child("cells")), ())
            self._apply_changes((), [result for result in self.results if is_failing(result)])
        return RepairedReport(
            text=self.text,
            results=tuple(self.results),
            recited=self.counts["recite"],
            rewritten=self.counts["narrow"],
            removed=self.counts["remove"],
            emptied=self.counts["empty"],
        )

    def _may_be_mended(self, result: ClaimResult, number: int) -> bool:
        """True if a round handles a claim; the second is for claims that would be removed."""
        if is_failing(result):
            return True
        verdict = result.check.verdict
        return number == 1 and (verdict == "unsupported" or (verdict == "partial" and self.writes))

    async def _search_for_evidence(self, round_run: Run, failing: Sequence[ClaimResult]) -> bool:
        if "retrieve" in self.means.repairs_off or self.stopped or self.run.exhausted:
            return False
        return await search_for_claims(round_run.child("search"), self.evidence_index, self.means, failing)

    # one round

    async def _mend_claims(self, round_run: Run, failing: Sequence[ClaimResult]) -> list[MendedClaim]:
        try:
            passages_by_claim = await candidates(round_run, self.evidence_index, self.means.ledger, failing)
        except Failed as failed:
            self._stop_calls(round_run, failed)
            passages_by_claim = {}
        free = asyncio.Semaphore(CLAIMS_AT_ONCE)

        async def mend_one(claim_run: Run, result: ClaimResult) -> MendedClaim | None:
            async with free:
                return await self._mend_claim(
                    claim_run, result, passages_by_claim.get(result.id, []), asks=result.id in asked_ids
                )

        asked_ids = {result.id for result in failing[:MAX_CLAIMS]}
        branches = (Branch(result.id, partial(mend_one, result=result)) for result in failing)
        return [mended for mended in await round_run.gather(*branches) if mended is not None]

    async def _mend_claim(
        self, claim_run: Run, result: ClaimResult, passages: Sequence[Passage], *, asks: bool
    ) -> MendedClaim | None:
        if "recite" not in self.means.repairs_off:
            after = await find_other_citation(
                claim_run, self.evidence_index, self.rules, result, passages, asks=asks and not self.stopped
            )
            if after is not None:
                return MendedClaim(before=result, after=after, stage="recite")
        if not asks or not self._may_be_narrowed(result):
            return None
        after = await self._narrow_claim(claim_run, result, passages)
        return MendedClaim(before=result, after=after, stage="narrow") if after is not None else None

    def _may_be_narrowed(self, result: ClaimResult) -> bool:
        """True if a model may rephrase a claim: not one doubted only by the weight of words, nor a row."""
        is_doubted = is_failing(result) or result.check.verdict == "partial"
        row = "|" in self.text[result.sentence.start : result.sentence.end]
        return self.writes and not self.stopped and is_doubted and not row

    async def _narrow_claim(
        self, claim_run: Run, result: ClaimResult, passages: Sequence[Passage]
    ) -> ClaimResult | None:
        """The model's version, checked from the start; None if it fails like the sentence before."""
        passages_by_id = {passage.id: passage for passage in (*result.evidence.passages, *passages)}
        question = (result.id, frozenset(passages_by_id))
        if not passages_by_id or question in self._asked:
            return None
        self._asked.add(question)
        try:
            sentence = await narrow_claim(
                claim_run, self.text, result, tuple(passages_by_id.values()), self.evidence_index.sources
            )
        except Failed as failed:
            self._stop_calls(claim_run, failed)
            return None
        if sentence is None:
            return None
        evidence = self.evidence_index.claim_evidence(self.evidence_index.citable_ids.cited_passages(sentence))
        after = await check_claim(claim_run, result.id, sentence, evidence, self.rules)
        accepted_verdicts = HOLDING if result.check.verdict == "partial" else (*HOLDING, "partial", "unchecked")
        return after if after.check.verdict in accepted_verdicts else None

    async def _empty_failing_cells(self, cells_run: Run) -> list[MendedClaim]:
        """Rows that would be removed, with the failing cells emptied, if the rest holds."""
        rows = [result for result in self.results if is_failing(result) and is_failing_row(result)]

        async def empty_row(row_run: Run, result: ClaimResult) -> MendedClaim | None:
            emptied_row = await asyncio.to_thread(empty_cells, self.text, result, self.rules)
            if emptied_row is None:
                return None
            after = await check_claim(row_run, result.id, emptied_row.sentence, result.evidence, self.rules)
            return (
                None
                if is_failing(after)
                else MendedClaim(before=result, after=after, stage="empty", emptied_row=emptied_row)
            )

        if not rows or "narrow" in self.means.repairs_off:
            return []
        branches = (Branch(result.id, partial(empty_row, result=result)) for result in rows[:MAX_CLAIMS])
        return [mended for mended in await cells_run.gather(*branches) if mended is not None]

    def _stop_calls(self, run: Run, failed: Failed) -> None:
        """After a limit, make no more calls; a model that failed may answer the next time."""
        self.stopped = self.stopped or isinstance(failed, LimitReached)
        run.warn(_("a sentence could not be put right: {why}").format(why=stop_reason_phrase(failed.reason)))

    # the text

    def _apply_changes(self, mended: Sequence[MendedClaim], removed: Sequence[ClaimResult]) -> None:
        """Change the text and log it; a change that would affect another claim is left out."""
        changes: dict[str, tuple[Change, ClaimResult | None]] = {claim.id: (Remove(), None) for claim in removed}
        changes.update((mended_claim.after.id, (mended_claim.change, mended_claim.after)) for mended_claim in mended)
        edition = Edition(self.text, self.results, self.means, changes)
        if edition.text == self.text:
            return
        applied = {
            mended_claim.after.id: mended_claim for mended_claim in mended if mended_claim.after.id in edition.applied
        }
        removed_count = len(edition.applied) - len(applied)
        for claim in self.results:
            if claim.id in applied:
                self._emit_revised(applied[claim.id])
            elif claim.id in edition.applied:
                why = label_text(verdict(claim.check.verdict), verdict_reason(claim.check.reason))
                self.run.emit(ClaimRemoved(id=claim.id, why=why))
        for mended_claim in applied.values():
            self.counts[mended_claim.stage] += 1
        self.counts["remove"] += removed_count
        self.text, self.results = edition.text, edition.results
        stages = [mended_claim.stage for mended_claim in applied.values()]
        why = _describe_changes(stages.count("recite"), stages.count("narrow"), removed_count, stages.count("empty"))
        spans = {result.id: (result.sentence.start, result.sentence.end) for result in self.results}
        self.run.emit(ReportRevised(text=self.text, why=f"checked: {why}", spans=spans))

    def _emit_revised(self, mended_claim: MendedClaim) -> None:
        before, after = mended_claim.before, mended_claim.after
        self.run.emit(
            ClaimRevised(
                id=after.id,
                before=before.sentence.text,
                after=after.sentence.text,
                why=mended_claim.why,
                passages=after.evidence.passages,
            )
        )
        self.run.emit(after.event)


def is_failing(result: ClaimResult) -> bool:
    """True if a claim must not stay as it is: a rule or judge objects, or its citations do not exist.

    A claim that is unsupported only by the weight of words may stay, with that verdict.
    """
    return result.check.verdict in {"unsupported", "contradicted"} and result.check.rule != "lexical"
