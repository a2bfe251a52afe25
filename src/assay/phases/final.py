"""The end of a run: the report is verified, and finished with what its reader must know."""

from __future__ import annotations

from assay.agents.citing import cite
from assay.agents.task import Kit
from assay.core.events import ReportFinished
from assay.core.report import LIMITS, STOP_REASONS
from assay.core.sources import sha256
from assay.evidence.documents import Reader
from assay.phases.inquiry import Inquiry
from assay.phases.write import Draft
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.verify.pipeline import verify


async def finish(run: Run, kit: Kit, reader: Reader, inquiry: Inquiry, draft: Draft) -> Outcome:
    """Verify the report and end the run."""
    async with run.at("write").phase("verify") as phase:
        passages, sources = kit.ledger.everything()
        verified = await verify(
            phase, draft.text, passages, sources, reader, enabled=run.brief.verify, has_sources=draft.sourced
        )
        reason = stop_reason(run, kit, draft)
        limits = (*_ended(reason), *inquiry.assumptions, *draft.limits)
        phase.emit(ReportFinished(text_sha256=sha256(draft.text.encode()), limits=limits))
    return Outcome(stop_reason=reason, verified=verified.passed and run.brief.verify)


def stop_reason(run: Run, kit: Kit, draft: Draft) -> str:
    """The limit which ended research; else whether anything was found where it was looked for."""
    if run.exhausted:
        return run.exhausted
    return "no_evidence" if draft.researched and not cite(draft.text, kit.ledger).passages else "done"


def _ended(reason: str) -> tuple[str, ...]:
    return (STOP_REASONS[reason],) if reason in LIMITS else ()
