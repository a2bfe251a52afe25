"""Negations: which clauses of a text have one, and what the first one of a question denies."""

from __future__ import annotations

import re
from functools import cache

from assay.core.lexicon import CJK_NEGATIONS, JAPANESE_NEGATION, NEGATIONS

_CLAUSE = re.compile(
    r"[.,;:!?]+(?=\s|$)|[|()–—。，；：！？、؟،؛।]"
    r"|(?<!\w)(?:but|that|which|who|whose|aber|sondern|während|mais|tandis|pero|sino|mientras|maar|но|а|который|которые)(?!\w)",
    re.IGNORECASE,
)
"""Where a clause ends: at a mark, or before a word that begins another."""
_AFFIXED = re.compile(r"(?:un|non|dis|in|im)-?(?P<end>\w{4,})|(?P<start>\w{3,})(?:less|-free|los|frei)")


@cache
def _negation(language: str) -> re.Pattern[str]:
    """The negations of a language; of one that is not known, those of all."""
    known = NEGATIONS.get(language) or " ".join(NEGATIONS.values())
    forms = "|".join(map(re.escape, known.split()))
    return re.compile(rf"(?<!\w)(?:{forms}|\w+n['’]t)(?!\w)|{CJK_NEGATIONS}|{JAPANESE_NEGATION}", re.IGNORECASE)


def clauses(text: str, language: str) -> list[tuple[str, bool]]:
    """The clauses of a text, and whether each has a negation."""
    pieces = [piece for piece in _CLAUSE.split(text) if piece and not piece.isspace()]
    return [(piece, _negation(language).search(piece) is not None) for piece in pieces]


def denied_parts(text: str, language: str) -> tuple[str, str]:
    """What follows the first negation of a text in its clause, and what precedes it there; empty without one."""
    for piece in _CLAUSE.split(text):
        if found := _negation(language).search(piece):
            return piece[found.end() :], piece[: found.start()]
    return "", ""


def without_affix(word: str) -> str:
    """A word without the affix that denies it ("unsupported", "keyless"); "" if it has none."""
    found = _AFFIXED.fullmatch(word.casefold())
    return (found["end"] or found["start"]) if found else ""
