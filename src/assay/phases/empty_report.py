"""The report where nothing was found. It is written only by a run which has looked; one which has not fails."""

from __future__ import annotations

from collections.abc import Sequence

from assay.agents import findings
from assay.core import phrases
from assay.core.brief import shortened
from assay.core.errors import NothingSearched
from assay.core.events import ReportDelta, ReportStarted, ToolsIgnored, decode
from assay.core.phrases import in_words
from assay.core.search_record import Looked, Silent, look_over
from assay.core.translation import enumerated, quoted, state
from assay.core.translation import gettext as _
from assay.core.view import fold
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Draft
from assay.run.run import Run
from assay.run.steps import StepContext

CLOSEST = 3
SHORTEST = 30
"""Code points; what is shorter is a heading or a label."""
QUERIES_NAMED = 8
QUERY_LENGTH = 120
"""Characters of each; the question itself is one, and may be a page long."""

NO_DOCUMENTS = (
    "nothing was searched: there are no documents in {scope}; add some (assay docs add PATH), name them (--in PATH), "
    "or have the web searched (--web)"
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
    """Where the run has looked so far, by its own log. No limit ends this: it asks nobody."""

    async def look(_: StepContext) -> Looked:
        run.check_owner()
        return look_over(fold(await run.log()))

    return await run.free_step("looked", look, returns=Looked)


async def check_tools(run: Run) -> None:
    """Fail a run which has found nothing because its model calls no tools; what it wrote is taken back.

    Raises:
        NothingSearched: no agent's model made a tool call, though each was told to, and reminded.
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
    """The end of a run where there is nothing to search.

    Raises:
        NothingSearched: always, unless a limit had ended the run before.
    """
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        return await nothing_found(phase, case)


async def nothing_found(phase: Run, case: Case) -> Draft:
    """The report where nothing was found: where it was looked for, what ended that, and what comes nearest; no model.

    Raises:
        NothingSearched: it was looked for nowhere, and no limit is to blame.
    """
    text = told(await checked(phase, case), phase, case)
    nearest = closest(case.question, case.ledger)
    text = f"{text}\n\n{nearest}" if nearest else text
    phase.emit(ReportDelta(text=text))
    return Draft(text=text, sourced=bool(nearest), found=False)


def closest(question: str, ledger: Ledger) -> str:
    """The passages read which are nearest to a question, below their heading; nothing where none has a word of it."""
    found = ledger.recall(question, 4 * CLOSEST)
    nearest = [passage for passage in found if len(passage.text) > SHORTEST][:CLOSEST]
    items = "\n".join(f"- {findings.quoted(passage)}" for passage in nearest)
    return f"## {phrases.closest()}\n\n{items}" if items else ""


async def checked(run: Run, case: Case) -> Looked:
    """Where the run has looked.

    Raises:
        NothingSearched: nowhere, and no limit is to blame.
    """
    seen = await looked(run)
    if not seen.anywhere and not run.exhausted:
        raise NothingSearched(why_not(run, case, seen))
    return seen


def told(seen: Looked, run: Run, case: Case) -> str:
    """What the report says: where nothing was found, what was asked there, who gave no answer, what ended it."""
    ended = _("research was cut short: {why}").format(why=in_words(run.exhausted)) if run.exhausted else ""
    if not seen.anywhere:
        return _stated(_("Nothing was searched, so nothing is known of an answer"), ended, _silent(seen.silent))
    asked = case.ledger.queries(since=run.brief.lane)  # what an earlier run searched for, its own report says
    queries = enumerated((quoted(shortened(query, QUERY_LENGTH)) for query in asked), QUERIES_NAMED)
    found = _("Nothing that answers this question was found in {scope}").format(scope=case.scope)
    searched = _("searched for {queries}").format(queries=queries) if asked else ""
    return _stated(found, searched, _silent(seen.silent), ended)


def _stated(*parts: str) -> str:
    """The parts there are, as one sentence of code's own."""
    return state(_("{text}.").format(text=_("; ").join(filter(None, parts))))


def why_not(run: Run, case: Case, seen: Looked) -> str:
    """Why nothing was searched, and what to do about it."""
    if "search" not in case.tools:
        return NOTHING_READ.format(scope=case.scope) if run.brief.parent else NOT_ALLOWED
    if not case.count and not run.brief.scope.web:
        return NO_DOCUMENTS.format(scope=case.scope)
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
    said = silent.reason.removeprefix(silent.provider).lstrip(": ").rstrip(". ")
    return f"{silent.provider} ({said})" if said else silent.provider
