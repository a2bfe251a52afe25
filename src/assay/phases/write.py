"""Writing: findings and plan become the report, streamed. If no model can write it, the findings are the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.agents import findings
from assay.agents.findings import Finding, cite, compose, finding_text
from assay.core import phrases
from assay.core.brief import shortened
from assay.core.document_dates import year_of_subject
from assay.core.errors import LimitReached, ModelFailed, NothingSearched
from assay.core.events import ReportDelta, ReportRevised, ReportStarted, ToolsIgnored, decode
from assay.core.phrases import in_words
from assay.core.plan import Coverage, Plan
from assay.core.search_record import Looked, Silent, look_over
from assay.core.translation import N_, enumerated, quoted, state
from assay.core.translation import gettext as _
from assay.core.view import fold
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Draft, Research, searchable
from assay.phases.form import (
    Formed,
    Opening,
    as_of,
    filled,
    formed,
    gaps,
    join_parts,
    missing,
    reconciled,
    redated,
    with_opening,
)
from assay.phases.writer import ReportWriter
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.verify.proofreader import proofreader, spans

# The report if nothing was found. Only a run that has searched may say so; otherwise it fails.

CLOSEST, RECALLED = 3, 60
SHORTEST = 30
"""Code points; a shorter text is a heading or a label."""
QUERIES_NAMED = 8
QUERY_LENGTH = 120
"""Characters of each query; the question itself is one, and may be a page long."""

NO_DOCUMENTS = (
    "nothing was searched: there are no documents in {scope}; add some (assay docs add PATH), name them (--in PATH), "
    "or have the web searched (--web)"
)
NO_SOURCES = (
    "nothing was searched: no sources are named; name some (--in PATH), leave them out for the default collection, or "
    "have the web searched (--web)"
)
NO_ANSWER = (
    "nothing could be searched: {reasons}; check the network and the keys of the search providers (assay doctor), or "
    "name documents (--in PATH)"
)
NOT_ALLOWED = (
    "nothing was searched, since `agents.tools` does not name `search`; add it (assay config set agents.tools "
    "search,open,recall)"
)
NOT_CALLED = (
    "nothing was searched: no model called a tool; choose one that can call tools (assay models lists them, --model "
    "names one)"
)
STOPPED = (
    "nothing was searched: the agents were ended before they had called a tool ({reasons}); allow more (--max-time, "
    "--max-tokens), or choose another model (--model)"
)
TOOLS_IGNORED = (
    "{model} made no tool call: it may not support tools; try a model that does (assay models lists them, --model "
    "names one)"
)
NOTHING_READ = "there is nothing to answer from: {scope} holds no source; start a run which may search"


async def looked(run: Run) -> Looked:
    """Where the run has searched so far, by its own log. No limit applies: nothing is called."""

    async def look(_: StepContext) -> Looked:
        run.check_owner()
        return look_over(fold(await run.log()))

    return await run.free_step("looked", look, returns=Looked)


async def check_tools(run: Run) -> None:
    """Fail a run that found nothing because its model calls no tools, and drop what it wrote.

    Raises:
        NothingSearched: no agent's model made a tool call, although each was told to, and reminded.
    """

    async def look(_: StepContext) -> str:
        log = await run.log()
        ignored = {event.lane: event.model for event in map(decode, log) if isinstance(event, ToolsIgnored)}
        lanes = {lane.lane for lane in fold(log).lanes}
        return next(iter(ignored.values()), "") if lanes and lanes <= ignored.keys() else ""

    model = await run.free_step("tools-ignored", look, returns=str)
    if model and not run.exhausted:
        run.emit(ReportStarted())
        raise NothingSearched(TOOLS_IGNORED.format(model=model))


async def write_nothing(run: Run, case: Case) -> Draft:
    """End a run that has nothing to search.

    Raises:
        NothingSearched: always, unless a limit ended the run before.
    """
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        return await nothing_found(phase, case)


async def nothing_found(phase: Run, case: Case) -> Draft:
    """Write, without a model, where the run searched, what ended the search, and the nearest passages.

    Raises:
        NothingSearched: nothing was searched, and no limit is the reason.
    """
    text = empty_text(await checked(phase, case), phase, case)
    nearest = closest(case.question, case.ledger)
    text = f"{text}\n\n{nearest}" if nearest else text
    phase.emit(ReportDelta(text=text))
    return Draft(text=text, sourced=bool(nearest), found=False)


def closest(question: str, ledger: Ledger) -> str:
    """The passages nearest to a question, of as many documents as possible, below their heading; empty if none shares a
    word with it.
    """
    found = [each for each in ledger.recall(question, RECALLED) if len(each.text) > SHORTEST]
    best = {each.document_sha256: each for each in reversed(found)}
    first = [each for each in found if best[each.document_sha256] is each]
    nearest = [*first, *(each for each in found if each not in first)][:CLOSEST]
    items = "\n".join(f"- {findings.quoted(passage)}" for passage in nearest)
    return f"## {phrases.closest()}\n\n{items}" if items else ""


async def checked(run: Run, case: Case) -> Looked:
    """Where the run has searched.

    Raises:
        NothingSearched: nowhere, and no limit is the reason.
    """
    seen = await looked(run)
    if not seen.anywhere and not run.exhausted:
        raise NothingSearched(why_not(run, case, seen))
    return seen


def empty_text(seen: Looked, run: Run, case: Case) -> str:
    """The report's text if nothing was found: where, with which queries, who did not answer, what ended it."""
    ended = _("research was cut short: {why}").format(why=in_words(run.exhausted)) if run.exhausted else ""
    if not seen.anywhere:
        return _code_sentence(
            _("Nothing was searched, so it is unknown whether there is an answer"), ended, _silent(seen.silent)
        )
    asked = case.ledger.queries(since=run.brief.lane)  # an earlier run's own report has its queries
    queries = enumerated((quoted(shortened(query, QUERY_LENGTH)) for query in asked), QUERIES_NAMED)
    found = _("Nothing that answers this question was found in {scope}").format(scope=case.scope)
    searched = _("searched for {queries}").format(queries=queries) if asked else ""
    return _code_sentence(found, searched, _silent(seen.silent), ended)


