"""What a sentence of a report is for: it states a fact, frames a field, or gives the report its structure.

In doubt a sentence states a fact; only what is recognised as structure is spared the question for its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from assay.core.text import words

Role = Literal["fact", "frame", "structure"]

_FRAME = re.compile(r"(?=[^\W\d_])(?:[^\s:.!?]+[ ]){1,6}?of [^\n]{1,300}?: \S")
_SECTIONS = re.compile(
    r"(?:\d+[.)] )?(?:what could not be found|not found|limits|limitations?|assumptions?|references|sources|"
    r"bibliography|further reading|open questions)",
    re.IGNORECASE,
)
_NOTICES = re.compile(
    r"[*_]*(?:"
    r"compiled by assay's built-in|nothing (?:about this|that answers this question) was found|"
    r"(?:the|these) (?:documents|sources|passages|pages)(?: searched| read| cited| at hand| consulted)? "
    r"(?:hold|contain|say|offer) nothing|"
    r"(?:i|we) (?:could not|did not|cannot) (?:find|answer|verify)|"
    r"this answer (?:rests on no|is without|was written without) sources|"
    r"(?:the|this) answer was put together by code|no model could write this report"
    r")",
    re.IGNORECASE,
)
_TRANSITIONS = re.compile(
    r"(?:this (?:section|report|overview|summary|part)|the following|in what follows|below[, ]|"
    r"see (?:also|below|above)|here (?:is|are)|(?:we )?(?:now )?turn(?:ing)? to|let us)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?。！？؟۔।…][\"'”’»)\]*_`」』】）]*$")
_LABEL = re.compile(r"(\*\*|__).+\1:?")


def is_frame(text: str) -> bool:
    """Whether `text` looks like `KEY of SUBJECT: VALUE`."""
    return _FRAME.match(text) is not None


def role_of(text: str, sections: Iterable[str], cited: bool) -> Role:
    """The role of a sentence under the headings `sections`; what cites something states a fact."""
    if is_frame(text) and (cited or not text.endswith(":")):
        return "frame"
    if cited:
        return "fact"
    if (
        _NOTICES.match(text)
        or any(_SECTIONS.fullmatch(section.strip("*_ ")) for section in sections)
        or not words(text)
    ):
        return "structure"
    bare = text.rstrip("*_ ")
    if bare.endswith((":", "：", "?", "？", "؟")) or _LABEL.fullmatch(text):
        return "structure"
    digits = any(sign.isdecimal() for sign in text)
    if _TRANSITIONS.match(text) and not digits:
        return "structure"
    if not _ENDED.search(text) and not digits and len(words(text)) <= 3:
        return "structure"
    return "fact"
