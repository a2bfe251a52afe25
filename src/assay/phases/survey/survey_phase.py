"""Questions about a whole collection: a model chooses the way, code or batches go it, code writes the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from assay.agents.history import output_cap
from assay.agents.loop import CallOutcome, register_results
from assay.agents.replies import read_calls, tool_names
from assay.core.errors import LimitReached, ModelFailed, ToolError
from assay.core.events import CoverageAssessed, ReportDelta, ReportStarted
from assay.core.messages import Request, ToolCall
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import Coverage
from assay.core.sources import Document, PassageSpan
from assay.core.text import words
from assay.core.translation import format_number, label_text
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Draft, to_json, user_message
from assay.phases.survey import filters
from assay.phases.survey.batches import BatchReaders
from assay.phases.survey.collection import (
    MAX_SHOWN_ROWS,
    Collection,
    Row,
    SurveyExtent,
    SurveyLine,
    collect_documents,
    compose_report,
    merge_rows,
)
from assay.phases.survey.filters import (
    COUNT_TOOL,
    FILTER_TOOL,
    FIND_TOOL,
    READ_TOOL,
    SURVEY_TOOLS,
    CountDocuments,
    FilterDocuments,
    FindPhrase,
    Header,
    HeaderField,
    ReadDocuments,
    count_keys,
)
from assay.phases.write import add_date
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.tools.arguments import read

SurveyMethod = FilterDocuments | FindPhrase | ReadDocuments | CountDocuments
ARGUMENT_TYPES: dict[str, type[SurveyMethod]] = {
    FILTER_TOOL.name: FilterDocuments,
    FIND_TOOL.name: FindPhrase,
    READ_TOOL.name: ReadDocuments,
    COUNT_TOOL.name: CountDocuments,
}
"""The arguments of each way to go over the documents."""


class SurveyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a survey: rows, how far it came, what was looked for, and why it did not finish."""

    rows: tuple[Row, ...]
    extent: SurveyExtent
    query: str
    failure: str = ""


async def write_survey(run: Run, case: Case) -> Draft | None:
    """The report for a question about all documents; None if no way was found, so that research is done as usual."""
    async with run.phase("background") as phase:
        try:
            collection = await collect_documents(phase, case.reader)
            headers = await collection.read_headers()
            method = await _choose_way(phase, case, headers)
        except (LimitReached, ModelFailed) as failed:
            phase.warn(_("the documents were not read one by one: {why}").format(why=stop_reason_phrase(failed.reason)))
            return None
    if method is None:
        return None
    async with run.phase("research") as phase:
        result = await _run_survey(phase, case, collection, headers, method)
        passage_ids = await _register_passages(
            phase, case.ledger, collection, result.rows[:MAX_SHOWN_ROWS], case.question
        )
        phase.emit(CoverageAssessed(coverage=(_coverage(case, result, passage_ids),)))
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted())
        text = compose_report(
            result.rows, result.extent, result.query, lambda row, line: _marker(passage_ids, row, line)
        )
        text = add_date(text, case)
        phase.emit(ReportDelta(text=text))
    return Draft(text=text, limits=_limits(result), researched=False, sourced=bool(passage_ids), composed=True)


async def _choose_way(phase: Run, case: Case, headers: Sequence[Header]) -> SurveyMethod | None:
    """The way in which a model wants to go over the documents; None if it names none."""
    request = Request(
        task="survey",
        system=phase.prompt("assay.phases", "survey"),
        messages=(
            user_message("documents", case.documents),
            user_message("headers", to_json(count_keys(headers))),
            *case.question_messages(),
        ),
        tools=SURVEY_TOOLS,
        max_tokens=output_cap(phase.profile("analytical"), phase.rules.decision_tokens),
        effort="low",
    )
    for call in read_calls(await phase.ask("analytical", request), tool_names(SURVEY_TOOLS)):
        method = _read_way(phase, call)
        if method is not None:
            return method
    return None


def _read_way(phase: Run, call: ToolCall) -> SurveyMethod | None:
    tool = next((tool for tool in SURVEY_TOOLS if tool.name == call.name), None)
    if tool is None or call.malformed:
        return None
    try:
        method = read(tool, call.arguments, ARGUMENT_TYPES[tool.name])
        if isinstance(method, FilterDocuments):
            filters.read_conditions(method.where)
        if isinstance(method, FindPhrase):
            method = msgspec.structs.replace(method, phrases=[phrase for phrase in method.phrases if words(phrase)])
            if not method.phrases:
                raise ToolError("there must be a phrase with words")
        return method
    except ToolError as failed:
        phase.warn(_("{name} was called wrongly: {why}").format(name=call.name, why=failed.reason))
        return None


async def _run_survey(
    phase: Run, case: Case, collection: Collection, headers: Sequence[Header], method: SurveyMethod
) -> SurveyResult:
    if isinstance(method, FilterDocuments):
        return _filter_documents(collection, headers, method)
    if isinstance(method, CountDocuments):
        return _count_documents(collection, headers, method)
    if isinstance(method, FindPhrase):
        return await _search_collection(collection, method)
    readers = BatchReaders(case, collection, phase.rules.agents_at_once)
    reading = await readers.read_documents(phase, method.look_for or case.question)
    extent = SurveyExtent(documents_read=reading.documents, total=len(collection.documents), parts=reading.parts)
    names = {header.document.sha256: header.display_name for header in headers}
    rows = [msgspec.structs.replace(row, name=names.get(row.document, row.name)) for row in reading.rows]
    return SurveyResult(
        rows=merge_rows(rows), extent=extent, query=method.look_for or case.question, failure=reading.failure
    )


