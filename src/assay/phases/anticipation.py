"""Searches and model calls that a run will probably make next, begun while the decision on them is made.

If somebody words the same query later, or opens a page that it found, the result is there at once. No result changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from assay.core.brief import Speculation
from assay.core.errors import LimitReached
from assay.core.events import Event, SearchExpected, SearchPerformed, SourceAdded, SourceExpected, SourceFailed, decode
from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.messages import Request
from assay.core.plan import Coverage
from assay.core.relevance.topic_question import analysis_for
from assay.core.sources import SNIPPET, Source
from assay.core.text import words
from assay.core.usage import Usage
from assay.phases.background import BACKGROUND_SLOT, background_request
from assay.phases.case import Case, PartAssessment, Research, can_search
from assay.phases.coverage import (
    ASSESS_SLOT,
    FINDINGS_WINDOW_DIVISOR,
    apply_assessments,
    assess_coverage,
    assess_request,
    closed_plan,
    unreported_steps,
)
from assay.phases.dispatch import Foresight
from assay.phases.fork import add_recalled_finding
from assay.phases.material import part_slot
from assay.phases.method import page_addresses
from assay.phases.writer import ReportWriter
from assay.run.run import Run
from assay.run.speculation import SPECULATION_ROLE, page_key
from assay.run.steps import StepContext
from assay.tools.search import build_query, search_ahead

MAX_QUERY_CHARS = 200
"""The longest question, in characters, that is sent to search engines unchanged."""
MAX_QUESTION_CHARS = 2_000
"""Characters of a question in which names are looked for."""
MAX_NAMES = 2
SPECULATION_EVENTS = {
    event.kind for event in (SearchExpected, SearchPerformed, SourceExpected, SourceAdded, SourceFailed)
}
"""The events that show what was begun ahead and what was asked for."""
TOPIC_LETTERS, MAX_TOPIC_WORDS = 3, 4
"""The shortest topic word, in letters, and how many of them are added to a name in a search."""
_QUOTED = regex(r"[\"“„«]([^\"“”„«»\n]{2,80})[\"”“»]")
_WORD = regex(r"\w[\w'’-]*")
_BEGINS = regex(r"(?:^|[.?!:;]\s*)$")


async def search_question(run: Run, case: Case) -> None:
    """Search for the question while triage works on it.

    Only for a question that stands alone: in a conversation it may refer to what was said before.
    """
    speculation, brief = run.brief.speculation, run.brief
    if isinstance(speculation, Speculation) and speculation.question and not brief.conversation and not brief.parent:
        await _search(run, "question", (case.question,))


async def search_names(run: Run, case: Case) -> None:
    """Search for the names in the question while the plan is written, unless an earlier run has searched already."""
    speculation, brief = run.brief.speculation, run.brief
    if isinstance(speculation, Speculation) and speculation.names and not brief.parent and brief.fork is None:
        await _search(run, "names", name_queries(case.question))


async def _search(run: Run, name: str, queries: Sequence[str]) -> None:
    """Begin these searches in a step, so that a resumed or replayed run does not begin them again."""
    short_queries = [query for query in queries if len(query) <= MAX_QUERY_CHARS and "\n" not in query]
    if not short_queries or not run.brief.scope.web or run.brief.scope.private or "search" not in run.brief.tools:
        return

    async def begin(step_context: StepContext) -> int:
        searches = ((provider, build_query(run, query)) for query in short_queries for provider in run.world.searches)
        return sum(search_ahead(run, provider, query, step_context) for provider, query in searches)

    try:
        await run.step(f"{SPECULATION_ROLE}-{name}", begin, returns=int, input=short_queries)
    except LimitReached:
        return


def name_queries(question: str) -> tuple[str, ...]:
    """Queries for what a question quotes, and for its names, each with the question's other words."""
    question = question[:MAX_QUESTION_CHARS]
    quotations = [" ".join(quotation.split()) for quotation in _QUOTED.findall(question)]
    names = _names(_QUOTED.sub(" ", question))
    name_words = {word for name in names for word in words(name)}
    empty = stop_terms(analysis_for(question))
    topic = [
        word for word in words(question) if len(word) >= TOPIC_LETTERS and word not in name_words and word not in empty
    ]
    queries = [*quotations, *(" ".join((name, *topic[:MAX_TOPIC_WORDS])) for name in names)]
    return tuple(dict.fromkeys(query for query in queries if query.strip()))[:MAX_NAMES]


def _names(text: str) -> list[str]:
    """Capitalized words, with those that follow one another as one name, without those that begin a sentence."""
    names: list[str] = []
    end = -1
    for word in _WORD.finditer(text):
        if not word[0][0].isupper() or _BEGINS.search(text[max(0, word.start() - 8) : word.start()]):
            continue
        if names and text[end : word.start()] == " ":
            names[-1] = f"{names[-1]} {word[0]}"
        else:
            names.append(word[0])
        end = word.end()
    return list(dict.fromkeys(names))


