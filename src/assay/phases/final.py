"""The end of a run: the report is verified, and finished with what its reader must know."""

from __future__ import annotations

from assay.agents.citing import cite
from assay.agents.task import Kit
from assay.core.events import ReportFinished
from assay.core.report import LIMITS, STOP_REASONS
from assay.core.sources import SNIPPET, lane_of_source, sha256
from assay.core.urls import BadUrl
from assay.core.urls import read as read_url
from assay.evidence.documents import Reader
from assay.phases.inquiry import Inquiry
from assay.phases.write import Draft
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.tools.search import searching
from assay.verify.pipeline import verify


async def finish(run: Run, kit: Kit, reader: Reader, inquiry: Inquiry, draft: Draft) -> Outcome:
    """Verify the report and end the run."""
    async with run.at("write").phase("verify") as phase:
        passages, sources = kit.ledger.everything()
        verified = await verify(
            phase,
            draft.text,
            passages,
            sources,
            reader,
            enabled=run.brief.verify,
            has_sources=draft.sourced,
            off=run.brief.checks_off,
        )
        reason = stop_reason(run, kit, draft)
        limits = (*_ended(reason), *inquiry.assumptions, *draft.limits, *_contacted(run, kit))
        phase.emit(ReportFinished(text_sha256=sha256(draft.text.encode()), limits=limits))
    return Outcome(stop_reason=reason, verified=verified.passed and run.brief.verify)


def stop_reason(run: Run, kit: Kit, draft: Draft) -> str:
    """The limit which ended research; else whether anything was found where it was looked for, and written up."""
    if run.exhausted:
        return run.exhausted
    if draft.researched and not cite(draft.text, kit.ledger).passages:
        return "no_evidence"
    return "done" if draft.written else "unwritten"


def _contacted(run: Run, kit: Kit) -> tuple[str, ...]:
    """Who outside answered, where the web was in scope: search providers, and the hosts of the pages read."""
    if not run.brief.scope.web:
        return ()
    providers = [search.name for search in run.world.searches if search.name != "local"]
    answered = [name for name in providers if kit.ledger.has_answer(searching(name))]
    silent = [name for name in providers if name not in answered]
    searched = f"The web was searched with {', '.join(answered)}" if answered else "The web was not searched"
    missing = f"; {', '.join(silent)} gave no answer" if silent else ""
    met = [source for source in kit.ledger.everything()[1].values() if lane_of_source(source.id) >= run.brief.lane]
    pages = [source.url for source in met if source.media_type != SNIPPET]
    hosts = sorted({host for url in pages if (host := _host(url))})
    read = f"pages were read from {', '.join(hosts)}" if hosts else "no page was read"
    return (f"{searched}{missing}; {read}.",)


def _ended(reason: str) -> tuple[str, ...]:
    """What ended the run, where a limit did; what a writer that failed means for the reader, its draft says."""
    return (STOP_REASONS[reason],) if reason in LIMITS and reason != "unwritten" else ()


def _host(url: str) -> str:
    """The host of a page; "" for a document which has no such address, whatever it says of itself."""
    try:
        return read_url(url).authority
    except BadUrl:
        return ""
