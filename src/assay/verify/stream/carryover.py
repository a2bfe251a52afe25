"""Claims of one text found again in another: what code put in, moved or left out of a report as it streamed."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from assay.verify.claims import ReportSentence, claims

Said = tuple[str, tuple[tuple[str, ...], ...], tuple[str, ...]]


def carried(before: Sequence[ReportSentence], now: Sequence[ReportSentence]) -> dict[str, str]:
    """The ids of claims in a changed text: for each id of `now` that which the claim had before, or a new one.

    A claim is the same where its words, citations and columns are; of several alike the first is the first. No two get
    one id, and no new claim gets that of one which is gone.
    """
    known: defaultdict[Said, deque[str]] = defaultdict(deque)
    for sentence in before:
        known[_said(sentence)].append(sentence.id)
    ids: dict[str, str] = {}
    new = len(before)
    for sentence in now:
        if same := known[_said(sentence)]:
            ids[sentence.id] = same.popleft()
        else:
            new += 1
            ids[sentence.id] = f"c{new}"
    return ids


def spans(before: str, now: str) -> dict[str, tuple[int, int]]:
    """Where the claims of the report as it streamed stand in its present text, in code points, by id."""
    if not before:
        return {}
    found = claims(now)
    ids = carried(claims(before), found)
    return {ids[each.id]: (each.start, each.end) for each in found}


def _said(sentence: ReportSentence) -> Said:
    return sentence.text, tuple(marker.ids for marker in sentence.markers), sentence.head
