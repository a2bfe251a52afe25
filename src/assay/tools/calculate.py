"""`calculate`: a question in words, answered by code from the cells of a table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from assay.core.clean import one_line
from assay.core.errors import StoreError, ToolError
from assay.core.lazy import regex
from assay.core.ports import DocumentTexts
from assay.core.sources import Document, PassageSpan
from assay.core.tables.answers import MAX_CITED_ROWS, TableAnswer
from assay.core.tables.cells import TablePiece, TableRow
from assay.core.tables.records import table_of_documents
from assay.core.tables.rows import Note, note_line
from assay.core.tables.table_questions import FoundAnswer, answer_question
from assay.core.tables.words import read_asking
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.tools import common
from assay.tools.arguments import define, read

MAX_DOCUMENTS = 40
"""With at most so many documents in scope all are examined, whether or not a search has shown them."""
_UNSURE = regex(r"(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])")
"""A number that is one or a thousand times as much, in one language or another."""
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Bytes of a document beyond which its tables are not read."""
NOTHING = (
    "No table answers this. Ask for one cell, or for a sum, an average, a number of rows, a highest or lowest value, "
    "in the words of the table's own heads and cells."
)


class CalculateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `calculate`."""

    question: Annotated[
        str,
        msgspec.Meta(
            description="One question a single table answers, in the words of its heads and cells: the value of a "
            "cell, a sum, average, count, highest or lowest value, of all rows or those which meet a condition."
        ),
    ]


class CalculateTool:
    """Queries the tables of the documents found so far, and of all in scope if they are few."""

    name = "calculate"
    definition = define(
        "calculate",
        "Ask the tables in the documents found so far. Code picks the table, computes over all its rows, and shows the "
        "result with the rows it rests on: cite those.",
        CalculateArguments,
    )

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Calculate.

        Raises:
            ToolError: bad arguments.
        """
        parsed = read(self.definition, arguments, CalculateArguments)
        question = one_line(parsed.question)
        if not question:
            raise ToolError("the question is empty")
        documents = await asyncio.to_thread(_documents, run, ledger)
        key = common.call_key("calculate", [question, sorted(documents)])

        async def work(step_context: StepContext) -> Observation:
            async def compute() -> Observation:
                texts = run.world.texts or DocumentReader(run.world.blobs)
                return await asyncio.to_thread(
                    _best_answer, texts, documents, _all_if_few(run), question, common.result_chars(run)
                )

            computed, was_cached = await common.once(run, ledger, key, compute)
            if not was_cached:
                step_context.record(common.answer_row(run, key, step_context))
            return computed

        observation = await run.step("calculate", work, returns=Observation, input=[question, sorted(documents)])
        common.store_result(ledger, key, observation)
        return observation


def _documents(run: Run, ledger: Ledger) -> dict[str, Document]:
    """The documents whose tables to query, by hash: those found, in order, then all in scope if they are few."""
    found_documents = (ledger.document(source) for source in ledger.passages_and_sources()[1])
    by_hash = {document.sha256: document for document in found_documents if document is not None}
    for document in _all_if_few(run):
        by_hash.setdefault(document.sha256, document)
    return {hash: document for hash, document in by_hash.items() if document.size <= MAX_DOCUMENT_BYTES}


def _all_if_few(run: Run) -> list[Document]:
    """All documents in scope by name; none if they are many."""
    library, collections = run.world.library, run.brief.scope.collections
    if library.count(collections) > MAX_DOCUMENTS:
        return []
    return sorted(library.documents(collections), key=lambda each: (each.name, each.sha256))


def _best_answer(
    texts: DocumentTexts, documents: Mapping[str, Document], few_documents: Sequence[Document], question: str, room: int
) -> Observation:
    """The best answer of any table; of equal ones, that from the document found first. Else one over all if few."""
    best: tuple[FoundAnswer, Document, Sequence[PassageSpan]] | None = None
    for document in documents.values():
        try:
            spans = texts.spans(document)
        except StoreError:  # a damaged document has no tables; opening it reports the damage
            continue
        answer = answer_question(question, texts.tables(document))
        if answer is not None and (best is None or (answer.coverage, answer.fit) > (best[0].coverage, best[0].fit)):
            best = (answer, document, spans)
    if best is not None:
        return _observation(*best, room)
    return _extreme_of_documents(texts, few_documents, question) or Observation(
        summary=f"no table answers “{question}”", note=NOTHING
    )


