"""A table of documents by questions: an order of a batch for each cell, and the cells made of what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.core.claims import VERDICTS, Verdict
from assay.core.clean import local_path, one_line
from assay.core.errors import UsageError
from assay.core.json_decoders import UNREADABLE
from assay.core.report import Report, ReportClaim, ReportPassage
from assay.core.sources import READ_BY, Document
from assay.services.batch.folder import DONE, BatchFolder, BatchResult
from assay.services.batch.rows import BatchRow, cell_key
from assay.services.ports import Researcher

MOST_CELLS = 20_000
MOST_CLAIMS = 2
"""Claims in a cell; all of them are among the evidence."""


class CellEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of a cell with a passage it cites: the bytes `[start, end)` of the document's text."""

    document: str
    title: str
    question: str
    claim: str
    verdict: Verdict
    quote: str
    reason: str = ""
    page: int = 0
    heading: str = ""
    start: int = 0
    end: int = 0
    url: str = ""
    read_by: str = ""
    run: str = ""


class AnswerCell(msgspec.Struct, frozen=True, kw_only=True):
    """What one document says to one question. `verdict` is the weakest of its claims; where there is no answer
    `status` says why, such as `nothing found`, `failed` or `not done`.
    """

    question: str
    answer: str = ""
    verdict: Verdict | None = None
    status: str = "not done"
    error: str = ""
    run: str = ""
    evidence: tuple[CellEvidence, ...] = ()


class AnswerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A document, with a cell for each question."""

    document: str
    title: str
    where: str
    read_by: str
    cells: tuple[AnswerCell, ...]


class AnswerTable(msgspec.Struct, frozen=True, kw_only=True):
    """Documents by questions."""

    questions: tuple[str, ...]
    rows: tuple[AnswerRow, ...]

    @property
    def evidence(self) -> Iterator[CellEvidence]:
        """The evidence of all cells, row by row."""
        return (each for row in self.rows for cell in row.cells for each in cell.evidence)


async def table_orders(assay: Researcher, documents: Sequence[Document], questions: Sequence[str]) -> list[BatchRow]:
    """An order for each cell, which sees its document alone.

    Raises:
        UsageError: they are too many.
    """
    if len(documents) * len(questions) > MOST_CELLS:
        raise UsageError(
            f"{len(documents):,} documents by {len(questions):,} questions are more than {MOST_CELLS:,} cells: "
            "name fewer documents with --in, or ask fewer questions at a time"
        )
    orders: list[BatchRow] = []
    for document in documents:
        scope = f"@{await assay.selection([document.sha256])}"
        for question in questions:
            key = cell_key(document.sha256, question)
            orders.append(BatchRow(line=len(orders) + 1, key=key, question=question, sources=(scope,)))
    return orders


def answer_table(documents: Iterable[Document], questions: Sequence[str], folder: BatchFolder) -> AnswerTable:
    """The table as far as it is done."""
    return AnswerTable(questions=tuple(questions), rows=tuple(_row(each, questions, folder) for each in documents))


def _row(document: Document, questions: Sequence[str], folder: BatchFolder) -> AnswerRow:
    cells = tuple(
        _cell(document, question, folder.results.get(cell_key(document.sha256, question)), folder)
        for question in questions
    )
    return AnswerRow(
        document=document.sha256,
        title=_title(document),
        where=local_path(document.url) or document.url,
        read_by=document.metadata.get(READ_BY, ""),
        cells=cells,
    )


def _title(document: Document) -> str:
    return one_line(document.title or document.name)


def _cell(document: Document, question: str, result: BatchResult | None, folder: BatchFolder) -> AnswerCell:
    if result is None:
        return AnswerCell(question=question)
    if result.status not in DONE or not result.file:
        status = "nothing found" if result.status in DONE else result.status
        return AnswerCell(question=question, status=status, error=result.error, run=result.run)
    try:
        report = msgspec.json.decode((folder.path / result.file).read_bytes(), type=Report)
    except (OSError, *UNREADABLE) as error:
        return AnswerCell(question=question, status="failed", error=f"{result.file}: {error}", run=result.run)
    claims = [claim for claim in report.claims if claim.relevance in ("", "answers")]
    if not claims:
        return AnswerCell(question=question, status="nothing found", run=result.run)
    passages = {passage.id: passage for passage in report.passages}
    return AnswerCell(
        question=question,
        answer=" ".join(one_line(claim.text) for claim in claims[:MOST_CLAIMS]),
        verdict=max((claim.verdict for claim in claims), key=VERDICTS.index),
        status="answered",
        run=result.run,
        evidence=tuple(
            _evidence(document, question, claim, passages[cited.passage], result.run)
            for claim in claims
            for cited in claim.citations
            if cited.passage in passages
        ),
    )


def _evidence(document: Document, question: str, claim: ReportClaim, passage: ReportPassage, run: str) -> CellEvidence:
    return CellEvidence(
        document=document.sha256,
        title=_title(document),
        question=question,
        claim=one_line(claim.text),
        verdict=claim.verdict,
        reason=claim.reason,
        quote=one_line(passage.text),
        page=passage.page,
        heading=one_line(" > ".join(passage.heading)),
        start=passage.start,
        end=passage.end,
        url=document.url,
        read_by=document.metadata.get(READ_BY, ""),
        run=run,
    )
