"""What one speaker of a conversation says: "What did Mara propose?" is not answered by what Ben says."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.relevance.features import Features
from assay.core.relevance.predicates import saying_keys
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys


def said_by_others(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> frozenset[int]:
    """The places of what other speakers say than the one whose words a question asks for; empty for other questions."""
    asked = _asked_speakers(question, statements)
    return frozenset(
        index
        for index, statement in enumerate(statements)
        if asked and statement.speaker and statement.speaker not in asked
    )


def lacks_said_topic(features: Features, indices: Sequence[int]) -> bool:
    """True if a question asks what somebody said about something that these statements of his and those beside them do
    not name.
    """
    question = features.question
    asked = _asked_speakers(question, features.statements)
    spoken = frozenset(key for name in asked for key in keys(name, question.analysis))
    topic = set(question.keys) - spoken - saying_keys(question.analysis)
    return bool(asked and topic) and not any(topic & features.matches_around(index).keys() for index in indices)


def _asked_speakers(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> frozenset[str]:
    """The speakers whose words a question asks for: their names stand before a verb of saying."""
    order = keys(question.text, question.analysis)
    verbs = [place for place, key in enumerate(order) if key in saying_keys(question.analysis)]
    if not verbs or question.answer_kind == "name":
        return frozenset()
    before = question.names.intersection(order[: verbs[0]])
    shared = {
        speaker: len(before.intersection(keys(speaker, question.analysis)))
        for speaker in {statement.speaker for statement in statements} - {""}
    }
    most = max(shared.values(), default=0)
    return frozenset(speaker for speaker, count in shared.items() if most and count == most)
