"""Choosing sentences: relevance to the question, and novelty among those chosen.

Terms weigh by their rarity among the passages shown (inverse document frequency, Spärck Jones 1972); sentences
are taken best first and near repetitions left out, after maximal marginal relevance (Carbonell and Goldstein 1998).
A question whose rare words and names the documents do not hold gets nothing at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from assay.models.extractive.answering import Unit, answers, frame
from assay.models.extractive.lexicon import FACETS
from assay.models.extractive.question import Question, is_about, is_explanation, is_phrase, points_back
from assay.models.extractive.shelf import Book, Sentence, Shelf, ends
from assay.models.extractive.subjects import Subject, resolve
from assay.models.extractive.terms import stem, stems

DOCUMENT_COVERAGE = 0.6
"""Share of the weight of a question's terms which one document must hold before it may answer."""
SUBJECT_COVERAGE = 0.55
"""The same for the document a question is about."""
SENTENCE_COVERAGE = 0.4
SHARE_OF_BEST = 0.55
SAME = 0.6
"""Share of words in common from which two sentences say the same."""
NAME_WEIGHT = 1.6
FRAME_WEIGHT = 0.35
NEARBY = 0.4
LEAD = 3
ROW = 0.8
"""A table row or a line with a key says less to a reader than a sentence."""

_DATE = re.compile(r"\b(?:1[5-9]|20)\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}|年")
_PERSON = re.compile(r"[^\W\d_a-z]\w+ (?:[^\W\d_a-z][\w.]* )*[^\W\d_a-z]\w+")
_NUMBER = re.compile(r"\d")


def select(question: Question, shelf: Shelf, context: Question | None = None, limit: int = 8) -> list[Unit]:
    """What the passages shown say in answer to `question`: frames first, then sentences, best first; else nothing.

    `context` is the question this one is a part of. A part which is only a phrase of it ("unsized coercion") is no
    question: it gets what answers the whole and speaks of the phrase.
    """
    if context is not None and is_phrase(question, context):
        return _of_phrase(question, shelf, context, limit)
    subject = resolve(question, shelf, context)
    if subject.absent:
        return []
    if context is not None and not subject.books and points_back(question):
        return _continued(question, subject, shelf, context, limit)
    question = subject.asked
    explained = is_explanation(question.text) and bool(subject.rest)
    framed = [] if explained else answers(question, subject, shelf)
    return [*framed, *_sentences(question, subject, shelf, framed, limit - len(framed))]


def _continued(question: Question, subject: Subject, shelf: Shelf, context: Question, limit: int) -> list[Unit]:
    """A part such as "how can they be avoided?": what answers the whole and has a word of the part."""
    terms = frozenset(subject.rest)
    answered = select(context, shelf, limit=3 * limit)
    return [unit for unit in answered if not terms or terms & set(stems(unit.text))][:limit]


def _of_phrase(phrase: Question, shelf: Shelf, context: Question, limit: int) -> list[Unit]:
    books = {book.id for book in resolve(phrase, shelf).books}
    terms = frozenset(phrase.terms)
    answered = select(context, shelf, limit=3 * limit)
    fitting = [unit for unit in answered if (unit.source in books if books else terms & set(stems(unit.text)))]
    return (fitting or answered)[:limit]


def _sentences(question: Question, subject: Subject, shelf: Shelf, framed: Sequence[Unit], limit: int) -> list[Unit]:
    if subject.books and not subject.rest:
        if framed:
            return []
        return _mentions(question, subject) if question.facets and not is_about(question) else _lead(subject)
    if not subject.books:
        weights = weigh(question.terms, question.names, frozenset(question.terms) - set(subject.rest), shelf.books)
        return _distinct(_on_topic(_relevant(question, weights, shelf.books, DOCUMENT_COVERAGE), subject.rest), limit)
    weights = weigh(subject.rest, question.names, frozenset(), subject.books)
    found = _relevant(question, weights, subject.books, SUBJECT_COVERAGE)
    if question.facets and not framed:
        found = [unit for unit in found if question.facet_terms & set(stems(unit.text))]
    return _distinct(found, limit)


def _on_topic(units: Sequence[Unit], terms: Sequence[str]) -> list[Unit]:
    """`units` without those which share too few of the terms; none when not even one says enough of them.

    One rare word in common is no answer: a list of countries does not say which city is the capital of one.
    """
    need = 1 if len(terms) < 2 else 2 if len(terms) < 4 else 3
    held = [(unit, len(unit.near & set(terms))) for unit in units]
    return [unit for unit, count in held if count >= need - 1] if any(count >= need for _, count in held) else []


