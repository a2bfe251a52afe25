"""What is said of another thing than the question's: below the heading of another name, or in the row of another value.

Sections of a document may be about one thing each, named in their headings: planets, ships, people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

MAX_NAME_WORDS = 4
_WORD = regex(r"[^\W_]+")
Path = tuple[int, tuple[str, ...]]
"""A document, and headings of it from the top."""


def under_other_names(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> frozenset[int]:
    """The places of the statements below the name of another thing than that of which the question has the name, which
    they do not say themselves.

    Both headings stand below the same one. A heading is a name if the text of its document has it, and never in small
    letters.
    """
    if question.capitalizes_nouns or not question.names:
        return frozenset()
    paths = [(statement.source, tuple(statement.heading.split(" > "))) for statement in statements]
    whole = {(source, headings[: depth + 1]) for source, headings in paths for depth in range(len(headings))}
    names = {path: frozenset(keys(path[1][-1], question.analysis)) for path in whole}
    asked = {(source, headings): name for (source, headings), name in names.items() if name and name <= question.names}
    parents = {(source, headings[:-1]) for source, headings in asked}
    beside = [(source, headings) for source, headings in whole if (source, headings[:-1]) in parents]
    texts = _texts(statements) if beside else {}
    titles = {(source, headings[-1]) for source, headings in beside}
    names_there = {(source, title) for source, title in titles if _is_name(title, texts[source])}
    named = {(source, headings) for source, headings in beside if (source, headings[-1]) in names_there}
    siblings = defaultdict[Path, list[frozenset[str]]](list)
    for source, headings in named & asked.keys():
        siblings[source, headings[:-1]].append(asked[source, headings])
    others_named = named - asked.keys()
    return frozenset(
        index
        for index, (source, headings) in enumerate(paths)
        for depth in range(len(headings))
        if (source, headings[: depth + 1]) in others_named
        and (others := siblings.get((source, headings[:depth])))
        and not any(name <= frozenset(keys(statements[index].text, question.analysis)) for name in others)
    )


def _texts(statements: Sequence[QuotableStatement]) -> Mapping[int, str]:
    """The words of each document between spaces."""
    texts = defaultdict[int, list[str]](list)
    for statement in statements:
        texts[statement.source].append(statement.text)
    return {source: _spaced_words("\n".join(lines)) for source, lines in texts.items()}


def _is_name(heading: str, text: str) -> bool:
    """True if a heading is written as a name in a text, and nowhere in small letters."""
    words = _spaced_words(heading)
    is_short = heading[:1].isupper() and len(heading.split()) <= MAX_NAME_WORDS
    return is_short and words in text and words.lower() not in text


def _spaced_words(text: str) -> str:
    """The words of a text between spaces."""
    return f" {' '.join(_WORD.findall(text))} "


# Rows: a question that names a value of a column is not answered by rows with another value there.

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
