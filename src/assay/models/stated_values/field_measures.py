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
from assay.models.stated_values.field_words import MIN_NAME_SHARE, StatedValue, TargetField, plain_digits


def stated_measure(
    target: TargetField, ranked_sentences: Sequence[tuple[SourcePassages, PassageSentence]], question: TopicQuestion
) -> StatedValue | None:
    """The value of a field for a length, an age or the like, in the sentence that states one of what it measures.

    A number in another unit is converted to the field's.
    """
    dimension = dimension_of(target.label) or dimension_of(target.description)
    if not dimension or target.schema.get("type") not in ("integer", "number"):
        return None
    field_unit = unit_of(UNIT_NAMES[target.unit.lower()], dimension) if target.unit else ""
    unit = field_unit or unit_of(target.label, dimension) or unit_of(target.description, dimension)
    if target.unit and not field_unit:
        return None
    things = _things_measured(target, dimension, ranked_sentences, question.analysis)
    candidates: list[tuple[float, int, StatedValue]] = []
    for rank, (book, sentence) in enumerate(ranked_sentences):
        measures = _measures_of_things(sentence.text, dimension, question, things)
        document_text = " ".join(passage.text for passage in book.passages) if measures else ""
        for share, measure in sorted(measures, key=lambda pair: (-pair[0], pair[1].unit != unit)):
            if (
                value := convert_to_unit(
                    plain_digits(measure.number, document_text), measure.unit, unit or measure.unit
                )
            ) is not None:
                candidates.append((-share, rank, StatedValue(value, sentence.passage)))
                break
    return min(candidates)[2] if candidates else None


class _MeasuredThings(NamedTuple):
    """The words of what a field measures: `field_keys` to the field ("pylon height"), else of the question's
    subject.
    """

    field_keys: frozenset[str]
    subject: frozenset[str]


def _things_measured(
    target: TargetField,
    dimension: str,
    ranked_sentences: Sequence[tuple[SourcePassages, PassageSentence]],
    analysis: str,
) -> _MeasuredThings:
    """What is measured. Words of the field that no sentence has ("total length") name no thing."""
    ignored = stop_terms(analysis).union(key for word in dimension_words(dimension) for key in keys(word, analysis))
    sentence_keys = frozenset(key for _, sentence in ranked_sentences for key in keys(sentence.text, analysis))
    subject = frozenset(keys(f"{target.topics} {' '.join(target.names)}", analysis)) - ignored
    units = frozenset(key for word in UNIT_NAMES for key in keys(word, analysis))
    name_keys = (
        frozenset(keys(text, analysis)) - ignored - subject - units for text in (target.label, target.description)
    )
    return _MeasuredThings(
        next((candidate & sentence_keys for candidate in name_keys if candidate), frozenset()), subject
    )


def _measures_of_things(
    text: str, dimension: str, question: TopicQuestion, things: _MeasuredThings
) -> list[tuple[float, StatedMeasure]]:
    """The measures in a sentence that are of these things, each with the share of their own words beside it.

    What is before a number names the thing, or nothing at all ("It is 450 metres long").
    """
    analysis, start, measures = question.analysis, 0, list[tuple[float, StatedMeasure]]()
    ignored = stop_terms(analysis).union(_MEASURING)

    def share(words_before: str) -> float:
        thing_keys = things.field_keys or things.subject
        matched = thing_keys & frozenset(keys(words_before, analysis))
        return len(matched) / len(thing_keys) if things.field_keys else float(bool(matched))

    for measure in stated_measures(text, dimension, question.language):
        before, start = measure.thing or text[start : measure.start], measure.end
        silent = not things.field_keys and ignored.issuperset(keys(re.split(r"\d", before, maxsplit=1)[0], analysis))
        measures.append((1.0 if silent else share(before), measure))
    return [pair for pair in measures if pair[0] >= (MIN_NAME_SHARE if things.field_keys else 1.0)]


_MEASURING = frozenset(stem(word) for word in "measures measured misst mesure mesurait mide medía misura mede".split())
"""What a thing of a length or height does."""


# Numbers with a unit of the kind that a label names.

_NAMES = "|".join(sorted(map(re.escape, UNIT_NAMES), key=len, reverse=True))
_UNIT = regex(rf"[ \u00a0\u202f-]?(?P<unit>{_NAMES})(?!\w)", re.IGNORECASE)


def comparable_unit_after(number: re.Match[str], unit: str) -> str:
    """The unit after a number, if it is of the same dimension as `unit`; "" if it has another one, or none."""
    after = _UNIT.match(number.string, number.end())
    stated_unit = UNIT_NAMES[after["unit"].lower()] if after is not None else ""
    return stated_unit if are_comparable(stated_unit, UNIT_NAMES[unit.lower()]) else ""


def is_bare(number: re.Match[str]) -> bool:
    """True if no unit stands after a number."""
    return _UNIT.match(number.string, number.end()) is None


def convert_to_unit(number: str | None, source_unit: str, unit: str) -> str | None:
    """A number of `source_unit` in the unit that a label writes as `unit`; None if one of them has no certain size."""
    target_unit = UNIT_NAMES[unit.lower()]
    if number is None or source_unit == target_unit:
        return number
    return (
        None
        if UNSURE in (source_unit, target_unit)
        else f"{round_converted(convert(Decimal(number), source_unit, target_unit)).normalize():f}"
    )
