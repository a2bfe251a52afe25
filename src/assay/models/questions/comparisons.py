"""Comparisons: the two things a question compares, each of which has to be described."""

from __future__ import annotations

import re

import msgspec

from assay.core.patterns import regex

_FORMS = {
    "What is {}?": (
        r"(?:what(?:['’]s|\s+(?:is|are))\s+)?(?:the\s+)?(?:main\s+|key\s+)?(?:differences?|distinctions?)\s+between\s+"
        r"(?P<left>.+?)\s+and\s+(?P<right>.+)",
        r"how\s+(?:does|do|is|are)\s+(?P<left>.+?)\s+(?:differ(?:s|ent)?)\s+(?:from|to|than)\s+(?P<right>.+)",
        r"how\s+(?:does|do|is|are)\s+(?P<left>.+?)\s+and\s+(?P<right>.+?)\s+(?:differ|different|compare|related)",
        r"how\s+(?:does|do)\s+(?P<left>.+?)\s+compare\s+(?:to|with)\s+(?P<right>.+)",
        r"compare\s+(?P<left>.+?)\s+(?:and|with|to|against)\s+(?P<right>.+)",
        r"(?P<left>.+?)\s+(?:vs\.?|versus|compared\s+(?:to|with))\s+(?P<right>.+)",
    ),
    "Was ist {}?": (
        r"(?:was\s+ist\s+der|was\s+sind\s+die|worin\s+besteht\s+der)\s+Unterschiede?\s+zwischen\s+(?P<left>.+?)\s+und\s+"
        r"(?P<right>.+)",
        r"wie\s+unterscheide[nt]\s+sich\s+(?P<left>.+?)\s+(?:und|von|vom)\s+(?P<right>.+)",
        r"vergleiche?\s+(?P<left>.+?)\s+(?:und|mit)\s+(?P<right>.+)",
    ),
    "Qu'est-ce que {} ?": (
        r"quelles?\s+(?:est|sont)\s+l(?:a|es)\s+différences?\s+entre\s+(?P<left>.+?)\s+et\s+(?P<right>.+)",
        r"compare[rz]?\s+(?P<left>.+?)\s+(?:et|avec|à)\s+(?P<right>.+)",
    ),
    "¿Qué es {}?": (
        r"¿?cuál(?:es)?\s+(?:es|son)\s+las?\s+diferencias?\s+entre\s+(?P<left>.+?)\s+[ye]\s+(?P<right>.+)",
        r"compara\s+(?P<left>.+?)\s+(?:[ye]|con)\s+(?P<right>.+)",
    ),
    "Что такое {}?": (
        r"чем\s+отлича(?:е|ю)тся\s+(?P<left>.+?)\s+от\s+(?P<right>.+)",
        r"(?:в\s+чем\s+|в\s+чём\s+|какая\s+)?(?:разница|различи[ея])\s+между\s+(?P<left>.+?)\s+и\s+(?P<right>.+)",
        r"сравните?\s+(?P<left>.+?)\s+(?:и|с)\s+(?P<right>.+)",
    ),
}
_PATTERNS = [(ask, regex(form, re.IGNORECASE)) for ask, forms in _FORMS.items() for form in forms]
_ARTICLE = regex(r"(?:the|der|die|das|les?|la|el|los|las)\s+|l['’]", re.IGNORECASE)
_CONTRAST = regex(
    r"\b(?:differ\w*|unlike|whereas|instead|rather|than|similar\w*|alternative\w*|except|contrast|compared|both"
    r"|untersch\w+|während|anders|statt|ähnlich\w*|beide\w*|différen\w+|contrairement|tandis|plutôt|similaires?"
    r"|diferen\w+|mientras|similar\w*|отлич\w+|различ\w+|тогда как|вместо|похож\w*|оба|обе)\b",
    re.IGNORECASE,
)
"""What a sentence has that sets two things beside each other."""
LONGEST = 5
"""The most words of a thing that is compared: more are a clause."""


class Comparison(msgspec.Struct, frozen=True):
    """Two things that a question compares, and how their language asks what a thing is."""

    left: str
    right: str
    ask: str

    @property
    def sides(self) -> tuple[str, str]:
        """Both things, in order."""
        return self.left, self.right

    def asked(self, side: str) -> str:
        """The question what one of the things is."""
        return self.ask.format(side)


def read(text: str) -> Comparison | None:
    """The comparison a question asks for; None if it asks for none, or compares clauses or more than two things."""
    plain = text.strip(" ?？.!")
    for ask, pattern in _PATTERNS:
        if match := pattern.fullmatch(plain):
            left, right = (_ARTICLE.sub("", side, count=1) if _ARTICLE.match(side) else side for side in match.groups())
            left = _completed(left, right)
            fits = all(0 < len(side.split()) <= LONGEST and "," not in side for side in (left, right))
            return Comparison(left, right, ask) if fits and left.casefold() != right.casefold() else None
    return None


def contrasts(text: str) -> bool:
    """True if a sentence that names two things says how they are alike or differ."""
    return _CONTRAST.search(text) is not None


def _completed(left: str, right: str) -> str:
    """The first thing with the noun it shares with the second: "readable and writable streams"."""
    noun = right.split()[-1]
    shares = len(left.split()) == 1 < len(right.split()) and noun.endswith("s") and not left.endswith("s")
    return f"{left} {noun}" if shares else left
