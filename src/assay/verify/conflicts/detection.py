"""The conflicts among the passages of a run.

Each passage that the report or a finding cites is held against all others which were shown and share words with it: a
source that disagrees is worth telling even where nobody cited it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from assay.core.claims import Conflict, Side
from assay.core.sources import Passage, Source, lane_of_source, ordinal_of
from assay.verify.conflicts.disagreement import ALIKE, disagree
from assay.verify.conflicts.likely import Likely
from assay.verify.conflicts.statements import SourceStatement, statements
from assay.verify.plain import plain

MOST_PASSAGES = 3_000
"""Passages which are looked at, those cited first; one with the words of a cited one is read, in about 0.3 ms."""
MOST_CONFLICTS = 12
MOST_SIDES = 6
_TOO_COMMON = 200
"""Statements with one word: a word which more have leads to none of them."""
_SHARED = 2


def conflicts(
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    cited: Collection[str],
    groups: Mapping[str, int],
) -> tuple[Conflict, ...]:
    """Where sources give different values of one thing, in the order of what is cited.

    Args:
        passages: every passage shown in the run, by id.
        sources: their sources, by id.
        cited: ids of the passages which the report or a finding cites; each conflict has one of them.
        groups: which documents copy one another (`verify.copies.clusters`), by hash.
    """
    stated = _stated(passages, sources, cited)
    anchors = {at for at, each in enumerate(stated) if each.passage.id in cited}
    apart = _apart(stated, anchors, groups)
    return tuple(_conflict([stated[at] for at in members]) for members in apart[:MOST_CONFLICTS])


def _copies(one: SourceStatement, other: SourceStatement, groups: Mapping[str, int]) -> bool:
    first, second = (groups.get(each.passage.document_sha256, -1 - at) for at, each in enumerate((one, other)))
    return first == second


def _stated(
    passages: Mapping[str, Passage], sources: Mapping[str, Source], cited: Collection[str]
) -> tuple[SourceStatement, ...]:
    """What the cited passages state, then what others say of the like; each place of a document once, though several
    lanes were shown it.
    """
    seen: dict[tuple[str, int, int], Passage] = {}
    for passage in sorted(passages.values(), key=lambda each: (each.id not in cited, *_place(each))):
        seen.setdefault((passage.document_sha256, passage.start, passage.end), passage)
    kept = list(seen.values())[:MOST_PASSAGES]
    first = [passage for passage in kept if passage.id in cited]
    anchors = [each for passage in first for each in statements(passage, sources.get(passage.source))]
    likely = Likely((each.said.keys for each in anchors), ALIKE)
    rest = (passage for passage in kept[len(first) :] if anchors and likely.may(passage.text))
    others = (each for passage in rest for each in statements(passage, sources.get(passage.source), likely.may))
    return (*anchors, *others)


def _place(passage: Passage) -> tuple[int, int, int]:
    return lane_of_source(passage.source), int(passage.source.removeprefix("S")), ordinal_of(passage.id)


def _candidates(stated: Sequence[SourceStatement], anchors: Collection[int]) -> Iterator[tuple[int, int]]:
    """Pairs of statements which may disagree, one of them cited; each pair once, in order.

    They stand in two documents, count the same, share words, and have values which are not written alike.
    """
    places: dict[object, list[int]] = defaultdict(list)
    kinds = [(each.said.scope, each.said.counted) for each in stated]
    for at, each in enumerate(stated):
        for key in each.said.keys:
            places[kinds[at], key].append(at)
    written = [(each.passage.document_sha256, each.said.token.text) for each in stated]
    for at in sorted(anchors):
        document, value = written[at]
        found = (places[kinds[at], key] for key in stated[at].said.keys)
        shared = Counter(chain.from_iterable(others for others in found if len(others) <= _TOO_COMMON))
        for other in sorted(other for other, count in shared.items() if count >= _SHARED):
            first = other not in anchors or at < other
            if first and written[other][0] != document and written[other][1] != value:
                yield at, other


def _apart(stated: Sequence[SourceStatement], anchors: Collection[int], groups: Mapping[str, int]) -> list[list[int]]:
    """Statements which hang together by disagreeing, in order; one statement is in one group.

    Two which hang together by others are not held against each other: nothing would come of it.
    """
    together: dict[int, list[int]] = {}
    for one, other in _candidates(stated, anchors):
        first, second = together.get(one, [one]), together.get(other, [other])
        if first is second:
            continue
        if disagree(stated[one], stated[other], copies=_copies(stated[one], stated[other], groups)):
            joined = [*first, *second]
            together |= dict.fromkeys(joined, joined)
    unique = {id(members): sorted(members) for members in together.values()}
    return sorted(unique.values())


def _conflict(group: Sequence[SourceStatement]) -> Conflict:
    kept = _one_a_source(group)
    sides = tuple(
        Side(
            value=each.said.written,
            passage=each.passage.id,
            source=each.passage.source,
            date=each.source.published if each.source else "",
        )
        for each in kept
    )
    subject, measure = _about(kept)
    values = " or ".join(dict.fromkeys(side.value for side in sides))
    about = " ".join(filter(None, (subject, measure)))
    return Conflict(text=plain(f"{values} ({about})").text, subject=subject, measure=measure, sides=sides)


def _one_a_source(group: Sequence[SourceStatement]) -> list[SourceStatement]:
    """A source says a thing once; where there are more sides than are told, every value keeps one."""
    sides: dict[tuple[str, str], SourceStatement] = {}
    for each in group:
        sides.setdefault((each.passage.document_sha256, each.said.written), each)
    values: dict[str, SourceStatement] = {}
    for each in sides.values():
        values.setdefault(each.said.written, each)
    first = list(values.values())
    return [*first, *(each for each in sides.values() if each not in first)][:MOST_SIDES]


def _about(group: Sequence[SourceStatement]) -> tuple[str, str]:
    """The names which all sides have, and their other words in common, as the first writes them."""
    first = group[0].said
    shared = frozenset.intersection(*(each.said.keys for each in group))
    named = [word.text for word in first.reading.words if word.key in shared and word.key in first.names]
    others = [word.text for word in first.reading.words if word.key in shared and word.key in first.telling]
    return " ".join(dict.fromkeys(named)), " ".join(dict.fromkeys(others))
