"""Writing: findings and plan become the report, streamed; where no model can write it, the findings are the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.agents.findings import cite, compose, told
from assay.agents.task import Finding
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import ReportDelta, ReportRevised, ReportStarted
from assay.core.phrases import in_words
from assay.core.plan import Coverage, Plan
from assay.core.translation import N_, quoted, state
from assay.core.translation import gettext as _
from assay.phases.case import Case, Draft, Research
from assay.phases.empty_report import nothing_found
from assay.phases.form import Formed, as_of, filled, formed, gaps, joined, missing, reconciled
from assay.phases.writer import ReportWriter
from assay.run.run import Run
from assay.verify.proofreader import proofreader, spans

REVISED = "its date, and what could not be found, were put in by code"
HALF_WRITTEN = N_(
    "No model could write this report to its end: the last sections are the findings as the agents reported them."
)
NOT_WRITTEN = N_("No model could write this report: what follows are the findings as the agents reported them.")
MODEL_STOPS = {
    "model": N_("its model failed"),
    "context_too_long": N_("it did not fit its model"),
    "refused": N_("its model refused"),
}
CUT_SHORT = N_(
    "This answer was put together by code because research was cut short ({why}): these are the passages found by then "
    "which are nearest to the question."
)


async def write(
    run: Run,
    case: Case,
    research: Research,
    coverage: Sequence[Coverage],
) -> Draft:
    """The report; where agents came to nothing because research was cut short, the passages found by then.

    Its claims are found and checked as it streams.

    Raises:
        ModelFailed: nothing was found, because every agent failed.
        NothingSearched: nothing was found, because nothing was searched.
    """
    reads = proofreader(run, case.ledger, case.reader)
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted(title=research.plan.title))
        if not research.findings and research.failed:
            raise ModelFailed(f"every agent failed: {research.failed[-1]}")
        if not any(finding.passages for finding in research.findings):
            draft = await _cut_short(phase, case, research)
        else:
            draft = await _draft(phase, ReportWriter(phase, case, research, coverage, reads), research)
    return msgspec.structs.replace(draft, limits=(*draft.limits, *shortcomings(research)), proofreader=reads)


async def _draft(phase: Run, writer: ReportWriter, research: Research) -> Draft:
    """The report in its form; what code changed of the text as it streamed is on the log."""
    try:
        texts, why = await writer.write(), REVISED
    except (LimitReached, ModelFailed) as failed:
        phase.warn(_("the report was put together by code: {why}").format(why=in_words(failed.reason)))
        texts, why = _unwritten(writer, research), "the writer failed; the findings are the report"
        if writer.proofreader:
            writer.proofreader.take_back()
    done = _formed(phase, writer.case, texts, writer.coverage)
    if why == REVISED:
        streamed = "\n\n".join(texts)
        read = streamed if writer.proofreader else ""
        settle(phase, streamed, done.text, places=spans(read, done.text))
        return Draft(text=done.text, limits=(*writer.limits, *done.limits), streamed=read)
    phase.emit(ReportRevised(text=done.text, why=why))
    limits = (_(NOT_WRITTEN if not writer.texts else HALF_WRITTEN), *writer.limits, *done.limits)
    return Draft(text=done.text, limits=limits, written=False)


def _formed(phase: Run, case: Case, texts: Sequence[str], coverage: Sequence[Coverage]) -> Formed:
    """What was written, with its date and what could not be found, under the headings of a template if there is one."""
    dated = date_of("\n\n".join(texts), case)
    if phase.brief.template:
        return filled(texts, phase.brief.template, dated, missing(coverage))
    return Formed(text=formed(reconciled(joined(texts), coverage), dated, gaps(coverage)))


def date_of(text: str, case: Case) -> str:
    """Of when a text is, by the sources it cites, as a sentence."""
    cited = cite(text, case.ledger)
    sources = [*cited.sources, *(case.ledger.source(passage.source) for passage in cited.passages)]
    return as_of((source.published for source in sources if source), case.date)


def with_date(text: str, case: Case) -> str:
    """An answer with its date below it."""
    return formed(text, date_of(text, case), ())


def settle(
    phase: Run, streamed: str, text: str, why: str = REVISED, places: Mapping[str, tuple[int, int]] = {}
) -> None:
    """Put on the log what code changed of a text as it streamed: more at its end, or the whole of it again.

    `places` are those of its claims in `text`, where they are known already.
    """
    if text.startswith(streamed):
        phase.emit(ReportDelta(text=text[len(streamed) :]))
    else:
        phase.emit(ReportRevised(text=text, why=why, spans=dict(places)))


def shortcomings(research: Research) -> tuple[str, ...]:
    """What a reader must know of the research: agents that failed or were cut short."""
    failed = [_("An agent failed: {reason}.").format(reason=reason) for reason in research.failed]
    short = [
        _("Research on {task} was cut short: {why}.").format(
            task=quoted(" ".join(finding.task.split())), why=_ended(finding.stop)
        )
        for finding in research.findings
        if finding.stop != "done"
    ]
    return (*failed, *short)


def _ended(stop: str) -> str:
    return _(MODEL_STOPS[stop]) if stop in MODEL_STOPS else in_words(stop)


async def _cut_short(phase: Run, case: Case, research: Research) -> Draft:
    """The passages shown by the time a limit ended research; nothing, where there are none or agents judged them."""
    judged = any(finding.stop == "done" for finding in research.findings)
    passages = "" if judged or not phase.exhausted else compose(case.question, case.ledger)
    if not passages:
        return await nothing_found(phase, case)
    notice = state(_(CUT_SHORT).format(why=in_words(phase.exhausted)))
    text = with_date(f"*{notice}*\n\n{passages}", case)
    phase.emit(ReportDelta(text=text))
    return Draft(text=text)


def _unwritten(writer: ReportWriter, research: Research) -> tuple[str, ...]:
    """What was written before the writer failed, and the findings it had still to write up."""
    rest = [finding for part in writer.left for finding in part.findings] if writer.texts else writer.findings
    return (*writer.texts, composed(research.plan, rest))


def composed(plan: Plan, findings: Sequence[Finding]) -> str:
    """Findings under the plan steps they are for."""
    titles = {step.id: step.title for step in plan.steps}
    return "\n\n".join(
        f"## {titles.get(finding.step) or ' '.join(finding.task.split())}\n\n{told(finding)}" for finding in findings
    )
