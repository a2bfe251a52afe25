"""The end of a run: the report is verified, and finished with what its reader must know."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.findings import cite
from assay.agents.task import Toolset
from assay.core.events import ReportFinished
from assay.core.phrases import LIMITS, STOP_REASONS, nothing
from assay.core.plan import Coverage
from assay.core.sources import Source, sha256
from assay.core.translation import gettext as _
from assay.core.translation import stated_in
from assay.evidence.documents import DocumentReader
from assay.phases.case import Case, Draft
from assay.phases.form import redated, unheeded
from assay.phases.method import leaving, method, notice, rests_on_withdrawn
from assay.phases.plan_answers import Closing
from assay.phases.source_comparison import compare
from assay.phases.write import date_of
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.verify.pipeline import Verified, verify
from assay.verify.repair.candidates import Means
from assay.verify.stream.proofreader import Proofreader


async def finish(
    run: Run,
    toolset: Toolset,
    reader: DocumentReader,
    case: Case,
    draft: Draft,
    coverage: Sequence[Coverage] = (),
    proofreader: Proofreader | None = None,
) -> Outcome:
    """Compare its sources, verify the report and end the run.

    `coverage` is that before writing; `proofreader` has checked claims while the report was written.
    """
    async with run.at("verify").phase("verify") as phase:
        passages, sources = toolset.ledger.everything()
        if run.brief.verify and run.brief.compare and draft.sourced:
            draft = await compare(phase, toolset, reader, case, draft, coverage)
        closing = Closing(coverage, passages, formed=draft.composed or bool(run.brief.template))
        verified = await verify(
            phase,
            draft.text,
            passages,
            sources,
            reader,
            enabled=run.brief.verify,
            has_sources=draft.sourced,
            off=run.brief.checks_off,
            means=_means(run, toolset, case, draft),
            closing=closing,
            proofreader=proofreader if draft.sourced else None,
            streamed=draft.streamed,
        )
        draft = _revised(draft, verified, date_of(verified.text, toolset, case))
        reason = stop_reason(run, toolset, draft)
        noticed = await notice(phase, toolset.ledger, _cited(draft, toolset))
        contacted = await method(phase)
        limits = (
            *_ended(reason),
            *case.assumptions,
            *draft.limits,
            *closing.limits,
            *unheeded(run, case),
            *noticed,
            *rests_on_withdrawn(verified.claims, toolset.ledger),
            *contacted,
            *leaving(run.brief),
        )
        phase.emit(ReportFinished(text_sha256=sha256(draft.text.encode()), limits=limits, stated=stated_in(draft.text)))
    return Outcome(stop_reason=reason, verified=verified.passed and run.brief.verify)


def _cited(draft: Draft, toolset: Toolset) -> tuple[Source, ...]:
    """The sources of the passages the report cites, each once."""
    ids = dict.fromkeys(passage.source for passage in cite(draft.text, toolset.ledger).passages)
    return tuple(source for id in ids if (source := toolset.ledger.source(id)) is not None)


def _means(run: Run, toolset: Toolset, case: Case, draft: Draft) -> Means | None:
    """What the report may be repaired with; nothing, where it is not to be, or stands for records."""
    if not run.brief.repair or draft.composed:
        return None
    return Means(
        ledger=toolset.ledger,
        tools=toolset.tools,
        off=run.brief.repairs_off,
        emptied=nothing() if run.brief.template else "",
        retell=lambda text: redated(text, date_of(text, toolset, case)),
    )


def _revised(draft: Draft, verified: Verified, dated: str) -> Draft:
    """The draft as it left verification."""
    if verified.text == draft.text:
        return draft
    told = (redated(limit, dated) for limit in draft.limits)
    return msgspec.structs.replace(draft, text=verified.text, limits=(*told, *verified.limits))


def stop_reason(run: Run, toolset: Toolset, draft: Draft) -> str:
    """The limit which ended research; else whether anything was found where it was looked for, and written up."""
    if run.exhausted:
        return run.exhausted
    cites = bool(cite(draft.text, toolset.ledger).passages)
    if draft.researched and (not draft.found or (draft.written and not cites)):
        return "no_evidence"
    return "done" if draft.written else "unwritten"


def _ended(reason: str) -> tuple[str, ...]:
    """What ended the run, where a limit did; what a writer that failed means for the reader, its draft says."""
    return (_(STOP_REASONS[reason]),) if reason in LIMITS and reason != "unwritten" else ()