async def _search_collection(collection: Collection, method: FindPhrase) -> SurveyResult:
    together = method.together and len(method.phrases) > 1
    rows = await (collection.find_all_phrases if together else collection.find_phrases)(method.phrases)
    query = (" and " if together else ", ").join(f"“{phrase}”" for phrase in method.phrases)
    extent = SurveyExtent(documents_read=collection.read_count, total=len(collection.documents), portion=_("the words"))
    return SurveyResult(rows=merge_rows(rows), extent=extent, query=query)


def _count_documents(collection: Collection, headers: Sequence[Header], method: CountDocuments) -> SurveyResult:
    """Every document, even those with an unreadable header, with the requested fields."""
    header_by_hash = {header.document.sha256: header for header in headers}
    rows = []
    for position, document in enumerate(collection.documents):
        header = header_by_hash.get(document.sha256) or Header(document, ())
        lines = tuple(_field_line(header, field) for field in _shown_fields(header, method.show))
        rows.append(Row(document=document.sha256, position=position, name=header.display_name, lines=lines))
    extent = SurveyExtent(documents_read=len(rows), total=len(rows), counts_all=True)
    return SurveyResult(rows=tuple(rows), extent=extent, query=_("All documents"))


def _shown_fields(header: Header, keys: Sequence[str]) -> list[HeaderField]:
    fields = (header.find_field(" ".join(words(key))) for key in keys)
    return list(dict.fromkeys(field for field in fields if field is not None))


def _filter_documents(collection: Collection, headers: Sequence[Header], method: FilterDocuments) -> SurveyResult:
    conditions = filters.read_conditions(method.where)
    rows = []
    for header in headers:
        matched_fields = filters.matching_fields(header, conditions)
        if matched_fields is not None:
            fields = dict.fromkeys((*matched_fields, *_shown_fields(header, method.show)))
            lines = tuple(_field_line(header, field) for field in fields)
            hash = header.document.sha256
            rows.append(
                Row(
                    document=hash,
                    position=collection.place(hash),
                    name=header.display_name,
                    lines=lines,
                    names_document=True,
                )
            )
    extent = SurveyExtent(
        documents_read=collection.read_count, total=len(collection.documents), portion=_("the header fields")
    )
    return SurveyResult(rows=merge_rows(rows), extent=extent, query=", ".join(map(str, conditions)))


def _field_line(header: Header, field: HeaderField) -> SurveyLine:
    """`KEY of SUBJECT: VALUE`, with the field and the fields that name the subject as evidence."""
    spans = dict.fromkeys((field.span, *(name_field.span for name_field in header.naming_fields)))
    return SurveyLine(
        text=f"{field.key[:1].upper()}{field.key[1:]} of {header.display_name}: {field.value}", spans=tuple(spans)
    )


# citing


async def _register_passages(
    phase: Run, ledger: Ledger, collection: Collection, rows: Sequence[Row], question: str
) -> dict[tuple[str, int], str]:
    """Give ids to the passages of the shown rows; the ids are by document and place."""
    if not any(row.lines for row in rows):
        return {}
    documents = {document.sha256: document for document in collection.documents}
    document_passages = tuple(_document_passages(documents[row.document], row) for row in rows)
    ledger = ledger.seeing([phase.lane])
    observation = Observation(summary=f"{len(rows)} documents", shown=document_passages)
    call = ToolCall(id="survey", name="read")
    await register_results(phase, ledger, [CallOutcome(call=call, observation=observation)], question)
    passages = (passage for block in ledger.blocks(phase.lane, document_passages) for passage in block.passages)
    return {(passage.document_sha256, passage.start): passage.id for passage in passages}


def _document_passages(document: Document, row: Row) -> DocumentPassages:
    spans: dict[int, PassageSpan] = {span.ordinal: span for line in row.lines for span in line.spans}
    return DocumentPassages(document=document, spans=tuple(spans[ordinal] for ordinal in sorted(spans)))


def _marker(passage_ids: dict[tuple[str, int], str], row: Row, line: SurveyLine) -> str:
    ids = (passage_ids.get((row.document, span.start), "") for span in line.spans)
    id_list = ", ".join(dict.fromkeys(id for id in ids if id))
    return f"[{id_list}]" if id_list else ""


# what its reader must know


def _coverage(case: Case, result: SurveyResult, passage_ids: dict[tuple[str, int], str]) -> Coverage:
    is_complete = result.extent.documents_read == result.extent.total
    status: Literal["answered", "partly", "not"] = (
        "answered" if is_complete else "partly" if result.extent.documents_read else "not"
    )
    return Coverage(step=0, part=case.question, status=status, passages=tuple(passage_ids.values()))


def _limits(result: SurveyResult) -> tuple[str, ...]:
    extent = result.extent
    unread = extent.total - extent.documents_read
    limits = []
    if unread:
        text = _("{unread} of {count} documents were not read").format(
            unread=format_number(unread), count=format_number(extent.total)
        )
        why = label_text(text, stop_reason_phrase(result.failure)) if result.failure else text
        limits.append(_("{text}.").format(text=why))
    if extent.parts:
        text = _("Of {count} long documents, only the beginning and the parts nearest to the question were read.")
        limits.append(text.format(count=format_number(extent.parts)))
    return tuple(limits)
