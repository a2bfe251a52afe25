"""Background: two or three searches, first passages only, so that the planner knows what the question is about.

Documents that this run or earlier ones opened are searched again as stored, beyond the passages that were shown.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from assay.agents.findings_request import evidence_text
from assay.agents.history import CallResult, message_room, output_cap, pluralize, rules_message
from assay.agents.loop import execute_calls
from assay.agents.replies import read_calls
from assay.core.errors import LimitReached, ModelFailed, StoreError
from assay.core.events import SourceAdded, ToolFinished, ToolStarted
from assay.core.messages import Request, ToolCall
from assay.core.passage_context import read_sources
from assay.core.phrases import stop_reason_phrase
from assay.core.ports import LedgerRow, Library
from assay.core.relevance import QuotableStatement, rank, read_question
from assay.core.sources import (
    SNIPPET,
    UNSORTED,
    Document,
    Passage,
    PassageSpan,
    content_spans,
    lane_of_source,
    ordinal_of,
)
from assay.core.text import estimate_tokens
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, can_search, to_json, user_message
from assay.run.protocols import DocumentPassages
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.run.voice import StreamHooks

GONE = N_("Documents opened earlier and no longer stored, so not searched: {count}.")
LEFT_OUT = N_("Documents opened earlier and not searched, because there is too much text: {count}.")
MAX_TEXT_BYTES = 64_000_000
"""Bytes of text searched for one question; further documents are left out, and the report says so."""
LANGUAGE_SAMPLE_PASSAGES = 5
"""The number of passages from which the language of the opened documents is detected."""


class ReopenedPassages(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that the passages found add to the ledger, and how many documents could not be searched."""

    rows: tuple[LedgerRow, ...] = ()
    gone: int = 0
    left_out: int = 0

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits that a reader must know: documents that were not searched."""
        reasons = ((GONE, self.gone), (LEFT_OUT, self.left_out))
        return tuple(_(message).format(count=count) for message, count in reasons if count)


async def recall_opened_documents(run: Run, case: Case, limit: int) -> tuple[str, ...]:
    """Add the `limit` passages of all opened documents that answer the question best; return the report's limits.

    Passages of a known source keep its id. A page that was only read ahead gets an id of this lane.
    """

    async def search(step_context: StepContext) -> ReopenedPassages:
        stored_documents, gone, left_out = await asyncio.to_thread(_stored_passages, run, case)
        best_passages = await asyncio.to_thread(_best_passages, stored_documents, case.question, limit)
        rows: list[LedgerRow] = []
        for lane in sorted({lane for lane, _passages in best_passages}):
            rows += case.ledger.register(
                lane, [document_passages for document_lane, document_passages in best_passages if document_lane == lane]
            ).rows
        step_context.record(*rows)
        return ReopenedPassages(rows=tuple(rows), gone=gone, left_out=left_out)

    reopened = await run.step("reopen", search, returns=ReopenedPassages, input=[case.question, case.inherited.ahead])
    case.ledger.apply(reopened.rows)
    return reopened.limits


def _stored_passages(run: Run, case: Case) -> tuple[list[tuple[int, DocumentPassages]], int, int]:
    """Each document the earlier run has seen, once, with the lane that saw it first, as far as it is still stored and
    fits into the limit; then how many are gone, and how many left out.
    """
    library, room = run.world.library, MAX_TEXT_BYTES
    documents: list[tuple[int, DocumentPassages]] = []
    gone = left_out = 0
    for document, lane in _seen_documents(run, case, library).values():
        if library.document(document.sha256) is None:
            gone += 1
        elif document.size > room:
            left_out += 1
        else:
            try:
                spans = tuple(content_spans(case.reader.spans(document)))
            except StoreError:
                gone += 1
                continue
            room -= document.size
            documents.append((lane, DocumentPassages(document=document, spans=spans)))
    return documents, gone, left_out


def _seen_documents(run: Run, case: Case, library: Library) -> dict[str, tuple[Document, int]]:
    """Documents that were seen, by hash; then pages that were read ahead and never shown."""
    documents: dict[str, tuple[Document, int]] = {}
    for id in case.ledger.passages_and_sources()[1]:
        document = case.ledger.document(id)
        if document is not None and document.media_type != SNIPPET:
            documents.setdefault(document.sha256, (document, lane_of_source(id)))
    for url in case.inherited.ahead:
        for document in library.find(url, [UNSORTED]):
            if document.url == url and document.media_type != SNIPPET:
                documents.setdefault(document.sha256, (document, run.lane))
    return documents


def _best_passages(
    texts: Sequence[tuple[int, DocumentPassages]], question: str, limit: int
) -> list[tuple[int, DocumentPassages]]:
    """The passages of all documents that answer the question best, grouped by document."""
    every = [
        (index, span) for index, (_lane, document_passages) in enumerate(texts) for span in document_passages.spans
    ]
    parsed_question = read_question(
        question, document_text="\n".join(span.text for _index, span in every[:LANGUAGE_SAMPLE_PASSAGES])
    )
    ranking = rank(parsed_question, [_statement(texts[index][1].document, index, span) for index, span in every], limit)
    best = [every[position] for position in ranking]
    return [
        (lane, DocumentPassages(document=document_passages.document, spans=spans))
        for index, (lane, document_passages) in enumerate(texts)
        if (spans := tuple(span for position, span in best if position == index))
    ]


def _statement(document: Document, source_index: int, span: PassageSpan) -> QuotableStatement:
    heading = " ".join((document.title or document.name, *span.heading[-1:], span.lead))
    return QuotableStatement(
        text=span.text, position=span.ordinal, label=span.label, heading=heading, source=source_index
    )


BACKGROUND_SLOT = "background"
"""The slot of the call that words the first searches."""
HITS_PER_QUERY = 4
RESULTS_WINDOW_DIVISOR = 64
"""The results shown to the planner take at most 1/`RESULTS_WINDOW_DIVISOR` of its window."""


class QueryRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of a call that words queries: how many, "at most" if fewer will do."""

    queries: int
    fewer: bool = False

    def sentences(self) -> str:
        return f"Word {'at most ' if self.fewer else ''}{pluralize(self.queries, 'query', 'queries')}."


