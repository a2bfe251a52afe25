"""Titles of sections that ask the question: what stands first below "Why was the bridge moved?" answers it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from assay.core.lexicon import stop_terms
from assay.core.relevance import comparisons
from assay.core.relevance.relations import asks
from assay.core.relevance.relevance_constants import OPENING_WEIGHTS, QUESTION_SHARE, TITLE_SHARE
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, near_keys
from assay.core.text import sentences

FEWEST_KEYS = 2
"""The fewest topic words of a question that a title may ask too: one word is in many titles. By hand."""


def below_titles(question: TopicQuestion, statements: Sequence[QuotableStatement]) -> list[float]:
    """What each statement gains since it is one of the first below the title that asks the question, as they stand.

    The title is a question with most of its words. Or it has nearly all of them, and no number, date or name is asked
    for: a section under "Moving the bridge" tells how, but not when; then only statements with one of the words count.
    """
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
        told = [at for at in sections[best] if asks(_title(best[1])) or _has_key(question, statements[at])]
        ordered = sorted(told, key=lambda at: statements[at].place)
        for at, weight in zip(ordered, OPENING_WEIGHTS, strict=False):
            gains[at] = weight
    return gains


def title_share(question: TopicQuestion, heading: str) -> float:
    """How much of the words of a question and of the last title above are common (Jaccard index), 0 if too little."""
    title = _title(heading)
    if asks(title):
        title, least = title[sentences(title)[-1][0] :], QUESTION_SHARE
    elif question.wanted in ("other", "reason") and comparisons.read(question.text) is None:
        least = TITLE_SHARE
    else:
        return 0.0
    asked, held = set(question.keys), set(keys(title, question.analysis)) - stop_terms(question.analysis)
    near = near_keys(asked, held)
    common = {key for key in asked if key in held or key in near}
    extra = held - asked - {each for key in common for each in near.get(key, ())}
    share = len(common) / (len(asked) + len(extra))
    return share if share >= least else 0.0


def _title(heading: str) -> str:
    return heading.rpartition(" > ")[2].rstrip(" ¶#")


def _has_key(question: TopicQuestion, statement: QuotableStatement) -> bool:
    return not set(question.keys).isdisjoint(keys(statement.text, question.analysis))
