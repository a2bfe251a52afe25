"""Fills the fields of a schema by rules: from header fields, table cells and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from assay.core.lazy import regex
from assay.core.measures import UNIT_NAMES, are_comparable, split_label
from assay.core.messages import Request, ToolCall
from assay.core.tables.cells import ReadTable, TableRow
from assay.core.tables.table_questions import answer_question, find_cell
from assay.core.text import words, words_of_name
from assay.models.extractive.actions import sources_in_evidence
from assay.models.extractive.requests import question_of
from assay.models.questions.question import ParsedQuestion, analyze
from assay.models.questions.words import CONCEPTS, stems
from assay.models.shown_documents.passages import PassageField
from assay.models.shown_documents.shelf import ShownSources, SourcePassages, document_name, resolve_subject
from assay.models.shown_documents.tabular import tables
from assay.models.stated_values.field_booleans import BOTH_STATED, read_boolean, stated_truths
from assay.models.stated_values.field_measures import comparable_unit_after, convert_to_unit, is_bare
from assay.models.stated_values.field_prose import address_pattern, find_address, name_in_title, value_in_prose
from assay.models.stated_values.field_words import (
    DATE,
    NUMBER,
    TargetField,
    capitalized_names,
    member,
    numbers_in,
    plain_digits,
)

NO_CELL = "its row has no such cell"
NOT_STATED = "no header field, row or sentence shown says it"
_PARTS = regex(r",\s+|;\s+|\s+and\s+")

JsonObject = dict[str, Any]


def fill_fields(request: Request) -> tuple[ToolCall, ...]:
    """A call of the tool that fills fields, in the form of its schema."""
    tool = request.tools[0]
    question, shelf = analyze(question_of(request)), sources_in_evidence(request)
    properties = tool.parameters.get("properties", {})
    if "items" in properties:
        arguments: JsonObject = {
            "items": _fill_items(_by_name(properties["items"]["items"]["properties"]["fields"]), question, shelf)
        }
    else:
        arguments = _fill_record(
            _by_name(properties["fields"]), question, shelf, resolve_subject(question, shelf).books
        )
    return (ToolCall(id="fill-1", name=tool.name, arguments=arguments),)


def _by_name(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schemas of fields by their names, which are titles where a name cannot be a key."""
    return {schema.get("title", key): schema for key, schema in fields["properties"].items()}


