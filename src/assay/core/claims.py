"""Claims, verdicts and their counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

Verdict = Literal["quoted", "supported", "partial", "unsupported", "contradicted", "unchecked"]
"""The result of checking a claim. No word promises more than was checked.

quoted: copied from its source word for word, which says nothing about the question it should answer. supported: its
source says it in other words. partial: its source says a part of it. unsupported: its source does not say it.
contradicted: its source says something else. unchecked: nobody could tell, for the reason given.
"""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
HOLDING: tuple[Verdict, ...] = ("quoted", "supported")
"""The verdicts on a claim that is true to its source: no need to look at it, and no repair changes it."""

Relevance = Literal["", "answers", "related", "unrelated"]
"""How far a claim answers the question of its run: it `answers` it, is `related` to it, or `unrelated`.

Whether it is true to its source is a separate matter, for its verdict. Empty if nobody has judged it.
"""

RELEVANT: tuple[Relevance, ...] = ("answers", "related", "unrelated")
"""The words, best first."""

CheckName = Literal[
    "quote", "number", "date", "name", "order", "negation", "direction", "quantifier", "lexical", "judge"
]
CHECKS: tuple[CheckName, ...] = get_args(CheckName)
"""The checks that may object to a claim (docs/verification.md), in order.

All but the last two are deterministic. If none objects, the judge is asked, or without a judge "lexical" weighs the
words.
"""

RepairName = Literal["recite", "narrow", "retrieve", "remove"]
REPAIRS: tuple[RepairName, ...] = get_args(RepairName)
"""The stages of repair, in order: re-cite, narrow, search for more, remove."""


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A passage a claim cites; `number` is the display number of its source."""

    passage: str
    source: str
    number: int


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the report that states something checkable.

    `start` and `end` are code points into the report *as written*, including markers; rendered positions are computed
    when it is rendered. `passages` are the ids it cites, `against` those that contradict it. An `inherited` citation is
    that of the next cited sentence in its paragraph: the claim has no marker. `relevance` says how far it answers the
    question.
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
    """The cited passage that says most of a claim, by id, and the claim's words and numbers that it lacks."""

    passage: str
    missing: tuple[str, ...] = ()


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check's result on a claim: the rule (or "judge"), its verdict, and why.

    `nearest` is where a reader should look if the claim does not hold; None if it does, or nothing is near.
    """

    rule: str
    verdict: Verdict
    reason: str = ""
    nearest: Nearest | None = None


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A claim before a revision: its text, citations and checks, and `why` it was revised."""

    text: str
    passages: tuple[str, ...] = ()
    verdict: Verdict = "unchecked"
    reason: str = ""
    why: str = ""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The statement of one source in a disagreement: the value as written, the passage and the source, by id.

    `date` is the date that the source states for itself (ISO, or a year), empty if it states none.
    """

    value: str
    passage: str
    source: str
    date: str = ""


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Sources that give different values of one thing: `subject` and `measure` are words they share."""

    text: str
    subject: str = ""
    measure: str = ""
    sides: tuple[Side, ...] = ()

    @property
    def passages(self) -> tuple[str, ...]:
        """The ids of the passages that disagree."""
        return tuple(side.passage for side in self.sides)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a report's claims, by verdict and relevance; `dropped_markers` counts citations of unknown passages."""

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
    def grounded_count(self) -> int:
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
