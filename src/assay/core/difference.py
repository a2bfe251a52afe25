"""The difference between two reports, claim by claim and source by source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

import msgspec

from assay.core.report import Report, ReportClaim, ReportSource
from assay.core.text import words

ALIKE = 0.6
"""From this share of equal words in equal order on, two sentences are versions of one (`SequenceMatcher.ratio`)."""
MAX_SENTENCE_PAIRS = 250_000
"""The most pairs of sentences compared; the rest of longer reports counts as added and dropped."""


class ChangedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that is in both reports, in other words or with another verdict."""

    before: ReportClaim
    after: ReportClaim


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    run_id: str
    question: str
    status: str
    stop_reason: str
    verified: bool


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two reports, the earlier one first. `same` counts claims with equal words and verdict.

    Sources are those cited; two are the same if the text that was read is the same, or else the address.
    """

    before: Ending
    after: Ending
    same: int
    added: tuple[ReportClaim, ...]
    dropped: tuple[ReportClaim, ...]
    changed: tuple[ChangedClaim, ...]
    sources_added: tuple[ReportSource, ...]
    sources_dropped: tuple[ReportSource, ...]
    steps_added: tuple[str, ...]
    steps_dropped: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """True if claims, cited sources and plans are the same; how the runs ended may differ."""
        lists = (self.added, self.dropped, self.changed, self.sources_added, self.sources_dropped)
        return not any(lists) and not self.steps_added and not self.steps_dropped


class FeedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A report and when it was finished (ISO 8601 UTC); `changes` since the one before, None for the first."""

    run_id: str
    at: str
    report: Report
    changes: Difference | None


def difference(before: Report, after: Report) -> Difference:
    """Compare two reports, both rendered without citations, since numbers differ from run to run.

    Claims with the same words are paired first, in order; then the most similar of the rest, from `ALIKE` on.
    """
    pairs, dropped, added = _pair_claims(before.claims, after.claims)
    changed = [pair for pair in pairs if _is_changed(pair)]
    order = {claim.id: index for index, claim in enumerate(after.claims)}
    changed.sort(key=lambda pair: order[pair.after.id])
    return Difference(
        before=msgspec.convert(before, Ending, from_attributes=True),
        after=msgspec.convert(after, Ending, from_attributes=True),
        same=len(pairs) - len(changed),
        added=tuple(added),
        dropped=tuple(dropped),
        changed=tuple(changed),
        sources_added=tuple(_new_sources(after.sources, before.sources)),
        sources_dropped=tuple(_new_sources(before.sources, after.sources)),
        steps_added=_new_steps(after, before),
        steps_dropped=_new_steps(before, after),
    )


def _is_changed(pair: ChangedClaim) -> bool:
    return pair.before.verdict != pair.after.verdict or words(pair.before.text) != words(pair.after.text)


Claims = list[ReportClaim]


def _pair_claims(
    before: Sequence[ReportClaim], after: Sequence[ReportClaim]
) -> tuple[list[ChangedClaim], Claims, Claims]:
    """The pairs, and the rest of either report, in order."""
    unpaired: dict[tuple[str, ...], Claims] = {}
    for claim in before:
        unpaired.setdefault(tuple(words(claim.text)), []).append(claim)
    pairs: list[ChangedClaim] = []
    added: Claims = []
    for claim in after:
        candidates = unpaired.get(tuple(words(claim.text)))
        if candidates:
            pairs.append(ChangedClaim(before=candidates.pop(0), after=claim))
        else:
            added.append(claim)
    paired_ids = {pair.before.id for pair in pairs}
    return _pair_similar(pairs, [claim for claim in before if claim.id not in paired_ids], added)


def _pair_similar(
    pairs: list[ChangedClaim], dropped: Claims, added: Claims
) -> tuple[list[ChangedClaim], Claims, Claims]:
    """Pair similar claims, the most similar first; of equally similar ones the first."""
    similar_pairs = sorted(_similar_pairs(dropped, added), key=lambda pair: (-pair[0], pair[1], pair[2]))
    paired_old: set[int] = set()
    paired_new: set[int] = set()
    for _, old, new in similar_pairs:
        if old not in paired_old and new not in paired_new:
            paired_old.add(old)
            paired_new.add(new)
            pairs.append(ChangedClaim(before=dropped[old], after=added[new]))
    return (
        pairs,
        [claim for index, claim in enumerate(dropped) if index not in paired_old],
        [claim for index, claim in enumerate(added) if index not in paired_new],
    )


def _similar_pairs(dropped: Claims, added: Claims) -> Iterable[tuple[float, int, int]]:
    """The similar pairs as (similarity, place in `dropped`, place in `added`)."""
    max_claims = MAX_SENTENCE_PAIRS // max(1, len(added))
    texts = [words(claim.text) for claim in added]
    for old, claim in enumerate(dropped[:max_claims]):
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(words(claim.text))  # the matcher caches only the second sequence
        for new, text in enumerate(texts):
            matcher.set_seq1(text)
            if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE:
                yield matcher.ratio(), old, new


def _new_sources(sources: Iterable[ReportSource], other_sources: Iterable[ReportSource]) -> Iterable[ReportSource]:
    """The cited sources that are not among `other_sources`."""
    other_cited = [source for source in other_sources if source.number is not None]
    texts, urls = (
        {source.document_sha256 for source in other_cited},
        {source.url for source in other_cited if source.url},
    )
    for source in sources:
        if source.number is not None and source.document_sha256 not in texts and source.url not in urls:
            yield source


def _new_steps(report: Report, other_report: Report) -> tuple[str, ...]:
    """The titles of steps that only the first plan has."""
    other_titles = {step.title for step in other_report.plan.steps} if other_report.plan else set()
    return tuple(step.title for step in report.plan.steps if step.title not in other_titles) if report.plan else ()
