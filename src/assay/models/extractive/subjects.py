"""Which of the sources shown a question is about: by number, by title, or by the question it is a part of."""

from __future__ import annotations

import msgspec

from assay.models.extractive.lexicon import FRAMES
from assay.models.extractive.question import Question, points_back, without
from assay.models.extractive.shelf import Book, Shelf
from assay.models.extractive.terms import carries_topic, stem, stems

_ARTICLES = frozenset(("a", "an", "the", "der", "die", "das"))
_FRAME_STEMS = frozenset(stem(word) for word in FRAMES)


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a question is about.

    `books` are empty for a question about a topic. `missing` names numbered documents the question is about and
    nothing shown is: their neighbours must not answer for them. `rest` are the terms left to be found in text.
    `asked` is the question without the titles in it, whose words ask for nothing.
    """

    books: tuple[Book, ...] = ()
    missing: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    asked: Question

    @property
    def absent(self) -> bool:
        """Whether the question is about a document which is not there."""
        return bool(self.missing) and not self.books


def resolve(question: Question, shelf: Shelf, context: Question | None = None) -> Subject:
    """The subject of `question`; where it names none ("when was it written?"), that of `context`."""
    own = _resolve(question, shelf)
    if own.books or own.missing or context is None or context.text == question.text:
        return own
    whole = _resolve(context, shelf)
    if whole.missing and not whole.books:
        return msgspec.structs.replace(whole, rest=own.rest, asked=own.asked)
    inherits = not own.rest or points_back(question)
    return msgspec.structs.replace(whole, rest=own.rest, asked=own.asked) if inherits else own


def _resolve(question: Question, shelf: Shelf) -> Subject:
    titled, title_spans = _by_title(question, shelf)
    asked = question
    for span in title_spans:
        asked = without(asked, span)
    numbered, missing, used = _by_number(asked, shelf)
    rest = _rest(asked, used)
    books = tuple(dict.fromkeys([*titled, *numbered]))
    if numbered and question.facets:  # "Rust RFC 3": the name of who keeps the series asks for nothing
        rest = tuple(term for term in rest if not all(term in book.place_stems for book in books))
    if not books and not missing:
        books, rest = _by_resemblance(question, shelf, rest)
    return Subject(books=books, missing=missing, rest=rest, asked=asked)


def _rest(question: Question, used: frozenset[str]) -> tuple[str, ...]:
    return tuple(term for term in question.terms if term not in question.facet_terms | used | _FRAME_STEMS)


def _by_number(question: Question, shelf: Shelf) -> tuple[list[Book], tuple[str, ...], frozenset[str]]:
    """Documents by their number in a series, the numbers of a known series nothing has, and the terms that said so."""
    found: list[Book] = []
    missing: list[str] = []
    used: set[str] = set()
    for mention in question.mentions:
        owners = [book for book in shelf.books if book.owns(mention.identifier)]
        known = any(book.in_series(mention.identifier.series) for book in shelf.books)
        if owners or known:
            used.update(stems(mention.text))
        if owners:
            found.extend(owners)
        elif known:
            missing.append(mention.text)
    return found, tuple(missing), frozenset(used)


def _by_title(question: Question, shelf: Shelf) -> tuple[list[Book], list[tuple[str, ...]]]:
    """Documents whose whole title stands in the question, and where; of overlapping titles the longest."""
    found: list[tuple[int, int, Book]] = []
    for book in shelf.books:
        for title in book.titles:
            start, size = _place(title, question)
            if start >= 0:
                found.append((start, start + size, book))
    found.sort(key=lambda each: (each[0] - each[1], each[0]))
    taken: list[tuple[int, int, Book]] = []
    for start, end, book in found:
        if all((start, end) == (a, b) or end <= a or start >= b for a, b, _ in taken):
            taken.append((start, end, book))
    spans = dict.fromkeys(question.words[start:end] for start, end, _ in taken)
    return list(dict.fromkeys(book for _, _, book in taken)), list(spans)


def _place(title: tuple[str, ...], question: Question) -> tuple[int, int]:
    """Where a title stands in a question, and how many words it has; -1 when nowhere or too short to be sure."""
    while title and title[0] in _ARTICLES:
        title = title[1:]
    if not title or (len(title) == 1 and not _is_whole(title[0], question)):
        return -1, 0
    if not any(carries_topic(word) for word in title):
        return -1, 0
    size = len(title)
    starts = range(len(question.words) - size + 1)
    return next((at for at in starts if question.words[at : at + size] == title), -1), size


def _is_whole(word: str, question: Question) -> bool:
    """Whether a title of one word is a name which is all the question is about."""
    quoted = any(stems(text) == [stem(word)] for text in question.quoted)
    return quoted or (set(question.rest) == {stem(word)} and (stem(word) in question.names or len(word) > 3))


def _by_resemblance(
    question: Question, shelf: Shelf, rest: tuple[str, ...]
) -> tuple[tuple[Book, ...], tuple[str, ...]]:
    """A document with nearly the title a question about a header field names; only one, and only when it is clear."""
    wanted = frozenset(
        stem(word) for text in question.quoted for word in text.casefold().split() if carries_topic(word)
    )
    wanted = (wanted & set(question.terms)) or frozenset(rest)
    if not wanted or not (question.facets or question.quoted):
        return (), rest
    rated = []
    for book in shelf.books:
        title = {key for key in book.title_stems if carries_topic(key)} - _FRAME_STEMS
        shared = wanted & title
        if len(shared) >= 0.8 * len(wanted) and title:
            rated.append((len(shared) / len(wanted | title), book))
    rated.sort(key=lambda pair: -pair[0])
    clear = len(rated) == 1 or (len(rated) > 1 and rated[0][0] > rated[1][0] + 0.1)
    if not rated or not clear or rated[0][0] < (0.4 if len(wanted) > 1 else 0.5):
        return (), rest
    return (rated[0][1],), tuple(term for term in rest if term not in wanted)
