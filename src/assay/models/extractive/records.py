"""Rows which carry their headers (`country: France | year: 2020 | population: 67.4`) and what they answer."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from assay.core.sources import ordinal_of
from assay.core.text import words
from assay.models.extractive.lexicon import FRAMES
from assay.models.extractive.passages import is_record
from assay.models.extractive.question import Question
from assay.models.extractive.shelf import Book, Shelf
from assay.models.extractive.terms import carries_topic, stem, stems
from assay.models.extractive.units import Unit

_FRAME_STEMS = frozenset(stem(word) for word in FRAMES)


class Cell(msgspec.Struct, frozen=True):
    """The word keys of a cell's header and of its value."""

    head: frozenset[str]
    value: frozenset[str]


@lru_cache(maxsize=4096)
def read_record(text: str) -> tuple[Cell, ...]:
    """The cells of a row which carries its headers; nothing for any other text."""
    if not is_record(text):
        return ()
    parted = [part.partition(": ") for part in text.split(" | ")]
    return tuple(Cell(frozenset(stems(head)), frozenset(stems(value))) for head, _, value in parted)


def rows(question: Question, shelf: Shelf) -> list[Unit]:
    """The rows which answer: one or more cells have values out of the question, and a column is what it asks for.

    Every word of the question which carries its topic must be a value, a column's head or a word of the title.
    """
    said = frozenset(stem(word) for word in question.words)
    topics = frozenset(stem(word) for word in words(question.text) if carries_topic(word)) - _FRAME_STEMS
    return [
        Unit(text=passage.text, passages=(passage.id,), source=book.id, ordinal=ordinal_of(passage.id), near=said)
        for book in shelf.books
        for passage in book.passages
        if _answers(read_record(passage.text), said, topics, book)
    ]


def _answers(cells: tuple[Cell, ...], said: frozenset[str], topics: frozenset[str], book: Book) -> bool:
    given = [cell for cell in cells if cell.value and cell.value <= said]
    asked = [cell for cell in cells if cell not in given and cell.head & topics]
    known = frozenset(key for cell in given for key in cell.value | cell.head)
    known |= frozenset(key for cell in asked for key in cell.head) | book.title_stems
    return bool(given and asked) and topics <= known
