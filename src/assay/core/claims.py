"""Claims, verdicts and their counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

Verdict = Literal["quoted", "supported", "partial", "unsupported", "contradicted", "unchecked"]
"""What was found of a claim. No word promises more than was checked.

quoted: copied from its source word for word, which says nothing of the question it is to answer. supported: its source
says it in other words. partial: its source says a part of it. unsupported: its source does not say it. contradicted:
its source says something else. unchecked: nobody could tell, for the reason given.
"""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
HOLDING: tuple[Verdict, ...] = ("quoted", "supported")
"""The verdicts on a claim which is true to its source: what a reader need not look at, and no repair changes."""

Relevance = Literal["", "answers", "related", "unrelated"]
"""How far a claim answers the question of its run: it `answers` it, is `related` to it, or `unrelated`.

Whether it is true to its source is another matter, which its verdict tells. Empty where nobody has judged that.
"""

RELEVANT: tuple[Relevance, ...] = ("answers", "related", "unrelated")
"""The words, the best first."""

CheckName = Literal["quote", "number", "date", "name", "negation", "direction", "quantifier", "lexical", "judge"]
CHECKS: tuple[CheckName, ...] = get_args(CheckName)
"""The checks which may object to a claim (docs/verification.md), in the order in which they are asked.

All but the last two are deterministic; where none of them objects, the judge is asked, or, where there is none,
"lexical" weighs the words.
"""

RepairName = Literal["recite", "narrow", "retrieve", "remove"]
REPAIRS: tuple[RepairName, ...] = get_args(RepairName)
"""The stages of repair, in their order: cite anew, say less, look for more, take out."""


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A passage a claim cites; `number` is the display number of its source."""

    passage: str
    source: str
    number: int


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the report which states something checkable.

    `start` and `end` are code points into the report *as written*, markers included; the rendered positions
    are computed with the rendering. `passages` are the ids it cites, `against` those found which speak against it.
    An `inherited` citation is that of the next sentence of its paragraph which has one: the claim bears no marker.
    `relevance` says how far it answers the question.
    """

    id: str
    text: str
    start: int
    end: int
    passages: tuple[str, ...] = ()
    verdict: Verdict = "unchecked"
    reason: str = ""
    against: tuple[str, ...] = ()
    inherited: bool = False
    relevance: Relevance = ""


class Nearest(msgspec.Struct, frozen=True, kw_only=True):
    """The cited passage which says most of a claim, by id, and which of the claim's words and numbers it lacks."""

    passage: str
    missing: tuple[str, ...] = ()


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check's result on a claim: the rule (or "judge"), its verdict, and why.

    `nearest` is what a reader looks at where the claim does not hold; None where it does, or nothing is near.
    """

    rule: str
    verdict: Verdict
    reason: str = ""
    nearest: Nearest | None = None


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim said before it was revised: its text, what it cited, what was said of it, and `why` it was."""

    text: str
    passages: tuple[str, ...] = ()
    verdict: Verdict = "unchecked"
    reason: str = ""
    why: str = ""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What one source says where sources disagree: the value as written, the passage and the source, by id.

    `date` is the date the source states of itself (ISO, or a year), empty where it states none.
    """

    value: str
    passage: str
    source: str
    date: str = ""


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Sources which give different values of one thing: `subject` and `measure` are words they share."""

    text: str
    subject: str = ""
    measure: str = ""
    sides: tuple[Side, ...] = ()

    @property
    def passages(self) -> tuple[str, ...]:
        """The ids of the passages which disagree."""
        return tuple(side.passage for side in self.sides)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over a report's claims, by verdict and by relevance; `dropped_markers` counts citations of passages which
    do not exist.
    """

    claims: int = 0
    quoted: int = 0
    supported: int = 0
    partial: int = 0
    unsupported: int = 0
    contradicted: int = 0
    unchecked: int = 0
    dropped_markers: int = 0
    answers: int = 0
    related: int = 0
    unrelated: int = 0

    @property
    def holding(self) -> int:
        """How many claims are true to their sources: quoted or supported."""
        return sum(getattr(self, verdict) for verdict in HOLDING)


def summarize(claims: Iterable[Claim], dropped_markers: int = 0) -> Summary:
    """Count `claims` by verdict."""
    verdicts = dict.fromkeys(VERDICTS, 0)
    relevance = dict.fromkeys(RELEVANT, 0)
    for claim in claims:
        verdicts[claim.verdict] += 1
        if claim.relevance:
            relevance[claim.relevance] += 1
    return Summary(claims=sum(verdicts.values()), dropped_markers=dropped_markers, **verdicts, **relevance)
