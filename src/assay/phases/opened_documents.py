"""Everything a run has opened, searched again from what is stored: not only the passages it was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from assay.core.errors import StoreError
from assay.core.ports import LedgerRow, Library
from assay.core.relevance import QuotableStatement, rank, read_question
from assay.core.sources import SNIPPET, UNSORTED, Document, PassageSpan, lane_of_source, readable
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.phases.case import Case
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
