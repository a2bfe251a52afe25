"""Leaves out an answer of which verification would call every sentence unrelated to the question."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.relevance.grades import CitedSentence, grade
from assay.core.text import is_unspaced
from assay.models.questions.question import analyze
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources, resolve


def without_unrelated(units: list[QuotableUnit], asked: Sequence[str], shelf: ShownSources) -> list[QuotableUnit]:
    """The units; none if all of them are unrelated to the questions `asked`: the whole one first, then its parts.

    A document that a question names answers without its words, and a field or a computed figure in words of its own.
    Pairs of characters, which stand for words in Chinese and Japanese, say too little to refuse by: two of 60 right
    answers were lost (XQuAD, training part), and none in English, German, Russian and Arabic.
    """
    if any(map(is_unspaced, asked)) or any(unit.frame for unit in units):
        return units
    if any(resolve(analyze(each), shelf).books for each in asked):
        return units
    grades = grade(tuple(dict.fromkeys(asked)), [_cited(unit, shelf) for unit in units], shelf.rarity)
    return [] if grades and all(each == "unrelated" for each in grades) else units


def _cited(unit: QuotableUnit, shelf: ShownSources) -> CitedSentence:
    books = [(id, shelf.by_passage[id]) for id in unit.passages if id in shelf.by_passage]
    held = {each.passage: each.heading for _, book in books for each in book.sentences}
    texts = [passage.text for id, book in books for passage in book.passages if passage.id == id]
    return CitedSentence(
        text=unit.text,
        cited="\n".join(texts),
        heading=next((held[id] for id in unit.passages if held.get(id)), ""),
        title=books[0][1].title if books else "",
        framed=unit.frame,
    )
