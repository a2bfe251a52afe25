"""Reads every document: in batches that fit the window, several at once; each yields rows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import msgspec

from assay.agents.history import message_room, output_cap, rules_message, total_tokens
from assay.agents.replies import first_call, read_calls, read_ids
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed, StoreError
from assay.core.events import SourceFailed, ToolFailed, ToolFinished, ToolStarted
from assay.core.messages import Reply, Request
from assay.core.passage_context import format_source
from assay.core.phrases import stop_reason_phrase
from assay.core.sources import Document, PassageSpan, content_spans, ordinal_of
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, to_json, user_message
from assay.phases.survey.collection import Collection, Row, SurveyLine
from assay.phases.survey.filters import ROWS_TOOL
from assay.run.protocols import DocumentPassages
from assay.run.run import Branch, Run
from assay.tools.common import select_passages

MAX_DOCUMENT_CHARS = 24_000
"""The most characters shown of a document; of a longer one, its beginning and what is nearest to the question."""
MAX_BATCH_DOCUMENTS = 40
CHARACTERS_A_TOKEN = 3
DOCUMENTS_SHARE = 0.6
"""The share of the window's room for the documents of a batch."""
MAX_ROW_CHARS = 600


class DocumentBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Documents read together: batch `number` of `total`; `look_for` is what to look for."""

    number: int
    total: int
    documents: tuple[Document, ...]
    look_for: str


class BatchRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of a batch."""

    batch: int
    batches: int
    look_for: str
    date: str

    def sentences(self) -> str:
        """The rules as sentences."""
        batch = f"This is batch {self.batch} of {self.batches}."
        return f"Today is {self.date}. {batch} Look for this in every document: {self.look_for}"


