"""What a text cites: its markers resolved in the ledger, those which stand for nothing taken out."""

from __future__ import annotations

import msgspec

from assay.core.clean import Edit, Edited
from assay.core.markers import Marker, parse
from assay.core.sources import Passage, Source
from assay.core.text import words
from assay.evidence.ledger import Ledger

OF_A_SOURCE = 2


class CitedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text whose markers all resolve, and what they stand for, in order of first mention.

    `passages` hold, for a source cited as a whole, those of its passages which share most words with the text.
    `dropped` counts the ids that stood for nothing. An `uncited` text names none: its passages are the nearest.
    """

    text: str
    passages: tuple[Passage, ...] = ()
    sources: tuple[Source, ...] = ()
    dropped: int = 0
    uncited: bool = False


def cite(text: str, ledger: Ledger) -> CitedText:
    """Resolve the markers of `text`. An id which does not exist is dropped and counted, never mapped to another."""
    edits: list[Edit] = []
    passages: dict[str, Passage] = {}
    sources: dict[str, Source] = {}
    dropped = 0
    for marker in parse(text):
        found = ledger.resolve(marker.ids)
        passages.update((passage.id, passage) for passage in found.passages)
        sources.update((source.id, source) for source in found.sources)
        dropped += sum(id not in marker.implied for id in found.dropped)
        if found.dropped:
            edits.append(_without(text, marker, found.dropped))
    for source in sources.values():
        passages.update((passage.id, passage) for passage in _nearest(text, ledger.passages(source.id)))
    return CitedText(
        text=Edited(text, edits).text,
        passages=tuple(passages.values()),
        sources=tuple(sources.values()),
        dropped=dropped,
    )


def _without(text: str, marker: Marker, dropped: tuple[str, ...]) -> Edit:
    """The marker without the dropped ids; when none is left, without the space before it either."""
    kept = [id for id in marker.ids if id not in dropped]
    if kept:
        return Edit(marker.start, marker.end, f"[{', '.join(kept)}]")
    start = marker.start
    while start > 0 and text[start - 1] == " ":
        start -= 1
    return Edit(start, marker.end, "")


def _nearest(text: str, passages: tuple[Passage, ...]) -> list[Passage]:
    wanted = set(words(text))
    return sorted(passages, key=lambda passage: -len(wanted & set(words(passage.text))))[:OF_A_SOURCE]
