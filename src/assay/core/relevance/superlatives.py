"""The superlative that a question asks for ("which is the longest?"), and which statements answer it.

These are the statements that have it too; if there are none, the one with the extreme number of the length, age or the
like that it measures ("450 metres long").
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from assay.core.dimensions import converted, dimension_of, stated
from assay.core.relevance.relevance_constants import EXTREME_WEIGHT, SUPERLATIVE_WEIGHT
from assay.core.relevance.topic_question import TopicQuestion, keys
from assay.core.tables.figures import COMMA_LANGUAGES, Point, read_figure
from assay.core.tables.words import Operation, read_asking


def extremes(question: TopicQuestion, texts: Sequence[str]) -> list[float]:
    """What each text gains since it answers the superlative of a question; 0 for all if the question has none."""
    asked = _superlatives(question.text, question.analysis)
    found = [_has(keys(text, question.analysis), asked) for text in texts] if asked else []
    if any(found) or not asked:
        return [SUPERLATIVE_WEIGHT * each for each in found] or [0.0] * len(texts)
    return [EXTREME_WEIGHT * each for each in _outermost(question, texts)]


@lru_cache(maxsize=512)
def _superlatives(question: str, analysis: str) -> tuple[tuple[str, ...], ...]:
    """The keys of each superlative, in order."""
    asking = read_asking(question)
    extreme = asking.ways[0].operation in ("max", "min")
    return tuple(keys(each, analysis) for each in asking.said) if extreme else ()


def _has(held: Sequence[str], asked: Sequence[Sequence[str]]) -> bool:
    """True if one of the superlatives is in a text, all its words in order."""
    return any(held[at : at + len(each)] == each for each in asked for at in range(len(held)))


def _outermost(question: TopicQuestion, texts: Sequence[str]) -> list[bool]:
    """True if each text has the largest or smallest number; none, if fewer than two have one, or if their
    units cannot be converted.
    """
    operation, dimension = _measured(question.text)
    point: Point = "," if question.language in COMMA_LANGUAGES else "."
    values: list[Decimal | None] = [None] * len(texts)
    unit = ""
    for at, text in enumerate(texts) if dimension else ():
        figures = [(read_figure(each.number, point), each.unit) for each in stated(text, dimension, question.language)]
        if len(figures) == 1 and figures[0][0] is not None:
            unit = unit or figures[0][1]
            values[at] = converted(figures[0][0].value, figures[0][1], unit)
            if values[at] is None:
                return [False] * len(texts)
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return [False] * len(texts)
    best = max(known) if operation == "max" else min(known)
    return [value == best for value in values]


@lru_cache(maxsize=512)
def _measured(question: str) -> tuple[Operation, str]:
    """What a superlative looks for, and in which dimension; "" if its words measure none."""
    ways = ((way.operation, dimension_of(" ".join(way.measures))) for way in read_asking(question).ways)
    return next((way for way in ways if way[1]), ("max", ""))
