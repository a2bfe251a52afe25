"""Tables: rows chosen by a question's values (`core.tables`), what code computed, and the table which compares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from assay.core import passage_context
from assay.core.clean import escape_markdown
from assay.core.lexicon.analysis import stem
from assay.core.messages import Request
from assay.core.sources import ordinal_of
from assay.core.tables.answers import bound, is_computed
from assay.core.tables.cells import ReadTable, TablePiece, heard, read_tables
from assay.core.tables.table_questions import answer
from assay.models.extractive.passages import PassageField, is_row, one_line
from assay.models.extractive.question import ParsedQuestion, analyze, is_comparison
from assay.models.extractive.shelf import QuotableUnit, ShownSources, SourcePassages, describe, frame, resolve
from assay.models.extractive.words import COMPARING, CONCEPTS, stems, topics


def tables(shelf: ShownSources) -> list[ReadTable]:
    """The tables of all documents, as far as they were shown."""
    return [
        table
        for book in shelf.books
        if any(is_row(passage.text) for passage in book.passages)
        for table in read_tables((TablePiece(each.id, each.text) for each in book.passages), book.title)
    ]


def rows(question: ParsedQuestion, shelf: ShownSources) -> list[QuotableUnit]:
    """The rows whose cells answer, each as it stands; nothing where the question chooses none, or asks to compute."""
    found = answer(question.text, tables(shelf))
    if found is None or found.wanted.operation != "cell" or not found.wanted.given:
        return []
    texts = {passage.id: one_line(passage.text).strip("| ") for book in shelf.books for passage in book.passages}
    chosen = dict.fromkeys(name for each in found.answers for row in each.rows for name in row.names)
    source, near = shelf.by_passage, frozenset(stems(question.text))
    return [
        QuotableUnit(text=texts[id], passages=(id,), source=source[id].id, ordinal=ordinal_of(id), near=near)
        for id in chosen
        if id in texts
    ]


# what code computed over tables


def calculated(request: Request) -> list[QuotableUnit]:
    """The sentences the tool `calculate` gave, each with the passages it rests on."""
    calls = {call.id for message in request.messages for call in message.calls if call.name == "calculate"}
    return [
        unit
        for message in request.messages
        if message.role == "tool" and message.call_id in calls
        for unit in _units(message.text)
    ]


def _units(text: str) -> list[QuotableUnit]:
    source = next(iter(passage_context.read(text)), None)
    if source is None:
        return []
    known = {passage.id for passage in source.passages}
    found: list[QuotableUnit] = []
    for note in heard(text):
        ids = tuple(id for ordinal in note.ordinals if (id := f"{source.id}.{ordinal}") in known)
        if ids:
            found.append(QuotableUnit(text=note.text, passages=ids, source=source.id, frame=True))
    return found


def is_said(unit: QuotableUnit, shelf: ShownSources) -> bool:
    """Whether a unit states a computation, or a cell as the rows cited say it. Verification computes it again."""
    if is_computed(unit.text):
        return True
    book = shelf.by_passage.get(unit.passages[0])
    if book is None:
        return False
    cited = (TablePiece(each.id, each.text) for each in book.passages if each.id in unit.passages)
    said = bound(unit.text, read_tables(cited, book.title))
    return said is not None and said[0]


# Questions which compare: what is said of each thing, and a table of the fields which the documents share.

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
