"""Messages of one thread: what a later one says of the same comes before what an earlier one said, with their days."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import islice, zip_longest

from assay.core.lazy import regex
from assay.core.text import ends_sentence
from assay.models.questions.words import topic_keys
from assay.models.shown_documents.passages import PassageSentence
from assay.models.shown_documents.shelf import QuotableUnit, SourcePassages, frame_field

_REPLY = regex(r"\A\s*(?:(?:re|fwd?|aw|wg|sv|vs|vb|tr|ref|rif)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
"""What mail programs write before the subject of a reply."""
SourceSentence = tuple[SourcePassages, PassageSentence]


def latest_first(
    question: str, chosen: Sequence[SourceSentence], books: Iterable[SourcePassages]
) -> list[SourceSentence]:
    """The sentences chosen, each behind those of later messages of its thread that have its words of the question.

    The latest message is the first. A message that quotes the earlier sentence does not say it anew.
    """
    threads = _threads(books)
    keys = frozenset(topic_keys(question)) if threads else frozenset[str]()
    ordered: list[SourceSentence] = []
    for book, sentence in chosen:
        shared = keys.intersection(topic_keys(sentence.text))
        later = [other for other in threads.get(book.id, ()) if shared and _sent_at(other) > _sent_at(book)]
        for other in sorted(later, key=_sent_at, reverse=True):
            anew = (each for each in other.sentences if _says_anew(each, sentence, shared))
            ordered += [(other, each) for each in islice(anew, 1)]
        ordered.append((book, sentence))
    return list(dict.fromkeys(ordered))


def whole_threads(named: Sequence[SourcePassages], books: Iterable[SourcePassages]) -> tuple[SourcePassages, ...]:
    """The documents named; for a message all of its thread, the latest first."""
    threads = _threads(books)
    whole = (sorted(threads.get(book.id, [book]), key=_sent_at, reverse=True) for book in named)
    return tuple(dict.fromkeys(book for thread in whole for book in thread))


def _says_anew(sentence: PassageSentence, earlier: PassageSentence, shared: frozenset[str]) -> bool:
    """True if a sentence has the words of the question that an earlier one has, and is no quotation of it."""
    is_statement = sentence.kind == "prose" and ends_sentence(sentence.text) and not sentence.text.startswith(">")
    is_new = " ".join(sentence.text.split()).casefold() not in " ".join(earlier.text.split()).casefold()
    return is_statement and is_new and shared.issubset(topic_keys(sentence.text))


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
