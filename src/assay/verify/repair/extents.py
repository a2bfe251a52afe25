"""What belongs to each sentence of a report as written: its words, its markers, the signs which end it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from assay.core.markers import Marker
from assay.verify.claims import ReportSentence

_CLOSING = re.compile(r"[.!?…。！？؟۔।,;:\"'”’»)\]*_~`」』】）]*")
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")


class SentenceExtent(msgspec.Struct, frozen=True, kw_only=True):
    """Code points `[start, stop)` of the report: a sentence with the markers beside it and what ends it.

    `apart` are its markers which stand in a block of their own, below it.
    """

    sentence: ReportSentence
    start: int
    stop: int
    apart: tuple[Marker, ...] = ()


def extents(report: str, sentences: Sequence[ReportSentence]) -> tuple[SentenceExtent, ...]:
    """The extent of every sentence; `sentences` are all of the report, in order. None overlap."""
    found = []
    for at, sentence in enumerate(sentences):
        following = sentences[at + 1] if at + 1 < len(sentences) else None
        limit = following.start if following and following.block == sentence.block else len(report)
        if following and limit < len(report):
            limit = min((marker.start for marker in following.markers if marker.start < limit), default=limit)
        found.append(_extent(report, sentence, limit))
    return tuple(found)


def _extent(report: str, sentence: ReportSentence, limit: int) -> SentenceExtent:
    start = min([sentence.start, *(marker.start for marker in sentence.markers)])
    stop = _closed(report, sentence.end, limit)
    apart: list[Marker] = []
    for marker in sentence.markers:
        if marker.end <= stop:
            continue
        gap = report[stop : marker.start]
        if apart or gap.strip(" \t\r\n>") or _BLANK_LINE.search(gap):
            apart.append(marker)
        else:
            stop = _closed(report, marker.end, limit)
    return SentenceExtent(sentence=sentence, start=start, stop=stop, apart=tuple(apart))


def _closed(report: str, at: int, limit: int) -> int:
    """`at` past the signs which end a sentence there."""
    match = _CLOSING.match(report, at, limit)
    return match.end() if match else at
