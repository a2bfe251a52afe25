"""A table of documents by questions: an order of a batch per cell, cells from the results, and output files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from assay.core.claims import VERDICTS, Verdict
from assay.core.clean import error_words, escape_csv_cell, local_path, one_line
from assay.core.errors import ConfigError, UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.report import Report, ReportClaim, ReportPassage
from assay.core.sources import READ_BY, Document
from assay.services.batch.folder import DONE_STATUSES, BatchFolder, BatchResult
from assay.services.batch.rows import BatchRow, cell_key
from assay.services.ports import Researcher

MAX_CELLS = 20_000
MAX_CELL_CLAIMS = 2
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
    """One document's answer to one question.

    `verdict` is the weakest of its claims. Without an answer, `status` says why, such as `nothing found`, `failed` or
    `not done`.
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
        return (item for row in self.rows for cell in row.cells for item in cell.evidence)


async def table_orders(assay: Researcher, documents: Sequence[Document], questions: Sequence[str]) -> list[BatchRow]:
    """An order for each cell, in whose scope only its document is.

    Raises:
        UsageError: there are too many.
    """
    if len(documents) * len(questions) > MAX_CELLS:
        raise UsageError(
            f"{len(documents):,} documents by {len(questions):,} questions are more than {MAX_CELLS:,} cells: "
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
    return AnswerTable(
        questions=tuple(questions), rows=tuple(_row(document, questions, folder) for document in documents)
    )


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
    if result.status not in DONE_STATUSES or not result.file:
        status = "nothing found" if result.status in DONE_STATUSES else result.status
        return AnswerCell(question=question, status=status, error=result.error, run=result.run)
    try:
        report = msgspec.json.decode((folder.path / result.file).read_bytes(), type=Report)
    except (OSError, *DECODE_ERRORS) as error:
        return AnswerCell(
            question=question, status="failed", error=f"{result.file}: {error_words(error)}", run=result.run
        )
    evidence = tuple(
        _evidence(document, question, claim, passage, result.run)
        for claim, passages in _answers_of(report)
        for passage in passages
    )
    return msgspec.structs.replace(report_cell(question, report, result.run), evidence=evidence)


def report_cell(question: str, report: Report, run: str) -> AnswerCell:
    """A document's answer to a question, by the report of its run, without evidence."""
    answers = [claim for claim, _ in _answers_of(report)]
    if not answers:
        return AnswerCell(question=question, status="nothing found", run=run)
    answer = " ".join(one_line(claim.text) for claim in answers[:MAX_CELL_CLAIMS])
    verdict = max((claim.verdict for claim in answers), key=VERDICTS.index)
    return AnswerCell(question=question, answer=answer, verdict=verdict, status="answered", run=run)


def _answers_of(report: Report) -> list[tuple[ReportClaim, tuple[ReportPassage, ...]]]:
    return [(claim, tuple(passages)) for claim, passages in report.evidence() if claim.relevance in ("", "answers")]


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


# A table of answers as files: CSV with evidence in a second file, Excel with a second sheet, Markdown, JSON.

SUFFIXES = (".csv", ".xlsx", ".md", ".json")
EVIDENCE_COLUMNS = (
    "document",
    "question",
    "claim",
    "verdict",
    "why",
    "quote",
    "page",
    "heading",
    "file",
    "read by",
    "run",
)
MAX_CELL_CHARS = 32_000
"""Characters in a cell of Excel, whose limit is 32,767."""
MAX_COLUMN_WIDTH = 60


def check_suffix(path: Path) -> str:
    """The suffix of the table's format, if it can be written here.

    Raises:
        UsageError: there is no such format.
        ConfigError: it needs an extra.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{path.name} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if suffix == ".xlsx" and find_spec("xlsxwriter") is None:
        raise ConfigError("Excel files need xlsxwriter; install it with: pip install 'assay[office]'")
    return suffix


def table_files(table: AnswerTable, path: Path) -> dict[Path, bytes]:
    """The contents of each file to write."""
    suffix = check_suffix(path)
    if suffix == ".csv":
        evidence_path = path.with_name(f"{path.stem}.evidence.csv")
        return {
            path: _csv(_head(table), map(_answers, table.rows)),
            evidence_path: _csv(EVIDENCE_COLUMNS, map(_evidence_row, table.evidence)),
        }
    if suffix == ".xlsx":
        return {path: _excel(table)}
    if suffix == ".md":
        return {path: _markdown(table)}
    return {path: msgspec.json.format(msgspec.json.encode(table)) + b"\n"}


def _head(table: AnswerTable) -> list[str]:
    """Two columns per question: the answer and its verdict."""
    return ["document", "file", *(name for question in table.questions for name in (question, "verdict"))]


def _answers(row: AnswerRow) -> list[str]:
    return [
        _document_label(row),
        row.where,
        *(text for cell in row.cells for text in (cell.answer, _verdict_text(cell))),
    ]


def _document_label(row: AnswerRow) -> str:
    return f"{row.title} (read by OCR)" if row.read_by else row.title


def _verdict_text(cell: AnswerCell) -> str:
    """The verdict, with the pages of the passages; without an answer, the reason."""
    if cell.verdict is None:
        return f"{cell.status}: {cell.error}" if cell.error else cell.status
    pages = sorted({evidence.page for evidence in cell.evidence if evidence.page})
    return f"{cell.verdict} (p. {', '.join(map(str, pages))})" if pages else cell.verdict


def _evidence_row(evidence: CellEvidence) -> list[str]:
    page, file = str(evidence.page) if evidence.page else "", local_path(evidence.url) or evidence.url
    return [
        evidence.title, evidence.question, evidence.claim, evidence.verdict, evidence.reason,
        evidence.quote, page, evidence.heading, file, evidence.read_by, evidence.run,
    ]  # fmt: skip


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerows([escape_csv_cell(one_line(cell)) for cell in row] for row in (head, *rows))
    return output.getvalue().encode("utf-8", "replace")


def _excel(table: AnswerTable) -> bytes:
    import xlsxwriter  # noqa: PLC0415 - an extra

    output = io.BytesIO()
    book = xlsxwriter.Workbook(output, {"in_memory": True})
    _sheet(book, "Answers", (_head(table), *map(_answers, table.rows)))
    _sheet(book, "Evidence", (EVIDENCE_COLUMNS, *map(_evidence_row, table.evidence)))
    book.close()
    return output.getvalue()


def _sheet(book: Any, name: str, rows: Sequence[Sequence[str]]) -> None:
    sheet = book.add_worksheet(name)
    plain, bold = (book.add_format({"text_wrap": True, "valign": "top", "bold": bold}) for bold in (False, True))
    for row_index, row in enumerate(rows):
        for column, text in enumerate(row):
            # a string, never a formula or link, whatever it looks like
            sheet.write_string(row_index, column, one_line(text)[:MAX_CELL_CHARS], plain if row_index else bold)
    for column in range(len(rows[0])):
        sheet.set_column(column, column, min(MAX_COLUMN_WIDTH, 2 + max(len(row[column]) for row in rows)))
    sheet.freeze_panes(1, 1)


def _markdown(table: AnswerTable) -> bytes:
    numbers = {id(evidence): number for number, evidence in enumerate(table.evidence, 1)}
    lines = [_line(["document", *table.questions]), _line(["---"] * (1 + len(table.questions)))]
    lines += [
        _line([_document_label(row), *(_numbered_answer(cell, numbers) for cell in row.cells)]) for row in table.rows
    ]
    lines += ["", "## Evidence", ""]
    for number, evidence in enumerate(table.evidence, 1):
        location = ", ".join(
            filter(
                None,
                (evidence.title, f"p. {evidence.page}" if evidence.page else "", evidence.heading, evidence.read_by),
            )
        )
        lines.append(
            f"{number}. {evidence.verdict}: “{_escape_markdown(evidence.quote)}” ({_escape_markdown(location)})"
        )
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _numbered_answer(cell: AnswerCell, numbers: dict[int, int]) -> str:
    if cell.verdict is None:
        return _verdict_text(cell)
    return f"{cell.answer} [{', '.join(str(numbers[id(evidence)]) for evidence in cell.evidence)}] ({cell.verdict})"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escape_markdown, cells))} |"


def _escape_markdown(text: str) -> str:
    """Text that Markdown shows unchanged: it ends no cell and begins no link or markup."""
    escaped = one_line(text)
    for mark in "\\|`*_<>[]":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped
