"""Background: two or three searches, first passages only, so that the planner knows what the question is about.

What a run or the ones before it have opened is searched again from what is stored, not only the passages it was shown.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from assay.agents.act import act
from assay.agents.history import CallResult, output, room
from assay.agents.prompt_texts import counted, rules
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
from assay.phases.case import Case, data, user
from assay.phases.material import evidence
from assay.run.protocols import DocumentPassages
from assay.run.run import Run
from assay.run.steps import StepContext

GONE = N_("Documents opened earlier and no longer stored, so not searched: {count}.")
LEFT_OUT = N_("Documents opened earlier and not searched, because there is too much text: {count}.")
MOST_BYTES = 64_000_000
"""Text searched for one question; documents beyond that are left out, and that is said."""
LANGUAGE = 5
"""Passages by which the language of what was opened is told."""


class Reopened(msgspec.Struct, frozen=True, kw_only=True):
    """The rows which what was found adds to the ledger, and what could not be searched."""

    rows: tuple[LedgerRow, ...] = ()
    gone: int = 0
    left_out: int = 0

    @property
    def limits(self) -> tuple[str, ...]:
        """What a reader must know of documents which were not searched."""
        told = ((GONE, self.gone), (LEFT_OUT, self.left_out))
        return tuple(_(message).format(count=count) for message, count in told if count)


class StoredTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Documents with their passages, as far as they are stored still and there is room for them."""

    found: tuple[tuple[int, DocumentPassages], ...] = ()
    gone: int = 0
    left_out: int = 0


async def reopen(run: Run, case: Case, limit: int) -> tuple[str, ...]:
    """Put the `limit` passages on the ledger which answer the question best of all that was opened; what is to be said.

    Passages of a source which was met before keep its id; a page which was only read ahead gets one of this lane.
    """

    async def search(step_context: StepContext) -> Reopened:
        stored = await asyncio.to_thread(_stored, run, case)
        shown = await asyncio.to_thread(_best, stored.found, case.question, limit)
        rows: list[LedgerRow] = []
        for lane in sorted({lane for lane, _each in shown}):
            rows += case.ledger.register(lane, [each for at, each in shown if at == lane]).rows
        for row in rows:
            step_context.record(row)
        return Reopened(rows=tuple(rows), gone=stored.gone, left_out=stored.left_out)

    reopened = await run.step("reopen", search, returns=Reopened, input=[case.question, case.inherited.ahead])
    case.ledger.apply(reopened.rows)
    return reopened.limits


def _stored(run: Run, case: Case) -> StoredTexts:
    """Each document the run before has met, once, with the lane it was first met in."""
    library, room = run.world.library, MOST_BYTES
    found: list[tuple[int, DocumentPassages]] = []
    gone = left_out = 0
    for document, lane in _opened(run, case, library).values():
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
    return StoredTexts(found=tuple(found), gone=gone, left_out=left_out)


def _opened(run: Run, case: Case, library: Library) -> dict[str, tuple[Document, int]]:
    """What was met, by hash; then the pages which were read ahead and never shown."""
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
    """The passages of all of them which answer the question best, by document."""
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


HITS = 4
SHARE = 64
"""What the planner is shown of it takes at most this part of its window."""


class QueryRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of a call that words queries: how many, "at most" where fewer will do."""

    queries: int
    fewer: bool = False

    def stated(self) -> str:
        """The rules as sentences."""
        return f"Word {'at most ' if self.fewer else ''}{counted(self.queries, 'query', 'queries')}."


def may_search(run: Run, case: Case) -> bool:
    """Whether there is anything to search: documents in scope, or the web."""
    return "search" in case.tools and (bool(case.count) or run.brief.scope.web)


async def look_around(run: Run, case: Case) -> str:
    """The best passages for a few queries, as text for the planner; empty where there is nothing to search."""
    if not may_search(run, case) or not run.rules.background_queries:
        return ""
    async with run.phase("background") as phase:
        try:
            calls = await wanted(phase, case, phase.rules.background_queries)
            results = await act(phase, case.ledger.seeing(case.lanes), case.tools, calls, case.question)
        except (LimitReached, ModelFailed) as failed:
            phase.warn(_("planned without a look around: {why}").format(why=in_words(failed.reason)))
            return ""
    return told(results, phase.profile("analytical").window // SHARE)


def told(results: Sequence[CallResult], tokens: int) -> str:
    """What was found, for the planner: titles and passages, all of them where they fit into `tokens`, else the best."""
    whole = "\n\n".join(result.text for result in results)
    return whole if estimate_tokens(whole) <= tokens else "\n\n".join(result.gist() for result in results)


async def wanted(phase: Run, case: Case, most: int) -> list[ToolCall]:
    """The searches a model words for the question, `most` of them; one for the question itself where it words none.

    Raises:
        LimitReached, ModelFailed: it was not asked, or did not answer.
    """
    search = case.tools["search"].definition
    request = Request(
        task="background",
        system=phase.prompt("assay.phases", "background"),
        messages=(
            user("documents", case.documents),
            rules(QueryRules(queries=most, fewer=True)),
            *case.asked(),
        ),
        tools=(search,),
        tool_choice="required",
        max_tokens=output(phase.profile("simple"), phase.rules.query_tokens),
        effort="low",
    )
    reply = await phase.ask("simple", request)
    calls = [call for call in mend(reply, [search.name]) if call.name == search.name][:most]
    if not calls:
        calls = [ToolCall(id="background", name=search.name, arguments={"query": case.question})]
    return [msgspec.structs.replace(call, arguments={**call.arguments, "limit": HITS}) for call in calls]


# Which sources to open: those which stand highest in several searches together.

RANK_SMOOTHING = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def best(results: Sequence[CallResult], most: int) -> list[str]:
    """The ids of the sources that stand highest in several results together, by reciprocal rank fusion."""
    rated: defaultdict[str, float] = defaultdict(float)
    for result in results:
        for place, source in enumerate(read(result.text), 1):
            rated[source.id] += 1 / (RANK_SMOOTHING + place)
    return sorted(rated, key=lambda source: -rated[source])[:most]


# Evidence for an answer at once: one search, a short look around against the clock, or what was read before.

QUERIES, PAGES = 2, 3
"""Where the depth names none."""
RECALLED = 40
OPENING = 6
"""Passages from the beginning of each document recalled: they say what it is."""


class QuickLook(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at once: passages in the lines of `core.passage_context`, empty for none; `late` says that time
    ran out. `limits` are what a reader must know of what was not looked at.
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
    """What a few searches and the best documents of them hold, as far as it is in hand within `look_seconds`."""
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
    """Search, then open what stands highest.

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
        return await wanted(phase, case, phase.rules.queries or QUERIES)
    except ModelFailed as failed:
        phase.warn(_("searched with the words of the question alone: {why}").format(why=failed.reason))
        return [ToolCall(id="question", name="search", arguments={"query": case.question})]


def _in_hand(run: Run, ledger: Ledger, case: Case) -> str:
    """What this lane was shown, the nearest to the question first to be kept where not all of it fits."""
    own = ledger.seeing([run.lane])
    near = own.recall(case.question, own.count())
    shown = (passage for source in own.everything()[1] for passage in own.passages(source))
    return _fitting(run, ledger, [*near, *shown])


async def recall_all(run: Run, case: Case) -> QuickLook:
    """The passages of all that was opened before which are nearest to the question; nobody outside is asked.

    Where none shares a word with it (it may be in another language), the first of all.
    """
    async with run.phase("research") as phase:
        phase.emit(ToolStarted(call="question", tool="recall", arguments=data({"query": case.question})))
        limits = await reopen(phase, case, RECALLED)
        near = case.ledger.recall(case.question, RECALLED) or _first(case.ledger)
        found = _fitting(phase, case.ledger, [*near, *_openings(case.ledger, near)]) if near else ""
        for shown in read(found):
            if source := case.ledger.source(shown.id):
                phase.emit(SourceAdded(source=source))
        said = f"{len(near)} passages read before for “{case.question}”"
        phase.emit(ToolFinished(call="question", tool="recall", summary=said))
    return QuickLook(evidence=found, limits=limits)


def _first(ledger: Ledger) -> list[Passage]:
    """The first passages held, each once whatever lanes met it."""
    found: dict[tuple[str, int], Passage] = {}
    for passage in ledger.everything()[0].values():
        found.setdefault((passage.document_sha256, passage.start), passage)
    return list(found.values())[:RECALLED]


def _openings(ledger: Ledger, near: Sequence[Passage]) -> list[Passage]:
    """The first passages held of each source in `near`: its header, its title."""
    sources = dict.fromkeys(passage.source for passage in near)
    return [passage for source in sources for passage in ledger.passages(source) if ordinal_of(passage.id) < OPENING]


def _fitting(run: Run, ledger: Ledger, passages: Iterable[Passage]) -> str:
    """As many of the passages, the first first, as fit into half of what the answering model's window has room for."""
    left = room(run.profile("complex"), "", (), 0) // 2
    kept: dict[str, Passage] = {}
    for passage in passages:
        size = estimate_tokens(passage.text) + 8
        if passage.id not in kept and size <= left:
            left -= size
            kept[passage.id] = passage
    return evidence(sorted(kept.values(), key=lambda passage: ordinal_of(passage.id)), ledger)
