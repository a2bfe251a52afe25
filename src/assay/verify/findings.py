"""What the deterministic checks find about a claim: one record for each slot they looked at.

A slot is a place of the claim which states something code can compare: a number, a date, a quotation, a name, a
negation. A finding says whether the evidence states it (`stated`), says something else in its place (`conflict`), or
does not state it at all (`absent`). Findings are features for what weighs them, and what a reader is shown.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.claims import CHECKS, CheckName

Rule = Literal[CheckName, "derived"]
"""The check which found something; `derived` is a figure which was computed again, and never objects."""

RULES: tuple[Rule, ...] = (*CHECKS, "derived")

Outcome = Literal["stated", "conflict", "absent"]


class ClaimSlot(msgspec.Struct, frozen=True, gc=False):
    """A place of the claim: its words as written, code points `[start, end)` of the claim's text."""

    text: str
    start: int
    end: int


class SlotFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What `rule` found about `slot`.

    `said` is what the evidence says in its place, as written, empty where it says nothing there or the same; `passage`
    the id of the passage which says it. `veto` tells that the finding alone is enough to call the claim not supported;
    without it a conflict or an absence is a sign only (small number words and names are often told by other words).
    """

    rule: Rule
    slot: ClaimSlot
    outcome: Outcome
    said: str = ""
    passage: str = ""
    veto: bool = False
