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
from assay.core.tables.answers import MOST_CITED, TableAnswer
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
LARGEST = 16 * 1024 * 1024
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
        asked = read(self.definition, arguments, CalculateArguments)
        question = one_line(asked.question)
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

            found, known = await common.once(run, ledger, key, compute)
            if not known:
                step_context.record(common.answer_row(run, key, step_context))
            return found

        found = await run.step("calculate", work, returns=Observation, input=[question, sorted(documents)])
        common.store_result(ledger, key, found)
        return found


def _documents(run: Run, ledger: Ledger) -> dict[str, Document]:
    """The documents whose tables to query, by hash: those found, in order, then all in scope if they are few."""
    met = (ledger.document(source) for source in ledger.passages_and_sources()[1])
    found = {document.sha256: document for document in met if document is not None}
    for document in _all_if_few(run):
        found.setdefault(document.sha256, document)
    return {hash: document for hash, document in found.items() if document.size <= LARGEST}


def _all_if_few(run: Run) -> list[Document]:
    """All documents in scope by name; none if they are many."""
    library, collections = run.world.library, run.brief.scope.collections
    if library.count(collections) > MAX_DOCUMENTS:
        return []
    return sorted(library.documents(collections), key=lambda each: (each.name, each.sha256))


def _best_answer(
    texts: DocumentTexts, documents: Mapping[str, Document], few: Sequence[Document], question: str, room: int
) -> Observation:
    """The best answer of any table; of equal ones, that from the document found first. Else one over all if few."""
    best: tuple[FoundAnswer, Document, Sequence[PassageSpan]] | None = None
    for document in documents.values():
        try:
            spans = texts.spans(document)
        except StoreError:  # a damaged document has no tables; opening it reports the damage
            continue
        found = answer_question(question, texts.tables(document))
        if found is not None and (best is None or (found.coverage, found.fit) > (best[0].coverage, best[0].fit)):
            best = (found, document, spans)
    if best is not None:
        return _observation(*best, room)
    return _extreme_of_documents(texts, few, question) or Observation(
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
            each,
            [TablePiece(name, span.text, span.start) for name, (document, span) in spans.items() if document is each],
        )
        for each in documents
    )
    found = answer_question(question, [table]) if table is not None else None
    if table is None or found is None or found.computation.operation not in ("max", "min"):
        return None
    each, values = found.answers[0], [value for value in table.column(found.computation.column) if value]
    compared = found.computation.conditions or (len(each.rows) == len(values) and 2 * len(values) > len(documents))
    if not compared or (not table.language and any(map(_UNSURE.search, values))):
        return None
    return _joint_observation(found, spans)


def _joint_observation(found: FoundAnswer, spans: Mapping[str, tuple[Document, PassageSpan]]) -> Observation:
    """The answer over several documents, with the passages of the cells that were compared, the best first."""
    each = found.answers[0]
    columns = (found.computation.column, *(each.column for each in found.computation.conditions))
    rows = [*each.named_rows, *(row for row in each.rows if row not in each.named_rows)]
    names = dict.fromkeys(row.cells[column].name for row in rows for column in columns if column in row.cells)
    cited = [spans[name] for name in names]
    shown: dict[str, list[PassageSpan]] = {}
    documents = {document.sha256: document for document, _ in cited}
    for document, span in cited:
        shown.setdefault(document.sha256, []).append(span)
    places = list(shown)
    ordinals = tuple(span.ordinal for _, span in cited)
    note = Note(each.text, ordinals, tuple(places.index(document.sha256) + 1 for document, _ in cited))
    return Observation(
        summary=each.text,
        shown=tuple(
            DocumentPassages(document=documents[hash], spans=tuple(sorted(own, key=lambda span: span.ordinal)))
            for hash, own in shown.items()
        ),
        note=note_line(note),
    )


def _observation(found: FoundAnswer, document: Document, spans: Sequence[PassageSpan], room: int) -> Observation:
    by_ordinal = {str(span.ordinal): span for span in spans}
    heads = [by_ordinal[name] for name in found.table.names]
    lines, shown = list[str](), {span.ordinal: span for span in heads}
    left = room - sum(len(span.text) for span in heads)
    for each in found.answers:
        rows = _fitting_rows(each, by_ordinal, left)
        resting = {span.ordinal: span for row in rows for span in _spans(row, by_ordinal)}
        left -= sum(len(span.text) for span in resting.values())
        shown |= resting
        lines.append(note_line(Note(each.text, (*(span.ordinal for span in heads), *resting))))
        if len(rows) < len(each.rows):
            lines.append(f"{len(rows)} of the {len(each.rows)} rows it was computed from are shown.")
    passages = tuple(shown[ordinal] for ordinal in sorted(shown))
    summary = "; ".join(each.text for each in found.answers[:3])
    return Observation(
        summary=summary, shown=(DocumentPassages(document=document, spans=passages),), note="\n".join(lines)
    )


def _fitting_rows(each: TableAnswer, by_ordinal: Mapping[str, PassageSpan], room: int) -> list[TableRow]:
    """The rows to show, those an answer names first, as far as they fit."""
    cited = each.cited_rows()
    named = [row for row in cited if row in each.named_rows]
    kept: list[TableRow] = []
    for row in [*named, *(row for row in cited if row not in named)][:MOST_CITED]:
        room -= sum(len(span.text) for span in _spans(row, by_ordinal))
        if room < 0 and kept:
            break
        kept.append(row)
    return kept


def _spans(row: TableRow, by_ordinal: Mapping[str, PassageSpan]) -> list[PassageSpan]:
    return [by_ordinal[name] for name in row.names]
