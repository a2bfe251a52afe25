"""A claim with the numbers of its evidence: "almost nine percent" is 8.9 % where the evidence says so.

What weighs words compares them as they are spelt. Which numbers are the same is the rules' knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.verify.findings import ClaimSlot, SlotFinding
from assay.verify.number_words import BOUNDS

_BOUND = re.compile(rf"(?:{'|'.join(BOUNDS.values())})\s*\Z", re.IGNORECASE)
_REACH = 24
"""Code points before a number in which its bound stands."""


def reworded(claim: str, findings: Iterable[SlotFinding]) -> str:
    """`claim` with each number which the evidence states in other signs as the evidence has it, without its bound."""
    told = {each.slot: each.said for each in findings if each.rule in ("number", "date") and _restates(each)}
    for slot in sorted(told, key=lambda slot: -slot.start):
        before = claim[: slot.start]
        bound = _BOUND.search(before, max(0, len(before) - _REACH))
        claim = f"{before[: bound.start()] if bound else before}{told[slot]}{claim[_end(claim, slot) :]}"
    return claim


def _end(claim: str, slot: ClaimSlot) -> int:
    """Where a number ends; a slot may have the full stop after it."""
    return slot.start + len(slot.text) if claim.startswith(slot.text, slot.start) else slot.end


def _restates(finding: SlotFinding) -> bool:
    return finding.outcome == "stated" and bool(finding.said)
