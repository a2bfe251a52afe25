"""Which documents copy one another: they count as one source.

Two documents are near-copies where most runs of five words of the one stand in the other too. How much two share is
estimated by minhash (Broder 1997, "On the resemblance and containment of documents"), for all pairs; what comes near is
compared exactly. Short documents, of which an estimate is unsure, are compared exactly throughout, and one that stands
inside a longer document is a copy of that.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
from rensa import RMinHash

from assay.core.text import words

MOST_DOCUMENTS = 1_000
"""What comes after counts as copying nothing: all pairs are compared."""
LONGEST = 100_000
"""Code points of a document which are looked at."""
ALIKE = 0.5
"""The share of all runs of two documents which both have, from which on they are copies: a changed lead leaves more."""
CONTAINED = 0.8
SHORT = 200
"""Words of a document which may be a part of another."""
FEWEST = 12
"""Words below which a text is too little to say who copied whom; such are copies where they are equal."""
LINE = 6
"""Words of a line below which it is a menu, a button, a heading or a field: it says nothing about copying."""
SAME_PAGE = 0.3
"""The share of the shorter one's runs which the other has too, from which on two addresses of one page are one source:
a form of a page for small screens or for print leaves much away.
"""
MOST_FORMS = 20
"""Documents at addresses of one page which are compared."""
WIDESPREAD = 3
"""Groups of documents otherwise unlike in which a line is boilerplate."""
_RUN = 5
_PERMUTATIONS, _SEED = 128, 7
_NEAR, _SURE = 0.35, 0.65
"""Between these estimates two documents are compared exactly: the error of an estimate is 0.04 at one half."""


def clusters(texts: Mapping[str, str], pages: Iterable[Sequence[str]] = ()) -> dict[str, int]:
    """Group documents by what they copy of one another.

    Args:
        texts: each document's text by its name, in an order which is the same whenever this is asked.
        pages: groups of documents whose addresses are those of one page; they are together where they say the same, in
            part even, so that an address which a page names wrongly joins nothing.

    Returns:
        The group of each document. Groups are numbered from 0 by their first document; one which copies nothing is
        alone in its own.
    """
    names = list(texts)
    first = _grouped(names[:MOST_DOCUMENTS], texts, frozenset())
    widespread = _widespread(first, texts)
    groups = _Groups(names)
    groups.join(_forms(pages, texts))
    if not widespread:
        groups.join(_members(first))
        return groups.numbered()
    for members in _members(first):
        if len(members) > 1:
            groups.join(_members(_grouped(members, texts, widespread)))
    return groups.numbered()


def copies(groups: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The groups of two documents and more, in order."""
    return tuple(tuple(members) for members in _members(groups) if len(members) > 1)


