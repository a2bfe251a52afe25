"""Questions which compare: what is said of each thing, and a table of the fields which the documents share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from assay.core.clean import escape_markdown
from assay.core.lexicon.analysis import stem
from assay.models.extractive.passages import PassageField, one_line
from assay.models.extractive.question import ParsedQuestion, analyze, is_comparison
from assay.models.extractive.shelf import QuotableUnit, ShownSources, SourcePassages
from assay.models.extractive.source_names import describe, frame, resolve
from assay.models.extractive.words import COMPARING, CONCEPTS, stems, topics

MOST_COMPARED = 5
MOST_ROWS = 6
LONGEST_CELL = 200
_WORD = re.compile(r"\w+")
NONE = "—"
_AND = r"\s+(?:and|und|or|with|mit|to|from|von|versus|vs\.?)\s+(?P<other>[^?.,;]+)"
_BESIDE = tuple(
    re.compile(pattern + _AND, re.IGNORECASE)
    for pattern in (
        r"\b(?:between|zwischen)\s+(?P<one>.+?)",
        r"\b(?:compare|contrast|vergleiche)\s+(?P<one>.+?)",
        r"\b(?:do|does|is|are|unterscheide[nt]\s+sich)\s+(?P<one>.+?)(?:\s+(?:differ(?:s|ent)?|compared?))?",
        r"^(?P<one>[^?]+?)(?=\s+(?:versus|vs))",
    )
)


class Cell(msgspec.Struct, frozen=True):
    """A field and what a cell with it cites: the field itself, and those which say whose it is."""

    field: PassageField
    passages: tuple[str, ...]


class ComparisonTable(msgspec.Struct, frozen=True, kw_only=True):
    """A Markdown table, and the framed fields which need not be said again beside it."""

    text: str
    said: frozenset[str]


def sides(question: ParsedQuestion) -> tuple[ParsedQuestion, ...]:
    """A comparison as a question about each of the things compared: no sentence need speak of both.

    They are what bears names, else what the grammar sets side by side ("between lists and tuples").
    """
    if not is_comparison(question.text):
        return ()
    names = [term for term in question.terms if term in question.names]
    if 1 < len(names) <= MOST_COMPARED:
        return tuple(analyze(_alone(question.text, {*names} - {name})) for name in names)
    match = next((match for pattern in _BESIDE if (match := pattern.search(question.text))), None)
    apart = [set(topics(match[side])) for side in ("one", "other")] if match else []
    if match is None or not all(apart) or names:
        return ()
    comparing = set(map(stem, COMPARING))
    return tuple(analyze(_alone(question.text, (other - own) | comparing)) for own, other in (apart, apart[::-1]))


def _alone(text: str, without: set[str]) -> str:
    """The text without words of these keys."""
    return _WORD.sub(lambda word: "" if not without.isdisjoint(stems(word[0])) else word[0], text)


def frames(task: ParsedQuestion, whole: ParsedQuestion, shelf: ShownSources) -> list[QuotableUnit]:
    """Where the whole question compares: the fields by which the documents of a task are compared."""
    if not is_comparison(whole.text):
        return []
    books = resolve(task, shelf, whole).books[:MOST_COMPARED]
    compared = _aspects(whole, resolve(whole, shelf).books or books)
    return [frame(book, field) for book in books for names in compared if (field := _field(book, names)) is not None]


def table(question: ParsedQuestion, shelf: ShownSources) -> ComparisonTable | None:
    """The table which answers a comparison; None for other questions, and where two documents share no field."""
    if not is_comparison(question.text):
        return None
    books = resolve(question, shelf).books
    documents = _documents(books)[:MOST_COMPARED]
    rows = [[_of_any(each, names) for each in documents] for names in _aspects(question, books)]
    rows = [row for row in rows if sum(cell is not None for cell in row) > 1]
    if not rows:
        return None
    head = ["", *(max((describe(book)[0] for book in each), key=len) for each in documents)]
    lines = [_line(map(_plain, head)), _line(["---"] * len(head)), *map(_row, rows)]
    names = {cell.field.name for row in rows for cell in row if cell is not None}
    every = (book for each in documents for book in each)
    said = frozenset(frame(book, field).text for book in every for field in book.fields if field.name in names)
    return ComparisonTable(text="\n".join(lines), said=said)


def _aspects(question: ParsedQuestion, books: Sequence[SourcePassages]) -> list[tuple[str, ...]]:
    """The names of the fields documents are compared by: those asked for, else those which most of them have.

    What a document is called is none. A single document is told by its first fields.
    """
    if question.concepts:
        return [CONCEPTS[name].keys for name in question.concepts]
    titles = CONCEPTS["title"].keys
    held = [field for book in books for field in book.fields if field not in (book.number, book.identified)]
    count = Counter(field.name for field in held if field.name not in titles and len(field.value) <= LONGEST_CELL)
    order = {name: at for at, name in enumerate(count)}
    best = sorted(count, key=lambda name: (-count[name], order[name]))[:MOST_ROWS]
    return [_alike(name) for name in sorted(best, key=lambda name: order[name])]


def _alike(name: str) -> tuple[str, ...]:
    """The names a field of this name has elsewhere."""
    return next((concept.keys for concept in CONCEPTS.values() if name in concept.keys), (name,))


def _documents(books: Sequence[SourcePassages]) -> list[list[SourcePassages]]:
    """Books by document: two agents may have met the same one."""
    by_url: dict[str, list[SourcePassages]] = {}
    for book in books:
        by_url.setdefault(book.url or book.id, []).append(book)
    return list(by_url.values())


def _of_any(books: Sequence[SourcePassages], names: Sequence[str]) -> Cell | None:
    found = ((book, _field(book, names)) for book in books)
    return next((Cell(field, frame(book, field).passages) for book, field in found if field is not None), None)


def _field(book: SourcePassages, names: Iterable[str]) -> PassageField | None:
    found = book.field(*names)
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
