"""Rows of other things: a question that names a value of a column is not answered by rows with another value there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from assay.core.lexicon import stop_terms
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

Cells = Mapping[tuple[int, str, int], frozenset[str]]
"""The keys of the cells of a row, by its document, the head of its table and its column."""
MIN_CELLS = 3
"""The fewest cells of a row in a table; one with two is a name with a value."""


def rows_of_others(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> frozenset[int]:
    """The places of the rows that have another value where the question names one of the same column.

    "Rain gauge" is another than "Rain gauge, heated" if the question has the words of both.
    """
    rows = {index: _cells(statement, question) for index, statement in enumerate(statements)}
    asked = frozenset(question.keys)
    named: dict[tuple[int, str, int], set[frozenset[str]]] = defaultdict(set)
    for cells in rows.values():
        for place, cell in cells.items():
            if cell <= asked:
                named[place].add(cell)
    named = {
        place: {cell for cell in found if not any(cell < other for other in found)} for place, found in named.items()
    }
    return frozenset(
        index
        for index, cells in rows.items()
        for place, cell in cells.items()
        if place in named and cell not in named[place] and named[place].isdisjoint(cells.values())
    )


def _cells(statement: QuotableStatement, question: TopicQuestion) -> Cells:
    """The cells of a row that have words."""
    texts = statement.text.strip("| ").split(" | ") if statement.kind == "row" else []
    if len(texts) < MIN_CELLS:
        return {}
    stop = stop_terms(question.analysis)
    heads = [text.partition(": ") for text in texts]
    is_record = not statement.label and all(separator for _, separator, _ in heads)
    head = statement.label or (" | ".join(name for name, _, _ in heads) if is_record else "")
    values = [value for _, _, value in heads] if is_record else texts
    found = (
        ((statement.source, head, column), frozenset(keys(value, question.analysis)) - stop)
        for column, value in enumerate(values)
        if any(map(str.isalpha, value))
    )
    return {place: cell for place, cell in found if cell}