def _extreme_of_documents(texts: DocumentTexts, documents: Sequence[Document], question: str) -> Observation | None:
    """The highest or lowest value of a key that the records of most documents share; None if none is asked for.

    Also if one of the values cannot be compared: it may be the highest.
    """
    if read_asking(question).operations[0].operation not in ("max", "min"):
        return None
    try:
        spans = {
            f"{document.sha256}/{span.ordinal}": (document, span)
            for document in documents
            for span in texts.spans(document)
        }
    except StoreError:  # the highest may be in a damaged document
        return None
    table = table_of_documents(
        (
            document,
            [TablePiece(name, span.text, span.start) for name, (owner, span) in spans.items() if owner is document],
        )
        for document in documents
    )
    answer = answer_question(question, [table]) if table is not None else None
    if table is None or answer is None or answer.computation.operation not in ("max", "min"):
        return None
    answer_rows, values = answer.answers[0], [value for value in table.column(answer.computation.column) if value]
    is_comparable = answer.computation.conditions or (
        len(answer_rows.rows) == len(values) and 2 * len(values) > len(documents)
    )
    if not is_comparable or (not table.language and any(map(_UNSURE.search, values))):
        return None
    return _joint_observation(answer, spans)


def _joint_observation(result: FoundAnswer, spans: Mapping[str, tuple[Document, PassageSpan]]) -> Observation:
    """The answer over several documents, with the passages of the cells that were compared, the best first."""
    answer = result.answers[0]
    columns = (result.computation.column, *(condition.column for condition in result.computation.conditions))
    rows = [*answer.named_rows, *(row for row in answer.rows if row not in answer.named_rows)]
    names = dict.fromkeys(row.cells[column].name for row in rows for column in columns if column in row.cells)
    cited_spans = [spans[name] for name in names]
    spans_by_document: dict[str, list[PassageSpan]] = {}
    documents = {document.sha256: document for document, _ in cited_spans}
    for document, span in cited_spans:
        spans_by_document.setdefault(document.sha256, []).append(span)
    hashes = list(spans_by_document)
    ordinals = tuple(span.ordinal for _, span in cited_spans)
    note = Note(answer.text, ordinals, tuple(hashes.index(document.sha256) + 1 for document, _ in cited_spans))
    return Observation(
        summary=answer.text,
        shown=tuple(
            DocumentPassages(
                document=documents[hash], spans=tuple(sorted(document_spans, key=lambda span: span.ordinal))
            )
            for hash, document_spans in spans_by_document.items()
        ),
        note=note_line(note),
    )


def _observation(result: FoundAnswer, document: Document, spans: Sequence[PassageSpan], room: int) -> Observation:
    by_ordinal = {str(span.ordinal): span for span in spans}
    heads = [by_ordinal[name] for name in result.table.names]
    lines, spans_by_ordinal = list[str](), {span.ordinal: span for span in heads}
    remaining = room - sum(len(span.text) for span in heads)
    for answer in result.answers:
        rows = _fitting_rows(answer, by_ordinal, remaining)
        row_spans = {span.ordinal: span for row in rows for span in _spans(row, by_ordinal)}
        remaining -= sum(len(span.text) for span in row_spans.values())
        spans_by_ordinal |= row_spans
        lines.append(note_line(Note(answer.text, (*(span.ordinal for span in heads), *row_spans))))
        if len(rows) < len(answer.rows):
            lines.append(f"{len(rows)} of the {len(answer.rows)} rows it was computed from are shown.")
    passages = tuple(spans_by_ordinal[ordinal] for ordinal in sorted(spans_by_ordinal))
    summary = "; ".join(answer.text for answer in result.answers[:3])
    return Observation(
        summary=summary, shown=(DocumentPassages(document=document, spans=passages),), note="\n".join(lines)
    )


def _fitting_rows(answer: TableAnswer, by_ordinal: Mapping[str, PassageSpan], room: int) -> list[TableRow]:
    """The rows to show, those an answer names first, as far as they fit."""
    cited_rows = answer.cited_rows()
    named_rows = [row for row in cited_rows if row in answer.named_rows]
    fitting: list[TableRow] = []
    for row in [*named_rows, *(row for row in cited_rows if row not in named_rows)][:MAX_CITED_ROWS]:
        room -= sum(len(span.text) for span in _spans(row, by_ordinal))
        if room < 0 and fitting:
            break
        fitting.append(row)
    return fitting


def _spans(row: TableRow, by_ordinal: Mapping[str, PassageSpan]) -> list[PassageSpan]:
    return [by_ordinal[name] for name in row.names]
