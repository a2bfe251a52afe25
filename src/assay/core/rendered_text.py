"""The report's text as people read it, and where its sentences are in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

import msgspec

from assay.core.active import active
from assay.core.bibliography import Bibliography
from assay.core.clean import Edited, harmful
from assay.core.markers import CitationMode, Rendered, parse, render

_NUMBER = re.compile(r"\[([0-9]+)\]")
_END_SIGNS = re.compile(r"[\s.!?…。！？؟।,;:\"'”’»)\]*_]*")


class NumberedCitation(msgspec.Struct, frozen=True, kw_only=True):
    """A citation as shown: `[number]` at code points `[start, end)`, and the ids it stands for."""

    start: int
    end: int
    number: int
    ids: tuple[str, ...]


class RenderedText:
    """A rendered report. `text` is what is shown; `span` finds in it what was at a place of the text as written."""

    def __init__(self, written: str, cleaned: Edited, quiet: Edited, rendered: Rendered) -> None:
        self._written, self._cleaned, self._quiet, self._rendered = written, cleaned, quiet, rendered
        self._markers = [(marker.start, marker.end) for marker in parse(written)]
        self.text = rendered.text

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a sentence, at code points `[start, end)` as written, is shown, less the markers at its end.

        Points outside the text count as its ends.
        """
        length = len(self._written)
        start = min(max(start, 0), length)
        end = self._without_markers(start, min(max(end, start), length))
        shown = self._position(start)
        return shown, max(shown, self._position(end))

    def cited(self, numbers: Mapping[str, int]) -> tuple[NumberedCitation, ...]:
        """Every citation of a text rendered in `numbers` mode, in order; an id not in `numbers` is in none of them.

        A number which was not repeated stands for the ids of both markers.
        """
        places: list[tuple[int, int, int]] = []
        ids: list[list[str]] = []
        last: dict[int, int] = {}
        for marker in parse(self._quiet.text):
            start, end = self._rendered.position(marker.start), self._rendered.position(marker.end)
            for sign in _NUMBER.finditer(self.text, start, end):
                last[int(sign[1])] = len(places)
                places.append((sign.start(), sign.end(), int(sign[1])))
                ids.append([])
            for id in marker.ids:
                if numbers.get(id) in last:
                    ids[last[numbers[id]]].append(id)
        return tuple(
            NumberedCitation(start=start, end=end, number=number, ids=tuple(dict.fromkeys(named)))
            for (start, end, number), named in zip(places, ids, strict=True)
        )

    def _position(self, point: int) -> int:
        return self._rendered.position(self._quiet.position(self._cleaned.position(point)))

    def _without_markers(self, start: int, end: int) -> int:
        """The end of a sentence before its last markers: only signs which end sentences may follow them."""
        first, last = bisect_left(self._markers, (start, start)), bisect_left(self._markers, (end, 0))
        for opened, closed in reversed(self._markers[first:last]):
            if closed > end or not _END_SIGNS.fullmatch(self._written, closed, end):
                break
            end = start + len(self._written[start:opened].rstrip())
        return end


def render_body(written: str, books: Bibliography, mode: CitationMode) -> RenderedText:
    """Render a report as written: harmful characters out, markup that acts made plain, citations as `mode` says."""
    cleaned = Edited(written, harmful(written))
    quiet = Edited(cleaned.text, active(cleaned.text))
    return RenderedText(written, cleaned, quiet, render(quiet.text, books.numbers, mode, books.links()))
