"""Fractions in words, which are shares of a whole: "two thirds", "half of", "one in five"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext

import msgspec

from assay.verify.number_words import ORDINALS, WORDS

_PARTS = {
    "half": 2,
    "quarter": 4,
    **{word: value for word, value in ORDINALS.items() if value <= 10},
}
_PLURALS = {"halves": 2, **{f"{word}s": value for word, value in _PARTS.items() if word != "half"}}
_WHOLES = {**{word: value for word, value in WORDS.items() if value <= 10}, "twenty": 20, "hundred": 100}
_COUNT = rf"(?:{'|'.join(list(WORDS)[:10])}|\d)"
_NO_PART = r"(?<!\bfirst )(?<!\bsecond )(?<!\bthird )(?<!\blatter )(?<!\blast )(?<!\bother )(?<!\ba )(?<!\bthe )"
_TIMES = r"(?:second|minute|hour|day|week|month|quarter|year|decade)s?\b"
_SHARE = re.compile(
    rf"\b(?P<count>{_COUNT})[- ](?P<plural>{'|'.join(word for word in _PLURALS if word != 'quarters')})\b"
    rf"|\b(?P<quarters>{_COUNT})(?:-quarters\b|[ ]quarters(?= of\b))"
    r"|\bone[- ](?P<one>half|third|fifth|sixth|seventh|eighth|ninth|tenth)\b"
    rf"|\b(?:an?|one)[- ](?P<of>{'|'.join(word for word in _PARTS if word != 'half')})(?= of\b)"
    rf"|{_NO_PART}\b(?P<half>half)(?= (?:of|the|all|its|their|our)\b(?! (?:a |an )?(?:the )?(?:{_TIMES}|\d)))",
    re.IGNORECASE,
)
_SIGNS = ("hal", *(word for word in _PARTS if word != "half"))
"""Without one of these, lower case, a text has no fraction of that kind: far faster to know."""
_OUT_OF = re.compile(
    rf" (?:in|out of) (?:every |an? )?(?P<whole>{'|'.join(_WHOLES)}|10{{1,3}}|[2-9])\b"
    rf"(?! ?(?:%|per ?cent|{_TIMES})|[.,:/-]\d)",
    re.IGNORECASE,
)
_SOME = re.compile(rf"\b(?P<some>{_COUNT}|ten)\Z", re.IGNORECASE)
_REACH = 8
"""Code points before " in five" in which the other number stands."""


class Share(msgspec.Struct, frozen=True):
    """`[start, end)` of a text says `count` parts of `whole`."""

    start: int
    end: int
    count: int
    whole: int

    @property
    def percent(self) -> Decimal:
        with localcontext() as context:
            context.prec = 28
            return Decimal(100 * self.count) / self.whole


def shares(text: str) -> Iterator[Share]:
    """The fractions in `text` (folded). No part of a year, and no "three quarters" which may be of one."""
    lower = text.lower()
    for match in _SHARE.finditer(text) if any(sign in lower for sign in _SIGNS) else ():
        count, whole = _terms({name: value.lower() for name, value in match.groupdict().items() if value})
        if 0 < count < whole:
            yield Share(match.start(), match.end(), count, whole)
    for match in _OUT_OF.finditer(text):
        some = _SOME.search(text, max(0, match.start() - _REACH), match.start())
        if some and 0 < (count := _number(some["some"].lower())) < (whole := _number(match["whole"].lower())):
            yield Share(some.start(), match.end(), count, whole)


def _terms(said: dict[str, str]) -> tuple[int, int]:
    if "plural" in said:
        return _number(said["count"]), _PLURALS[said["plural"]]
    if "quarters" in said:
        return _number(said["quarters"]), 4
    (part,) = said.values()
    return 1, _PARTS[part]


def _number(said: str) -> int:
    return int(said) if said.isdecimal() else _WHOLES[said]
