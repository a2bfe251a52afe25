"""What a question wants counted, "moons" in "how many moons does Jupiter have?", beside a number in the statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, takewhile

from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.relevance.features import Features
from assay.core.relevance.signs import has_number
from assay.core.relevance.topic_question import TopicQuestion, is_unspaced, keys
from assay.core.text import words

_COUNT = regex(
    r"\W*(?:[^\W\d_]+\s+)?(?:how many|wie viele|combien (?:de\s|d['’])|cuánt[oa]s|quant[ieoa]s?|hoeveel)"
    r"\s*(?P<thing>\w.*)",
    re.IGNORECASE,
)
_GENERAL = frozenset(
    "people persons times percent per more others menschen personen leute mal prozent personnes fois personas veces "
    "pessoas vezes persone volte mensen keer kinds types sorts arten sorten sortes tipos tipi soorten".split()
)
"""What is counted under other names: people are members, inhabitants, students; kinds of fish are species."""
_VAGUE = regex(
    r"\b(?:no|none|few|several|many|dozens?|kein\w*|einige|mehrere|viele|aucun\w*|plusieurs|varios|muchos)\b", re.I
)
"""Words for a number that is not said."""
THING_WORDS = 3
"""The most words for one thing."""


def lacks_count(features: Features, indices: Sequence[int]) -> bool:
    """True if a question begins with how many of something there are, and none of these statements has a number, and
    the word for that in it, its heading or its title.
    """
    thing = counted_keys(features.question)
    statements = [(features.matches(index).keys(), features.statements[index]) for index in indices]
    return bool(thing) and not any(
        (has_number(statement.text, features.question.language) or _VAGUE.search(statement.text))
        and not thing.isdisjoint(
            matches | features.matches_in(statement.heading).keys() | features.matches_in(statement.title).keys()
        )
        for matches, statement in statements
    )


def counted_keys(question: TopicQuestion) -> frozenset[str]:
    """The keys of the words for what is to be counted, up to the first without a topic; empty if nothing is, or if it
    has many names, as people have.
    """
    match = _COUNT.match(question.text)
    if match is None or question.measure or is_unspaced(question.text):
        return frozenset()
    stop = stop_terms(question.negation_language or question.language)

    def is_empty(word: str) -> bool:
        return stop.issuperset(keys(word, question.analysis))

    thing = list(takewhile(lambda word: not is_empty(word), dropwhile(is_empty, words(match["thing"]))))[:THING_WORDS]
    thing_keys = frozenset(key for word in thing for key in keys(word, question.analysis))
    return thing_keys.intersection(question.keys) if _GENERAL.isdisjoint(thing) else frozenset()
