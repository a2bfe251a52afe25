"""Comparisons: the two things a question compares, each of which has to be described."""

from __future__ import annotations

import re

import msgspec

from assay.core.lazy import regex

_FORMS = {
    "What is {}?": (
        (
            r"(?:what(?:['’]s| is| are) )?(?:the )?(?:main |key )?(?:difference|distinction)s? between (?P<left>.+?)"
            r" and (?P<right>.+)"
        ),
        r"how (?:does|do|is|are) (?P<left>.+?) (?:differ(?:s|ent)?) (?:from|to|than) (?P<right>.+)",
        r"how (?:does|do|is|are) (?P<left>.+?) and (?P<right>.+?) (?:differ|different|compare|related)",
        r"how (?:does|do) (?P<left>.+?) compare (?:to|with) (?P<right>.+)",
        r"compare (?P<left>.+?) (?:and|with|to|against) (?P<right>.+)",
        r"(?P<left>.+?) (?:vs\.?|versus|compared (?:to|with)) (?P<right>.+)",
    ),
    "Was ist {}?": (
        r"(?:was ist der|was sind die|worin besteht der) Unterschiede? zwischen (?P<left>.+?) und (?P<right>.+)",
        r"wie unterscheide[nt] sich (?P<left>.+?) (?:und|von|vom) (?P<right>.+)",
        r"vergleiche? (?P<left>.+?) (?:und|mit) (?P<right>.+)",
    ),
    "Qu'est-ce que {} ?": (
        r"quelles? (?:est|sont) l(?:a|es) différences? entre (?P<left>.+?) et (?P<right>.+)",
        r"compare[rz]? (?P<left>.+?) (?:et|avec|à) (?P<right>.+)",
    ),
    "¿Qué es {}?": (
        r"¿?cuál(?:es)? (?:es|son) las? diferencias? entre (?P<left>.+?) [ye] (?P<right>.+)",
        r"compara (?P<left>.+?) (?:[ye]|con) (?P<right>.+)",
    ),
    "Что такое {}?": (
        r"чем отлича(?:е|ю)тся (?P<left>.+?) от (?P<right>.+)",
        r"(?:в чем |в чём |какая )?(?:разница|различи[ея]) между (?P<left>.+?) и (?P<right>.+)",
        r"сравните? (?P<left>.+?) (?:и|с) (?P<right>.+)",
    ),
}
_PATTERNS = [(ask, regex(form, re.IGNORECASE)) for ask, forms in _FORMS.items() for form in forms]
_ARTICLE = regex(r"(?:the|der|die|das|les?|la|el|los|las)\s+|l['’]", re.IGNORECASE)
_CONTRAST = regex(
    r"\b(?:differ(?:s|ed|ing|ences?)?|(?:is|are|be|very|quite) different|different (?:from|to|than|in)|unlike|whereas"
    r"|instead|rather|than|similar\w*|alternative\w*|except|contrast|compared|both"
    r"|untersch\w+|während|anders|statt|ähnlich\w*|beide\w*|différen\w+|contrairement|tandis|plutôt|similaires?"
    r"|diferen\w+|mientras|similar\w*|отлич\w+|различ\w+|тогда как|вместо|похож\w*|оба|обе)\b",
    re.IGNORECASE,
)
"""What a sentence has that sets two things beside each other."""
MAX_SIDE_WORDS, MAX_QUESTION_CHARS = 5, 300
"""The most words of a thing that is compared, for more are a clause, and the most characters of such a question."""


class Comparison(msgspec.Struct, frozen=True):
    """The question, the two things that it compares, and how its language asks what a thing is."""

    text: str
    left: str
    right: str
    ask: str

    @property
    def sides(self) -> tuple[str, str]:
        """Both things, in order."""
        return self.left, self.right

    def question_about(self, side: str) -> str:
        """The question what one of the things is."""
        return self.ask.format(side)


def read_comparison(text: str) -> Comparison | None:
    """The comparison a question asks for; None if it asks for none, or compares clauses or more than two things."""
    plain = " ".join(text.split()).strip(" ?？.!")
    for ask, pattern in _PATTERNS if len(plain) <= MAX_QUESTION_CHARS else ():
        if match := pattern.fullmatch(plain):
            left, right = (_ARTICLE.sub("", side, count=1) if _ARTICLE.match(side) else side for side in match.groups())
            left = _complete_first_side(left, right)
            fits = all(0 < len(side.split()) <= MAX_SIDE_WORDS and "," not in side for side in (left, right))
            fits = fits and all(any(map(str.isalpha, side)) for side in (left, right))  # "in 2024 and 2025": two times
            return Comparison(text, left, right, ask) if fits and left.casefold() != right.casefold() else None
    return None


def has_contrast(text: str) -> bool:
    """True if a sentence has a word that sets two things beside each other."""
    return _CONTRAST.search(text) is not None


def _complete_first_side(left: str, right: str) -> str:
    """The first thing with the noun it shares with the second: "readable and writable streams"."""
    noun = right.split()[-1]
    shares = len(left.split()) == 1 < len(right.split()) and noun.endswith("s") and not left.endswith("s")
    return f"{left} {noun}" if shares else left