class BatchReading(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a batch: its rows, the documents read, how many only in part, and why some were not read."""

    rows: tuple[Row, ...] = ()
    documents: int = 0
    parts: int = 0
    failure: str = ""

    def merge(self, other: BatchReading) -> BatchReading:
        """Both together."""
        return BatchReading(
            rows=(*self.rows, *other.rows),
            documents=self.documents + other.documents,
            parts=self.parts + other.parts,
            failure=self.failure or other.failure,
        )


class BatchReaders:
    """Reads batches for one run, several at once."""

    def __init__(self, case: Case, collection: Collection, at_once: int) -> None:
        self._case, self._collection = case, collection
        self._free = asyncio.Semaphore(at_once)

    async def read_documents(self, phase: Run, look_for: str) -> BatchReading:
        """Read every document, in batches; a document that a limit or a failing model leaves unread does not count as
        read.
        """
        groups = list(group_documents(self._collection.documents, self._batch_chars(phase, look_for)))
        batches = [
            DocumentBatch(number=number, total=len(groups), documents=tuple(group), look_for=look_for)
            for number, group in enumerate(groups, 1)
        ]
        branches = (Branch(f"batch-{batch.number}", partial(self._read_batch, batch=batch)) for batch in batches)
        return reduce(BatchReading.merge, await phase.gather(*branches), BatchReading())

    def _batch_chars(self, phase: Run, look_for: str) -> int:
        """The most characters of documents in a batch."""
        profile, system = phase.profile("analytical"), phase.prompt("assay.phases", "survey_read")
        used_tokens = total_tokens([*self._case.question_messages(), user_message("rules", look_for)])
        free = message_room(profile, system, (ROWS_TOOL,), output_cap(profile, phase.rules.row_tokens)) - used_tokens
        return max(1_000, int(free * DOCUMENTS_SHARE) * CHARACTERS_A_TOKEN)

    async def _read_batch(self, run: Run, *, batch: DocumentBatch) -> BatchReading:
        async with self._free:
            call, label = f"batch-{batch.number}", f"batch {batch.number} of {batch.total}"
            begins, ends = batch.documents[0].name, batch.documents[-1].name
            arguments = {"batch": label, "documents": begins if begins == ends else f"{begins} to {ends}"}
            run.emit(ToolStarted(call=call, tool="read", arguments=to_json(arguments)))
            try:
                reading = await self._ask_for_rows(run, batch)
            except (LimitReached, ModelFailed) as failed:
                run.emit(ToolFailed(call=call, tool="read", reason=stop_reason_phrase(failed.reason)))
                return BatchReading(failure=failed.reason)
            summary = f"{label}: {reading.documents} documents, {len(reading.rows)} rows"
            run.emit(ToolFinished(call=call, tool="read", summary=summary))
            return reading

    async def _ask_for_rows(self, run: Run, batch: DocumentBatch) -> BatchReading:
        """The rows of a batch; if its texts or rows are too long, it is read in halves."""
        document_passages, unreadable, parts = await asyncio.to_thread(self._show_documents, run, batch)
        for document in unreadable:
            run.emit(SourceFailed(url=document.url, reason="its text is not there, or damaged"))
        if not document_passages:
            return BatchReading()
        local = Ledger()
        local.apply(local.register(0, document_passages).rows)
        try:
            reply = await run.ask("analytical", self._request(run, batch, local, document_passages))
        except ContextTooLong:
            if len(batch.documents) == 1:
                raise
            return await self._read_halves(run, batch)
        rows = self._rows(reply, local, document_passages)
        if reply.stop == "length" and len(batch.documents) > 1:
            return await self._read_halves(run, batch)
        if rows is None:
            raise ModelFailed("the rows it reported could not be read")
        return BatchReading(rows=rows, documents=len(document_passages), parts=parts)

    async def _read_halves(self, run: Run, batch: DocumentBatch) -> BatchReading:
        middle = len(batch.documents) // 2
        halves = (batch.documents[:middle], batch.documents[middle:])
        merged = BatchReading()
        for name, documents in zip(("first", "second"), halves, strict=True):
            half = msgspec.structs.replace(batch, documents=documents)
            merged = merged.merge(await self._ask_for_rows(run.child(name), half))
        return merged

    def _show_documents(self, run: Run, batch: DocumentBatch) -> tuple[list[DocumentPassages], list[Document], int]:
        """The shown passages of each document, the documents that cannot be read, and how many are shown in part."""
        document_passages: list[DocumentPassages] = []
        unreadable: list[Document] = []
        parts = 0
        share = max(1_000, self._batch_chars(run, batch.look_for) // len(batch.documents))
        for document in batch.documents:
            try:
                spans = content_spans(self._case.reader.spans(document))
            except StoreError:
                unreadable.append(document)
                continue
            selected = select_passages(spans, batch.look_for, min(MAX_DOCUMENT_CHARS, share))
            parts += len(selected) < len(spans)
            document_passages.append(DocumentPassages(document=document, spans=selected))
        return document_passages, unreadable, parts

    def _request(
        self, run: Run, batch: DocumentBatch, local: Ledger, document_passages: Sequence[DocumentPassages]
    ) -> Request:
        texts = "\n\n".join(format_source(block.source, block.passages) for block in local.blocks(0, document_passages))
        rules = BatchRules(batch=batch.number, batches=batch.total, look_for=batch.look_for, date=self._case.date)
        return Request(
            task="survey",
            system=run.prompt("assay.phases", "survey_read"),
            messages=(user_message("evidence", texts), *self._case.question_messages(), rules_message(rules)),
            tools=(ROWS_TOOL,),
            tool_choice=ROWS_TOOL.name,
            max_tokens=output_cap(run.profile("analytical"), run.rules.row_tokens),
            effort="low",
        )

    def _rows(
        self, reply: Reply, local: Ledger, document_passages: Sequence[DocumentPassages]
    ) -> tuple[Row, ...] | None:
        """The rows in a reply, without those that cite nothing shown; None if it reports none at all."""
        call = first_call(read_calls(reply, [ROWS_TOOL.name]), ROWS_TOOL.name)
        row_values = call.arguments.get("rows") if call is not None and not call.malformed else None
        if not isinstance(row_values, list):
            return None
        spans = {(item.document.sha256, span.ordinal): span for item in document_passages for span in item.spans}
        names = {item.document.sha256: item.document.title or item.document.name for item in document_passages}
        rows = (row for item in row_values for row in self._row(item, local, spans, names))
        return tuple(rows)

    def _row(
        self, value: Any, local: Ledger, spans: Mapping[tuple[str, int], PassageSpan], names: Mapping[str, str]
    ) -> Iterator[Row]:
        """The row for each document that a written row cites."""
        text = value.get("text") if isinstance(value, dict) else None
        ids = read_ids(value.get("passages")) if isinstance(value, dict) else ()
        if not isinstance(text, str) or not text.strip():
            return
        spans_by_document: dict[str, list[PassageSpan]] = {}
        for passage in map(local.passage, ids):
            if passage is not None:
                key = passage.document_sha256, ordinal_of(passage.id)
                spans_by_document.setdefault(passage.document_sha256, []).append(spans[key])
        for document, document_spans in spans_by_document.items():
            line = SurveyLine(text=text[:MAX_ROW_CHARS], spans=tuple(document_spans))
            position = self._collection.place(document)
            yield Row(document=document, position=position, name=names[document], lines=(line,))


def group_documents(documents: Sequence[Document], characters: int) -> Iterator[list[Document]]:
    """Documents in order, in groups that fit into `characters` by their sizes, with at least one in each."""
    group: list[Document] = []
    used = 0
    for document in documents:
        size = min(document.size, MAX_DOCUMENT_CHARS)
        if group and (used + size > characters or len(group) == MAX_BATCH_DOCUMENTS):
            yield group
            group, used = [], 0
        group.append(document)
        used += size
    if group:
        yield group
