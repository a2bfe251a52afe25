"""What somebody paid, or another amount of what somebody did: "how much did the insurer pay?".

A sentence with both words and a number may give that of something else ("the pier cost £42 million, and the insurer
refused to pay"). It tells the amount where somebody has done it, and the number follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from assay.core.lexicon import stop_terms
from assay.core.patterns import regex
from assay.core.relevance.relations import is_done, same_verb
from assay.core.relevance.relevance_constants import AMOUNT_WEIGHT
from assay.core.relevance.signs import has_number
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys

_ASKED = regex(
    r"how much (?:money )?(?:did|does|do|has|have|had|will) (?P<subject>.+?) (?P<verb>[a-z]{3,})"
    r"(?: (?:for|to|towards|in|on|at|by|from|out|when|after|before|as) .+)?[?\s.]*"
)
_WORD = regex(r"[^\W\d_]{2,}(?:['’]t)?")
_BY = regex(r"\s+by\s")
_BEFORE, _BEHIND = 60, 60
"""Code points between the subject and its verb, and between the verb and the number. By hand."""


@lru_cache(maxsize=512)
def asked_amount(question: str, analysis: str) -> tuple[frozenset[str], str]:
    """The keys of who did something, and the verb, of a question for its amount; empty for any other question."""
    match = _ASKED.fullmatch(question[:1].lower() + question[1:])
    if match is None:
        return frozenset(), ""
    subject = frozenset(keys(match["subject"], analysis)) - stop_terms(analysis)
    return subject, match["verb"] if subject else ""


def amounts(question: TopicQuestion, texts: Sequence[str]) -> list[float]:
    """What each text gains since it tells the amount that a question asks for."""
    subject, verb = asked_amount(question.text, question.analysis)
    return [AMOUNT_WEIGHT * (bool(verb) and _tells(text, subject, verb, question.analysis)) for text in texts]


def _tells(text: str, subject: frozenset[str], verb: str, analysis: str) -> bool:
    for word in _WORD.finditer(text):
        if not same_verb(verb, word[0].casefold(), analysis):
            continue
        before, behind = text[max(0, word.start() - _BEFORE) : word.start()], text[word.end() :][:_BEHIND]
        apposition = before.rstrip().endswith(",")  # "the insurer, Kern and Sons, paid"
        done = apposition or is_done(text, word)
        if done and _names(before, subject, analysis) and has_number(behind, analysis):
            return True
        if _BY.match(behind) and _names(behind, subject, analysis) and has_number(before, analysis):
            return True
    return False


def _names(text: str, subject: frozenset[str], analysis: str) -> bool:
    held = keys(text, analysis)
    return not subject.isdisjoint(held) or bool(near_keys(subject, held))
