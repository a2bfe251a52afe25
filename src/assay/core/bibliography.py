"""The bibliography of a report, and its text as people read it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

import msgspec

from assay.core.claims import Citation
from assay.core.clean import EditedText, active_markup_edits, harmful_edits, link_target, one_line
from assay.core.lazy import regex
from assay.core.markers import CitationMode, RenderedMarkers, parse_markers, render_markers
from assay.core.sources import Passage, Source


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One document of the bibliography. `source` is its source with the lowest id, `aliases` are the other ids.

    `number` is None if the document was read but is not cited.
    """

    source: Source
    aliases: tuple[str, ...] = ()
    number: int | None = None


class Bibliography(msgspec.Struct, frozen=True, kw_only=True):
    """`entries` are the cited ones by number, then the rest by id. `cited` are the passages in the text, in
    order.

    `numbers` and `joined` map every id that resolves, of a source or a passage, to its number (if cited) and to the id
    of its entry. `unresolved` counts the markers' ids that do not exist.
    """

    entries: tuple[Entry, ...] = ()
    cited: tuple[Passage, ...] = ()
    numbers: dict[str, int] = {}
    joined: dict[str, str] = {}
    unresolved: int = 0

    def links(self) -> dict[int, tuple[str, str]]:
        """Title and URL by number, safe to print; the URL is empty if it may not be linked."""
        numbered_sources = ((entry.number, entry.source) for entry in self.entries if entry.number is not None)
        return {number: (one_line(source.title), link_target(source.url) or "") for number, source in numbered_sources}

    def citations(self, passages: Iterable[str]) -> tuple[Citation, ...]:
        """Those of these passages that are cited in the text, each once."""
        return tuple(
            Citation(passage=id, source=self.joined[id], number=self.numbers[id])
            for id in dict.fromkeys(passages)
            if id in self.numbers
        )


def id_sort_key(id: str) -> tuple[int, ...]:
    """A sort key: `S2003.17` after `S2003.9`, both after `S901`."""
    return tuple(int(part) if part.isdecimal() and len(part) < 20 else 0 for part in id.removeprefix("S").split("."))


def compile_bibliography(
    text: str, sources: Mapping[str, Source], passages: Mapping[str, Passage], claimed_ids: Iterable[str] = ()
) -> Bibliography:
    """The bibliography of a report as written.

    Args:
        text: with its markers.
        sources: all that were found, by id.
        passages: all that may be cited, by id.
        claimed_ids: ids of passages the claims rest on; those of a document that the text cites count as cited.
    """
    source_ids = sorted(sources, key=id_sort_key)
    canonical = _first_sources([sources[id] for id in source_ids])
    canonical_ids = {source.id: canonical[source.document_sha256].id for source in sources.values()}
    canonical_ids |= {
        passage.id: canonical_ids[passage.source] for passage in passages.values() if passage.source in canonical_ids
    }
    markers = parse_markers(text)
    marker_ids = [id for marker in markers for id in marker.ids if id in canonical_ids]
    order = list(dict.fromkeys(canonical_ids[id] for id in marker_ids))
    number = {id: position for position, id in enumerate(order, 1)}
    cited_ids = dict.fromkeys(
        id for id in (*marker_ids, *claimed_ids) if id in passages and canonical_ids.get(id) in number
    )
    return Bibliography(
        entries=_entries(source_ids, sources, canonical_ids, number),
        cited=tuple(passages[id] for id in cited_ids),
        numbers={id: number[entry] for id, entry in canonical_ids.items() if entry in number},
        joined=canonical_ids,
        unresolved=sum(id not in canonical_ids and id not in marker.implied for marker in markers for id in marker.ids),
    )


def _first_sources(sources: Iterable[Source]) -> dict[str, Source]:
    """For each document its source with the lowest id; `sources` ascend by id."""
    first: dict[str, Source] = {}
    for source in sources:
        first.setdefault(source.document_sha256, source)
    return first


