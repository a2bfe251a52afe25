"""`calculate`: a question in words, answered by code from the cells of a table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from assay.core.clean import one_line
from assay.core.errors import StoreError, ToolError
from assay.core.ports import DocumentTexts
from assay.core.sources import Document, PassageSpan
from assay.core.tables.answers import MOST_CITED, TableAnswer
from assay.core.tables.cells import TableRow
from assay.core.tables.notes import Note, note_line
from assay.core.tables.table_questions import FoundAnswer, answer
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.tools import common
from assay.tools.arguments import define, read

FEW = 40
"""With at most so many documents in scope all are examined, whether or not a search has shown them."""
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
        key = common.key("calculate", [question, sorted(documents)])

        async def work(step_context: StepContext) -> Observation:
            async def compute() -> Observation:
                texts = run.world.texts or DocumentReader(run.world.blobs)
                return await asyncio.to_thread(_best_answer, texts, documents, question, common.room(run))

            found, known = await common.once(run, ledger, key, compute)
            if not known:
                step_context.record(common.row(run, key, step_context))
            return found

        found = await run.step("calculate", work, returns=Observation, input=[question, sorted(documents)])
        common.keep(ledger, key, found)
        return found


def _documents(run: Run, ledger: Ledger) -> dict[str, Document]:
    """The documents whose tables to query, by hash: those found, in order, then all in scope if they are few."""
    met = (ledger.document(source) for source in ledger.everything()[1])
    found = {document.sha256: document for document in met if document is not None}
    library, collections = run.world.library, run.brief.scope.collections
    if library.count(collections) <= FEW:
        for document in sorted(library.documents(collections), key=lambda each: (each.name, each.sha256)):
            found.setdefault(document.sha256, document)
    return {hash: document for hash, document in found.items() if document.size <= LARGEST}


def _best_answer(texts: DocumentTexts, documents: Mapping[str, Document], question: str, room: int) -> Observation:
    """The best answer of any table; of equal ones, that from the document found first."""
    best: tuple[FoundAnswer, Document, Sequence[PassageSpan]] | None = None
    for document in documents.values():
        try:
            spans = texts.spans(document)
        except StoreError:  # a damaged document has no tables; opening it reports the damage
            continue
        found = answer(question, texts.tables(document))
        if found is not None and (best is None or (found.covered, found.fit) > (best[0].covered, best[0].fit)):
            best = (found, document, spans)
    if best is None:
        return Observation(summary=f"no table answers “{question}”", note=NOTHING)
    return _observed(*best, room)


def _observed(found: FoundAnswer, document: Document, spans: Sequence[PassageSpan], room: int) -> Observation:
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
    cited = each.cited()
    named = [row for row in cited if row in each.named]
    kept: list[TableRow] = []
    for row in [*named, *(row for row in cited if row not in named)][:MOST_CITED]:
        room -= sum(len(span.text) for span in _spans(row, by_ordinal))
        if room < 0 and kept:
            break
        kept.append(row)
    return kept


def _spans(row: TableRow, by_ordinal: Mapping[str, PassageSpan]) -> list[PassageSpan]:
    return [by_ordinal[name] for name in row.names]
