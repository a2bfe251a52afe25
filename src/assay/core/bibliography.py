"""What a report cites: sources joined by document, and their display numbers.

Numbers are given in order of first appearance in the text; everything else is ordered by id, so that which lane was
quicker never shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from assay.core.claims import Citation
from assay.core.clean import link_target, one_line
from assay.core.markers import Marker, parse
from assay.core.sources import Passage, Source


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One document of the bibliography. `source` is the met one with the lowest id, `aliases` the ids of the others.

    `number` is None when the document was read but is not cited.
    """

    source: Source
    aliases: tuple[str, ...] = ()
    number: int | None = None


class Bibliography(msgspec.Struct, frozen=True, kw_only=True):
    """`entries`: the cited by number, then the rest by id. `cited`: the passages the text names, in its order.

    `numbers` and `joined` map every id which resolves, of a source or a passage, to its number (where it is cited) and
    to the id of its entry. `unresolved` counts markers' ids which name nothing.
    """

    entries: tuple[Entry, ...] = ()
    cited: tuple[Passage, ...] = ()
    numbers: dict[str, int] = {}
    joined: dict[str, str] = {}
    unresolved: int = 0

    def links(self) -> dict[int, tuple[str, str]]:
        """Title and URL by number, fit to print; the URL is empty where it may not be linked."""
        cited = ((entry.number, entry.source) for entry in self.entries if entry.number is not None)
        return {number: (one_line(source.title), link_target(source.url) or "") for number, source in cited}

    def citations(self, passages: Iterable[str]) -> tuple[Citation, ...]:
        """Those of these passages which are cited in the text, each once."""
        return tuple(
            Citation(passage=id, source=self.joined[id], number=self.numbers[id])
            for id in dict.fromkeys(passages)
            if id in self.numbers
        )


def by_id(id: str) -> tuple[int, ...]:
    """A sort key: `S2003.17` after `S2003.9`, both after `S901`."""
    return tuple(int(part) if part.isdecimal() and len(part) < 20 else 0 for part in id.removeprefix("S").split("."))


def compile_bibliography(
    text: str, sources: Mapping[str, Source], passages: Mapping[str, Passage], claimed: Iterable[str] = ()
) -> Bibliography:
    """The bibliography of a report as written.

    Args:
        text: with its markers.
        sources: all that were met, by id.
        passages: all that may be cited, by id.
        claimed: ids of passages the claims rest on; those of a document the text cites count as cited.
    """
    canonical = _join(sources)
    joined = {source.id: canonical[source.document_sha256].id for source in sources.values()}
    joined |= {passage.id: joined[passage.source] for passage in passages.values() if passage.source in joined}
    markers = parse(text)
    named = [id for marker in markers for id in marker.ids if id in joined]
    order = list(dict.fromkeys(joined[id] for id in named))
    number = {id: place for place, id in enumerate(order, 1)}
    cited = dict.fromkeys(id for id in (*named, *claimed) if id in passages and joined.get(id) in number)
    return Bibliography(
        entries=_entries(sources, joined, number),
        cited=tuple(passages[id] for id in cited),
        numbers={id: number[entry] for id, entry in joined.items() if entry in number},
        joined=joined,
        unresolved=sum(len(_missing(marker, joined)) for marker in markers),
    )


def _join(sources: Mapping[str, Source]) -> dict[str, Source]:
    """For each document the source with the lowest id."""
    first: dict[str, Source] = {}
    for source in sorted(sources.values(), key=lambda source: by_id(source.id)):
        first.setdefault(source.document_sha256, source)
    return first


def _missing(marker: Marker, joined: Mapping[str, str]) -> list[str]:
    return [id for id in marker.ids if id not in joined and id not in marker.implied]


def _entries(sources: Mapping[str, Source], joined: Mapping[str, str], number: Mapping[str, int]) -> tuple[Entry, ...]:
    met: dict[str, list[str]] = {}
    for id in sorted(sources, key=by_id):
        met.setdefault(joined[id], []).append(id)
    entries = [Entry(source=sources[id], aliases=tuple(ids[1:]), number=number.get(id)) for id, ids in met.items()]
    return tuple(sorted(entries, key=lambda entry: (entry.number is None, entry.number or 0)))
