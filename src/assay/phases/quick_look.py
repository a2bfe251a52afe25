"""Evidence for an answer at once: one search, a short look around against the clock, or what was read before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.agents.act import act
from assay.agents.task import Toolset
from assay.agents.windows import room
from assay.core.endings import in_words
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import SourceAdded, ToolFinished, ToolStarted
from assay.core.messages import ToolCall
from assay.core.passage_context import read
from assay.core.sources import Passage, ordinal_of
from assay.core.text import estimate_tokens
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.background import may_search, wanted
from assay.phases.case import Case, data
from assay.phases.material import evidence
from assay.phases.source_ranks import best
from assay.run.run import Run

QUERIES, PAGES = 2, 3
"""Where the depth names none."""
RECALLED = 40
OPENING = 6
"""Passages from the beginning of each document recalled: they say what it is."""


class QuickLook(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at once: passages in the lines of `core.passage_context`, empty for none; `late` says that time
    ran out.
    """

    evidence: str = ""
    late: bool = False


async def search_once(run: Run, toolset: Toolset, case: Case) -> QuickLook:
    """The best passages for the question, by one search."""
    if not may_search(run, toolset, case):
        return QuickLook()
    async with run.phase("research") as phase:
        call = ToolCall(id="question", name="search", arguments={"query": case.question})
        try:
            await act(phase, toolset.ledger.seeing(toolset.lanes), toolset.tools, [call], case.question)
        except LimitReached as limit:
            phase.warn(_("the documents were not searched: {why}").format(why=in_words(limit.reason)))
        return QuickLook(evidence=_in_hand(phase, toolset.ledger, case))


async def search_and_read(run: Run, toolset: Toolset, case: Case) -> QuickLook:
    """What a few searches and the best documents of them hold, as far as it is in hand within `look_seconds`."""
    if not may_search(run, toolset, case):
        return QuickLook()
    late = False
    async with run.phase("research") as phase:
        try:
            async with phase.hurried(phase.rules.look_seconds):
                await _search_and_read(phase, toolset, case)
        except LimitReached as limit:
            late = limit.reason == "time" and not phase.exhausted
            phase.warn(_("the search was ended: {why}").format(why=in_words(limit.reason)))
        return QuickLook(evidence=_in_hand(phase, toolset.ledger, case), late=late)


async def _search_and_read(phase: Run, toolset: Toolset, case: Case) -> None:
    """Search, then open what stands highest.

    Raises:
        LimitReached: it took too long; what was found by then is in the ledger.
    """
    ledger = toolset.ledger.seeing(toolset.lanes)
    results = await act(
        phase.child("turn-1"), ledger, toolset.tools, await _queries(phase, toolset, case), case.question
    )
    pages = best(results, phase.rules.pages or PAGES) if "open" in toolset.tools else []
    calls = [
        ToolCall(id=f"open-{place}", name="open", arguments={"documents": [page], "find": case.question})
        for place, page in enumerate(pages, 1)
    ]
    if calls:
        await act(phase.child("turn-2"), ledger, toolset.tools, calls, case.question)


async def _queries(phase: Run, toolset: Toolset, case: Case) -> list[ToolCall]:
    try:
        return await wanted(phase, toolset, case, phase.rules.queries or QUERIES)
    except ModelFailed as failed:
        phase.warn(_("searched with the words of the question alone: {why}").format(why=failed.reason))
        return [ToolCall(id="question", name="search", arguments={"query": case.question})]


def _in_hand(run: Run, ledger: Ledger, case: Case) -> str:
    """What this lane was shown, the nearest to the question first to be kept where not all of it fits."""
    own = ledger.seeing([run.lane])
    near = own.recall(case.question, own.count())
    shown = (passage for source in own.everything()[1] for passage in own.passages(source))
    return _fitting(run, ledger, [*near, *shown])


async def recall_all(run: Run, toolset: Toolset, case: Case) -> QuickLook:
    """The passages the ledger holds which are nearest to the question; nothing is searched.

    Where none shares a word with it (it may be in another language), the first of all.
    """
    async with run.phase("research") as phase:
        phase.emit(ToolStarted(call="question", tool="recall", arguments=data({"query": case.question})))
        near = toolset.ledger.recall(case.question, RECALLED) or _first(toolset.ledger)
        found = _fitting(phase, toolset.ledger, [*near, *_openings(toolset.ledger, near)]) if near else ""
        for shown in read(found):
            if source := toolset.ledger.source(shown.id):
                phase.emit(SourceAdded(source=source))
        said = f"{len(near)} passages read before for “{case.question}”"
        phase.emit(ToolFinished(call="question", tool="recall", summary=said))
    return QuickLook(evidence=found)


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
