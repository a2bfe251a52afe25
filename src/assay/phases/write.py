"""Writing: findings and plan become the report, streamed. If no model can write it, the findings are the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from assay.agents import findings
from assay.agents.findings import Finding, finding_text, quote_nearest_passages, resolve_citations
from assay.agents.reply_text import tidy_text
from assay.core import phrases
from assay.core.brief import shorten_text
from assay.core.document_dates import year_of_subject
from assay.core.errors import LimitReached, ModelFailed, NothingSearched, SearchUnanswered
from assay.core.events import ReportDelta, ReportRevised, ReportStarted, ToolsIgnored, decode
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import Coverage, Plan
from assay.core.search_record import SearchSummary, Silent, summarize_searches
from assay.core.translation import N_, join_some, quote_text, record_statement
from assay.core.translation import gettext as _
from assay.core.view import fold_events
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Draft, Research, has_searchable_sources
from assay.phases.form import (
    FormedReport,
    ReportOpening,
    add_date_and_missing,
    add_opening,
    date_sentence,
    fill_template,
    gap_lines,
    join_parts,
    missing_parts,
    reconcile_missing,
    replace_date,
)
from assay.phases.writer import ReportWriter
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.verify.proofreader import Proofreader, make_proofreader, streamed_spans

# The report if nothing was found. Only a run that has searched may say so; otherwise it fails.

MAX_CLOSEST_PASSAGES, MAX_RECALLED_PASSAGES = 3, 60
MIN_PASSAGE_CHARS = 30
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
    "nothing could be searched: {reasons}; check the network and the keys of the search providers (assay doctor) and "
    "resume the run, or name documents (--in PATH)"
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


async def check_tools(run: Run) -> None:
    """Fail a run that found nothing because its model calls no tools, and drop what it wrote.

    Raises:
        NothingSearched: no agent's model made a tool call, although each was told to, and reminded.
    """

    async def find_ignored(_: StepContext) -> str:
        log = await run.log()
        ignored_models = {event.lane: event.model for event in map(decode, log) if isinstance(event, ToolsIgnored)}
        lanes = {lane.lane for lane in fold_events(log).lanes}
        return next(iter(ignored_models.values()), "") if lanes and lanes <= ignored_models.keys() else ""

    model = await run.free_step("tools-ignored", find_ignored, returns=str)
    if model and not run.exhausted:
        run.emit(ReportStarted())
        raise NothingSearched(TOOLS_IGNORED.format(model=model))


async def write_nothing(run: Run, case: Case) -> Draft:
    """End a run that has nothing to search.

    Raises:
        NothingSearched: always, unless a limit ended the run before.
    """
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted())
        return await nothing_found(phase, case)


async def nothing_found(phase: Run, case: Case) -> Draft:
    """Write, without a model, where the run searched, what ended the search, and the nearest passages.

    Raises:
        NothingSearched: nothing was searched, and no limit is the reason.
    """
    text = nothing_found_text(await require_search(phase, case), phase, case)
    nearest = closest_passages(case.question, case.ledger)
    text = f"{text}\n\n{nearest}" if nearest else text
    phase.emit(ReportDelta(text=text))
    return Draft(text=text, sourced=bool(nearest), found=False)


def closest_passages(question: str, ledger: Ledger) -> str:
    """The passages nearest to a question, of as many documents as possible, below their heading; empty if none shares a
    word with it.
    """
    recalled = [
        candidate
        for candidate in ledger.recall(question, MAX_RECALLED_PASSAGES)
        if len(candidate.text) > MIN_PASSAGE_CHARS
    ]
    best = {candidate.document_sha256: candidate for candidate in reversed(recalled)}
    first = [candidate for candidate in recalled if best[candidate.document_sha256] is candidate]
    nearest = [*first, *(candidate for candidate in recalled if candidate not in first)][:MAX_CLOSEST_PASSAGES]
    items = "\n".join(f"- {findings.cited_sentences(passage)}" for passage in nearest)
    return f"## {phrases.closest_heading()}\n\n{items}" if items else ""


async def require_search(run: Run, case: Case) -> SearchSummary:
    """Where the run has searched so far, by its own log. No limit applies: nothing is called.

    Raises:
        NothingSearched: nowhere, and no limit is the reason. It is not stored: a resumed run may have searched.
    """

    async def summarize(_: StepContext) -> SearchSummary:
        run.check_owner()
        searches = summarize_searches(fold_events(await run.log()))
        if not searches.has_searched and not run.exhausted:
            raise not_searched(run, case, searches)
        return searches

    return await run.free_step("looked", summarize, returns=SearchSummary)


def nothing_found_text(searches: SearchSummary, run: Run, case: Case) -> str:
    """The report's text if nothing was found: where, with which queries, who did not answer, what ended it."""
    cut_short_text = (
        _("research was cut short: {why}").format(why=stop_reason_phrase(run.exhausted)) if run.exhausted else ""
    )
    if not searches.has_searched:
        return _code_sentence(
            _("Nothing was searched, so it is unknown whether there is an answer"),
            cut_short_text,
            _silent_providers_text(searches.silent),
        )
    all_queries = case.ledger.queries(since=run.brief.lane)  # an earlier run's own report has its queries
    queries = join_some((quote_text(shorten_text(query, QUERY_LENGTH)) for query in all_queries), QUERIES_NAMED)
    not_found_text = _("Nothing that answers this question was found in {scope}").format(scope=case.scope)
    searched_text = _("searched for {queries}").format(queries=queries) if all_queries else ""
    return _code_sentence(not_found_text, searched_text, _silent_providers_text(searches.silent), cut_short_text)


