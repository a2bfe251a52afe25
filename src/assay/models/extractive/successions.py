"""Who came before or after somebody in a list of people with years: "Who was harbour master before Solheim?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from assay.core.lazy import regex
from assay.models.questions.question import ParsedQuestion
from assay.models.questions.words import stems, topic_keys
from assay.models.shown_documents.passages import PassageSentence
from assay.models.shown_documents.shelf import SourcePassages

_BEFORE = r"before|preced(?:ed|es)|predecessor|vor|vorgänger(?:in)?"
_AFTER = r"after|succeed(?:ed|s)|follow(?:ed|s)|successor|nach|folgte|nachfolger(?:in)?"
_ASKED = regex(
    rf"\W*(?P<asking>who|whom|wer)\b.*?\b(?P<cue>{_BEFORE}|(?P<after>{_AFTER}))\b(?P<rest>.*)", re.IGNORECASE
)
_NAME = regex(r"(?-i:(?<!\w)[^\W\d_a-zß-ÿа-я][\w’-]+(?:\s+[^\W\d_a-zß-ÿа-я][\w.’-]+)*)")
_YEAR = regex(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
MIN_ENTRIES = 3
"""The fewest sentences or rows of one form that are a list."""
ALIKE_SHARE = 0.5
"""The share of words, but for names and figures, that two sentences of one form have in common."""
SUBJECT_WORDS = 4
"""The words at the beginning of a sentence that may name whom it is about."""
SourceSentence = tuple[SourcePassages, PassageSentence]


class _Asked(msgspec.Struct, frozen=True):
    """Whom a question names, and whether it asks who came after."""

    name: frozenset[str]
    after: bool


def neighbour_in_list(question: ParsedQuestion, books: Iterable[SourcePassages]) -> list[SourceSentence]:
    """The entry before or after that of the person named, then that one; empty if no list has both.

    A list are sentences of one form, or rows of one table, below the same heading, each with a year.
    """
    asked = _read(question.text)
    if asked is None:
        return []
    lists = [(book, group) for book in books for group in _lists(book.sentences)]
    found = [(book, group, each) for book, group in lists for each in group if _is_about(each, asked.name)]
    topic = set(topic_keys(question.text))
    # Somebody may be in several lists: the one whose words the question has.
    found.sort(key=lambda item: -len(topic.intersection(stems(f"{item[0].title} {item[2].heading} {item[2].text}"))))
    for book, group, entry in found:
        year = _first_year(entry)
        others = [each for each in group if _is_alike(each, entry) and not _is_about(each, asked.name)]
        there = [each for each in others if (_first_year(each) > year) == asked.after and _first_year(each) != year]
        if there and len(others) + 1 >= MIN_ENTRIES:
            nearest = min(there, key=lambda each: abs(_first_year(each) - year))
            return [(book, nearest), (book, entry)]
    return []


def _read(question: str) -> _Asked | None:
    match = _ASKED.match(question)
    # "before Ann Solheim", "Ann Solheim's predecessor": the name is behind the word, else before it
    names = match and (_NAME.search(match["rest"]) or _NAME.search(question, match.end("asking"), match.start("cue")))
    name = frozenset(stems(names[0])) if names else frozenset[str]()
    return _Asked(name, match["after"] is not None) if match and name else None


def _lists(sentences: Sequence[PassageSentence]) -> list[list[PassageSentence]]:
    """The sentences with a year below each heading, and rows below each head."""
    dated = (each for each in sentences if _YEAR.search(each.text))
    groups = groupby(dated, key=lambda each: (each.heading, each.label if each.kind == "row" else "", each.kind))
    return [group for _, members in groups if len(group := list(members)) >= MIN_ENTRIES]


def _is_about(sentence: PassageSentence, name: frozenset[str]) -> bool:
    """True if a row has a name, or a sentence begins with it."""
    first = sentence.text if sentence.kind == "row" else " ".join(sentence.text.split()[:SUBJECT_WORDS])
    return name <= set(stems(first))


def _is_alike(first: PassageSentence, second: PassageSentence) -> bool:
    if first.kind == "row":
        return True
    a, b = (_plain_words(each.text) for each in (first, second))
    return len(a & b) >= ALIKE_SHARE * len(a | b)


def _plain_words(text: str) -> frozenset[str]:
    """The words of a sentence but for names and figures."""
    return frozenset(word for word in text.split() if word.islower())


def _first_year(sentence: PassageSentence) -> int:
    match = _YEAR.search(sentence.text)
    return int(match[0]) if match else 0
