"""Background: two or three searches, first passages only, so that the planner knows what the question is about.

Documents that this run or earlier ones opened are searched again as stored, beyond the passages that were shown.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from assay.agents.history import CallResult, output, pluralize, room, rules
from assay.agents.loop import act
from assay.agents.replies import mend
from assay.core.errors import LimitReached, ModelFailed, StoreError
from assay.core.events import SourceAdded, ToolFinished, ToolStarted
from assay.core.messages import Request, ToolCall
from assay.core.passage_context import read
from assay.core.phrases import in_words
from assay.core.ports import LedgerRow, Library
from assay.core.relevance import QuotableStatement, rank, read_question
from assay.core.sources import SNIPPET, UNSORTED, Document, Passage, PassageSpan, lane_of_source, ordinal_of, readable
from assay.core.text import estimate_tokens
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, data, may_search, user
from assay.phases.material import evidence
from assay.run.protocols import DocumentPassages
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.run.voice import StreamHooks

GONE = N_("Documents opened earlier and no longer stored, so not searched: {count}.")
LEFT_OUT = N_("Documents opened earlier and not searched, because there is too much text: {count}.")
MOST_BYTES = 64_000_000
"""Bytes of text searched for one question; further documents are left out, and the report says so."""
LANGUAGE = 5
"""The number of passages from which the language of the opened documents is detected."""


class Reopened(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that the passages found add to the ledger, and how many documents could not be searched."""

    rows: tuple[LedgerRow, ...] = ()
    gone: int = 0
    left_out: int = 0

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that a reader must know: documents that were not searched."""
        reasons = ((GONE, self.gone), (LEFT_OUT, self.left_out))
        return tuple(_(message).format(count=count) for message, count in reasons if count)


async def reopen(run: Run, case: Case, limit: int) -> tuple[str, ...]:
    """Add the `limit` passages of all opened documents that answer the question best; return the report's limits.

    Passages of a known source keep its id. A page that was only read ahead gets an id of this lane.
    """

    async def search(step_context: StepContext) -> Reopened:
        stored, gone, left_out = await asyncio.to_thread(_stored_passages, run, case)
        shown = await asyncio.to_thread(_best, stored, case.question, limit)
        rows: list[LedgerRow] = []
        for lane in sorted({lane for lane, _each in shown}):
            rows += case.ledger.register(lane, [each for at, each in shown if at == lane]).rows
        step_context.record(*rows)
        return Reopened(rows=tuple(rows), gone=gone, left_out=left_out)

    reopened = await run.step("reopen", search, returns=Reopened, input=[case.question, case.inherited.ahead])
    case.ledger.apply(reopened.rows)
    return reopened.limits


def _stored_passages(run: Run, case: Case) -> tuple[list[tuple[int, DocumentPassages]], int, int]:
    """Each document the earlier run has seen, once, with the lane that saw it first, as far as it is still stored and
    fits into the limit; then how many are gone, and how many left out.
    """
    library, room = run.world.library, MOST_BYTES
    found: list[tuple[int, DocumentPassages]] = []
    gone = left_out = 0
    for document, lane in _seen_documents(run, case, library).values():
        if library.document(document.sha256) is None:
            gone += 1
        elif document.size > room:
            left_out += 1
        else:
            try:
                spans = tuple(readable(case.reader.spans(document)))
            except StoreError:
                gone += 1
                continue
            room -= document.size
            found.append((lane, DocumentPassages(document=document, spans=spans)))
    return found, gone, left_out


def _seen_documents(run: Run, case: Case, library: Library) -> dict[str, tuple[Document, int]]:
    """Documents that were seen, by hash; then pages that were read ahead and never shown."""
    opened: dict[str, tuple[Document, int]] = {}
    for id in case.ledger.everything()[1]:
        document = case.ledger.document(id)
        if document is not None and document.media_type != SNIPPET:
            opened.setdefault(document.sha256, (document, lane_of_source(id)))
    for url in case.inherited.ahead:
        for document in library.find(url, [UNSORTED]):
            if document.url == url and document.media_type != SNIPPET:
                opened.setdefault(document.sha256, (document, run.lane))
    return opened


def _best(
    texts: Sequence[tuple[int, DocumentPassages]], question: str, limit: int
) -> list[tuple[int, DocumentPassages]]:
    """The passages of all documents that answer the question best, grouped by document."""
    every = [(place, span) for place, (_lane, each) in enumerate(texts) for span in each.spans]
    asked = read_question(question, beside="\n".join(span.text for _place, span in every[:LANGUAGE]))
    places = rank(asked, [_statement(texts[place][1].document, place, span) for place, span in every], limit)
    chosen = [every[at] for at in places]
    return [
        (lane, DocumentPassages(document=each.document, spans=spans))
        for place, (lane, each) in enumerate(texts)
        if (spans := tuple(span for at, span in chosen if at == place))
    ]


def _statement(document: Document, place: int, span: PassageSpan) -> QuotableStatement:
    heading = " ".join((document.title or document.name, *span.heading[-1:], span.lead))
    return QuotableStatement(text=span.text, place=span.ordinal, label=span.label, heading=heading, source=place)


BACKGROUND = "background"
"""The slot of the call that words the first searches."""
HITS = 4
SHARE = 64
"""The results shown to the planner take at most 1/`SHARE` of its window."""


class QueryRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of a call that words queries: how many, "at most" if fewer will do."""

    queries: int
    fewer: bool = False

    def sentences(self) -> str:
        """The rules as sentences."""
        return f"Word {'at most ' if self.fewer else ''}{pluralize(self.queries, 'query', 'queries')}."


