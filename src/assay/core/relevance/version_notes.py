"""Notes of versions: statements that tell in which version what an entry describes came, changed or went.

A reference tells the time of a change by a version: "New in version 3.9", "Added in: v12.3", "It was removed in 2.0".
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.core.patterns import regex
from assay.core.relevance.asked_events import asked_event
from assay.core.relevance.topic_question import TopicQuestion

_VERSION = regex(r"(?<![\w.])v?\d+(?:\.\d+)+(?![\w%])|(?<!\w)(?:versions?|releases?|v\.?)\s?\d+", re.IGNORECASE)
_WORD = regex(r"[^\W\d_]{2,}")
_CHANGES = tuple(
    frozenset(words.split())
    for words in (
        "add added adds adding new introduce introduced appear appeared available since create created first",
        "change changed changes modify modified update updated revise revised rename renamed extend extended",
        "remove removed removes drop dropped delete deleted discontinue discontinued",
        "deprecate deprecated obsolete obsoleted",
    )
)
"""The words by which notes say that something came, changed, went, or is to go, in English."""


def tells_change(question: TopicQuestion, text: str) -> bool:
    """True if a text names the version of the change whose time the question asks for.

    The first word for a change in it says which one it tells: "Changed in version 3.1: added a lock" tells no addition.
    """
    asked = _kind(asked_event(question))
    if asked < 0 or not _VERSION.search(text):
        return False
    kinds = (_kind(word.casefold()) for word in _WORD.findall(text))
    return next((kind for kind in kinds if kind >= 0), -1) == asked


@lru_cache(maxsize=4096)
def _kind(word: str) -> int:
    """The place of the change in `_CHANGES` that a word names; -1 for none."""
    return next((at for at, words in enumerate(_CHANGES) if word in words), -1) if word else -1