async def search_background(run: Run, case: Case) -> str:
    """Search a few queries and return the best passages as text for the planner; empty if there is nothing to
    search.
    """
    if not can_search(run, case) or not run.rules.background_queries:
        return ""
    async with run.phase("background") as phase:
        try:
            calls = await ask_for_queries(phase, case, phase.rules.background_queries)
            results = await execute_calls(phase, case.ledger.seeing(case.lanes), case.tools, calls, case.question)
        except (LimitReached, ModelFailed) as failed:
            phase.warn(_("planned without a look around: {why}").format(why=stop_reason_phrase(failed.reason)))
            return ""
    return results_for_planner(results, phase.profile("analytical").window // RESULTS_WINDOW_DIVISOR)


def results_for_planner(results: Sequence[CallResult], tokens: int) -> str:
    """Results for the planner, titles and passages: all if they fit into `tokens`, else the best; each source once."""
    full_text = _join_blocks(result.text for result in results)
    return full_text if estimate_tokens(full_text) <= tokens else _join_blocks(result.gist() for result in results)


def _join_blocks(texts: Iterable[str]) -> str:
    """Texts without the sources that one before shows with the same passages."""
    return "\n\n".join(dict.fromkeys(block for text in texts for block in text.split("\n\n") if block))


async def ask_for_queries(phase: Run, case: Case, max_queries: int) -> list[ToolCall]:
    """Have a model word `max_queries` searches for the question; the question itself if it words none.

    Raises:
        LimitReached, ModelFailed: the model was not called, or did not answer.
    """
    search = case.tools["search"].definition
    request = background_request(phase, case, max_queries, phase.rules.query_tokens)
    reply = await phase.ask("simple", request, StreamHooks(slot=BACKGROUND_SLOT))
    calls = [call for call in read_calls(reply, [search.name]) if call.name == search.name][:max_queries]
    if not calls:
        calls = [ToolCall(id="background", name=search.name, arguments={"query": case.question})]
    return [msgspec.structs.replace(call, arguments={**call.arguments, "limit": HITS_PER_QUERY}) for call in calls]


def background_request(run: Run, case: Case, max_queries: int, tokens: int) -> Request:
    """The request for at most `max_queries` queries, in a reply of at most `tokens`."""
    return Request(
        task="background",
        system=run.prompt("assay.phases", "background"),
        messages=(
            user_message("documents", case.documents),
            rules_message(QueryRules(queries=max_queries, fewer=True)),
            *case.question_messages(),
        ),
        tools=(case.tools["search"].definition,),
        tool_choice="required",
        max_tokens=output_cap(run.profile("simple"), tokens),
        effort="low",
    )


# Chooses the sources to open: those that rank highest over several searches.

RANK_SMOOTHING = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def top_sources(results: Sequence[CallResult], max_sources: int) -> list[str]:
    """The ids of the sources that rank highest over several results, by reciprocal rank fusion."""
    scores: defaultdict[str, float] = defaultdict(float)
    for result in results:
        for position, source in enumerate(read_sources(result.text), 1):
            scores[source.id] += 1 / (RANK_SMOOTHING + position)
    return sorted(scores, key=lambda source: -scores[source])[:max_sources]


# Evidence for an immediate answer: one search, a short look around within a time limit, or what was read before.

DEFAULT_QUERIES, DEFAULT_PAGES = 2, 3
"""Used if the depth sets none."""
MAX_RECALLED_PASSAGES = 40
MODEL_LIMITS = ("tokens", "usd")
"""The limits that only calls of models use up."""
OPENING_PASSAGES = 6
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
    if not can_search(run, case):
        return QuickLook()
    async with run.phase("research") as phase:
        await _search_question(phase, case)
        return QuickLook(evidence=_shown_evidence(phase, case.ledger, case))


async def search_after_limit(phase: Run, case: Case) -> None:
    """Search for the question if tokens or money ran out before anything was searched: a search uses up neither."""
    if phase.exhausted in MODEL_LIMITS and can_search(phase, case) and not case.ledger.queries(phase.brief.lane):
        await _search_question(phase.with_gate("write"), case)


async def _search_question(phase: Run, case: Case) -> None:
    call = ToolCall(id="question", name="search", arguments={"query": case.question})
    try:
        await execute_calls(phase, case.ledger.seeing(case.lanes), case.tools, [call], case.question)
    except LimitReached as limit:
        phase.warn(_("the documents were not searched: {why}").format(why=stop_reason_phrase(limit.reason)))


async def search_and_read(run: Run, case: Case) -> QuickLook:
    """The evidence from a few searches and their best documents, as far as it arrives within `look_seconds`."""
    if not can_search(run, case):
        return QuickLook()
    late = False
    async with run.phase("research") as phase:
        try:
            async with phase.limit_time(phase.rules.look_seconds):
                await _search_and_read(phase, case)
        except LimitReached as limit:
            late = limit.reason == "time" and not phase.exhausted
            phase.warn(_("the search was ended: {why}").format(why=stop_reason_phrase(limit.reason)))
            await search_after_limit(phase, case)
        return QuickLook(evidence=_shown_evidence(phase, case.ledger, case), late=late)


async def _search_and_read(phase: Run, case: Case) -> None:
    """Search, then open the sources that rank highest.

    Raises:
        LimitReached: it took too long; what was found by then is in the ledger.
    """
    ledger = case.ledger.seeing(case.lanes)
    results = await execute_calls(
        phase.child("turn-1"), ledger, case.tools, await _queries_or_question(phase, case), case.question
    )
    pages = top_sources(results, phase.rules.pages or DEFAULT_PAGES) if "open" in case.tools else []
    calls = [
        ToolCall(id=f"open-{number}", name="open", arguments={"documents": [page], "find": case.question})
        for number, page in enumerate(pages, 1)
    ]
    if calls:
        await execute_calls(phase.child("turn-2"), ledger, case.tools, calls, case.question)


async def _queries_or_question(phase: Run, case: Case) -> list[ToolCall]:
    try:
        return await ask_for_queries(phase, case, phase.rules.queries or DEFAULT_QUERIES)
    except ModelFailed as failed:
        phase.warn(_("searched with the words of the question alone: {why}").format(why=failed.reason))
        return [ToolCall(id="question", name="search", arguments={"query": case.question})]


def _shown_evidence(run: Run, ledger: Ledger, case: Case) -> str:
    """The passages shown to this lane; if not everything fits, the passages nearest to the question."""
    seen = ledger.seeing([run.lane])
    nearest = seen.recall(case.question, seen.count())
    shown_passages = (passage for source in seen.passages_and_sources()[1] for passage in seen.passages(source))
    return _fit_evidence(run, ledger, [*nearest, *shown_passages])


async def recall_all(run: Run, case: Case) -> QuickLook:
    """The passages nearest to the question of everything opened before, without any search or model.

    If no passage shares a word with it (it may be in another language), the first ones.
    """
    async with run.phase("research") as phase:
        phase.emit(ToolStarted(call="question", tool="recall", arguments=to_json({"query": case.question})))
        limits = await recall_opened_documents(phase, case, MAX_RECALLED_PASSAGES)
        nearest = case.ledger.recall(case.question, MAX_RECALLED_PASSAGES) or _first_passages(case.ledger)
        evidence = (
            _fit_evidence(phase, case.ledger, [*nearest, *_opening_passages(case.ledger, nearest)]) if nearest else ""
        )
        for shown_source in read_sources(evidence):
            if source := case.ledger.source(shown_source.id):
                phase.emit(SourceAdded(source=source))
        summary = f"{len(nearest)} passages read before for “{case.question}”"
        phase.emit(ToolFinished(call="question", tool="recall", summary=summary))
    return QuickLook(evidence=evidence, limits=limits)


def _first_passages(ledger: Ledger) -> list[Passage]:
    """The first passages in the ledger, each once, whichever lanes saw it."""
    passages: dict[tuple[str, int], Passage] = {}
    for passage in ledger.passages_and_sources()[0].values():
        passages.setdefault((passage.document_sha256, passage.start), passage)
    return list(passages.values())[:MAX_RECALLED_PASSAGES]


def _opening_passages(ledger: Ledger, passages: Sequence[Passage]) -> list[Passage]:
    """The first passages of each source in `passages`: its header, its title."""
    sources = dict.fromkeys(passage.source for passage in passages)
    return [
        passage
        for source in sources
        for passage in ledger.passages(source)
        if ordinal_of(passage.id) < OPENING_PASSAGES
    ]


def _fit_evidence(run: Run, ledger: Ledger, passages: Iterable[Passage]) -> str:
    """As many passages, from the first on, as fit into half of the free window of the answering model."""
    tokens_left = message_room(run.profile("complex"), "", (), 0) // 2
    selected: dict[str, Passage] = {}
    for passage in passages:
        size = estimate_tokens(passage.text) + 8
        if passage.id not in selected and size <= tokens_left:
            tokens_left -= size
            selected[passage.id] = passage
    return evidence_text(sorted(selected.values(), key=lambda passage: ordinal_of(passage.id)), ledger)
