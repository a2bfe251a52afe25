"""Polarity: whether a statement denies what its question denies ("which providers need no key?")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.core.negation import clauses, without_affix
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, is_unspaced, keys

Near = Mapping[str, frozenset[str]]
"""The keys near to each key of a question."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def denial(question: TopicQuestion, statement: QuotableStatement, near: Near) -> float:
    """Whether a statement denies what the question denies (1), or affirms at least half of it (-1).

    0 if it does not speak of that, or denies something else. A statement that does not speak of it is under a heading
    that may.
    """
    texts = (f"{statement.label}: {statement.text}", statement.heading)
    return next(filter(None, (_polarity(question, text, near) for text in texts)), 0.0)


def _polarity(question: TopicQuestion, text: str, near: Near) -> float:
    spoken = [(_spoken(question, part, near), denies) for part, denies in clauses(text, question.negating)]
    if any(words and (denies or _affixed(question, words, near)) for words, denies in spoken):
        return 1.0
    said = frozenset(key for words, _ in spoken for word in words for key in _denied_keys(question, word, near))
    affirmed = 2 * len(said) >= len(question.denied) and not any(denies for _, denies in spoken)
    return -1.0 if said and affirmed else 0.0


def _spoken(question: TopicQuestion, part: str, near: Near) -> list[str]:
    """The words of a clause that speak of what the question denies; the clause, if nothing separates its words."""
    pieces = [part] if is_unspaced(part) else _WORD.findall(part)
    return [piece for piece in pieces if _denied_keys(question, piece, near)]


def _affixed(question: TopicQuestion, words: Sequence[str], near: Near) -> bool:
    """Whether one of these words denies by an affix: "unsupported"."""
    return any(bare and _denied_keys(question, bare, near) for bare in map(without_affix, words))


def _denied_keys(question: TopicQuestion, text: str, near: Near) -> frozenset[str]:
    """The keys that the question denies and a text has, exactly or nearly."""
    found, none = frozenset(keys(text, question.analysis)), frozenset[str]()
    return frozenset(key for key in question.denied if key in found or near.get(key, none) & found)
