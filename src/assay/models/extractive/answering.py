"""Answers out of header fields: frames such as "Status of PEP 6 (Bug Fix Releases): Superseded"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.models.extractive.lexicon import FACETS, YES_OR_NO
from assay.models.extractive.passages import Field
from assay.models.extractive.question import Question
from assay.models.extractive.shelf import IDENTIFIED, Book, Shelf
from assay.models.extractive.subjects import Subject
from assay.models.extractive.terms import stem
from assay.models.extractive.units import Unit


def frame(book: Book, field: Field) -> Unit:
    """`KEY of SUBJECT: VALUE`, citing the field and the fields which say what the subject is."""
    subject, identity = describe(book)
    key = field.key[:1].upper() + field.key[1:]
    passages = tuple(dict.fromkeys((field.passage, *identity)))
    text = f"{key} of {subject}: {field.value}"
    return Unit(text=text, passages=passages, source=book.id, ordinal=field.ordinal, frame=True)


def describe(book: Book) -> tuple[str, tuple[str, ...]]:
    """How a document is called, as `PEP 6 (Bug Fix Releases)`, and the passages which say so."""
    number, title = book.number or book.identified, book.field("title", "feature name")
    name = title.value if title else book.title
    passages = tuple(field.passage for field in (number, title) if field is not None)
    if number is None:
        return name, passages
    return f"{label(number)} ({name})", passages


def label(number: Field) -> str:
    """`PEP 6` for `PEP: 6`, `EIP-1559` for `eip: 1559`, `SE-0031` for `Proposal: [SE-0031](link)`."""
    if written := IDENTIFIED.match(number.value):
        return written[1]
    digits = number.value.lstrip("0") or "0"
    return f"{number.key.upper()}-{digits}" if number.key.islower() else f"{number.key} {digits}"


def answers(question: Question, subject: Subject, shelf: Shelf) -> list[Unit]:
    """Frames for the fields a question asks for, of its subject; none when the documents have no such field."""
    found: list[Unit] = []
    for book in subject.books:
        for name in question.facets:
            field = book.field(*FACETS[name].keys)
            if inverted(name, question):
                found.extend(_pointing(name, book, shelf))
            elif field is not None:
                found.append(frame(book, field))
            else:
                found.extend(_elsewhere(name, book, shelf) or _status_says(name, book, question))
        found.extend(frame(book, field) for field in _named(book, question))
    return list({unit.text: unit for unit in found}.values())


def _named(book: Book, question: Question) -> Iterable[Field]:
    """Fields which a question calls by their own key."""
    known = {key for facet in question.facets for key in FACETS[facet].keys}
    terms = {*question.words}
    number = book.number
    for field in book.fields:
        key = set(field.name.split())
        if field is not number and key <= terms and field.name not in known and _tells(field, question):
            yield field


def _tells(field: Field, question: Question) -> bool:
    return all(stem(word) in question.rest for word in field.name.split()) or len(field.name.split()) > 1


OPPOSITE = {"superseded": "replaces", "replaces": "superseded"}


def _elsewhere(name: str, book: Book, shelf: Shelf) -> list[Unit]:
    """What other documents of the series say about this one: that they replace it, or are superseded by it."""
    return _pointing(OPPOSITE[name], book, shelf) if name in OPPOSITE else []


def _pointing(name: str, book: Book, shelf: Shelf) -> list[Unit]:
    """Frames of other documents of the series whose field `name` has the number of this one."""
    if book.number is None:
        return []
    number = re.compile(rf"(?<!\d)0*{book.number.value.lstrip('0') or '0'}(?!\d)")
    found = []
    for other in shelf.books:
        field = other.field(*FACETS[name].keys)
        same = other.number is not None and other.number.name == book.number.name
        if other is not book and same and field is not None and number.search(field.value):
            found.append(frame(other, field))
    return found


def _status_says(name: str, book: Book, question: Question) -> list[Unit]:
    """For "was it superseded?": its status, whatever that says, where no field says by what."""
    field = book.field(*FACETS["status"].keys)
    yes_or_no = bool(set(question.words[:1]) & YES_OR_NO) and "by" not in question.words
    return [frame(book, field)] if field is not None and name == "superseded" and yes_or_no else []


_REQUIRING = re.compile(
    r"\b(?:requir|depend|rel(?:y|ies)|build)\w*\s+(?:on\s+|upon\s+)?(?:the\s+)?[a-z]{2,8}[ -]?\d+", re.IGNORECASE
)


def inverted(name: str, question: Question) -> bool:
    """Whether "which documents require this one?" is asked."""
    return name == "requires" and _REQUIRING.search(question.text) is not None