def _forms(pages: Iterable[Sequence[str]], texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of documents which are forms of one page."""
    for page in pages:
        runs = {name: set(_runs(_words(texts[name], ()))) for name in page[:MOST_FORMS] if name in texts}
        for one, other in combinations(runs, 2):
            if len(runs[one] & runs[other]) >= SAME_PAGE * (min(len(runs[one]), len(runs[other])) or 1):
                yield one, other


class _Groups:
    """Names which belong together, by union and find."""

    def __init__(self, names: Sequence[str]) -> None:
        self._leader = {name: name for name in names}

    def join(self, groups: Iterable[Sequence[str]]) -> None:
        """Put the names of each group together."""
        for group in groups:
            for name in group[1:]:
                one, other = self._lead(group[0]), self._lead(name)
                if one != other:
                    self._leader[other] = one

    def has(self, one: str, other: str) -> bool:
        """Whether both are in one group already."""
        return self._lead(one) == self._lead(other)

    def numbered(self) -> dict[str, int]:
        """The number of each name's group."""
        numbers: dict[str, int] = {}
        return {name: numbers.setdefault(self._lead(name), len(numbers)) for name in self._leader}

    def _lead(self, name: str) -> str:
        while self._leader[name] != name:
            self._leader[name] = name = self._leader[self._leader[name]]
        return name


def _members(groups: Mapping[str, int]) -> list[list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for name, group in groups.items():
        found[group].append(name)
    return list(found.values())


def _widespread(groups: Mapping[str, int], texts: Mapping[str, str]) -> frozenset[str]:
    """Lines which stand in several groups: licences, notices, what a publisher puts under every page."""
    if max(Counter(groups.values()).values(), default=0) < 2:
        return frozenset()  # nobody copies: nothing to put right
    seen: Counter[str] = Counter()
    for members in _members(groups):
        seen.update({line for name in members for line in _lines(texts[name])})
    return frozenset(line for line, count in seen.items() if count >= WIDESPREAD)


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text[:LONGEST].splitlines()]


def _words(text: str, boilerplate: Collection[str]) -> tuple[str, ...]:
    """The words of a text which count; of one which has too few of those, all of them."""
    lines = [line for line in _lines(text) if line and line not in boilerplate]
    telling = words("\n".join(line for line in lines if line.count(" ") >= LINE - 1))
    return tuple(telling if len(telling) >= FEWEST else words("\n".join(lines)))


def _runs(found: Sequence[str]) -> list[str]:
    return list(map(" ".join, zip(*(found[at:] for at in range(_RUN)), strict=False)))


class _Sketch(msgspec.Struct, frozen=True):
    """A document as all pairs are compared; its `words` are kept where it is short, else read again when needed."""

    digest: bytes
    minhash: RMinHash | None
    words: tuple[str, ...]


def _grouped(names: Sequence[str], texts: Mapping[str, str], boilerplate: Collection[str]) -> dict[str, int]:
    """Group `names` by what they say besides `boilerplate`."""
    sketches = {name: _sketched(_words(texts[name], boilerplate)) for name in names}
    groups = _Groups(names)
    groups.join(_equal(sketches))
    for one, other, estimate in _near(sketches):
        if not groups.has(one, other):
            sure = estimate >= _SURE
            if sure or _share(_words(texts[one], boilerplate), _words(texts[other], boilerplate)) >= ALIKE:
                groups.join([(one, other)])
    groups.join(_contained(sketches, texts, boilerplate))
    return groups.numbered()


def _sketched(found: tuple[str, ...]) -> _Sketch:
    digest = hashlib.sha256("\n".join(found).encode("utf-8", "surrogatepass")).digest() if found else b""
    minhash = None
    if len(found) >= FEWEST:
        minhash = RMinHash(_PERMUTATIONS, _SEED)
        minhash.update(_runs(found))
    return _Sketch(digest, minhash, found if len(found) <= SHORT else ())


def _equal(sketches: Mapping[str, _Sketch]) -> Iterable[Sequence[str]]:
    same: dict[bytes, list[str]] = defaultdict(list)
    for name, sketch in sketches.items():
        if sketch.digest:
            same[sketch.digest].append(name)
    return same.values()


def _near(sketches: Mapping[str, _Sketch]) -> Iterator[tuple[str, str, float]]:
    """Pairs which may have most of their runs in common, and the estimate of their share."""
    hashed = [(name, sketch.minhash) for name, sketch in sketches.items() if sketch.minhash is not None]
    for (one, first), (other, second) in combinations(hashed, 2):
        estimate = first.jaccard(second)
        if estimate >= _NEAR:
            yield one, other, estimate


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    first, second = set(_runs(one)), set(_runs(other))
    return len(first & second) / (len(first | second) or 1)


def _contained(
    sketches: Mapping[str, _Sketch], texts: Mapping[str, str], boilerplate: Collection[str]
) -> Iterator[Sequence[str]]:
    """A short document and the longer ones it stands in; a page which has several of them in it is a collection."""
    short = {name: set(_runs(each.words)) for name, each in sketches.items() if len(each.words) >= FEWEST}
    where: dict[str, list[str]] = defaultdict(list)
    for name, runs in short.items():
        for run in runs:
            where[run].append(name)
    for name, sketch in sketches.items() if short else ():
        found = sketch.words or _words(texts[name], boilerplate)
        counts = Counter(part for run in where.keys() & set(_runs(found)) for part in where[run])
        inside = [part for part, count in counts.items() if count >= CONTAINED * len(short[part])]
        inside = [part for part in inside if len(sketches[part].words) < len(found)]
        if len({sketches[part].digest for part in inside}) == 1:
            yield name, *sorted(inside)
