"""Answers to questions about a document that another one names: "who wrote the PEP that replaced PEP 5?"."""

from __future__ import annotations

import re

from assay.core.lexicon import MONTHS
from assay.models.extractive.answers import answer_frames
from assay.models.questions import links
from assay.models.questions.question import Identifier, analyze
from assay.models.questions.words import CONCEPTS
from assay.models.shown_documents.passages import PassageField
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources, frame_field, resolve_subject


def answer_hop(text: str, shelf: ShownSources) -> list[QuotableUnit]:
    """The frames that answer a hop, then the one that led there; empty for other questions, or if a link is missing.

    Also empty if the question asks for one of several documents and some of them do not say when they were created.
    """
    hop = links.read_hop(text)
    if hop is None:
        return []
    subject = resolve_subject(analyze(hop.first_question), shelf)
    first_frames = answer_frames(analyze(hop.first_question), subject, shelf) if subject.books else []
    names = links.find_targets(hop, [unit.line() for unit in first_frames])
    identifiers = [
        Identifier(series.casefold(), number) for series, _, number in (name.rpartition(" ") for name in names)
    ]
    books = [book for identifier in identifiers for book in shelf.books if book.has_identifier(identifier)]
    if hop.order:
        days = [first_day(field) if (field := book.field(*CONCEPTS["date"].keys)) else None for book in books]
        known_days = [day for day in days if day]
        if len(known_days) < max(len(identifiers), 1):
            return []
        best = min(known_days) if hop.order == "first" else max(known_days)
        books = [book for book, day in zip(books, days, strict=True) if day == best]
    fields = [(book, book.field(*CONCEPTS[name].keys)) for book in books for name in hop.concepts or ("date",)]
    frames = [frame_field(book, field) for book, field in fields if field is not None]
    return [*frames, *first_frames] if frames else []


def first_day(field: PassageField) -> tuple[int, int, int] | None:
    """The first day that a field names, such as `2015-11-19` or `19-Nov-2015`."""
    match = re.search(r"(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ,]+(\d{4})", field.value)
    if match is None:
        return None
    if match[1]:
        return int(match[1]), int(match[2]), int(match[3])
    month = match[5].casefold()
    return (int(match[6]), MONTHS[month], int(match[4])) if month in MONTHS else None
