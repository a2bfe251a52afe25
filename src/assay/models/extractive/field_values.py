"""Fills the fields of a schema by rules: from header fields, table cells and sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assay.core.messages import Request, ToolCall
from assay.core.tables.table_questions import cell
from assay.core.text import words
from assay.models.extractive.actions import shelved
from assay.models.extractive.field_prose import value_in_prose
from assay.models.extractive.field_words import FieldAsked
from assay.models.extractive.requests import question_of
from assay.models.extractive.written_values import DATE, NUMBER, named
from assay.models.questions.question import ParsedQuestion, analyze
from assay.models.questions.words import CONCEPTS
from assay.models.shown_documents.passages import PassageField
from assay.models.shown_documents.shelf import ShownSources, SourcePassages, describe, resolve
from assay.models.shown_documents.tabular import tables

NONE = "no header field, row or sentence shown says it"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_PARTS = re.compile(r",\s+|;\s+|\s+and\s+")

Filled = dict[str, Any]


def fill(request: Request) -> tuple[ToolCall, ...]:
    """A call of the tool that fills fields, in the form of its schema."""
    tool = request.tools[0]
    question, shelf = analyze(question_of(request)), shelved(request)
    properties = tool.parameters.get("properties", {})
    if "items" in properties:
        arguments: Filled = {"items": _items(properties["items"]["items"]["properties"]["fields"], question, shelf)}
    else:
        arguments = _one(properties["fields"]["properties"], question, shelf, resolve(question, shelf).books)
    return (ToolCall(id="fill-1", name=tool.name, arguments=arguments),)


def _items(fields: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> list[Filled]:
    """An item for each document that the question names, else for each with a header field that is asked for."""
    wanted = fields["properties"]
    books = resolve(question, shelf).books or tuple(shelf.books)
    made = [_one(wanted, question, shelf, [book], prose=False) for book in books]
    return [item for item in made if any(field["value"] is not None for field in item["fields"].values())]


def _one(
    wanted: Mapping[str, Any],
    question: ParsedQuestion,
    shelf: ShownSources,
    books: Sequence[SourcePassages],
    *,
    prose: bool = True,
) -> Filled:
    """The subject and its fields."""
    subject = describe(books[0])[0] if books else ", ".join(named(question.text)) or question.text.rstrip("?？ .")
    given = FieldEvidence(question, shelf, books, prose)
    fields = {name: _field(name, schema, given) for name, schema in wanted.items()}
    return {"subject": subject, "fields": fields}


class FieldEvidence(NamedTuple):
    """The sources of fields: the documents they belong to, else tables; with `prose`, also any sentences."""

    question: ParsedQuestion
    shelf: ShownSources
    books: Sequence[SourcePassages]
    prose: bool


def _field(name: str, schema: Mapping[str, Any], given: FieldEvidence) -> Filled:
    question, shelf, books, prose = given
    label = " ".join(part.lower() for part in _CAMEL.split(name) if part)
    asked = schema["properties"]["value"]
    for book in books:
        field = _header(book, label, str(schema.get("description", "")))
        value = None if field is None else _value(asked, field.value)
        if field is not None and value is not None:
            return {"value": value, "passages": [field.passage]}
    tabled, told = tables(shelf), f"{label} {schema.get('description', '')}"
    if (found := cell(question.text, label, tabled) or cell(question.text, told, tabled)) is not None:
        value = _value(asked, found.value)
        if value is not None:
            return {"value": value, "passages": [name for row in found.rows for name in row.names]}
    return _prose(label, schema, question, shelf) if prose else {"value": None, "passages": [], "reason": NONE}


def _header(book: SourcePassages, label: str, description: str) -> PassageField | None:
    """The header field with this name, or the one that the name or the description asks for."""
    found = book.field(" ".join(words(label)))
    for text in (label, description):
        for concept in analyze(text).concepts if text else ():
            found = found or book.field(*CONCEPTS[concept].keys)
    if found is None and label in _NUMBERING:
        found = book.number
    return found


_NUMBERING = frozenset(("number", "id", "no", "nr"))


def _prose(label: str, schema: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> Filled:
    """The value of the field's type in the sentence that matches the question best."""
    asked = FieldAsked(
        label=label,
        description=str(schema.get("description", "")),
        names=named(question.text),
        schema=schema["properties"]["value"],
        topics=question.text,
    )
    if (found := value_in_prose(asked, shelf.books)) is None:
        return {"value": None, "passages": [], "reason": NONE}
    return {"value": found.value, "passages": [found.passage]}


def _value(schema: Mapping[str, Any], text: str) -> Any:
    """The value of this type in a text; None if there is none, or more than one number or date."""
    if schema.get("type") == "array":
        parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
        found = [_value(schema["items"], part) for part in parts]
        return [each for each in found if each is not None] or None
    if "enum" in schema:
        said = f" {' '.join(words(text))} "
        members = [each for each in schema["enum"] if f" {' '.join(words(str(each)))} " in said]
        return members[0] if len(members) == 1 else None
    if schema.get("type") in ("integer", "number"):
        numbers = NUMBER.findall(DATE.sub(" ", text))
        return numbers[0] if len(numbers) == 1 else None
    if schema.get("format") in ("date", "date-time"):
        dates = DATE.findall(text)
        return dates[0] if len(dates) == 1 else None
    return text if schema.get("type") == "string" else None
