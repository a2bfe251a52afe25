"""Whether the claim says all, most, some or none, first or last, only or at most, where the evidence says another."""

from __future__ import annotations

from collections.abc import Iterator

from assay.verify import word_oppositions
from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.evidence import SlotFinding

_SENSES = {
    word: sense
    for sense, words in {
        "all": "all every each entire whole always everyone everything everywhere",
        "most": "most mostly majority usually generally often largely",
        "some": "some several sometimes partly certain occasionally",
        "few": "few rarely seldom minority hardly",
        "none": "none nobody never neither",
        "highest": "highest largest biggest greatest best longest oldest strongest fastest heaviest tallest maximum",
        "lowest": "lowest smallest least worst shortest youngest weakest slowest lightest minimum",
        "first": "first earliest",
        "last": "last latest final",
        "before": "before prior",
        "after": "after following",
    }.items()
    for word in words.split()
}
_AGAINST = {
    "all": frozenset({"some", "few", "none", "most"}),
    "most": frozenset({"few", "none", "all", "some"}),
    "some": frozenset({"all", "none", "most"}),
    "few": frozenset({"all", "most"}),
    "none": frozenset({"all", "most", "some"}),
    "highest": frozenset({"lowest"}),
    "lowest": frozenset({"highest"}),
    "first": frozenset({"last"}),
    "last": frozenset({"first"}),
    "before": frozenset({"after"}),
    "after": frozenset({"before"}),
}
FITS = 0.6


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each quantifier and superlative of the claim, where the evidence has one of its kind."""
    return word_oppositions.find("quantifier", _SENSES, _AGAINST, claim, texts, FITS)
