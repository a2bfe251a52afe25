"""Which dates of a sentence are what it states, and which only say of when something is.

A date is a value where it is that of something which happens once: "was founded in 1964", "(4 May 1906 – 1997)",
"is a 1964 film". Any other is a time, and two statements of different times do not disagree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from assay.verify.amounts import Amount, Day, Token
from assay.verify.analyzed_text import AnalyzedText, Word, stem

YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
DATING = frozenset(
    stem(word)
    for word in """
    founded established born died opened built completed released published launched introduced created signed adopted
    ratified discovered invented began started ended closed formed incorporated elected crowned married
    premiered debuted flew finished graduated collapsed dissolved abolished demolished destroyed assassinated executed
    inaugurated unveiled patented enacted repealed baptized baptised beatified canonized annexed commissioned
    """.split()
)
"""What happens once, as stems."""
_BEING = frozenset(("is", "was", "are", "were"))
_REACH = 4
"""Words back from a date among which what happened stands, with nothing between but short words."""
_BRACKETS = frozenset("()")
_WIDE = 10
"""Words from a date to the brackets around a life."""


def is_time(word: Word) -> bool:
    """Whether a word says when: a date, a year, or four digits which may be one."""
    return isinstance(word.token, Day) or is_year(word.token)


def is_year(token: Token | None) -> bool:
    """Whether a token is a year, or four digits alone which may be one."""
    return isinstance(token, Amount) and (token.year or YEAR.fullmatch(token.text) is not None)


def when(word: Word) -> str:
    """One form of a date, however it is written; one whose day may be its month stays as written."""
    token = word.token
    if isinstance(token, Day) and not token.swapped:
        return f"{token.year:04d}-{token.month:02d}-{token.day:02d}"
    return token.literal if isinstance(token, Amount) else word.text.lower()


def stated(reading: AnalyzedText, dates: Sequence[int], *, alone: bool, telling: Collection[str]) -> list[int]:
    """Those of `dates` which are values.

    Args:
        reading: a sentence.
        dates: the words of it which say when.
        alone: whether it has no other value: then its only date is that of whatever in it happens once.
        telling: the stems of the words which say what it is about.
    """
    if alone and len(dates) == 1 and DATING.intersection(telling):
        return list(dates)
    return [at for at in dates if _follows(reading.words, at) or _spans(reading.words, at) or defines(reading, at)]


def defines(reading: AnalyzedText, at: int) -> bool:
    """Whether a year tells what something is: "is a 1990 film"."""
    words = reading.words
    before = [word.text.lower() for word in words[max(0, at - 2) : at]]
    return is_year(words[at].token) and len(before) == 2 and before[0] in _BEING and before[1] in ("a", "an", "the")


def _follows(words: Sequence[Word], at: int) -> bool:
    """Whether what happened stands right before the date: "born on", "was founded in"."""
    for word in reversed(words[max(0, at - _REACH) : at]):
        if word.key in DATING:
            return True
        if word.kind != "word" or not word.common:
            return False
    return False


def _spans(words: Sequence[Word], at: int) -> bool:
    """Whether a date is one end of a life: "(4 May 1906 in Bern – 1997)", and nothing else in brackets."""
    opening = next((back for back in range(at - 1, max(-1, at - _WIDE), -1) if words[back].text in _BRACKETS), None)
    if opening is None or words[opening].text == ")":
        return False
    closing = next((on for on in range(at, min(len(words), at + _WIDE)) if words[on].text in _BRACKETS), None)
    if closing is None or words[closing].text == "(":
        return False
    inside = words[opening + 1 : closing]
    dashes = [place for place, word in enumerate(inside) if word.text == "-"]
    if len(dashes) != 1:
        return False
    ends = inside[: dashes[0]], inside[dashes[0] + 1 :]
    return all(sum(word.token is not None for word in end) == 1 for end in ends)