def _code_sentence(*parts: str) -> str:
    """The non-empty parts, as one sentence by code."""
    return record_statement(_("{text}.").format(text=_("; ").join(filter(None, parts))))


def not_searched(run: Run, case: Case, searches: SearchSummary) -> NothingSearched:
    """Why nothing was searched, and what to do about it."""
    if "search" not in case.tools:
        return NothingSearched(NOTHING_READ.format(scope=case.scope) if run.brief.parent else NOT_ALLOWED)
    if not has_searchable_sources(run, case):
        return NothingSearched(NO_DOCUMENTS.format(scope=case.scope) if run.brief.scope.collections else NO_SOURCES)
    if searches.silent:
        return SearchUnanswered(NO_ANSWER.format(reasons="; ".join(map(_provider_reason, searches.silent))))
    if searches.ended:
        return NothingSearched(STOPPED.format(reasons="; ".join(map(stop_reason_phrase, searches.ended))))
    return NothingSearched(NOT_CALLED)


def _silent_providers_text(silent: Sequence[Silent]) -> str:
    return (
        _("without an answer from {providers}").format(providers=_("; ").join(map(_provider_reason, silent)))
        if silent
        else ""
    )


def _provider_reason(silent: Silent) -> str:
    text = silent.reason.removeprefix(silent.provider).lstrip(": ").rstrip(". ")
    return f"{silent.provider} ({text})" if text else silent.provider


REVISION_REASON = "its date, and what could not be found, were put in by code"
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


async def write_report(run: Run, case: Case, research: Research, coverage: Sequence[Coverage]) -> Draft:
    """Write the report. If research was cut short before agents reported, it is about the passages found by then.

    Claims are found and checked while it streams.

    Raises:
        ModelFailed: nothing was found, because every agent failed.
        NothingSearched: nothing was found, because nothing was searched.
    """
    reads = make_proofreader(run, case.ledger, case.reader, added_checks=case.added_checks)
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted(title=research.plan.title))
        if not research.findings and research.failed:
            raise ModelFailed(f"every agent failed: {research.failed[-1]}")
        if not any(finding.passages for finding in research.findings):
            draft = await _write_up_passages(phase, case, research, reads)
        else:
            draft = await _run_writer(phase, ReportWriter(phase, case, research, coverage, reads), research)
    return msgspec.structs.replace(draft, limits=(*draft.limits, *shortcoming_notes(research)), proofreader=reads)


async def _run_writer(phase: Run, writer: ReportWriter, research: Research, instead: str = "") -> Draft:
    """The finished report; what code changed in the streamed text is logged.

    If the writer writes nothing, `instead` is the report, or else the findings.
    """
    opening = ReportOpening()
    try:
        texts, why = await writer.write(), REVISION_REASON
        opening = await writer.write_opening()
    except (LimitReached, ModelFailed) as failed:
        phase.warn(_("the report was put together by code: {why}").format(why=stop_reason_phrase(failed.reason)))
        texts, why = _texts_and_findings(writer, research), "the writer failed; the findings are the report"
        if writer.proofreader:
            writer.proofreader.restart_text()
        if instead and not writer.texts:
            phase.emit(ReportRevised(text=instead, why="the writer failed; the passages found are the report"))
            return Draft(text=instead)
    streamed_text = "\n\n".join(texts)
    texts = add_opening([tidy_text(text, writer.case.ledger) for text in texts], opening)
    report = _format_text(phase, writer.case, texts, writer.coverage)
    if why == REVISION_REASON:
        checked_text = streamed_text if writer.proofreader else ""
        log_code_changes(phase, streamed_text, report.text, spans=streamed_spans(checked_text, report.text))
        return Draft(text=report.text, limits=(*writer.limits, *report.limits), streamed=checked_text)
    phase.emit(ReportRevised(text=report.text, why=why))
    limits = (_(NOT_WRITTEN if not writer.texts else HALF_WRITTEN), *writer.limits, *report.limits)
    return Draft(text=report.text, limits=limits, written=False)


