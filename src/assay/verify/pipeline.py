"""Verification of a report: its claims, the checks, and the final gate."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

import msgspec

from assay.core.claims import Claim, Summary, summarize
from assay.core.errors import Failed, StoreError
from assay.core.events import CitationsLocated, ClaimChecked, ClaimFound, VerifySummary
from assay.core.markers import parse
from assay.core.ports import Library
from assay.core.sources import Passage, Source
from assay.evidence.documents import Reader
from assay.run.run import Run
from assay.run.steps import Scratch
from assay.verify import gate
from assay.verify.checks import HEARSAY, NO_SOURCES, OFF, check
from assay.verify.citing import Shown, dropped
from assay.verify.claims import Sentence, claims
from assay.verify.evidence import Check, Evidence
from assay.verify.rows import compared
from assay.verify.verbatim import verbatim


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A report's claims with their verdicts, the counts, and whether the final gate passed."""

    claims: tuple[Claim, ...]
    summary: Summary
    passed: bool
    problems: tuple[str, ...] = ()


async def verify(
    run: Run,
    report: str,
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    reader: Reader,
    *,
    enabled: bool,
    has_sources: bool,
    off: Collection[str] = (),
) -> Verified:
    """Find the claims of `report`, check each against what it cites, and pass the report through the gate.

    Args:
        run: where events go; the documents of the cited passages are read in one step of it.
        report: the report as written, with markers.
        passages: every passage shown in the run, by id.
        sources: every source of the run, by id.
        reader: reads stored documents.
        enabled: False leaves every claim `unchecked(off)`; the gate is passed all the same.
        off: rules which are not asked.
        has_sources: False, for an answer from the model alone, leaves every claim `unchecked(no sources)`.
    """
    shown = Shown(passages, sources)
    found = _cited(claims(report), shown, sources)
    held = await _documents(run, _named(report, passages, found), reader)
    if held.located:
        run.emit(CitationsLocated(passages=held.located))
    cut = (frozenset(held.cut_before), frozenset(held.cut_after))
    checked = []
    for sentence, cited in found:
        claim = Claim(
            id=sentence.id,
            text=sentence.text,
            start=sentence.start,
            end=sentence.end,
            passages=tuple(passage.id for passage in cited),
        )
        _say_found(run, claim, cited)
        evidence = Evidence(passages=cited, sources=sources, cut_before=cut[0], cut_after=cut[1])
        checked.append(_say_checked(run, claim, _verdict(sentence, evidence, enabled, has_sources, off)))
    summary = summarize(checked, dropped(report, shown))
    problems = (*gate.records(report, checked, passages, tuple(sources), summary), *held.problems)
    run.emit(VerifySummary(summary=summary, passed=not problems, problems=problems))
    return Verified(claims=tuple(checked), summary=summary, passed=not problems, problems=problems)


def _verdict(sentence: Sentence, evidence: Evidence, enabled: bool, has_sources: bool, off: Collection[str]) -> Check:
    if not enabled:
        return OFF
    if not has_sources:
        return NO_SOURCES
    table = compared(sentence.text, sentence.head, evidence) if sentence.head and "field" not in off else None
    result = table or check(sentence.text, evidence, marked=bool(sentence.markers), off=off)
    return HEARSAY if result.verdict == "supported" and evidence.is_hearsay else result


def _cited(
    found: Sequence[Sentence], shown: Shown, sources: Mapping[str, Source]
) -> list[tuple[Sentence, tuple[Passage, ...]]]:
    """Each claim with what it cites.

    A sentence without a marker whose words stand in what the next marker of its block names has that as its citation:
    the marker closes a quotation of several sentences.
    """
    cited = [(sentence, shown.cited(sentence)) for sentence in found]
    following: tuple[int, tuple[Passage, ...]] = (-1, ())
    for at in range(len(cited) - 1, -1, -1):
        sentence, own = cited[at]
        if not sentence.markers and sentence.block == following[0]:
            passage = verbatim(sentence.text, Evidence(passages=following[1], sources=sources))
            cited[at] = (sentence, (passage,) if passage else ())
        elif sentence.markers:
            following = (sentence.block, own)
    return cited


def _say_found(run: Run, claim: Claim, cited: tuple[Passage, ...]) -> None:
    run.emit(ClaimFound(id=claim.id, text=claim.text, start=claim.start, end=claim.end, passages=cited))


def _say_checked(run: Run, claim: Claim, result: Check) -> Claim:
    run.emit(ClaimChecked(id=claim.id, rule=result.rule, verdict=result.verdict, reason=result.reason))
    return msgspec.structs.replace(claim, verdict=result.verdict, reason=result.reason)


def _named(
    report: str, passages: Mapping[str, Passage], found: Sequence[tuple[Sentence, tuple[Passage, ...]]]
) -> dict[str, Passage]:
    """All passages the report names, in its order, then those its claims rest on without naming them."""
    named = {id: passages[id] for marker in parse(report) for id in marker.ids if id in passages}
    return named | {passage.id: passage for _, cited in found for passage in cited}


async def _documents(run: Run, cited: Mapping[str, Passage], reader: Reader) -> gate.Documents:
    """Hold the cited passages against their stored documents, in one step; a limit or a failure is a problem."""
    if not cited:
        return gate.Documents()

    async def work(_: Scratch) -> gate.Documents:
        return await asyncio.to_thread(gate.documents, cited, _texts(run.world.library, reader))

    hashes = {id: passage.text_sha256 for id, passage in cited.items()}
    try:
        return await run.step("gate", work, returns=gate.Documents, input=hashes)
    except Failed as failed:
        return gate.Documents(problems=(f"the cited passages were not held against their documents: {failed.reason}",))


def _texts(library: Library, reader: Reader) -> gate.TextOf:
    def text_of(sha256: str) -> bytes:
        document = library.document(sha256)
        if document is None:
            raise StoreError(f"document {sha256[:12]} is not in the library")
        return reader.text(document)

    return text_of