def _mentions(question: Question, subject: Subject) -> list[Unit]:
    """Sentences of the subject which say in prose what a header field would have said."""
    wanted = {stem(word) for name in question.facets for word in FACETS[name].mentions}
    found = [
        _unit(book, sentence, 0.5)
        for book in subject.books
        for sentence in book.sentences
        if sentence.stems & wanted and sentence.kind == "prose" and _speaks_of(book, sentence)
    ]
    return found[:2]


def _speaks_of(book: Book, sentence: Sentence) -> bool:
    series = book.number.name if book.number else "document"
    return (
        re.search(rf"\bthis (?:{re.escape(series)}|document|proposal|spec\w*)\b", sentence.text.casefold()) is not None
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


# relevance


def weigh(
    terms: Sequence[str], names: frozenset[str], frames: frozenset[str], books: Sequence[Book]
) -> dict[str, float]:
    """The weight of each term in `books`: rare ones and names more, `frames` less, what is in none the most."""
    seen: Counter[str] = Counter()
    wanted = frozenset(terms)
    for book in books:
        for sentence in book.sentences:
            seen.update(wanted & sentence.stems)
    size = max(sum(len(book.passages) for book in books), 1)

    def kind(term: str) -> float:
        return FRAME_WEIGHT if term in frames else NAME_WEIGHT if term in names else 1.0

    return {term: kind(term) * math.log(1 + size / (seen[term] + 0.5)) for term in dict.fromkeys(terms)}


def _relevant(question: Question, weights: Mapping[str, float], books: Sequence[Book], gate: float) -> list[Unit]:
    """The sentences of `books` which hold enough of the terms' weight, best first."""
    fitting = [book for book in books if weights and _fits(question, weights, book, gate)]
    found = [
        _unit(book, sentence, _score(question, sentence, book, weights))
        for book in fitting
        for sentence in book.sentences
    ]
    best = max((unit.score for unit in found), default=0.0)
    least = max(SENTENCE_COVERAGE, SHARE_OF_BEST * best)
    return sorted((unit for unit in found if unit.score >= least), key=lambda unit: -unit.score)


def _coverage(weights: Mapping[str, float], held: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)


def _fits(question: Question, weights: Mapping[str, float], book: Book, gate: float) -> bool:
    """Whether a document holds enough of what is asked, half the weight of its names, and the rarest of them."""
    names = {term: weight for term, weight in weights.items() if term in question.names}
    rarest = max(names, key=lambda term: names[term], default="")
    named = not names or (rarest in book.all_stems and _coverage(names, book.all_stems) >= 0.5)
    return named and _coverage(weights, book.all_stems) >= gate


def _score(question: Question, sentence: Sentence, book: Book, weights: Mapping[str, float]) -> float:
    """The share of the terms' weight in the sentence, less for what only title or heading hold; 0 without a term."""
    own = sum(weight for term, weight in weights.items() if term in sentence.stems)
    if not own:
        return 0.0
    around = book.title_stems | sentence.above
    near = sum(weight for term, weight in weights.items() if term not in sentence.stems and term in around)
    score = (own + NEARBY * near) / sum(weights.values())
    plain = _length(sentence.text) if sentence.kind == "prose" else ROW
    return score * plain + _kind(question, sentence.text)


def _length(text: str) -> float:
    """Very short and very long sentences say less to a reader."""
    size = len(text) if text.isascii() else 2 * len(text)
    return 0.75 if size < 40 else 1.0 if size < 350 else 0.85


def _kind(question: Question, text: str) -> float:
    """A little more for the kind of thing asked for: a date for "when", a number for "how many"."""
    asked = question.words
    if set(asked) & {"when", "wann", "когда", "متى", "year"} and _DATE.search(text):
        return 0.1
    if set(asked) & {"who", "whom", "wer", "кто"} and _PERSON.search(text):
        return 0.05
    counted = any(pair in {("how", "many"), ("how", "much"), ("wie", "viele")} for pair in pairwise(asked))
    return 0.1 if (counted or "сколько" in asked or "كم" in asked) and _NUMBER.search(text) else 0.0


def _unit(book: Book, sentence: Sentence, score: float) -> Unit:
    return Unit(
        text=sentence.text,
        passages=(sentence.passage,),
        source=book.id,
        score=score,
        ordinal=sentence.ordinal,
        near=sentence.stems | sentence.above | book.title_stems | book.place_stems,
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
