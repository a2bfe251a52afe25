"""Lists that a question asks for ("which schemes are there?"), and what stands above them.

The line above a list, with the heading above that, tells what its items are: "GnuCash offers three account types:".
"""

from __future__ import annotations

import re

from assay.core.lexicon import NUMBER_WORDS
from assay.core.patterns import regex
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys

_ASKS = regex(
    "|".join(
        (
            r"\W*(?:please\s+)?(?:list|name|enumerate)\s+(?:all\s+|me\s+)?(?:the\s+)?\w",
            r"\W*(?:what|which)\s+are\s+(?:all\s+)?(?:the|some|its|their)\s+\w",
            (
                r"\W*(?:what|which)\s+(?:[\w-]+\s+){0,3}?[\w-]{2,}s\s+(?:(?:of|for|in|to)\s+(?:[\w-]+\s+){1,4}?)?"
                r"(?:are|can|do|does|have|has|may|must|should|will)\b"
            ),
            r"\W*(?:was\s+sind\s+die|welche\s+(?:\S+\s+){1,4}?(?:gibt|sind|kann|können|hat|haben|muss|müssen))\s+\w",
            r"\W*(?:nenne|zähle|liste)\s+\w",
            r"\W*(?:quel(?:le)?s\s+(?:sont\s+les|(?:\w+\s+){1,3}?(?:sont|existent|peut|peuvent))|énumère|cite[rz]?)\s+\w",
            r"\W*(?:cuáles\s+son\s+l[ao]s|qué\s+(?:\w+\s+){1,3}?(?:hay|son|existen|se\s+pueden?)|enumera|nombra)\s+\w",
            r"\W*(?:какие|перечисли\w*|назови\w*)\s+\w",
        )
    ),
    re.IGNORECASE,
)
FEWEST_KEYS = 2
"""The fewest topic words of a question whose list is found by them: one word is above many lists. By hand."""


def asks_for_list(question: str) -> bool:
    """True if a question asks for several things of a kind by its form."""
    return _ASKS.match(question) is not None


def words_above(question: TopicQuestion, lead: str, heading: str) -> int:
    """How many topic words of a question for a list are in the line above a list: 0 unless that and the heading have
    all, also in other forms. A number is none: the list has as many items.
    """
    numbers = {key for word in NUMBER_WORDS for key in keys(word, question.analysis)}
    wanted = {key for key in question.keys if key not in numbers and not key.isdigit()}
    if len(wanted) < FEWEST_KEYS or not lead or not asks_for_list(question.text):
        return 0
    held = _held(wanted, lead, question.analysis)
    return held if _held(wanted, f"{lead} {heading}", question.analysis) == len(wanted) else 0


def _held(wanted: set[str], text: str, analysis: str) -> int:
    held = frozenset(keys(text, analysis))
    return len(wanted & held | near_keys(wanted, held).keys())
