"""Choosing sentences: relevance to the question, and novelty among those chosen.

Sentences are taken best first and near repetitions left out, after maximal marginal relevance (Carbonell and
Goldstein 1998). A question whose rare words and names the documents do not hold gets nothing at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.text import words
from assay.models.extractive import lexicon
from assay.models.extractive.answering import answers, frame
from assay.models.extractive.kinds import answers_kind, asked_for, related
from assay.models.extractive.lexicon import CONCRETE, FACETS, FRAMES
from assay.models.extractive.passages import Sentence, ends
from assay.models.extractive.question import Question, asks_why, is_about, is_explanation, is_phrase, points_back
from assay.models.extractive.records import rows
from assay.models.extractive.relevance import Scorer, fits, weigh
from assay.models.extractive.shelf import Book, Shelf
from assay.models.extractive.subjects import Subject, resolve
from assay.models.extractive.terms import stem, stems
from assay.models.extractive.units import Unit

DOCUMENT_COVERAGE = 0.6
"""Share of the weight of a question's terms which one document must hold before it may answer."""
SUBJECT_COVERAGE = 0.55
"""The same for the document a question is about."""
SENTENCE_COVERAGE = 0.4
SHARE_OF_BEST = 0.55
SAME = 0.6
"""Share of words in common from which two sentences say the same."""
LEAD = 3
_OUTCOME_STEMS = frozenset(stem(word) for word in lexicon.STATES)
_REASON_STEMS = frozenset(stem(word) for word in lexicon.REASONS)
_MOTIVE_STEMS = frozenset(stem(word) for word in lexicon.MOTIVES)

_FRAME_STEMS = frozenset(stem(word) for word in FRAMES)


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
    if found := rows(question, shelf):
        return found[:limit]
    question = subject.asked
    if asks_why(question) and subject.books and not subject.rest:
        return _reasons(question, subject)
    explained = is_explanation(question.text) and bool(subject.rest)
    framed = [] if explained else answers(question, subject, shelf)
    if question.facets and not framed and not any(map(_headed, subject.books or shelf.books)):
        question, subject = _plain(question, subject)
    return [*framed, *_sentences(question, subject, shelf, framed, limit - len(framed))]


def _headed(book: Book) -> bool:
    """Whether a document has a header: without one its prose answers what a field would."""
    return book.number is not None or len(book.fields) > 2


def _plain(question: Question, subject: Subject) -> tuple[Question, Subject]:
    """The question with no fields asked for, and the words which asked for them as terms again."""
    numbering = {key for mention in question.mentions for key in stems(mention.text)}
    rest = tuple(t for t in question.terms if t not in _FRAME_STEMS and (t not in numbering or t in subject.rest))
    said = question.facet_terms & set(question.terms)
    asked = msgspec.structs.replace(question, facets=(), facet_terms=said)
    return asked, msgspec.structs.replace(subject, rest=rest or subject.rest, asked=asked)


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
        found = _on_topic(_relevant(question, weights, shelf.books, DOCUMENT_COVERAGE), subject.rest)
        if question.facets and question.names >= set(subject.rest):  # a name alone says nothing of the field
            question = _plain(question, subject)[0]
        if asked_for(question) != "other":
            found = _named(found, question, subject.rest)
        return _distinct(_asked(found, question, ()), limit)
    weights = weigh(subject.rest, question.names, frozenset(), subject.books)
    found = _relevant(question, weights, subject.books, SUBJECT_COVERAGE)
    if question.facets and not framed:
        said = question.facet_terms & set(question.terms)
        found = [unit for unit in found if not said or said & set(stems(unit.text))]
    topics = frozenset(key for book in subject.books for key in book.title_stems) - set(subject.rest)
    return _distinct(_asked(_named(found, question, subject.rest), question, topics), limit)


def _asked(units: Sequence[Unit], question: Question, topics: Iterable[str]) -> list[Unit]:
    """`units` which hold the kind of thing that is asked for, and say something of it."""
    if question.facet_terms and not question.facets:  # fields the documents do not have: prose must say as much
        units = [unit for unit in units if any(related(term, _own(unit)) for term in question.facet_terms)]
    concrete = {stem(word) for word in CONCRETE & set(question.words)}
    units = [unit for unit in units if not concrete or concrete & unit.near]
    return [unit for unit in units if answers_kind(question, unit.text, _own(unit), topics)]


def _own(unit: Unit) -> frozenset[str]:
    """Keys of the words of a unit's own text."""
    return frozenset(stems(unit.text))


def _named(units: Sequence[Unit], question: Question, rest: Sequence[str]) -> list[Unit]:
    """`units` near a name the question has beside its subject: "remove" alone says nothing of "remove the GIL"."""
    names = question.names & set(rest)
    own = [unit for unit in units if names & _own(unit)]
    return own or [unit for unit in units if not names or names & unit.near]


def _on_topic(units: Sequence[Unit], terms: Sequence[str]) -> list[Unit]:
    """`units` without those which share too few of the terms; none when not even one says enough of them.

    One rare word in common is no answer: a list of countries does not say which city is the capital of one.
    """
    need = 1 if len(terms) < 2 else 2 if len(terms) < 4 else 3
    held = [(unit, sum(related(term, unit.near) for term in set(terms))) for unit in units]
    return [unit for unit, count in held if count >= need - 1] if any(count >= need for _, count in held) else []


def _mentions(question: Question, subject: Subject) -> list[Unit]:
    """Sentences of the subject which say in prose what a header field would have said."""
    wanted = {word for name in question.facets for word in FACETS[name].mentions}
    found = [
        _unit(book, sentence, 0.5)
        for book in subject.books
        for sentence in book.sentences
        if wanted & set(words(sentence.text)) and sentence.kind == "prose" and _speaks_of(book, sentence)
    ]
    return found[:2]


def _reasons(question: Question, subject: Subject) -> list[Unit]:
    """Why a document was written or rejected: a field which says it, what gives a reason, else its beginning."""
    fields = [(book, book.field(*FACETS["withdrawal"].keys)) for book in subject.books]
    framed = [frame(book, field) for book, field in fields if field is not None]
    outcome = question.facet_terms & _OUTCOME_STEMS
    rated = [
        (bool(_REASON_STEMS & sentence.stems) + 2 * bool(_MOTIVE_STEMS & sentence.above), _unit(book, sentence, 0.9))
        for book in subject.books
        for sentence in book.sentences
        if sentence.kind == "prose" and (not outcome or outcome & sentence.stems)
    ]
    best = sorted((pair for pair in rated if pair[0]), key=lambda pair: -pair[0])[:LEAD]
    return [*framed, *(unit for _, unit in best)] or _lead(subject)


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


def _relevant(question: Question, weights: Mapping[str, float], books: Sequence[Book], gate: float) -> list[Unit]:
    """The sentences of `books` which hold enough of the terms' weight, best first."""
    score = Scorer(question, weights)
    fitting = [book for book in books if weights and fits(question, weights, book, gate)]
    found = [_unit(book, sentence, score(sentence, book)) for book in fitting for sentence in book.sentences]
    best = max((unit.score for unit in found), default=0.0)
    least = max(SENTENCE_COVERAGE, SHARE_OF_BEST * best)
    return sorted((unit for unit in found if unit.score >= least), key=lambda unit: -unit.score)


def _unit(book: Book, sentence: Sentence, score: float) -> Unit:
    return Unit(
        text=sentence.text,
        passages=(sentence.passage,),
        source=book.id,
        score=score,
        ordinal=sentence.ordinal,
        near=sentence.stems | sentence.above | sentence.term | sentence.beside | book.title_stems | book.place_stems,
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
