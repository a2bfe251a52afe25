"""Sections of a document that are about one thing each, named in their headings: planets, ships, people.

What stands below the name of another thing than the question's is about that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

MAX_NAME_WORDS = 4
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
    names = _names(statements, paths, question.analysis)
    asked = {path: name for path, name in names.items() if name <= question.names}
    others = defaultdict[Path, list[frozenset[str]]](list)
    for (source, headings), name in asked.items():
        others[source, headings[:-1]].append(name)
    found: set[int] = set()
    for index, (source, headings) in enumerate(paths):
        for depth in range(len(headings)):
            siblings = others.get((source, headings[:depth]), ())
            here = (source, headings[: depth + 1])
            if siblings and here in names and here not in asked:
                own = frozenset(keys(statements[index].text, question.analysis))
                if not any(name <= own for name in siblings):
                    found.add(index)
    return frozenset(found)


def _names(
    statements: Sequence[QuotableStatement], paths: Sequence[Path], analysis: str
) -> Mapping[Path, frozenset[str]]:
    """The headings that are names, with their keys."""
    texts = defaultdict[int, list[str]](list)
    for statement in statements:
        texts[statement.source].append(statement.text)
    joined = {source: "\n".join(lines) for source, lines in texts.items()}
    whole = {(source, headings[: depth + 1]) for source, headings in paths for depth in range(len(headings))}
    return {
        (source, headings): frozenset(keys(headings[-1], analysis))
        for source, headings in whole
        if _is_name(headings[-1], joined[source])
    }


def _is_name(heading: str, text: str) -> bool:
    if not heading[:1].isupper() or len(heading.split()) > MAX_NAME_WORDS:
        return False
    pattern = rf"(?<!\w){re.escape(heading)}(?!\w)"
    lower = rf"(?<!\w){re.escape(heading.lower())}(?!\w)"
    return re.search(pattern, text) is not None and re.search(lower, text) is None
