"""The sentences of a report which still streams: those which nothing that follows can change.

A block of Markdown is read when the next one has begun, since a line may yet become a heading (an underline follows)
or the head of a table; a table row when the next row has. Before the last top-level block all is settled and let go
(CommonMark 0.31: a closed block is never opened again), so that a stream is read in about linear time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Sequence

import msgspec

from assay.core.blocks import parse
from assay.core.markers import Marker
from assay.core.scanner import Scanner
from assay.verify.claims import ReportBlock, ReportSentence, claims, grown, numbered, read_block, readable

_SMALL = 2_000
_GROWTH = 16
"""What is not settled yet is read anew when a line came; if long, only when it grew by one part in so many."""
_MARKER_SIGNS = "[【［"


class SentenceStream:
    """Reads sentences out of a stream; joined, those given equal what `claims.read` finds in the whole text."""

    def __init__(self) -> None:
        self._scanner = Scanner()
        self._markers: list[Marker] = []
        self._tail, self._base = "", 0  # the text from the last block let go on, and where it begins
        self._sections: dict[int, str] = {}  # the headings above the tail
        self._taken = 0  # blocks of the tail which were read
        self._number = 0  # blocks read
        self._held: list[ReportSentence] = []  # of the last block read: a block of markers alone belongs to it
        self._count = 0
        self._seen = 0  # how much of the tail was looked at

    def feed(self, text: str) -> tuple[ReportSentence, ...]:
        """Take more of the report; the sentences, of whole blocks, which are settled by it."""
        self._scanner.add(text)
        self._scan(final=False)
        self._tail += text
        seen = _settled(self._tail)
        least = max(1, len(self._tail) // _GROWTH if len(self._tail) > _SMALL else 1)
        if seen - self._seen < least:
            return ()
        return self._read(self._tail[:seen], final=False)

    def end(self) -> tuple[ReportSentence, ...]:
        """The rest; nothing may be fed afterwards."""
        self._scan(final=True)
        return (*self._read(self._tail, final=True), *self._released())

    def _scan(self, final: bool) -> None:
        self._markers.extend(token.marker for token in self._scanner.tokens(final) if token.marker)

    def _read(self, seen: str, final: bool) -> tuple[ReportSentence, ...]:
        self._seen = len(seen)
        found = parse(seen)
        last = max((at for at, block in enumerate(found) if block.kind != "space"), default=0)
        sections = dict(self._sections)
        closed = list(readable(found[:last], sections))
        above = dict(sections)
        still = list(readable(found[last:], sections))
        whole = [*closed, *still]
        ready = whole if final else [each for each in whole[: len(whole) - bool(still)] if self._is_decided(each)]
        settled = [sentence for block in ready[self._taken :] for sentence in self._take(seen, block)]
        self._taken = max(self._taken, len(ready))
        if not final and still and still[-1].text[0] not in _MARKER_SIGNS and len(ready) == len(whole) - 1:
            settled.extend(self._released())
        if not final and len(ready) >= len(closed) and last:
            self._let_go(found[last].start, above, len(closed))
        return tuple(settled)

    def _is_decided(self, block: ReportBlock) -> bool:
        """Whether all markers in it are known."""
        return self._base + block.places[-1] < self._scanner.decided

    def _take(self, seen: str, block: ReportBlock) -> tuple[ReportSentence, ...]:
        """Read a block; what it settles is the block before."""
        first, last = (self._base + place for place in (block.places[0], block.places[-1]))
        start = bisect_left(self._markers, first, key=_start)
        inside = self._markers[start : bisect_right(self._markers, last, key=_start)]
        near = [_moved(marker, -self._base) for marker in inside]
        sentences = [_shifted(each, self._base) for each in read_block(seen, self._number, block, near)]
        self._number += 1
        if not sentences:
            if inside and self._held:
                self._held[-1] = grown(self._held[-1], inside)
            return ()
        before = self._released()
        self._held = sentences
        return before

    def _released(self) -> tuple[ReportSentence, ...]:
        """What is held, with its ids."""
        given = numbered(self._held, self._count)
        self._count += sum(bool(each.id) for each in given)
        self._held = []
        return given

    def _let_go(self, cut: int, above: dict[int, str], blocks_before: int) -> None:
        self._tail, self._base = self._tail[cut:], self._base + cut
        self._seen -= cut
        self._sections = above
        self._taken -= blocks_before
        self._markers = [marker for marker in self._markers if marker.start >= self._base]


def _settled(text: str) -> int:
    """How much of a text may be looked at: its whole lines, and the first letter of one which began with a letter.

    Such a line begins a paragraph or goes on with one, whatever follows.
    """
    ends = max(text.rfind("\n"), text.rfind("\r")) + 1
    return ends + 1 if text[ends : ends + 1].isalpha() else ends


def _start(marker: Marker) -> int:
    return marker.start


def _moved(marker: Marker, by: int) -> Marker:
    return msgspec.structs.replace(marker, start=marker.start + by, end=marker.end + by)


def _shifted(sentence: ReportSentence, by: int) -> ReportSentence:
    markers = tuple(_moved(marker, by) for marker in sentence.markers)
    return msgspec.structs.replace(sentence, start=sentence.start + by, end=sentence.end + by, markers=markers)


# Claims of one text found again in another: what code put in, moved or left out of a report as it streamed.

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
