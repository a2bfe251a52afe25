"""Claims, verdicts and their counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

Verdict = Literal["supported", "partial", "unsupported", "contradicted", "unchecked"]
VERDICTS: tuple[Verdict, ...] = ("supported", "partial", "unsupported", "contradicted", "unchecked")

CheckName = Literal["quote", "number", "date", "name", "negation", "direction", "quantifier", "lexical"]
CHECKS: tuple[CheckName, ...] = get_args(CheckName)
"""The checks which may object to a claim (docs/verification.md), in the order in which they are asked.

All but the last are deterministic; "lexical" weighs the words where none of them objects.
"""


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A passage a claim cites; `number` is the display number of its source."""

    passage: str
    source: str
    number: int


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the report which states something checkable.

    `start` and `end` are code points into the report *as written*, markers included; the rendered positions
    are computed with the rendering. `passages` are the ids it cites.
    """

    id: str
    text: str
    start: int
    end: int
    passages: tuple[str, ...] = ()
    verdict: Verdict = "unchecked"
    reason: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over a report's claims; `dropped_markers` counts citations of passages which do not exist."""

    claims: int = 0
    supported: int = 0
    partial: int = 0
    unsupported: int = 0
    contradicted: int = 0
    unchecked: int = 0
    dropped_markers: int = 0


def summarize(claims: Iterable[Claim], dropped_markers: int = 0) -> Summary:
    """Count `claims` by verdict."""
    counts = dict.fromkeys(VERDICTS, 0)
    for claim in claims:
        counts[claim.verdict] += 1
    return Summary(claims=sum(counts.values()), dropped_markers=dropped_markers, **counts)
