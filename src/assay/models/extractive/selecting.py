"""Choosing what answers a question: header fields, rows, and the sentences which `core.relevance` judges best.

Sentences are taken best first and near repetitions left out, after maximal marginal relevance (Carbonell and
Goldstein 1998). Where the best are probably no answer, there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.core.relevance import Judgement, Statement, judge, read_question
from assay.core.relevance.features import REASON
from assay.models.extractive.answering import answers, frame
from assay.models.extractive.lexicon import FACETS
from assay.models.extractive.passages import Sentence, ends
from assay.models.extractive.question import (
    Question,
    analyze,
    asks_why,
    is_about,
    is_explanation,
    is_phrase,
    points_back,
)
from assay.models.extractive.records import rows
from assay.models.extractive.shelf import Book, Shelf
from assay.models.extractive.subjects import Subject, resolve
from assay.models.extractive.terms import stems
from assay.models.extractive.units import Unit

SAME = 0.6
"""Share of words in common from which two sentences say the same."""
LEAD = 3
FEW = 2
"""Words a part of a question must have to be asked alone."""
LANGUAGE = 5
"""Statements by which the language of the documents is told."""
Placed = tuple[Book, Sentence]


def select(question: Question, shelf: Shelf, context: Question | None = None, limit: int = 8) -> list[Unit]:
    """What the passages shown say in answer to `question`: header fields first, then sentences, best first.

    `context` is the question this one is a part of.
    """
    subject = resolve(question, shelf, context)
    if subject.absent:
        return []
    if found := rows(question, shelf):
        return found[:limit]
    asked = subject.asked
    explained = is_explanation(asked.text) and bool(subject.rest)
    framed = [] if explained or asks_why(asked) else answers(asked, subject, shelf)
    if asks_why(asked) and subject.books and not subject.rest:
        return _reasons(asked, subject, shelf)
    if subject.books and not subject.rest:
        if framed or not asked.facets or is_about(asked):
            return framed or _lead(subject)
        if any(map(_headed, subject.books)):
            return []
    return [*framed, *_sentences(question, subject, shelf, context, limit - len(framed))]


def _headed(book: Book) -> bool:
    """Whether a document has a header: one without it says in prose what a field would."""
    return book.number is not None or len(book.fields) > 2


def order(question: Question, shelf: Shelf, context: Question | None = None) -> list[Book]:
    """The documents by the best statement of each, with those nothing of which can be quoted last."""
    placed, judgement = _judged(question, shelf.books, shelf, _about(question, context))
    best = [placed[each.place][0] for each in judgement.ranked]
    return list(dict.fromkeys([*best, *shelf.books]))


def _sentences(question: Question, subject: Subject, shelf: Shelf, context: Question | None, limit: int) -> list[Unit]:
    asked = _bare(question, subject)
    about = _about(question, context) if not subject.books else ""
    placed, judgement = _judged(asked, subject.books or shelf.books, shelf, about)
    if not judgement.answers(bool(subject.books)):
        return []
    units = [_unit(*placed[each.place], each.score) for each in judgement.near]
    return _distinct(units, limit)


def _bare(question: Question, subject: Subject) -> Question:
    """The question without the numbers of the documents which are to answer: their text need not say them."""
    text = question.text
    for mention in question.mentions:
        if any(book.owns(mention.identifier) for book in subject.books):
            text = text.replace(mention.text, " ")
    return analyze(text)


def _judged(question: Question, books: Sequence[Book], shelf: Shelf, about: str = "") -> tuple[list[Placed], Judgement]:
    placed = [(book, sentence) for book in books for sentence in book.sentences]
    rank = {book.id: at for at, book in enumerate(shelf.books)}
    statements = [_statement(book, sentence, rank[book.id]) for book, sentence in placed]
    beside = "\n".join(each.text for each in statements[:LANGUAGE])
    return placed, judge(read_question(question.text, about, beside), statements)


def _about(question: Question, context: Question | None) -> str:
    """The whole question, for a part which says too little alone: a phrase, "how can they be avoided?", "and when?"."""
    if context is None or question.text == context.text:
        return ""
    alone = len(read_question(question.text).keys) >= FEW
    dependent = is_phrase(question, context) or points_back(question) or not alone
    return context.text if dependent else ""


def _statement(book: Book, sentence: Sentence, rank: int) -> Statement:
    return Statement(
        text=sentence.text,
        source=rank,
        place=sentence.ordinal,
        label=sentence.label,
        heading=sentence.heading,
        title=book.title,
        kind=sentence.kind,
    )


def _lead(subject: Subject) -> list[Unit]:
    """The first sentences of each subject, after its description when its header has one."""
    found: list[Unit] = []
    for book in subject.books:
        field = book.field(*FACETS["description"].keys)
        if field is not None:
            found.append(frame(book, field))
        prose = [each for each in book.sentences if each.kind == "prose" and ends(each.text)]
        found.extend(_unit(book, sentence, 0.9) for sentence in prose[:LEAD])
    return found


def _reasons(question: Question, subject: Subject, shelf: Shelf) -> list[Unit]:
    """Why a document was written, or rejected: the best statements which give a reason, else its beginning."""
    placed, judgement = _judged(question, subject.books, shelf)
    ranked = (placed[each.place] for each in judgement.ranked)
    found = [_unit(book, sentence, 0.9) for book, sentence in ranked if REASON.search(sentence.text)]
    return found[:LEAD] or _lead(subject)


def _unit(book: Book, sentence: Sentence, score: float) -> Unit:
    near = frozenset(stems(f"{sentence.text} {sentence.heading} {sentence.label} {book.title} {book.url}"))
    return Unit(
        text=sentence.text,
        passages=(sentence.passage,),
        source=book.id,
        score=score,
        ordinal=sentence.ordinal,
        near=near,
    )


def _distinct(units: Sequence[Unit], limit: int) -> list[Unit]:
    """The best `limit` units of which no two say the same, at most half of them (three at least) of one source."""
    limit = max(limit, 0)
    chosen: list[Unit] = []
    per_source: Counter[str] = Counter()
    most = max(3, limit // 2)
    for unit in units:
        if len(chosen) == limit:
            break
        if per_source[unit.source] < most and not any(alike(unit.text, other.text) for other in chosen):
            chosen.append(unit)
            per_source[unit.source] += 1
    return chosen


def alike(one: str, other: str) -> bool:
    """Whether two sentences share most of their words (Jaccard index)."""
    a, b = set(one.casefold().split()), set(other.casefold().split())
    return len(a & b) >= SAME * len(a | b)