def _entries(
    source_ids: Iterable[str],
    sources: Mapping[str, Source],
    canonical_ids: Mapping[str, str],
    number: Mapping[str, int],
) -> tuple[Entry, ...]:
    groups: dict[str, list[str]] = {}
    for id in source_ids:
        groups.setdefault(canonical_ids[id], []).append(id)
    entries = [Entry(source=sources[id], aliases=tuple(ids[1:]), number=number.get(id)) for id, ids in groups.items()]
    return tuple(sorted(entries, key=lambda entry: (entry.number is None, entry.number or 0)))


# The report's text as people read it, and the places of its sentences.

_NUMBER = regex(r"\[([0-9]+)\]")
_END_SIGNS = regex(r"[\s.!?…。！？؟।,;:\"'”’»)\]*_]*")


class NumberedCitation(msgspec.Struct, frozen=True, kw_only=True):
    """A citation as shown: `[number]` at code points `[start, end)`, and its ids."""

    start: int
    end: int
    number: int
    ids: tuple[str, ...]


class RenderedText:
    """A rendered report. `text` is what is shown; `span` converts places of the text as written."""

    def __init__(self, report: str, cleaned: EditedText, quiet: EditedText, rendered: RenderedMarkers) -> None:
        self._report, self._cleaned, self._quiet, self._rendered = report, cleaned, quiet, rendered
        self._markers = [(marker.start, marker.end) for marker in parse_markers(report)]
        self.text = rendered.text

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place of a sentence, at code points `[start, end)` as written, without the markers at its end.

        Points outside the text count as its ends.
        """
        length = len(self._report)
        start = min(max(start, 0), length)
        end = self._without_markers(start, min(max(end, start), length))
        rendered_start = self._position(start)
        return rendered_start, max(rendered_start, self._position(end))

    def numbered_citations(self, numbers: Mapping[str, int]) -> tuple[NumberedCitation, ...]:
        """Every citation of a text rendered in `numbers` mode, in order, without ids that are not in `numbers`.

        A number that was not repeated stands for the ids of both markers.
        """
        spans: list[tuple[int, int, int]] = []
        ids: list[list[str]] = []
        last: dict[int, int] = {}
        for marker in parse_markers(self._quiet.text):
            start, end = self._rendered.position(marker.start), self._rendered.position(marker.end)
            for sign in _NUMBER.finditer(self.text, start, end):
                last[int(sign[1])] = len(spans)
                spans.append((sign.start(), sign.end(), int(sign[1])))
                ids.append([])
            for id in marker.ids:
                if numbers.get(id) in last:
                    ids[last[numbers[id]]].append(id)
        return tuple(
            NumberedCitation(start=start, end=end, number=number, ids=tuple(dict.fromkeys(cited_ids)))
            for (start, end, number), cited_ids in zip(spans, ids, strict=True)
        )

    def _position(self, point: int) -> int:
        return self._rendered.position(self._quiet.position(self._cleaned.position(point)))

    def _without_markers(self, start: int, end: int) -> int:
        """The end of a sentence before its last markers, with only final punctuation after them."""
        first, last = bisect_left(self._markers, (start, start)), bisect_left(self._markers, (end, 0))
        for marker_start, marker_end in reversed(self._markers[first:last]):
            if marker_end > end or not _END_SIGNS.fullmatch(self._report, marker_end, end):
                break
            end = start + len(self._report[start:marker_start].rstrip())
        return end


def render_body(report: str, books: Bibliography, mode: CitationMode) -> RenderedText:
    """Render a report as written: without harmful characters or active markup, with citations as `mode` says."""
    cleaned = EditedText(report, harmful_edits(report))
    quiet = EditedText(cleaned.text, active_markup_edits(cleaned.text))
    return RenderedText(report, cleaned, quiet, render_markers(quiet.text, books.numbers, mode, books.links()))
