"""Sections of a document that are about one thing each, named in their headings: planets, ships, people.

What stands below the name of another thing than the question's is about that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from assay.core.lazy import regex
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
