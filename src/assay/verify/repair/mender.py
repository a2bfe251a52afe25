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
    """A claim before and after; `how` is the stage that repaired it."""

    before: ClaimResult
    after: ClaimResult
    how: Literal["recite", "narrow", "empty"]
    emptied: EmptiedRow | None = None

    @property
    def change(self) -> Change:
        """The change in the text."""
        if self.how == "recite":
            return Recite(self.after.passages)
        if self.emptied is not None:
            return self.emptied.change
        return Rewrite(rewritten_text(self.after.sentence, self.after.passages))

    @property
    def why(self) -> str:
        """Why the claim was revised."""
        text = _("another citation") if self.how == "recite" else _("narrowed to what its passages say")
        if self.emptied is not None:
            text = _("left empty under {columns}").format(columns=join_list(self.emptied.names))
        before = label_text(
            verdict(self.before.check.verdict), _(self.before.check.reason) if self.before.check.reason else ""
        )
        return _("; ").join((text, _("it was {verdict}").format(verdict=before)))


class RepairedReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report after repair, its claims, and how many sentences were re-cited, rewritten and removed.

    `emptied` counts table rows with emptied cells.
    """

    text: str
    checked: tuple[ClaimResult, ...]
    recited: int = 0
    rewritten: int = 0
    removed: int = 0
    emptied: int = 0

    @property
    def limits(self) -> tuple[str, ...]:
        """A note for readers about it."""
        done = _describe_changes(self.recited, self.rewritten, self.removed, self.emptied)
        text = _("Verification changed the report as it was written: {changes}.")
        return (text.format(changes=done),) if done else ()


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
    """Repairs one report; `text` and `checked` are the present state, as logged."""

    def __init__(self, run: Run, held: EvidenceIndex, rules: CheckRules, means: RepairMeans) -> None:
        self.run, self.held, self.rules, self.means = run, held, rules, means
        self.text = ""
        self.checked: list[ClaimResult] = []
        self.done = {"recite": 0, "narrow": 0, "remove": 0, "empty": 0}
        self.stopped = False  # a limit was reached: no more models, no more searches
        self.writes = not run.profile("complex").deterministic and "narrow" not in means.off

    async def repair(self, report: str, checked: Sequence[ClaimResult]) -> RepairedReport:
        """Remove what nothing supports. A limit or a failing model never empties the report."""
        self.text, self.checked = report, list(checked)
        for turn in range(1, MAX_ROUNDS + 1):
            failing = [each for each in self.checked if self._may_be_mended(each, turn)]
            place = self.run.child(f"round-{turn}")
            if not failing or (turn > 1 and not await self._search_for_evidence(place, failing)):
                break
            self._apply_changes(await self._mend_claims(place, failing), ())
        if "remove" not in self.means.off:
            self._apply_changes(await self._empty_failing_cells(self.run.child("cells")), ())
            self._apply_changes((), [each for each in self.checked if is_failing(each)])
        return RepairedReport(
            text=self.text,
            checked=tuple(self.checked),
            recited=self.done["recite"],
            rewritten=self.done["narrow"],
            removed=self.done["remove"],
            emptied=self.done["empty"],
        )

    def _may_be_mended(self, checked: ClaimResult, number: int) -> bool:
        """True if a round handles a claim; the second is for claims that would be removed."""
        if is_failing(checked):
            return True
        verdict = checked.check.verdict
        return number == 1 and (verdict == "unsupported" or (verdict == "partial" and self.writes))

    async def _search_for_evidence(self, place: Run, failing: Sequence[ClaimResult]) -> bool:
        if "retrieve" in self.means.off or self.stopped or self.run.exhausted:
            return False
        return await search_for_claims(place.child("search"), self.held, self.means, failing)

    # one round

    async def _mend_claims(self, place: Run, failing: Sequence[ClaimResult]) -> list[MendedClaim]:
        try:
            found = await candidates(place, self.held, self.means.ledger, failing)
        except Failed as failed:
            self._stop_calls(place, failed)
            found = {}
        free = asyncio.Semaphore(CLAIMS_AT_ONCE)

        async def one(claim: Run, each: ClaimResult) -> MendedClaim | None:
            async with free:
                return await self._mend_claim(claim, each, found.get(each.id, []), asks=each.id in asked)

        asked = {each.id for each in failing[:MAX_CLAIMS]}
        branches = (Branch(each.id, partial(one, each=each)) for each in failing)
        return [mended for mended in await place.gather(*branches) if mended is not None]

    async def _mend_claim(
        self, place: Run, checked: ClaimResult, passages: Sequence[Passage], *, asks: bool
    ) -> MendedClaim | None:
        if "recite" not in self.means.off:
            after = await find_other_citation(
                place, self.held, self.rules, checked, passages, asks=asks and not self.stopped
            )
            if after is not None:
                return MendedClaim(before=checked, after=after, how="recite")
        if not asks or not self._may_be_narrowed(checked):
            return None
        after = await self._narrow_claim(place, checked, passages)
        return MendedClaim(before=checked, after=after, how="narrow") if after is not None else None

    def _may_be_narrowed(self, checked: ClaimResult) -> bool:
        """True if a model may rephrase a claim: not one doubted only by the weight of words, nor a row."""
        doubted = is_failing(checked) or checked.check.verdict == "partial"
        row = "|" in self.text[checked.sentence.start : checked.sentence.end]
        return self.writes and not self.stopped and doubted and not row

    async def _narrow_claim(self, place: Run, checked: ClaimResult, passages: Sequence[Passage]) -> ClaimResult | None:
        """The model's version, checked from the start; None if it fails like the sentence before."""
        known = {passage.id: passage for passage in (*checked.evidence.passages, *passages)}
        if not known:
            return None
        try:
            sentence = await narrow_claim(place, self.text, checked, tuple(known.values()), self.held.sources)
        except Failed as failed:
            self._stop_calls(place, failed)
            return None
        if sentence is None:
            return None
        evidence = self.held.claim_evidence(self.held.citable_ids.cited_passages(sentence))
        after = await check_claim(place, checked.id, sentence, evidence, self.rules)
        wanted = HOLDING if checked.check.verdict == "partial" else (*HOLDING, "partial", "unchecked")
        return after if after.check.verdict in wanted else None

    async def _empty_failing_cells(self, place: Run) -> list[MendedClaim]:
        """Rows that would be removed, with the failing cells emptied, if the rest holds."""
        rows = [each for each in self.checked if is_failing(each) and is_failing_row(each)]

        async def one(at: Run, each: ClaimResult) -> MendedClaim | None:
            found = await asyncio.to_thread(empty_cells, self.text, each, self.rules)
            if found is None:
                return None
            after = await check_claim(at, each.id, found.sentence, each.evidence, self.rules)
            return None if is_failing(after) else MendedClaim(before=each, after=after, how="empty", emptied=found)

        if not rows or "narrow" in self.means.off:
            return []
        branches = (Branch(each.id, partial(one, each=each)) for each in rows[:MAX_CLAIMS])
        return [mended for mended in await place.gather(*branches) if mended is not None]

    def _stop_calls(self, place: Run, failed: Failed) -> None:
        """After a limit, make no more calls; a model that failed may answer the next time."""
        self.stopped = self.stopped or isinstance(failed, LimitReached)
        place.warn(_("a sentence could not be put right: {why}").format(why=stop_reason_phrase(failed.reason)))

    # the text

    def _apply_changes(self, mended: Sequence[MendedClaim], removed: Sequence[ClaimResult]) -> None:
        """Change the text and log it; a change that would affect another claim is left out."""
        changes: dict[str, tuple[Change, ClaimResult | None]] = {claim.id: (Remove(), None) for claim in removed}
        changes.update((each.after.id, (each.change, each.after)) for each in mended)
        done = Edition(self.text, self.checked, self.means, changes)
        if done.text == self.text:
            return
        kept = {each.after.id: each for each in mended if each.after.id in done.made}
        gone = len(done.made) - len(kept)
        for claim in self.checked:
            if claim.id in kept:
                self._emit_revised(kept[claim.id])
            elif claim.id in done.made:
                why = label_text(verdict(claim.check.verdict), verdict_reason(claim.check.reason))
                self.run.emit(ClaimRemoved(id=claim.id, why=why))
        for each in kept.values():
            self.done[each.how] += 1
        self.done["remove"] += gone
        self.text, self.checked = done.text, done.checked
        ways = [each.how for each in kept.values()]
        why = _describe_changes(ways.count("recite"), ways.count("narrow"), gone, ways.count("empty"))
        spans = {each.id: (each.sentence.start, each.sentence.end) for each in self.checked}
        self.run.emit(ReportRevised(text=self.text, why=f"checked: {why}", spans=spans))

    def _emit_revised(self, mended: MendedClaim) -> None:
        before, after = mended.before, mended.after
        self.run.emit(
            ClaimRevised(
                id=after.id,
                before=before.sentence.text,
                after=after.sentence.text,
                why=mended.why,
                passages=after.evidence.passages,
            )
        )
        self.run.emit(after.event)


def is_failing(checked: ClaimResult) -> bool:
    """True if a claim must not stay as it is: a rule or judge objects, or its citations do not exist.

    A claim that is unsupported only by the weight of words may stay, with that verdict.
    """
    return checked.check.verdict in {"unsupported", "contradicted"} and checked.check.rule != "lexical"
