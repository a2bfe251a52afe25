"""Titles of sections that ask the question, as in a FAQ: what stands first below "Why was it moved?" answers it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from assay.core.lexicon import stop_terms
from assay.core.relevance.relations import asks
from assay.core.relevance.relevance_constants import OPENING_WEIGHTS, QUESTION_SHARE
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, near_keys
from assay.core.text import sentences

FEWEST_KEYS = 2
"""The fewest topic words of a question that a title may ask too: one word is in many titles. By hand."""


def below_titles(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it is one of the first below the title that asks the question, as they stand."""
    gains = [0.0] * len(statements)
    if len(set(question.keys)) < FEWEST_KEYS:
        return gains
    sections = defaultdict[tuple[int, str], list[int]](list)
    for at, each in enumerate(statements):
        if each.heading and each.kind == "prose":
            sections[each.source, each.heading].append(at)
    shares = {section: title_share(question, section[1]) for section in sections}
    best = max(shares, key=lambda section: (shares[section], -section[0]), default=None)
    if best is not None and shares[best]:
        ordered = sorted(sections[best], key=lambda at: statements[at].place)
        for at, weight in zip(ordered, OPENING_WEIGHTS, strict=False):
            gains[at] = weight
    return gains


def title_share(question: TopicQuestion, heading: str) -> float:
    """How many words a question and the last title above have in common (Jaccard index); 0 if too few, or if the title
    asks nothing.
    """
    title = heading.rpartition(" > ")[2].rstrip(" ¶#")
    if not asks(title):
        return 0.0
    title = title[sentences(title)[-1][0] :]
    asked, held = set(question.keys), set(keys(title, question.analysis)) - stop_terms(question.analysis)
    near = near_keys(asked, held)
    common = {key for key in asked if key in held or key in near}
    extra = held - asked - {each for key in common for each in near.get(key, ())}
    share = len(common) / (len(asked) + len(extra))
    return share if share >= QUESTION_SHARE else 0.0