def _fill_items(properties: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> list[JsonObject]:
    """An item for each row of the table with these fields, else for each document with a header field asked for.

    Of documents those that the question names, if it names any.
    """
    if (match := rows_of_items(properties, question, tables(shelf))) is not None:
        table, columns, rows = match
        return [_fill_from_row(table, row, columns, properties) for row in rows]
    books = resolve_subject(question, shelf).books or tuple(shelf.books)
    items = [_fill_record(properties, question, shelf, [book], prose=False) for book in books]
    return [item for item in items if any(field["value"] is not None for field in item["fields"].values())]


def _fill_from_row(
    table: ReadTable, row: TableRow, columns: Mapping[str, int], properties: Mapping[str, Any]
) -> JsonObject:
    """An item that is a row of a table; its first cell names it."""
    fields: dict[str, JsonObject] = {}
    for name, schema in properties.items():
        column = columns.get(name, -1)
        target = _requested_field(name, schema, ())
        value = _parse_value(target, row.text(column), split_label(table.heads[column]).unit) if column >= 0 else None
        fields[name] = _no_value(NO_CELL) if value is None else {"value": value, "passages": list(row.names)}
    subject = next((text for column in range(len(table.heads)) if (text := row.text(column))), "")
    return {"subject": subject, "fields": fields}


def _fill_record(
    properties: Mapping[str, Any],
    question: ParsedQuestion,
    shelf: ShownSources,
    books: Sequence[SourcePassages],
    *,
    prose: bool = True,
) -> JsonObject:
    """The subject, "" if the question names none, and its fields."""
    subject = document_name(books[0])[0] if books else ", ".join(capitalized_names(question.text))
    evidence = FieldEvidence(question, shelf, books, prose)
    fields = {name: _fill_field(name, schema, evidence) for name, schema in properties.items()}
    return {"subject": subject, "fields": fields}


class FieldEvidence(NamedTuple):
    """The sources of fields: the documents they belong to, else tables; with `prose`, also any sentences."""

    question: ParsedQuestion
    shelf: ShownSources
    books: Sequence[SourcePassages]
    prose: bool


def _fill_field(name: str, schema: Mapping[str, Any], evidence: FieldEvidence) -> JsonObject:
    question, shelf, books, prose = evidence
    target = _requested_field(name, schema, capitalized_names(question.text), question.text)
    label = target.label
    for book in books:
        field = _header_field(book, target)
        value = None if field is None else _parse_value(target, field.value, split_label(field.key).unit)
        if field is not None and value is not None:
            return {"value": value, "passages": [field.passage]}
    shown_tables, long_label = tables(shelf), f"{label} {target.description}"
    if (
        match := find_cell(question.text, label, shown_tables) or find_cell(question.text, long_label, shown_tables)
    ) is not None:
        head, tabled_cell = match
        value = _parse_value(target, tabled_cell.value, split_label(head).unit)
        if value is not None:
            return {"value": value, "passages": [name for row in tabled_cell.rows for name in row.names]}
    return _fill_from_prose(target, books or shelf.books, shelf) if prose else _no_value(NOT_STATED)


def _requested_field(name: str, schema: Mapping[str, Any], names: tuple[str, ...], topics: str = "") -> TargetField:
    """The field, its name in words and without the unit in which it counts."""
    label, unit = split_label(name)
    return TargetField(
        label=" ".join(words_of_name(label)).lower(),
        description=str(schema.get("description", "")),
        names=names,
        schema=schema["properties"]["value"],
        topics=topics,
        unit=unit,
    )


def _no_value(reason: str) -> JsonObject:
    return {"value": None, "passages": [], "reason": reason}


def _header_field(book: SourcePassages, target: TargetField) -> PassageField | None:
    """The header field with this name or description, or the one that either asks for."""
    label, description = (" ".join(words(text)) for text in (target.label, target.description))
    with_unit = f"{label} {target.unit.lower()}" if target.unit else label
    field = book.field(label, with_unit) or (book.field(description) if description else None)
    for text in (target.label, target.description):
        for concept in analyze(text).concepts if text else ():
            field = field or book.field(*CONCEPTS[concept].keys)
    if field is None and label in _NUMBERING:
        field = book.number_field
    return field


_NUMBERING = frozenset(("number", "id", "no", "nr"))


def _fill_from_prose(target: TargetField, books: Sequence[SourcePassages], shelf: ShownSources) -> JsonObject:
    """A name from the title, an address, what sentences say of a boolean, or a value of the type in the best one."""
    if (title := name_in_title(target, books, len(shelf.books))) is not None:
        return {"value": title.value, "passages": [title.passage]}
    if target.schema.get("type") == "boolean":
        return _fill_boolean(target, books)
    form = address_pattern(target)
    passage_value = value_in_prose(target, shelf.books) if form is None else find_address(target, form, books)
    if passage_value is None:
        return _no_value(NOT_STATED)
    return {"value": passage_value.value, "passages": [passage_value.passage]}


def _fill_boolean(target: TargetField, books: Sequence[SourcePassages]) -> JsonObject:
    truths = stated_truths(target, books)
    values = {truth.value for truth in truths}
    if len(values) == 1:
        return {"value": truths[0].value, "passages": [truths[0].passage]}
    return _no_value(BOTH_STATED if truths else NOT_STATED)


def _parse_value(target: TargetField, text: str, unit: str = "") -> Any:
    """The value of the field's type in a text; None if there is none, or more than one number or date.

    `unit` is that of the header above the text, if it names one.
    """
    schema = target.schema
    if schema.get("type") == "array":
        parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
        item_target = msgspec.structs.replace(target, schema=schema["items"])
        values = [_parse_value(item_target, part, unit) for part in parts]
        return [value for value in values if value is not None] or None
    if "enum" in schema:
        return member(target, text)
    if schema.get("type") == "boolean":
        return read_boolean(text)
    if schema.get("type") in ("integer", "number"):
        return _parse_number(target, text, unit)
    if schema.get("format") in ("date", "date-time"):
        dates = DATE.findall(text)
        return dates[0] if len(dates) == 1 else None
    return text if schema.get("type") == "string" and text else None


def _parse_number(target: TargetField, text: str, unit: str) -> str | None:
    """The only number of a text, in the unit of the field; none if its own unit measures something else."""
    numbers = numbers_in(DATE.sub(" ", text))
    if len(numbers) != 1:
        return None
    number = numbers[0][0] if NUMBER.fullmatch(numbers[0][0]) else plain_digits(numbers[0][0], text)
    if not target.unit:
        return number
    stated_unit = comparable_unit_after(numbers[0], target.unit) or (
        UNIT_NAMES[unit.lower()] if unit and is_bare(numbers[0]) else ""
    )
    if stated_unit and are_comparable(stated_unit, UNIT_NAMES[target.unit.lower()]):
        return convert_to_unit(plain_digits(numbers[0][0], text), stated_unit, target.unit)
    if stated_unit:
        return None
    return number if is_bare(numbers[0]) else None


# Items of a list of objects: the rows of the table whose columns are called like the fields.

MIN_FIELD_COLUMNS = 2
"""The least fields that a table must have as columns, and at least half of all."""
Columns = dict[str, int]


def rows_of_items(
    fields: Mapping[str, Any], question: ParsedQuestion, read_tables: Sequence[ReadTable]
) -> tuple[ReadTable, Columns, Sequence[TableRow]] | None:
    """The only table that has the most of the fields as columns, where each of them is, and the rows that are meant.

    If the question names values of rows, only these are.
    """
    matches = [(len(columns), table, columns) for table in read_tables if (columns := _match_columns(fields, table))]
    most_columns = max((count for count, _, _ in matches), default=0)
    best = [(table, columns) for count, table, columns in matches if count == most_columns]
    if most_columns < MIN_FIELD_COLUMNS or most_columns * 2 < len(fields) or len(best) != 1:
        return None
    table, columns = best[0]
    result = answer_question(question.text, [table])
    if result is not None and result.computation.conditions:
        answered_rows = {id(row) for answer in result.answers for row in answer.rows}
        return table, columns, [row for row in table.rows if id(row) in answered_rows]
    return table, columns, table.rows


def _match_columns(fields: Mapping[str, Any], table: ReadTable) -> Columns:
    """The column of each field: the only one called like it, or like its description."""
    heads = [frozenset(stems(split_label(head).label)) for head in table.heads]
    columns: Columns = {}
    for name, schema in fields.items():
        label, _ = split_label(" ".join(part for part in name.replace("-", "_").split("_") if part))
        for text in (label, str(schema.get("description", ""))):
            text_stems = frozenset(stems(text))
            same = [index for index, head in enumerate(heads) if text_stems and head == text_stems]
            if len(same) == 1 and same[0] not in columns.values():
                columns[name] = same[0]
                break
    return columns
