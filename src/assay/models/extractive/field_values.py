"""Fields of a schema filled without understanding: from header fields, cells of tables, and sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assay.core.lexicon.analysis import stem
from assay.core.messages import Request, ToolCall
from assay.core.tables.answers import TableAnswer
from assay.core.tables.table_questions import cell
from assay.core.text import words
from assay.models.extractive.actions import shelved
from assay.models.extractive.passages import PassageField, is_record
from assay.models.extractive.prose_values import DATE, FieldAsked, named, stated
from assay.models.extractive.question import ParsedQuestion, analyze, question_of
from assay.models.extractive.records import rows, tables
from assay.models.extractive.shelf import QuotableUnit, ShownSources, SourcePassages
from assay.models.extractive.source_names import describe, resolve
from assay.models.extractive.words import CONCEPTS

NONE = "no header field, row or sentence shown says it"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_PARTS = re.compile(r",\s+|;\s+|\s+and\s+")

Filled = dict[str, Any]


def fill(request: Request) -> tuple[ToolCall, ...]:
    """One call of the tool which fills fields, as its schema asks for them."""
    tool = request.tools[0]
    question, shelf = analyze(question_of(request)), shelved(request)
    properties = tool.parameters.get("properties", {})
    if "items" in properties:
        arguments: Filled = {"items": _items(properties["items"]["items"]["properties"]["fields"], question, shelf)}
    else:
        arguments = _one(properties["fields"]["properties"], question, shelf, resolve(question, shelf).books)
    return (ToolCall(id="fill-1", name=tool.name, arguments=arguments),)


def _items(fields: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> list[Filled]:
    """An item for each document the question names, else for each which has a header field that is asked for."""
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
    record = next(iter(rows(question, shelf)), None) if not books else None
    subject = describe(books[0])[0] if books else _topic(question, record)
    given = FieldEvidence(question, shelf, books, record, prose)
    fields = {name: _field(name, schema, given) for name, schema in wanted.items()}
    return {"subject": subject, "fields": fields}


def _topic(question: ParsedQuestion, record: QuotableUnit | None) -> str:
    """What the question is about, in its own words: what it names, else all of it."""
    if record is not None:
        return " ".join(part.partition(": ")[2] for part in record.text.split(" | ")[:1])
    if names := named(question.text):
        return ", ".join(names)
    return question.text.rstrip("?？ .")


class FieldEvidence(NamedTuple):
    """What fields are filled from: the documents they are of, else a row; with `prose`, sentences of any too."""

    question: ParsedQuestion
    shelf: ShownSources
    books: Sequence[SourcePassages]
    record: QuotableUnit | None
    prose: bool


def _field(name: str, schema: Mapping[str, Any], given: FieldEvidence) -> Filled:
    question, shelf, books, record, prose = given
    label = " ".join(part.lower() for part in _CAMEL.split(name) if part)
    asked = schema["properties"]["value"]
    for book in books:
        field = _header(book, label, str(schema.get("description", "")))
        value = None if field is None else _value(asked, field.value)
        if field is not None and value is not None:
            return {"value": value, "passages": [field.passage]}
    if record is not None and (written := _cell(record.text, label)):
        value = _value(asked, written)
        if value is not None:
            return {"value": value, "passages": list(record.passages)}
    if (found := _tabled(f"{label} {schema.get('description', '')}", label, question, shelf)) is not None:
        value = _value(asked, found.value)
        if value is not None:
            return {"value": value, "passages": [name for row in found.rows for name in row.names]}
    return _prose(label, schema, question, shelf) if prose else {"value": None, "passages": [], "reason": NONE}


def _header(book: SourcePassages, label: str, description: str) -> PassageField | None:
    """The header field which has the name, or is what the name or the description asks for."""
    found = book.field(" ".join(words(label)))
    for text in (label, description):
        for concept in analyze(text).concepts if text else ():
            found = found or book.field(*CONCEPTS[concept].keys)
    if found is None and label in _NUMBERING:
        found = book.number
    return found


_NUMBERING = frozenset(("number", "id", "no", "nr"))


def _cell(text: str, label: str) -> str:
    """The value below a header in a row which carries its headers; "" for none."""
    if not is_record(text):
        return ""
    cells = (part.partition(": ") for part in text.split(" | "))
    wanted = {stem(word) for word in words(label)}
    return next((value for head, _, value in cells if wanted <= {stem(word) for word in words(head)}), "")


def _tabled(told: str, label: str, question: ParsedQuestion, shelf: ShownSources) -> TableAnswer | None:
    """The cell of a table which the question's values choose, under the head that is called like the field."""
    found = tables(shelf)
    return cell(question.text, label, found) or cell(question.text, told, found)


def _prose(label: str, schema: Mapping[str, Any], question: ParsedQuestion, shelf: ShownSources) -> Filled:
    """The value of the field's type in the sentence which says most of what is asked."""
    asked = FieldAsked(
        label=label,
        description=str(schema.get("description", "")),
        names=named(question.text),
        schema=schema["properties"]["value"],
    )
    found = stated(asked, shelf.books)
    if found is None:
        return {"value": None, "passages": [], "reason": NONE}
    return {"value": found.value, "passages": [found.passage]}


def _value(schema: Mapping[str, Any], text: str) -> Any:
    """What a text holds of the kind asked for; None where it holds none, or more than one number or date."""
    if schema.get("type") == "array":
        parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
        found = [_value(schema["items"], part) for part in parts]
        return [each for each in found if each is not None] or None
    if "enum" in schema:
        said = f" {' '.join(words(text))} "
        members = [each for each in schema["enum"] if f" {' '.join(words(str(each)))} " in said]
        return members[0] if len(members) == 1 else None
    if schema.get("type") in ("integer", "number"):
        numbers = _NUMBER.findall(DATE.sub(" ", text))
        return numbers[0] if len(numbers) == 1 else None
    if schema.get("format") in ("date", "date-time"):
        dates = DATE.findall(text)
        return dates[0] if len(dates) == 1 else None
    return text if schema.get("type") == "string" else None
