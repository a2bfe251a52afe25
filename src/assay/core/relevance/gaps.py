"""What the best statements lack, so that nothing answers: a name, a time, a measure, somebody, or a count."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.relevance.absent_names import lacks_a_name
from assay.core.relevance.asked_events import asked_event, is_of_life, points_to_it, tells_event
from assay.core.relevance.counts import counts
from assay.core.relevance.entries import change_notes
from assay.core.relevance.features import Features
from assay.core.relevance.ordinals import has_other_ordinal, same_ordinals
from assay.core.relevance.relations import tells_who
from assay.core.relevance.signs import tells_time
from assay.core.relevance.topic_question import keys


def is_beside(features: Features, scores: Sequence[float], able: Sequence[int], best: Sequence[int]) -> bool:
    """True if nothing answers, whatever the words: a name of the question is nowhere; the best statements tell no
    time, or not that of the event asked about, or the measure of something else, or nobody, or count nothing, but that
    is asked for; or the best of all is about another ordinal, and none about the same.
    """
    question, texts = features.question, [f"{each.label} {each.text}" for each in features.statements]
    noted = change_notes(question, features.statements)
    if lacks_a_name(features):
        return True
    if question.wanted == "date" and not noted and not any(tells_time(question, texts[at]) for at in best):
        return True
    if not noted and not _tells_event(features, texts, best):
        return True
    if not _measures_it(features, best):
        return True
    if not tells_who(question, [texts[at] for at in best]):
        return True
    if not counts(question, [texts[at] for at in best], [text for at in best for text in features.texts_around(at)]):
        return True
    first = max(range(len(texts)), key=lambda at: scores[at])
    return has_other_ordinal(question, texts[first]) and not any(same_ordinals(question, texts[at]) for at in able)


def _tells_event(features: Features, texts: Sequence[str], best: Sequence[int]) -> bool:
    """True if one of the best statements may tell the time of the event that the question names, if it names one.

    It is about what the question names too, or says "he" or "it". It may tell of it in other words, if it has all
    others of the question, but not of a birth or a death.
    """
    question, verb = features.question, asked_event(features.question)
    told = [at for at in best if verb and tells_time(question, texts[at])]
    if not verb or (not is_of_life(question, verb) and any(_has_all_but(features, verb, at) for at in told)):
        return True
    about = (at for at in told if not question.names or _has_name(features, at) or points_to_it(texts[at]))
    return any(tells_event(question, verb, (texts[at], *features.texts_around(at))) for at in about)


def _measures_it(features: Features, best: Sequence[int]) -> bool:
    """True if one of the best statements that tell the measure asked for is, with its context, about something that the
    question has beside the words for it: "later cancellations cost 35 pounds" says nothing of a crown.
    """
    about = frozenset(features.question.keys) - features.question.light
    told = [at for at in best if features.measure(at) > 0]
    return not told or not about or any(about & features.matches_around(at).keys() for at in told)


def _has_name(features: Features, at: int) -> bool:
    """True if a statement, with its context, has a name of the question; a number alone is none."""
    held = features.question.names & features.matches_around(at).keys()
    return any(not any(map(str.isdigit, key)) for key in held)


def _has_all_but(features: Features, word: str, at: int) -> bool:
    """True if a statement, with its context, has all keys of the question but those of a word."""
    rest = set(features.question.keys).difference(keys(word, features.question.analysis))
    return bool(rest) and rest <= features.matches_around(at).keys()
