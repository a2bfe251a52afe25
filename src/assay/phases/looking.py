"""Evidence for an answer at once: one search, a short look around against the clock, or what was read before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.agents.act import act
from assay.agents.sizing import room
from assay.agents.task import Kit
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import SourceAdded, ToolFinished, ToolStarted
from assay.core.messages import ToolCall
from assay.core.report import in_words
from assay.core.shown import read
from assay.core.sources import Passage, ordinal_of
from assay.core.text import estimate_tokens
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.background import may_search, wanted
from assay.phases.inquiry import Inquiry, data
from assay.phases.material import evidence
from assay.phases.ranking import best
from assay.run.run import Run

SECONDS = 15.0
"""How long a web search may take to have evidence in hand."""
QUERIES, PAGES = 2, 3
"""Where the depth names none."""
RECALLED = 40
OPENING = 6
"""Passages from the beginning of each document recalled: they say what it is."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at once: passages in the lines of `core.shown`, empty for none; `late` says that time ran out."""

    evidence: str = ""
    late: bool = False


async def search_once(run: Run, kit: Kit, inquiry: Inquiry) -> Look:
    """The best passages for the question, by one search."""
    if not may_search(run, kit, inquiry):
        return Look()
    async with run.phase("research") as phase:
        call = ToolCall(id="question", name="search", arguments={"query": inquiry.question})
        try:
            await act(phase, kit.ledger.seeing(kit.lanes), kit.tools, [call], inquiry.question)
        except LimitReached as limit:
            phase.warn(_("the documents were not searched: {why}").format(why=in_words(limit.reason)))
        return Look(evidence=_in_hand(phase, kit.ledger, inquiry))


async def search_and_read(run: Run, kit: Kit, inquiry: Inquiry) -> Look:
    """What a few searches and the best documents of them hold, as far as it is in hand within `SECONDS`."""
    if not may_search(run, kit, inquiry):
        return Look()
    late = False
    async with run.phase("research") as phase:
        try:
            async with phase.hurried(SECONDS):
                await _search_and_read(phase, kit, inquiry)
        except LimitReached as limit:
            late = limit.reason == "time" and not phase.exhausted
            phase.warn(_("the search was ended: {why}").format(why=in_words(limit.reason)))
        return Look(evidence=_in_hand(phase, kit.ledger, inquiry), late=late)


async def _search_and_read(phase: Run, kit: Kit, inquiry: Inquiry) -> None:
    """Search, then open what stands highest.

    Raises:
        LimitReached: it took too long; what was found by then is in the ledger.
    """
    ledger = kit.ledger.seeing(kit.lanes)
    results = await act(phase.child("turn-1"), ledger, kit.tools, await _queries(phase, kit, inquiry), inquiry.question)
    pages = best(results, phase.rules.pages or PAGES) if "open" in kit.tools else []
    calls = [
        ToolCall(id=f"open-{place}", name="open", arguments={"documents": [page], "find": inquiry.question})
        for place, page in enumerate(pages, 1)
    ]
    if calls:
        await act(phase.child("turn-2"), ledger, kit.tools, calls, inquiry.question)


async def _queries(phase: Run, kit: Kit, inquiry: Inquiry) -> list[ToolCall]:
    try:
        return await wanted(phase, kit, inquiry, phase.rules.queries or QUERIES)
    except ModelFailed as failed:
        phase.warn(_("searched with the words of the question alone: {why}").format(why=failed.reason))
        return [ToolCall(id="question", name="search", arguments={"query": inquiry.question})]


def _in_hand(run: Run, ledger: Ledger, inquiry: Inquiry) -> str:
    """What this lane was shown, the nearest to the question first to be kept where not all of it fits."""
    own = ledger.seeing([run.lane])
    near = own.recall(inquiry.question, own.count())
    shown = (passage for source in own.everything()[1] for passage in own.passages(source))
    return _fitting(run, ledger, [*near, *shown])


async def recall_all(run: Run, kit: Kit, inquiry: Inquiry) -> Look:
    """The passages the ledger holds which are nearest to the question; nothing is searched.

    Where none shares a word with it (it may be in another language), the first of all.
    """
    async with run.phase("research") as phase:
        phase.emit(ToolStarted(call="question", tool="recall", arguments=data({"query": inquiry.question})))
        near = kit.ledger.recall(inquiry.question, RECALLED) or _first(kit.ledger)
        found = _fitting(phase, kit.ledger, [*near, *_openings(kit.ledger, near)]) if near else ""
        for shown in read(found):
            if source := kit.ledger.source(shown.id):
                phase.emit(SourceAdded(source=source))
        said = f"{len(near)} passages read before for “{inquiry.question}”"
        phase.emit(ToolFinished(call="question", tool="recall", summary=said))
    return Look(evidence=found)


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