def _code_sentence(*parts: str) -> str:
    """The non-empty parts, as one sentence by code."""
    return state(_("{text}.").format(text=_("; ").join(filter(None, parts))))


def why_not(run: Run, case: Case, seen: Looked) -> str:
    """Why nothing was searched, and what to do about it."""
    if "search" not in case.tools:
        return NOTHING_READ.format(scope=case.scope) if run.brief.parent else NOT_ALLOWED
    if not searchable(run, case):
        return NO_DOCUMENTS.format(scope=case.scope) if run.brief.scope.collections else NO_SOURCES
    if seen.silent:
        return NO_ANSWER.format(reasons="; ".join(map(_reason, seen.silent)))
    if seen.ended:
        return STOPPED.format(reasons="; ".join(map(in_words, seen.ended)))
    return NOT_CALLED


def _silent(silent: Sequence[Silent]) -> str:
    return (
        _("without an answer from {providers}").format(providers=_("; ").join(map(_reason, silent))) if silent else ""
    )


def _reason(silent: Silent) -> str:
    text = silent.reason.removeprefix(silent.provider).lstrip(": ").rstrip(". ")
    return f"{silent.provider} ({text})" if text else silent.provider


REVISED = "its date, and what could not be found, were put in by code"
HALF_WRITTEN = N_("No model could finish this report: the last sections are the findings as the agents reported them.")
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


async def write(run: Run, case: Case, research: Research, coverage: Sequence[Coverage]) -> Draft:
    """Write the report. If research was cut short before agents reported, show the passages found by then.

    Claims are found and checked while it streams.

    Raises:
        ModelFailed: nothing was found, because every agent failed.
        NothingSearched: nothing was found, because nothing was searched.
    """
    reads = proofreader(run, case.ledger, case.reader, added=case.added_checks)
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
    """The finished report; what code changed in the streamed text is logged."""
    opening = Opening()
    try:
        texts, why = await writer.write(), REVISED
        opening = await writer.opening()
    except (LimitReached, ModelFailed) as failed:
        phase.warn(_("the report was put together by code: {why}").format(why=in_words(failed.reason)))
        texts, why = _unwritten(writer, research), "the writer failed; the findings are the report"
        if writer.proofreader:
            writer.proofreader.take_back()
    streamed = "\n\n".join(texts)
    texts = with_opening(texts, opening)
    done = _formed(phase, writer.case, texts, writer.coverage)
    if why == REVISED:
        read = streamed if writer.proofreader else ""
        settle(phase, streamed, done.text, places=spans(read, done.text))
        return Draft(text=done.text, limits=(*writer.limits, *done.limits), streamed=read)
    phase.emit(ReportRevised(text=done.text, why=why))
    limits = (_(NOT_WRITTEN if not writer.texts else HALF_WRITTEN), *writer.limits, *done.limits)
    return Draft(text=done.text, limits=limits, written=False)


def _formed(phase: Run, case: Case, texts: Sequence[str], coverage: Sequence[Coverage]) -> Formed:
    """The text with its date and what could not be found, under the headings of the template if there is one."""
    dated = date_of("\n\n".join(texts), case)
    if phase.brief.template:
        return filled(texts, phase.brief.template, dated, missing(coverage))
    return Formed(text=formed(reconciled(join_parts(texts), coverage), dated, gaps(coverage)))


def date_of(text: str, case: Case) -> str:
    """A sentence with the date of a text, by the sources it cites; an annual report is of the year in its title."""
    cited = cite(text, case.ledger)
    sources = [*cited.sources, *(case.ledger.source(passage.source) for passage in cited.passages)]
    return as_of((source.published or year_of_subject(source.title) for source in sources if source), case.date)


def with_date(text: str, case: Case) -> str:
    """An answer with its date below it."""
    return formed(text, date_of(text, case), ())


def with_new_date(text: str, case: Case) -> str:
    """A text with its date as the sources it cites now give it."""
    return redated(text, date_of(text, case))


def settle(
    phase: Run, streamed: str, text: str, why: str = REVISED, places: Mapping[str, tuple[int, int]] = {}
) -> None:
    """Log what code changed in a streamed text: an addition at its end, or the whole text again.

    `places` are the places of its claims in `text`, if known.
    """
    if text.startswith(streamed):
        phase.emit(ReportDelta(text=text[len(streamed) :]))
    else:
        phase.emit(ReportRevised(text=text, why=why, spans=dict(places)))


def shortcomings(research: Research) -> tuple[str, ...]:
    """What a reader must know about the research: agents that failed or were cut short."""
    failed = [_("An agent failed: {reason}.").format(reason=reason) for reason in research.failed]
    short = [
        _("Research on {task} was cut short: {why}.").format(
            task=quoted(" ".join(finding.task.split())),
            why=_(MODEL_STOPS[finding.stop]) if finding.stop in MODEL_STOPS else in_words(finding.stop),
        )
        for finding in research.findings
        if finding.stop != "done"
    ]
    return (*failed, *short)


async def _cut_short(phase: Run, case: Case, research: Research) -> Draft:
    """Show the passages found before a limit ended research; empty if there are none or agents rejected them."""
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
        f"## {titles.get(finding.step) or ' '.join(finding.task.split())}\n\n{finding_text(finding)}"
        for finding in findings
    )