async def look_around(run: Run, case: Case) -> str:
    """Search a few queries and return the best passages as text for the planner; empty if there is nothing to
    search.
    """
    if not may_search(run, case) or not run.rules.background_queries:
        return ""
    async with run.phase("background") as phase:
        try:
            calls = await word_searches(phase, case, phase.rules.background_queries)
            results = await act(phase, case.ledger.seeing(case.lanes), case.tools, calls, case.question)
        except (LimitReached, ModelFailed) as failed:
            phase.warn(_("planned without a look around: {why}").format(why=in_words(failed.reason)))
            return ""
    return results_for_planner(results, phase.profile("analytical").window // SHARE)


def results_for_planner(results: Sequence[CallResult], tokens: int) -> str:
    """Results for the planner, titles and passages: all if they fit into `tokens`, else the best."""
    whole = "\n\n".join(result.text for result in results)
    return whole if estimate_tokens(whole) <= tokens else "\n\n".join(result.gist() for result in results)


async def word_searches(phase: Run, case: Case, most: int) -> list[ToolCall]:
    """Have a model word `most` searches for the question; the question itself if it words none.

    Raises:
        LimitReached, ModelFailed: the model was not called, or did not answer.
    """
    search = case.tools["search"].definition
    request = background_request(phase, case, most, phase.rules.query_tokens)
    reply = await phase.ask("simple", request, StreamHooks(slot=BACKGROUND))
    calls = [call for call in mend(reply, [search.name]) if call.name == search.name][:most]
    if not calls:
        calls = [ToolCall(id="background", name=search.name, arguments={"query": case.question})]
    return [msgspec.structs.replace(call, arguments={**call.arguments, "limit": HITS}) for call in calls]


def background_request(place: Run, case: Case, most: int, tokens: int) -> Request:
    """The request for at most `most` queries, in a reply of at most `tokens`."""
    return Request(
        task="background",
        system=place.prompt("assay.phases", "background"),
        messages=(
            user("documents", case.documents),
            rules(QueryRules(queries=most, fewer=True)),
            *case.question_messages(),
        ),
        tools=(case.tools["search"].definition,),
        tool_choice="required",
        max_tokens=output(place.profile("simple"), tokens),
        effort="low",
    )


# Chooses the sources to open: those that rank highest over several searches.

RANK_SMOOTHING = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def best(results: Sequence[CallResult], most: int) -> list[str]:
    """The ids of the sources that rank highest over several results, by reciprocal rank fusion."""
    rated: defaultdict[str, float] = defaultdict(float)
    for result in results:
        for place, source in enumerate(read(result.text), 1):
            rated[source.id] += 1 / (RANK_SMOOTHING + place)
    return sorted(rated, key=lambda source: -rated[source])[:most]


# Evidence for an immediate answer: one search, a short look around within a time limit, or what was read before.

QUERIES, PAGES = 2, 3
"""Used if the depth sets none."""
RECALLED = 40
OPENING = 6
"""Passages from the beginning of each recalled document: they say what it is."""


class QuickLook(msgspec.Struct, frozen=True, kw_only=True):
    """The result found at once: passages in the lines of `core.passage_context`, empty for none.

    `late` says that time ran out. `limits` tell the reader what was not looked at.
    """

    evidence: str = ""
    late: bool = False
    limits: tuple[str, ...] = ()


async def search_once(run: Run, case: Case) -> QuickLook:
    """The best passages for the question, by one search."""
    if not may_search(run, case):
        return QuickLook()
    async with run.phase("research") as phase:
        call = ToolCall(id="question", name="search", arguments={"query": case.question})
        try:
            await act(phase, case.ledger.seeing(case.lanes), case.tools, [call], case.question)
        except LimitReached as limit:
            phase.warn(_("the documents were not searched: {why}").format(why=in_words(limit.reason)))
        return QuickLook(evidence=_in_hand(phase, case.ledger, case))


async def search_and_read(run: Run, case: Case) -> QuickLook:
    """The evidence from a few searches and their best documents, as far as it arrives within `look_seconds`."""
    if not may_search(run, case):
        return QuickLook()
    late = False
    async with run.phase("research") as phase:
        try:
            async with phase.hurried(phase.rules.look_seconds):
                await _search_and_read(phase, case)
        except LimitReached as limit:
            late = limit.reason == "time" and not phase.exhausted
            phase.warn(_("the search was ended: {why}").format(why=in_words(limit.reason)))
        return QuickLook(evidence=_in_hand(phase, case.ledger, case), late=late)


async def _search_and_read(phase: Run, case: Case) -> None:
    """Search, then open the sources that rank highest.

    Raises:
        LimitReached: it took too long; what was found by then is in the ledger.
    """
    ledger = case.ledger.seeing(case.lanes)
    results = await act(phase.child("turn-1"), ledger, case.tools, await _queries(phase, case), case.question)
    pages = best(results, phase.rules.pages or PAGES) if "open" in case.tools else []
    calls = [
        ToolCall(id=f"open-{place}", name="open", arguments={"documents": [page], "find": case.question})
        for place, page in enumerate(pages, 1)
    ]
    if calls:
        await act(phase.child("turn-2"), ledger, case.tools, calls, case.question)


async def _queries(phase: Run, case: Case) -> list[ToolCall]:
    try:
        return await word_searches(phase, case, phase.rules.queries or QUERIES)
    except ModelFailed as failed:
        phase.warn(_("searched with the words of the question alone: {why}").format(why=failed.reason))
        return [ToolCall(id="question", name="search", arguments={"query": case.question})]


def _in_hand(run: Run, ledger: Ledger, case: Case) -> str:
    """The passages shown to this lane; if not everything fits, the passages nearest to the question."""
    own = ledger.seeing([run.lane])
    near = own.recall(case.question, own.count())
    shown = (passage for source in own.everything()[1] for passage in own.passages(source))
    return _fitting(run, ledger, [*near, *shown])


async def recall_all(run: Run, case: Case) -> QuickLook:
    """The passages nearest to the question of everything opened before, without any search or model.

    If no passage shares a word with it (it may be in another language), the first ones.
    """
    async with run.phase("research") as phase:
        phase.emit(ToolStarted(call="question", tool="recall", arguments=data({"query": case.question})))
        limits = await reopen(phase, case, RECALLED)
        near = case.ledger.recall(case.question, RECALLED) or _first(case.ledger)
        found = _fitting(phase, case.ledger, [*near, *_openings(case.ledger, near)]) if near else ""
        for shown in read(found):
            if source := case.ledger.source(shown.id):
                phase.emit(SourceAdded(source=source))
        summary = f"{len(near)} passages read before for “{case.question}”"
        phase.emit(ToolFinished(call="question", tool="recall", summary=summary))
    return QuickLook(evidence=found, limits=limits)


def _first(ledger: Ledger) -> list[Passage]:
    """The first passages in the ledger, each once, whichever lanes saw it."""
    found: dict[tuple[str, int], Passage] = {}
    for passage in ledger.everything()[0].values():
        found.setdefault((passage.document_sha256, passage.start), passage)
    return list(found.values())[:RECALLED]


def _openings(ledger: Ledger, near: Sequence[Passage]) -> list[Passage]:
    """The first passages of each source in `near`: its header, its title."""
    sources = dict.fromkeys(passage.source for passage in near)
    return [passage for source in sources for passage in ledger.passages(source) if ordinal_of(passage.id) < OPENING]


def _fitting(run: Run, ledger: Ledger, passages: Iterable[Passage]) -> str:
    """As many passages, from the first on, as fit into half of the free window of the answering model."""
    left = room(run.profile("complex"), "", (), 0) // 2
    kept: dict[str, Passage] = {}
    for passage in passages:
        size = estimate_tokens(passage.text) + 8
        if passage.id not in kept and size <= left:
            left -= size
            kept[passage.id] = passage
    return evidence(sorted(kept.values(), key=lambda passage: ordinal_of(passage.id)), ledger)
