"""The tables of shown documents: rows that answer, and what code computed from them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from assay.core import passage_context
from assay.core.plain_text import spaced_rows
from assay.core.tables.answers import is_computed
from assay.core.tables.cells import ReadTable, TablePiece, TableRow, read_tables, without_place
from assay.core.tables.rows import compare_whole_row, compare_with_row, format_row, read_notes, row_text
from assay.core.tables.table_questions import answer_question
from assay.models.questions.question import ParsedQuestion
from assay.models.questions.words import stems
from assay.models.shown_documents.passages import is_in_table, one_line
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources, SourcePassages


def tables(shelf: ShownSources) -> list[ReadTable]:
    """The tables of all documents, as far as they are shown."""
    return [
        table
        for book in shelf.books
        if any(is_in_table(passage.text) for passage in book.passages)
        for table in _tables_of(book)
    ]


def _tables_of(book: SourcePassages, ids: Container[str] | None = None) -> Sequence[ReadTable]:
    """The tables of a source, or of those of its passages that have these `ids`."""
    pieces = (
        TablePiece(passage.id, passage.text, label=passage.about)
        for passage in book.passages
        if ids is None or passage.id in ids
    )
    return read_tables(pieces, book.title)


def answering_rows(question: ParsedQuestion, shelf: ShownSources) -> list[QuotableUnit]:
    """The rows whose cells answer, with their headers; none if the question chooses no rows, or asks to compute."""
    shown_tables = tables(shelf)
    rows = _chosen_rows(question.text, shown_tables)
    passages = {item.id: item for book in shelf.books for item in book.passages} if rows else {}
    source, question_keys = shelf.by_passage, frozenset(stems(question.text))
    statements = dict.fromkeys(item for row in rows for item in _row_statements(row, shown_tables, passages))
    return [
        QuotableUnit(text=text, passages=ids, source=source[ids[0]].id, context_keys=question_keys)
        for text, ids in statements
    ]


def _row_statements(
    row: TableRow, shown_tables: Sequence[ReadTable], passages: Mapping[str, passage_context.ShownPassage]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a row says, and the passages that say it: each it is in; for a line of one, with those of the headers."""
    ids = [name for name in row.names if name in passages]
    if ids and spaced_rows(passages[ids[0]].text):
        table = next(candidate for candidate in shown_tables if any(row is other for other in candidate.rows))
        yield row_text(table, row), tuple(dict.fromkeys((*ids, *(name for name in table.names if name in passages))))
        return
    for id in ids:
        line = one_line(passages[id].text)
        yield format_row(line, passages[id].about) or without_place(line).strip("| "), (id,)


def _chosen_rows(question: str, shown_tables: Sequence[ReadTable]) -> Sequence[TableRow]:
    """The rows whose cells answer a question that chooses rows by their other cells."""
    result = answer_question(question, shown_tables)
    if result is None or result.computation.operation != "cell" or not result.computation.conditions:
        return ()
    return [row for answer in result.answers for row in answer.rows]


def line_with_headers(passage: str, line: str) -> str:
    """A line of a passage whose columns only spaces set apart, with the headers in that; "" if it is no such line."""
    for table in read_tables([TablePiece("", passage)]) if spaced_rows(passage) else ():
        for row in table.rows:
            if " ".join(filter(None, (row.text(column) for column in range(len(table.heads))))) == line:
                return row_text(table, row)
    return ""


def computed_units(text: str) -> list[QuotableUnit]:
    """The sentences that the tool `calculate` states, each with its passages."""
    sources = passage_context.read_sources(text)
    passage_ids = {passage.id for source in sources for passage in source.passages}
    units: list[QuotableUnit] = []
    for note in read_notes(text):
        references = zip(note.documents or [1] * len(note.ordinals), note.ordinals, strict=True)
        named_ids = (
            f"{sources[number - 1].id}.{ordinal}" for number, ordinal in references if 0 < number <= len(sources)
        )
        if ids := tuple(id for id in named_ids if id in passage_ids):
            source = ids[0].partition(".")[0]
            units.append(QuotableUnit(text=note.text, passages=ids, source=source, frame=True))
    return units


def is_in_rows(unit: QuotableUnit, shelf: ShownSources) -> bool:
    """True if a unit states a computation, or a cell as the cited rows have it. Verification computes it again."""
    if is_computed(unit.text):
        return True
    book = shelf.by_passage.get(unit.passages[0])
    if book is None:
        return False
    comparison = compare_with_row(unit.text, _tables_of(book, unit.passages))
    return comparison is not None and comparison[0]


def is_row_of(unit: QuotableUnit, shelf: ShownSources) -> bool:
    """True if a unit states a cited row with its headers."""
    book = shelf.by_passage.get(unit.passages[0]) if " | " in unit.text else None
    comparison = None if book is None else compare_whole_row(unit.text, _tables_of(book, unit.passages))
    return comparison is not None and comparison[0]
