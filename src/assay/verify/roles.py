"""What a sentence of a report is for: it states a fact, frames a field, concludes, or gives the report its structure.

In doubt a sentence states a fact; only what is recognised as structure, or as a conclusion which states nothing that
could be looked up, is spared the question for its source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from assay.core.text import words
from assay.core.translation import stated

Role = Literal["fact", "frame", "analysis", "structure"]

_FRAME = re.compile(r"(?=[^\W\d_])(?:[^\s:.!?]+[ ]){1,6}?of [^\n]{1,300}?: \S")
# What code says is known by its origin (`core.blocks`). These are for what models say in its stead.
_SECTIONS = re.compile(
    r"(?:\d+[.)] )?(?:what could not be found|not found|limits|limitations?|assumptions?|references|sources|"
    r"bibliography|further reading|open questions)",
    re.IGNORECASE,
)
_ABSENCES = re.compile(
    r"[*_]*(?:nothing about this was found|"
    r"(?:the|these) (?:documents|sources|passages|pages)(?: searched| read| cited| at hand| consulted)? "
    r"(?:hold|contain|say|offer) nothing|"
    r"(?:i|we) (?:could not|did not|cannot) (?:find|answer|verify)|"
    r"this answer (?:is|was written) without sources)",
    re.IGNORECASE,
)
_TRANSITIONS = re.compile(
    r"(?:this (?:section|report|overview|summary|part)|the following|in what follows|below[, ]|"
    r"see (?:also|below|above)|here (?:is|are)|(?:we )?(?:now )?turn(?:ing)? to|let us)\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"(?:overall|all in all|in (?:sum|short|summary|conclusion)|to sum up|taken together|on balance|therefore|thus|"
    r"hence|this (?:suggests|means|implies|shows)|it follows|what follows|"
    r"these (?:findings|results|points) (?:suggest|mean|imply|show))\b",
    re.IGNORECASE,
)
_CHECKABLE = re.compile(
    r"\d|[\"“„«]|(?<!^)(?<![.!?] )\b[A-Z]"
    r"|\b(?i:no|not|never|none|nobody|nothing|all|every|most|least|only|first|last|best|worst|more|less|fewer|rose|fell|"
    r"increas\w+|decreas\w+|caus\w+|prov\w+|evidence|two|three|four|five|half|twice|million|\w{3,}est)\b"
)
"""What could be looked up: figures, quotations, names, superlatives, quantities, and that something is not so."""
_ENDED = re.compile(r"[.!?。！？؟۔।…][\"'”’»)\]*_`」』】）]*$")
_LABEL = re.compile(r"(\*\*|__).+\1:?")


def is_frame(text: str) -> bool:
    """Whether `text` looks like `KEY of SUBJECT: VALUE`."""
    return _FRAME.match(text) is not None


def role_of(text: str, sections: Sequence[str], cited: bool) -> Role:
    """The role of a sentence under the headings `sections`; what cites something states a fact."""
    if not cited and ": " not in text and _is_fragment(text):  # told first: it costs least
        return "structure"
    apart = any(stated(section) == "missing" or _SECTIONS.fullmatch(section.strip("*_ ")) for section in sections)
    if is_frame(text) and (cited or not (text.endswith(":") or apart)):
        return "frame"
    if cited:
        return "fact"
    if apart or stated(text) or _ABSENCES.match(text) or not words(text):
        return "structure"
    bare = text.rstrip("*_ ")
    if bare.endswith((":", "：", "?", "？", "؟")) or _LABEL.fullmatch(text):
        return "structure"
    digits = any(sign.isdecimal() for sign in text)
    if _TRANSITIONS.match(text) and not digits:
        return "structure"
    if _is_fragment(text):
        return "structure"
    return "analysis" if _CONCLUDES.match(text) and not _CHECKABLE.search(text) else "fact"


def _is_fragment(text: str) -> bool:
    """Whether a text is a few words and no sentence."""
    return not _ENDED.search(text) and not any(map(str.isdecimal, text)) and len(words(text)) <= 3
