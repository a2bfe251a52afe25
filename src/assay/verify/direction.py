"""Whether what rose in the claim fell in the evidence."""

from __future__ import annotations

from collections.abc import Iterator

from assay.verify import word_oppositions
from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.evidence import SlotFinding

_UP = """
rise rises rose risen rising increase increases increased increasing grow grows grew grown growing growth gain gains
gained climb climbs climbed surge surges surged soar soared jump jumped expand expanded expansion accelerate
accelerated improve improved improvement higher upward upwards uptick raise raised double doubled triple tripled more
warmer
"""
_DOWN = """
fall falls fell fallen falling decrease decreases decreased decreasing decline declines declined declining drop drops
dropped shrink shrinks shrank shrunk plunge plunged plummet plummeted slump slumped contract contracted contraction
slow slowed lower downward downwards downturn reduce reduced reduction worsen worsened dip dipped halve halved lose
lost loss less fewer cooler
"""
_SENSES = dict.fromkeys(_UP.split(), "up") | dict.fromkeys(_DOWN.split(), "down")
_AGAINST = {"up": frozenset({"down"}), "down": frozenset({"up"})}
FITS = 0.7


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each word which says that something went up or down."""
    return word_oppositions.find("direction", _SENSES, _AGAINST, claim, texts, FITS)
