"""Messages of one thread, minutes of one board, a contract and its amendments: what a later one says of the same comes
before what an earlier one said; messages with their days.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import islice, zip_longest

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS
from assay.core.text import ends_sentence, words
from assay.models.questions.words import topic_keys
from assay.models.shown_documents.passages import PassageSentence
from assay.models.shown_documents.shelf import QuotableUnit, SourcePassages, frame_field

_REPLY = regex(r"\A\s*(?:(?:re|fwd?|aw|wg|sv|vs|vb|tr|ref|rif)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
"""What mail programs write before the subject of a reply."""
_FIGURE = regex(r"\d")
MIN_SHARED = 2
"""The fewest words of a question that a later document of a series must say again, if an earlier one has not all."""
SourceSentence = tuple[SourcePassages, PassageSentence]


def latest_first(
    question: str, chosen: Sequence[SourceSentence], books: Iterable[SourcePassages]
) -> list[SourceSentence]:
    """The sentences chosen, each behind those of later messages of its thread that have its words of the question.

    The latest message is the first. A message that quotes the earlier sentence does not say it anew. Of other documents
    that follow one another only the latest counts that says it, if the question names no time.
    """
    books = list(books)
    threads, series = _threads(books), {} if _FIGURE.search(question) else _series(books)
    keys = frozenset(topic_keys(question)) if threads or series else frozenset[str]()
    ordered: list[SourceSentence] = []
    for book, sentence in chosen:
        shared = keys.intersection(topic_keys(sentence.text))
        in_series = series.get(book.id, ()) if len(shared) >= MIN_SHARED or shared == keys else ()
        related = threads.get(book.id, in_series)
        later = [other for other in related if shared and _sent_at(other) > _sent_at(book) > ""]
        anew = (
            (other, each)
            for other in sorted(later, key=_sent_at, reverse=True)
            for each in islice((each for each in other.sentences if _says_anew(each, sentence, shared)), 1)
        )
        ordered += islice(anew, None if book.id in threads else 1)
        ordered.append((book, sentence))
    return list(dict.fromkeys(ordered))


def whole_threads(named: Sequence[SourcePassages], books: Iterable[SourcePassages]) -> tuple[SourcePassages, ...]:
    """The documents named; for a message all of its thread, the latest first."""
    threads = _threads(books)
    whole = (sorted(threads.get(book.id, [book]), key=_sent_at, reverse=True) for book in named)
    return tuple(dict.fromkeys(book for thread in whole for book in thread))


def _says_anew(sentence: PassageSentence, earlier: PassageSentence, shared: frozenset[str]) -> bool:
    """True if a sentence has the words of the question that an earlier one has, and a figure if that has one, and is no
    quotation of it.
    """
    is_statement = sentence.kind == "prose" and ends_sentence(sentence.text) and not sentence.text.startswith(">")
    has_figure = _FIGURE.search(sentence.text) or not _FIGURE.search(earlier.text)
    is_new = " ".join(sentence.text.split()).casefold() not in " ".join(earlier.text.split()).casefold()
    return is_statement and bool(has_figure) and is_new and shared.issubset(topic_keys(sentence.text))


def with_days(units: Sequence[QuotableUnit], books: Iterable[SourcePassages], leading: int) -> list[QuotableUnit]:
    """The units, each message with its date behind its sentences, if the `leading` units quote several of a thread."""
    sources = {unit.source for unit in units[:leading]}
    days: dict[str, QuotableUnit] = {}
    for thread in _threads(book for book in books if book.id in sources).values():
        fields = [(book, field) for book in thread if (field := book.field("date")) is not None]
        if len(fields) == len(thread):
            days |= {book.id: frame_field(book, field) for book, field in fields}
    dated: list[QuotableUnit] = []
    for unit, following in zip_longest(units, units[1:]):
        dated.append(unit)
        if (following is None or following.source != unit.source) and unit.source in days:
            dated.append(days.pop(unit.source))
    return dated


def _threads(books: Iterable[SourcePassages]) -> dict[str, list[SourcePassages]]:
    """The messages of the thread of each source; only of threads with several, one of which is a reply."""
    by_subject: dict[str, list[SourcePassages]] = defaultdict(list)
    for book in books:
        by_subject[_REPLY.sub("", book.title).strip().casefold()].append(book)
    threads = (
        thread
        for subject, thread in by_subject.items()
        if subject and len(thread) > 1 and any(_REPLY.match(book.title) for book in thread)
    )
    return {book.id: thread for thread in threads for book in thread}


def _series(books: Sequence[SourcePassages]) -> dict[str, list[SourcePassages]]:
    """For each document those whose titles differ from its own in a number or a month, or have all of it: other minutes
    of a board, amendments of a contract. A message is none.
    """
    names = {book.id: _title_words(book) for book in books if book.field("subject") is None}
    return {
        id: [book for book in books if book.id in names and book.id != id and _is_followed(name, names[book.id])]
        for id, name in names.items()
    }


def _title_words(book: SourcePassages) -> list[str]:
    return [word for word in words(book.title) if word.isalpha() and word not in MONTHS]


def _is_followed(name: Sequence[str], other: Sequence[str]) -> bool:
    """True if another title has the same words, or these in a row."""
    starts = range(len(other) - len(name) + 1) if len(name) > 1 else ()
    return (bool(name) and name == other) or any(other[start : start + len(name)] == name for start in starts)


def _sent_at(book: SourcePassages) -> str:
    """When a message was sent, as far as known: its day, and its time in UTC if its date is shown."""
    field = book.field("date")
    try:
        sent = parsedate_to_datetime(field.value) if field is not None else None
        # "-0000" is a time in UTC whose sender does not say where he is
        utc = sent.replace(tzinfo=sent.tzinfo or UTC).astimezone(UTC) if sent is not None else None
    except (ValueError, OverflowError):
        utc = None
    return utc.isoformat() if utc is not None else book.published