async def count_unused_speculation(run: Run) -> None:
    """Count what was done ahead and nobody asked for: searches and pages by the run's own log, calls as they ended.

    No limit applies: nothing is called.
    """
    if not isinstance(run.brief.speculation, Speculation):
        return

    async def count(step_context: StepContext) -> Usage:
        run.stop_speculation()
        unused = await _unused_speculation(run) + run.unused_calls
        step_context.spend(unused)
        return unused

    await run.free_step(SPECULATION_ROLE, count, returns=Usage)


async def _unused_speculation(run: Run) -> Usage:
    events = await run.log()
    decoded_events = [
        event
        for stored_event in events
        if stored_event.type in SPECULATION_EVENTS and (event := decode(stored_event)) is not None
    ]
    return await asyncio.to_thread(unused_usage, decoded_events, partial(page_addresses, run))


def unused_usage(events: Iterable[Event], addresses_of: Callable[[Source], Sequence[str]]) -> Usage:
    """The usage of what a log says was begun ahead and not asked for. Blocking, as `addresses_of` is.

    Args:
        events: those of the kinds in `SPECULATION_EVENTS`.
        addresses_of: returns the addresses that led to a source.
    """
    expected, performed = set[tuple[str, str]](), set[tuple[str, str]]()
    expected_pages, opened_pages, sources = set[str](), set[str](), list[Source]()
    for event in events:
        match event:
            case SearchExpected(query=query, provider=provider):
                expected.add((query, provider))
            case SearchPerformed(query=query, provider=provider):
                performed.add((query, provider))
            case SourceExpected(urls=urls):
                expected_pages.update(map(page_key, urls))
            case SourceFailed(url=url):
                opened_pages.add(page_key(url))
            case SourceAdded(source=source) if source.media_type != SNIPPET:
                opened_pages.add(page_key(source.url))
                sources.append(source)
    if expected_pages - opened_pages:
        opened_pages.update(page_key(url) for source in sources for url in addresses_of(source))
    return Usage(searches=len(expected - performed), pages=len(expected_pages - opened_pages))


# The call is kept only if exactly the same is asked afterwards, so no result changes:
#
# - while triage decides, the call that words the first searches;
# - while the reflector decides, the first turn of the next step's agent (`reflective.work`);
# - while the orchestrator decides over findings on every step, the call that judges what is answered;
# - while either of these two works, or the reflector decides on the last step, the report, for the case that everything
#   is answered.


def foresee_background(run: Run, case: Case) -> None:
    """Begin to word the first searches of a question that stands alone."""
    brief = run.brief
    if brief.mode not in ("auto", "deep_research") or brief.conversation or brief.parent or not can_search(run, case):
        return
    depth = "medium" if brief.depth == "auto" else brief.depth
    rules = brief.rules(depth, reasoning=run.profile("analytical").native_reasoning)
    if rules.background_queries:
        build = partial(background_request, run, case, rules.background_queries, rules.query_tokens)
        run.foresee(BACKGROUND_SLOT, "simple", build)


class NextCalls(Foresight):
    """The calls that follow the last agents."""

    def __init__(self, run: Run, case: Case) -> None:
        self._run, self._case = run, case

    def begin_final_calls(self, research: Research) -> None:
        """Begin to judge what is answered, and the report, if each step has its findings."""
        if unreported_steps(research) or not research.cited_findings():
            return
        run = self._run
        if run.brief.assess:
            tokens = run.profile("simple").window // FINDINGS_WINDOW_DIVISOR
            coverage = assess_coverage(self._case.question, research)
            run.foresee(ASSESS_SLOT, "simple", partial(assess_request, run, self._case, research, coverage, tokens))
        self.begin_report(research)

    def begin_report(self, research: Research) -> None:
        """Begin the report, if code finds everything answered: then a model probably does so too."""
        brief = self._run.brief
        expected = expected_coverage(self._case.question, research, assessed=brief.assess)
        if expected and not brief.schema:
            self._run.foresee(part_slot(1), "complex", partial(self._first_request, research, expected))

    def _first_request(self, research: Research, coverage: tuple[Coverage, ...]) -> Request:
        run = self._run.with_gate("write").child("write")
        case = msgspec.structs.replace(self._case, steering=research.steering)
        research = msgspec.structs.replace(research, plan=closed_plan(research.plan, coverage))
        return ReportWriter(run, case, add_recalled_finding(case, research), coverage).first_request()


def expected_coverage(question: str, research: Research, *, assessed: bool) -> tuple[Coverage, ...]:
    """The coverage that will probably be the result; empty if something seems to be open.

    Args:
        assessed: whether a model judges it; else code has.
    """
    coverage = assess_coverage(question, research)
    if not assessed:
        return coverage
    if coverage[0].status != "answered":
        return ()
    assessments = [PartAssessment(step=part.step, part=part.part, status="answered") for part in coverage[1:]]
    return apply_assessments(research, coverage, assessments)