def _format_text(phase: Run, case: Case, texts: Sequence[str], coverage: Sequence[Coverage]) -> FormedReport:
    """The text with its date and what could not be found, under the headings of the template if there is one."""
    date_text = cited_date_sentence("\n\n".join(texts), case)
    if phase.brief.template:
        return fill_template(texts, phase.brief.template, date_text, missing_parts(coverage))
    return FormedReport(
        text=add_date_and_missing(reconcile_missing(join_parts(texts), coverage), date_text, gap_lines(coverage))
    )


def cited_date_sentence(text: str, case: Case) -> str:
    """A sentence with the date of a text, by the sources it cites; an annual report is of the year in its title."""
    citations = resolve_citations(text, case.ledger)
    sources = [*citations.sources, *(case.ledger.source(passage.source) for passage in citations.passages)]
    return date_sentence((source.published or year_of_subject(source.title) for source in sources if source), case.date)


def add_date(text: str, case: Case) -> str:
    """An answer with its date below it."""
    return add_date_and_missing(text, cited_date_sentence(text, case), ())


def update_date(text: str, case: Case) -> str:
    """A text with its date as the sources it cites now give it."""
    return replace_date(text, cited_date_sentence(text, case))


def log_code_changes(
    phase: Run, streamed_text: str, text: str, why: str = REVISION_REASON, spans: Mapping[str, tuple[int, int]] = {}
) -> None:
    """Log what code changed in a streamed text: an addition at its end, or the whole text again.

    `spans` are the places of its claims in `text`, if known.
    """
    if text.startswith(streamed_text):
        phase.emit(ReportDelta(text=text[len(streamed_text) :]))
    else:
        phase.emit(ReportRevised(text=text, why=why, spans=dict(spans)))


def shortcoming_notes(research: Research) -> tuple[str, ...]:
    """What a reader must know about the research: agents that failed or were cut short, and how many if several."""
    failures = [
        _("An agent failed: {reason}.").format(reason=_add_agents(reason, count))
        for reason, count in Counter(research.failed).items()
    ]
    short = Counter(
        (quote_text(" ".join(finding.task.split())), finding.stop)
        for finding in research.findings
        if finding.stop != "done"
    )
    short_notes = [
        _("Research on {task} was cut short: {why}.").format(
            task=task,
            why=_add_agents(_(MODEL_STOPS[stop]) if stop in MODEL_STOPS else stop_reason_phrase(stop), count),
        )
        for (task, stop), count in short.items()
    ]
    return (*failures, *short_notes)


def _add_agents(why: str, count: int) -> str:
    return why if count == 1 else f"{why} ({phrases.agents(count)})"


async def _write_up_passages(phase: Run, case: Case, research: Research, reads: Proofreader | None) -> Draft:
    """Report the passages found before a limit ended research; nothing if there are none or agents rejected them.

    The writer's part of the budget is still there. If it cannot write, the passages themselves are the report. What
    they do not cover is unknown: nobody has searched for it.
    """
    has_judgement = any(finding.stop == "done" for finding in research.findings)
    passages = "" if has_judgement or not phase.exhausted else quote_nearest_passages(case.question, case.ledger)
    if not passages:
        return await nothing_found(phase, case)
    cited = resolve_citations(passages, case.ledger)
    found = Finding(
        lane=phase.lane,
        task=case.question,
        step=0,
        text=cited.text,
        passages=cited.passages,
        stop=phase.exhausted,
        turns=0,
    )
    notice = record_statement(_(CUT_SHORT).format(why=stop_reason_phrase(phase.exhausted)))
    writer = ReportWriter(phase, case, msgspec.structs.replace(research, findings=(found,)), (), reads)
    return await _run_writer(phase, writer, research, add_date(f"*{notice}*\n\n{passages}", case))


def _texts_and_findings(writer: ReportWriter, research: Research) -> tuple[str, ...]:
    """What was written before the writer failed, and the findings it had still to write up."""
    remaining = [finding for part in writer.unwritten for finding in part.findings] if writer.texts else writer.findings
    return (*writer.texts, compose_findings(research.plan, remaining))


def compose_findings(plan: Plan, findings: Sequence[Finding]) -> str:
    """Findings under the plan steps they are for."""
    titles = {step.id: step.title for step in plan.steps}
    return "\n\n".join(
        f"## {titles.get(finding.step) or ' '.join(finding.task.split())}\n\n{finding_text(finding)}"
        for finding in findings
    )
