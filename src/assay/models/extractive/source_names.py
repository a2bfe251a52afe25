"""Which of the sources shown a question names: by number, by title, or by the question it is part of.

A document is told from others by its number in a series or its title. What is asked of one that is not there must not
be answered by its neighbours.
"""

from __future__ import annotations

import msgspec

from assay.core.lexicon.analysis import stem
from assay.models.extractive.passages import PassageField
from assay.models.extractive.question import ParsedQuestion, points_back, without
from assay.models.extractive.shelf import IDENTIFIED, QuotableUnit, ShownSources, SourcePassages
from assay.models.extractive.words import FRAMES, carries_topic, stems

_ARTICLES = frozenset(("a", "an", "the", "der", "die", "das"))


# how a document is called


def frame(book: SourcePassages, field: PassageField) -> QuotableUnit:
    """`KEY of SUBJECT: VALUE`, citing the field and the fields which say what the subject is."""
    subject, identity = describe(book)
    key = field.key[:1].upper() + field.key[1:]
    passages = tuple(dict.fromkeys((field.passage, *identity)))
    text = f"{key} of {subject}: {field.value}"
    return QuotableUnit(text=text, passages=passages, source=book.id, ordinal=field.ordinal, frame=True)


def describe(book: SourcePassages) -> tuple[str, tuple[str, ...]]:
    """How a document is called, as `PEP 6 (Bug Fix Releases)`, and the passages which say so."""
    number, title = book.number or book.identified, book.field("title", "feature name")
    name = title.value if title else book.title
    passages = tuple(field.passage for field in (number, title) if field is not None)
    if number is None:
        return name, passages
    return f"{label(number)} ({name})", passages


def label(number: PassageField) -> str:
    """`PEP 6` for `PEP: 6`, `EIP-1559` for `eip: 1559`, `SE-0031` for `Proposal: [SE-0031](link)`."""
    if written := IDENTIFIED.match(number.value):
        return written[1]
    digits = number.value.lstrip("0") or "0"
    return f"{number.key.upper()}-{digits}" if number.key.islower() else f"{number.key} {digits}"


# which documents a question names


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a question is about.

    `books` are empty for a question about a topic. `missing` names numbered documents the question is about and
    nothing shown is: their neighbours must not answer for them. `rest` are the terms left to be found in text.
    `asked` is the question without the titles in it, whose words ask for nothing.
    """

    books: tuple[SourcePassages, ...] = ()
    missing: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    asked: ParsedQuestion

    @property
    def absent(self) -> bool:
        """Whether the question is about a document which is not there."""
        return bool(self.missing) and not self.books


def resolve(question: ParsedQuestion, shelf: ShownSources, context: ParsedQuestion | None = None) -> Subject:
    """The subject of `question`; where it names none ("when was it written?"), that of `context`."""
    own = _resolve(question, shelf)
    if own.books or own.missing or context is None or context.text == question.text:
        return own
    whole = _resolve(context, shelf)
    if whole.missing and not whole.books:
        return msgspec.structs.replace(whole, rest=own.rest, asked=own.asked)
    inherits = not own.rest or points_back(question)
    return msgspec.structs.replace(whole, rest=own.rest, asked=own.asked) if inherits else own


def _resolve(question: ParsedQuestion, shelf: ShownSources) -> Subject:
    titled, title_spans = _by_title(question, shelf)
    asked = question
    for span in title_spans:
        asked = without(asked, span)
    numbered, missing, used = _by_number(asked, shelf)
    rest = tuple(term for term in asked.terms if term not in asked.concept_terms | used | FRAMES)
    books = tuple(dict.fromkeys([*titled, *numbered]))
    if books:  # what a field of the series is called asks for it; the name of who keeps the series asks for nothing
        held = shelf.described.union(*(stems(book.series) for book in books))
        rest = tuple(term for term in rest if term not in held)
    if numbered and asked.concepts:
        rest = tuple(term for term in rest if not all(term in book.place_stems for book in books))
    return Subject(books=books, missing=missing, rest=rest, asked=asked)


def _by_number(
    question: ParsedQuestion, shelf: ShownSources
) -> tuple[list[SourcePassages], tuple[str, ...], frozenset[str]]:
    """Documents by their number in a series, the numbers of a known series nothing has, and the terms that said so."""
    found: list[SourcePassages] = []
    missing: list[str] = []
    used: set[str] = set()
    for mention in question.mentions:
        owners = [book for book in shelf.books if book.owns(mention.identifier)]
        known = any(book.in_series(mention.identifier.series) for book in shelf.books)
        if owners or known:
            used.update(stems(mention.text))
            used.update(stem(each) for each in (mention.identifier.series, f"{mention.identifier.series}s"))
        if owners:
            found.extend(owners)
        elif known:
            missing.append(mention.text)
    return found, tuple(missing), frozenset(used)


def _by_title(question: ParsedQuestion, shelf: ShownSources) -> tuple[list[SourcePassages], list[tuple[str, ...]]]:
    """Documents whose whole title stands in the question, and where; of overlapping titles the longest."""
    found: list[tuple[int, int, SourcePassages]] = []
    for book in shelf.books:
        for title in book.titles:
            start, size = _place(title, question)
            if start >= 0:
                found.append((start, start + size, book))
    found.sort(key=lambda each: (each[0] - each[1], each[0]))
    taken: list[tuple[int, int, SourcePassages]] = []
    for start, end, book in found:
        if all((start, end) == (a, b) or end <= a or start >= b for a, b, _ in taken):
            taken.append((start, end, book))
    spans = dict.fromkeys(question.words[start:end] for start, end, _ in taken)
    return list(dict.fromkeys(book for _, _, book in taken)), list(spans)


def _place(title: tuple[str, ...], question: ParsedQuestion) -> tuple[int, int]:
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


def _is_whole(word: str, question: ParsedQuestion) -> bool:
    """Whether a title of one word is a name which is all the question is about."""
    quoted = any(stems(text) == [stem(word)] for text in question.quoted)
    return quoted or (set(question.rest) == {stem(word)} and (stem(word) in question.names or len(word) > 3))
