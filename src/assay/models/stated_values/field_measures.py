"""Fields of what is measured: a length, an age or the like, and numbers with the unit that a label names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.core.dimensions import UNSURE, StatedMeasure, dimension_of, dimension_words, stated_measures, unit_of
from assay.core.lazy import regex
from assay.core.lexicon import stem, stop_terms
from assay.core.measures import UNIT_NAMES, are_comparable, convert, round_converted
from assay.core.relevance import TopicQuestion
from assay.core.relevance.topic_question import keys
from assay.models.shown_documents.passages import PassageSentence
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_words import MIN_NAME_SHARE, FieldAsked, StatedValue, plain_digits


def stated_measure(
    asked: FieldAsked, ranked: Sequence[tuple[SourcePassages, PassageSentence]], question: TopicQuestion
) -> StatedValue | None:
    """The value of a field for a length, an age or the like, in the sentence that states one of what it measures.

    A number in another unit is converted to the field's.
    """
    dimension = dimension_of(asked.label) or dimension_of(asked.description)
    if not dimension or asked.schema.get("type") not in ("integer", "number"):
        return None
    own = unit_of(UNIT_NAMES[asked.unit.lower()], dimension) if asked.unit else ""
    unit = own or unit_of(asked.label, dimension) or unit_of(asked.description, dimension)
    if asked.unit and not own:
        return None
    things = _things_measured(asked, dimension, ranked, question.analysis)
    found: list[tuple[float, int, StatedValue]] = []
    for rank, (book, sentence) in enumerate(ranked):
        about = _measures_of_things(sentence.text, dimension, question, things)
        beside = " ".join(passage.text for passage in book.passages) if about else ""
        for share, each in sorted(about, key=lambda pair: (-pair[0], pair[1].unit != unit)):
            if (value := convert_to_unit(plain_digits(each.number, beside), each.unit, unit or each.unit)) is not None:
                found.append((-share, rank, StatedValue(value, sentence.passage)))
                break
    return min(found)[2] if found else None


class _MeasuredThings(NamedTuple):
    """The words of what a field measures: `own` to the field ("pylon height"), else of the question's subject."""

    own: frozenset[str]
    subject: frozenset[str]


def _things_measured(
    asked: FieldAsked, dimension: str, ranked: Sequence[tuple[SourcePassages, PassageSentence]], analysis: str
) -> _MeasuredThings:
    """What is measured. Words of the field that no sentence has ("total length") name no thing."""
    none = stop_terms(analysis).union(key for word in dimension_words(dimension) for key in keys(word, analysis))
    said = frozenset(key for _, each in ranked for key in keys(each.text, analysis))
    subject = frozenset(keys(f"{asked.topics} {' '.join(asked.names)}", analysis)) - none
    units = frozenset(key for word in UNIT_NAMES for key in keys(word, analysis))
    told = (frozenset(keys(text, analysis)) - none - subject - units for text in (asked.label, asked.description))
    return _MeasuredThings(next((own & said for own in told if own), frozenset()), subject)


def _measures_of_things(
    text: str, dimension: str, question: TopicQuestion, things: _MeasuredThings
) -> list[tuple[float, StatedMeasure]]:
    """The measures in a sentence that are of these things, each with the share of their own words beside it.

    What is before a number names the thing, or nothing at all ("It is 450 metres long").
    """
    analysis, start, about = question.analysis, 0, list[tuple[float, StatedMeasure]]()
    none = stop_terms(analysis).union(_MEASURING)

    def share(beside: str) -> float:
        own = things.own or things.subject
        met = own & frozenset(keys(beside, analysis))
        return len(met) / len(own) if things.own else float(bool(met))

    for each in stated_measures(text, dimension, question.language):
        before, start = each.thing or text[start : each.start], each.end
        silent = not things.own and none.issuperset(keys(re.split(r"\d", before, maxsplit=1)[0], analysis))
        about.append((1.0 if silent else share(before), each))
    return [pair for pair in about if pair[0] >= (MIN_NAME_SHARE if things.own else 1.0)]


_MEASURING = frozenset(stem(word) for word in "measures measured misst mesure mesurait mide medía misura mede".split())
"""What a thing of a length or height does."""


# Numbers with a unit of the kind that a label names.

_NAMES = "|".join(sorted(map(re.escape, UNIT_NAMES), key=len, reverse=True))
_UNIT = regex(rf"[ \u00a0\u202f-]?(?P<unit>{_NAMES})(?!\w)", re.IGNORECASE)


def comparable_unit_after(number: re.Match[str], unit: str) -> str:
    """The unit after a number, if it is of the same dimension as `unit`; "" if it has another one, or none."""
    after = _UNIT.match(number.string, number.end())
    own = UNIT_NAMES[after["unit"].lower()] if after is not None else ""
    return own if are_comparable(own, UNIT_NAMES[unit.lower()]) else ""


def is_bare(number: re.Match[str]) -> bool:
    """True if no unit stands after a number."""
    return _UNIT.match(number.string, number.end()) is None


def convert_to_unit(number: str | None, own: str, unit: str) -> str | None:
    """A number of the unit `own` in the unit that a label writes as `unit`; None if one of them has no certain size."""
    to = UNIT_NAMES[unit.lower()]
    if number is None or own == to:
        return number
    return None if UNSURE in (own, to) else f"{round_converted(convert(Decimal(number), own, to)).normalize():f}"
