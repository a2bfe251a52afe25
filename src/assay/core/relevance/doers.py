"""Whether statements tell who did what a question asks: its verb may be said in other words, of the same thing."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.lazy import regex
from assay.core.relevance.features import Features
from assay.core.relevance.predicates import says_other, synonyms
from assay.core.relevance.signs import BY_SOMEBODY, asked_verb, verb_keys
from assay.core.relevance.topic_question import CAPITALIZING, TopicQuestion

_CLAUSE_MARK = regex(r"[.,;:]\s|\band\b")


def lacks_predicate(features: Features, indices: Sequence[int]) -> bool:
    """True if a question asks who did something, in a verb whose synonyms are known, and none of these statements says
    that in any of them, of something of which the question has a word: in the statement, the one before it or above.

    A row says it by its header too, and somebody in a conversation is who says it.
    """
    question, statements = features.question, features.statements
    verb = asked_verb(question.text, question.analysis)
    if not verb or synonyms(verb) is None or question.language in CAPITALIZING:
        return False
    if question.negation_language != question.language:
        return False
    texts = {index: f"{statements[index].label} {statements[index].text}" for index in indices}
    return not any(
        statements[index].speaker or (_says(question, verb, text) and _has_object(features, index))
        for index, text in texts.items()
    )


def _says(question: TopicQuestion, verb: str, text: str) -> bool:
    """True if a text has a verb in any form or word, or a doer ("by") of what no other known verb says."""
    clauses = (_CLAUSE_MARK.split(text[: match.start()])[-1] for match in BY_SOMEBODY.finditer(text))
    return bool(verb_keys(question, text)) or any(not says_other(verb, clause) for clause in clauses)


def _has_object(features: Features, index: int) -> bool:
    verb = verb_keys(features.question, features.question.text)
    statement, before = features.statements[index], features.statements[index - 1] if index else None
    found = {*features.matches(index), *features.matches_in(statement.heading), *features.matches_in(statement.title)}
    if before is not None and (before.source, before.position) == (statement.source, statement.position):
        found |= features.matches(index - 1).keys()
    return bool(found - verb.keys())
