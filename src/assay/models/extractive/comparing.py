"""Questions which compare documents by their headers: a table, a row for each field, a column for each document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from assay.core.clean import escape_markdown
from assay.models.extractive.answering import describe, frame
from assay.models.extractive.lexicon import FACETS
from assay.models.extractive.passages import Field, one_line
from assay.models.extractive.question import Question, analyze, is_comparison
from assay.models.extractive.shelf import Book, Shelf
from assay.models.extractive.subjects import resolve
from assay.models.extractive.terms import stems
from assay.models.extractive.units import Unit

_FEATURES = ("status", "type", "category", "created", "author", "requires")
"""What documents are compared by where the question does not say: facets of the header."""
MOST_COMPARED = 5
LONGEST_CELL = 200
_WORD = re.compile(r"\w+")
NONE = "—"


class Cell(msgspec.Struct, frozen=True):
    """A field and what a cell with it cites: the field itself, and those which say whose it is."""

    field: Field
    passages: tuple[str, ...]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A Markdown table, and the framed fields which need not be said again beside it."""

    text: str
    said: frozenset[str]


def frames(task: Question, whole: Question, shelf: Shelf) -> list[Unit]:
    """Where the whole question compares: the fields by which the documents of a task are compared."""
    if not is_comparison(whole.text):
        return []
    books = resolve(task, shelf, whole).books[:MOST_COMPARED]
    found = [(book, _field(book, facet)) for book in books for facet in whole.facets or _FEATURES]
    return [frame(book, field) for book, field in found if field is not None]


def sides(question: Question) -> tuple[Question, ...]:
    """A comparison of what bears names, as a question about each of them: no sentence need speak of both."""
    names = [term for term in question.terms if term in question.names]
    if not is_comparison(question.text) or not 1 < len(names) <= MOST_COMPARED:
        return ()

    def alone(name: str) -> str:
        return _WORD.sub(lambda word: "" if set(stems(word[0])) & {*names} - {name} else word[0], question.text)

    return tuple(analyze(alone(name)) for name in names)


def table(question: Question, shelf: Shelf) -> Table | None:
    """The table which answers a comparison; None for other questions, and where two documents share no field."""
    if not is_comparison(question.text):
        return None
    documents = _documents(resolve(question, shelf).books)[:MOST_COMPARED]
    rows = [[_of_any(books, facet) for books in documents] for facet in question.facets or _FEATURES]
    rows = [row for row in rows if sum(cell is not None for cell in row) > 1]
    if not rows:
        return None
    head = ["", *(max((describe(book)[0] for book in books), key=len) for books in documents)]
    lines = [_line(map(_plain, head)), _line(["---"] * len(head)), *map(_row, rows)]
    names = {cell.field.name for row in rows for cell in row if cell is not None}
    each = (book for books in documents for book in books)
    said = frozenset(frame(book, field).text for book in each for field in book.fields if field.name in names)
    return Table(text="\n".join(lines), said=said)


def _documents(books: Sequence[Book]) -> list[list[Book]]:
    """Books by document: two agents may have met the same one."""
    by_url: dict[str, list[Book]] = {}
    for book in books:
        by_url.setdefault(book.url or book.id, []).append(book)
    return list(by_url.values())


def _of_any(books: Sequence[Book], facet: str) -> Cell | None:
    found = ((book, _field(book, facet)) for book in books)
    return next((Cell(field, frame(book, field).passages) for book, field in found if field is not None), None)


def _field(book: Book, facet: str) -> Field | None:
    found = book.field(*FACETS[facet].keys)
    return found if found is not None and len(one_line(found.value)) <= LONGEST_CELL else None


def _row(row: Sequence[Cell | None]) -> str:
    name = next(cell.field.key for cell in row if cell is not None)
    cells = (NONE if cell is None else f"{_plain(cell.field.value)} [{', '.join(cell.passages)}]" for cell in row)
    return _line([_plain(name[:1].upper() + name[1:]), *cells])


def _plain(text: str) -> str:
    """A cell's text on one line, shown as it is: its bars are no borders, and titles are no Markdown."""
    return escape_markdown(one_line(text))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
