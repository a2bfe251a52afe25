"""Finds documents that copy one another: they count as one source.

Two documents are near-copies if most runs of five words of one are in the other too. Minhash (Broder 1997, "On the
resemblance and containment of documents") estimates how many two share, for all pairs; near ones are compared exactly.
Short documents, for which the estimate is unreliable, are always compared exactly, and one contained in a longer
document is a copy of it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median

import msgspec
from rensa import RMinHash

from assay.core.lazy import regex
from assay.core.text import words

# Chosen by hand, each for the reason beside it, except the bounds of rewrites (`FIGURED`, `PLAIN`).

MOST_DOCUMENTS = 1_000
"""Further documents count as copying nothing, since all pairs are compared."""
MAX_COMPARED_CHARS = 100_000
"""Code points of a document that are compared."""
ALIKE = 0.5
"""The share of all runs of two documents that both have, from which they are copies: a changed lead leaves more."""
CONTAINED = 0.8
"""The share of a short document's runs in a longer one, from which it is a part of that."""
SHORT = 200
"""Words of a document that may be a part of another."""
FEWEST = 12
"""Shorter texts, in words, cannot show who copied whom; they are copies only if they are equal."""
LINE = 6
"""A shorter line, in words, is a menu, a button, a heading or a field, and says nothing about copying."""
SAME_PAGE = 0.3
"""The share of the shorter one's runs in the other, from which two addresses of one page are one source: versions for
small screens or for print leave out much.
"""
MOST_FORMS = 20
"""The most documents at addresses of one page that are compared."""
WIDESPREAD = 3
"""A line in this many groups of otherwise different documents is boilerplate."""
_RUN = 5
"""Words of a run, as documented in docs/verification.md."""
_PERMUTATIONS, _SEED = 128, 7
_NEAR, _SURE = 0.35, 0.65
"""Between these estimates two documents are compared exactly: the error of an estimate is 0.04 at one half."""
_KEPT = 10_000_000
"""Code points of words cached during the comparison; more are read again when needed."""


def group_by_copying(texts: Mapping[str, str], pages: Iterable[Sequence[str]] = ()) -> dict[str, int]:
    """Group documents by what they copy from one another.

    Args:
        texts: each document's text by its name, always in the same order.
        pages: groups of documents whose addresses are of one page. They are grouped if they share even a part of their
            text, so that a wrong address on a page joins nothing.

    Returns:
        The group of each document. Groups are numbered from 0 by their first document; a document that copies nothing
            is alone in its group.
    """
    names = list(texts)
    documents = _Documents(texts, frozenset())
    first = _group_by_text(names[:MOST_DOCUMENTS], documents)
    widespread = _widespread(first, texts)
    groups = DocumentGroups(names)
    groups.join(_page_versions(pages, documents))
    if not widespread:
        groups.join(_members(first))
        return groups.group_numbers()
    documents = _Documents(texts, widespread)
    for members in _members(first):
        if len(members) > 1:
            groups.join(_members(_group_by_text(members, documents)))
    return groups.group_numbers()


def copy_groups(groups: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The groups with two or more documents, in order."""
    return tuple(tuple(members) for members in _members(groups) if len(members) > 1)


class _Documents:
    """The words of documents, by name, without `boilerplate`; cached, since reading them costs most of the time."""

    def __init__(self, texts: Mapping[str, str], boilerplate: Collection[str]) -> None:
        self._texts, self._boilerplate = texts, boilerplate
        self._kept: dict[str, str] = {}
        self._room = _KEPT

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def words(self, name: str) -> list[str]:
        """The words that count."""
        if name in self._kept:
            return self._kept[name].split()
        found = _words(self._texts[name], self._boilerplate)
        joined = " ".join(found)
        if len(joined) <= self._room:
            self._room -= len(joined)
            self._kept[name] = joined
        return found


def _page_versions(pages: Iterable[Sequence[str]], documents: _Documents) -> Iterator[tuple[str, str]]:
    """Pairs of documents that are versions of one page."""
    for page in pages:
        runs = {name: set(_runs(documents.words(name))) for name in page[:MOST_FORMS] if name in documents}
        for one, other in combinations(runs, 2):
            if len(runs[one] & runs[other]) >= SAME_PAGE * (min(len(runs[one]), len(runs[other])) or 1):
                yield one, other


class DocumentGroups:
    """Groups of names, by union-find; a name that is joined and was not given is added."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._leader = {name: name for name in names}

    def join(self, groups: Iterable[Sequence[str]]) -> None:
        """Join the names of each group."""
        for group in groups:
            for name in group[1:]:
                one, other = self._find_root(group[0]), self._find_root(name)
                if one != other:
                    self._leader[other] = one

    def are_joined(self, one: str, other: str) -> bool:
        """True if both are in one group already."""
        return self._find_root(one) == self._find_root(other)

    def group_numbers(self) -> dict[str, int]:
        """The number of each name's group."""
        numbers: dict[str, int] = {}
        return {name: numbers.setdefault(self._find_root(name), len(numbers)) for name in self._leader}

    def _find_root(self, name: str) -> str:
        while self._leader.setdefault(name, name) != name:
            self._leader[name] = name = self._leader[self._leader[name]]
        return name


def _members(groups: Mapping[str, int]) -> list[list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for name, group in groups.items():
        found[group].append(name)
    return list(found.values())


def _widespread(groups: Mapping[str, int], texts: Mapping[str, str]) -> frozenset[str]:
    """Lines that occur in several groups: licences, notices, a publisher's footers."""
    if max(Counter(groups.values()).values(), default=0) < 2:
        return frozenset()  # no copies: nothing to correct
    seen: Counter[str] = Counter()
    for members in _members(groups):
        seen.update({line for name in members for line in _lines(texts[name])})
    return frozenset(line for line, count in seen.items() if count >= WIDESPREAD)


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text[:MAX_COMPARED_CHARS].splitlines()]


def _words(text: str, boilerplate: Collection[str]) -> list[str]:
    """The words of a text that count; all of them if too few do."""
    # If lines need not be compared, spaces need not be normalized: for words they make no difference.
    lines = (
        [line for line in _lines(text) if line not in boilerplate]
        if boilerplate
        else text[:MAX_COMPARED_CHARS].splitlines()
    )
    telling = words("\n".join(line for line in lines if len(line.split(None, LINE - 1)) == LINE))
    return telling if len(telling) >= FEWEST else words("\n".join(lines))


def _runs(found: Sequence[str]) -> list[str]:
    return list(map(" ".join, zip(*(found[at:] for at in range(_RUN)), strict=False)))


class _Sketch(msgspec.Struct, frozen=True):
    """A document as all pairs are compared: its words' digest and count, and what the runs of those words show.

    `parts` are the short documents of which most runs are in this one too.
    """

    digest: bytes
    size: int
    minhash: RMinHash | None
    parts: Sequence[str]


def _group_by_text(names: Sequence[str], documents: _Documents) -> dict[str, int]:
    """Group `names` by their texts."""
    short, where = _short_documents(names, documents)
    sketches = {name: _make_sketch(documents.words(name), short, where) for name in names}
    groups = DocumentGroups(names)
    groups.join(_equal_groups(sketches))
    for one, other, estimate in _near_pairs(sketches):
        if groups.are_joined(one, other):
            continue
        if estimate >= _SURE or _share(documents.words(one), documents.words(other)) >= ALIKE:
            groups.join([(one, other)])
    groups.join(_containing_pairs(sketches))
    return groups.group_numbers()


def _short_documents(names: Sequence[str], documents: _Documents) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The short documents that may be parts of others, each with the number of its runs; and where each run is."""
    sizes: dict[str, int] = {}
    where: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found = documents.words(name)
        if FEWEST <= len(found) <= SHORT:
            runs = set(_runs(found))
            sizes[name] = len(runs)
            for run in runs:
                where[run].append(name)
    return sizes, dict(where)


def _make_sketch(found: Sequence[str], short: Mapping[str, int], where: Mapping[str, Sequence[str]]) -> _Sketch:
    digest = hashlib.sha256(" ".join(found).encode("utf-8", "surrogatepass")).digest() if found else b""
    if len(found) < FEWEST:
        return _Sketch(digest, len(found), None, ())
    runs = _runs(found)
    minhash = RMinHash(_PERMUTATIONS, _SEED)
    minhash.update(runs)
    counts = Counter(part for run in where.keys() & runs for part in where[run]) if where else {}
    parts = [part for part, count in counts.items() if count >= CONTAINED * short[part]]
    return _Sketch(digest, len(found), minhash, parts)


def _equal_groups(sketches: Mapping[str, _Sketch]) -> Iterable[Sequence[str]]:
    same: dict[bytes, list[str]] = defaultdict(list)
    for name, sketch in sketches.items():
        if sketch.digest:
            same[sketch.digest].append(name)
    return same.values()


def _near_pairs(sketches: Mapping[str, _Sketch]) -> Iterator[tuple[str, str, float]]:
    """Pairs that may share most of their runs, and the estimate of the share."""
    hashed = [(name, sketch.minhash) for name, sketch in sketches.items() if sketch.minhash is not None]
    for (one, first), (other, second) in combinations(hashed, 2):
        estimate = first.jaccard(second)
        if estimate >= _NEAR:
            yield one, other, estimate


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    first, second = set(_runs(one)), set(_runs(other))
    return len(first & second) / (len(first | second) or 1)


def _containing_pairs(sketches: Mapping[str, _Sketch]) -> Iterator[Sequence[str]]:
    """Pair a short document with longer ones that contain it; a page that contains several is a collection."""
    for name, sketch in sketches.items():
        inside = [part for part in sketch.parts if sketches[part].size < sketch.size]
        if len({sketches[part].digest for part in inside}) == 1:
            yield name, *sorted(inside)


# Documents that say the same in other words: a rewritten press release is not a second source.

FIGURED, PLAIN = 0.6, 0.75
"""How far above the usual cosine, on the way to 1, two passages say the same: with common figures, and without.

With these, two embedders find all rewrites of four press releases by hand; of 7,140 pairs of XQuAD's paragraphs, many
from one article, they take none for a rewrite.
"""
SHARE = 0.8
"""The share of the shorter document's words that must be in passages that the other restates."""
FEWEST_WORDS = 8
"""A shorter passage, in words, is a heading, a field or a button."""
LEAST = 25
"""With fewer words in all its passages, a document cannot show who rewrote whom."""
MOST_COMPARED, MOST_PASSAGES = 40, 16
ELSEWHERE = (
    "The river rises in the mountains and flows into the sea.",
    "He learned to play the violin when he was a child.",
    "Add the flour slowly and stir until the dough is smooth.",
    "The court decided that the contract was not valid.",
    "Most birds of this kind leave for the south in autumn.",
    "The engine is cooled by water which a pump moves.",
    "Prices of houses rose faster than wages in that year.",
    "The team won the match in the last minute.",
)
"""Sentences about unrelated topics: their cosines with passages show how near all texts are for an embedder."""
_FIGURE = regex(r"\d+(?:[.,]\d+)*")


class Part(msgspec.Struct, frozen=True):
    """A passage of a document: the document's name, the text for the embedder, the passage's own words."""

    document: str
    read: str
    text: str


def comparable_parts(document: str, passages: Sequence[tuple[str, str]]) -> list[Part]:
    """The passages of a document that count, at most `MOST_PASSAGES`, each as embedded and as written."""
    found = [Part(document, read, text) for read, text in passages if len(words(text)) >= FEWEST_WORDS]
    return found[:MOST_PASSAGES] if sum(len(words(each.text)) for each in found) >= LEAST else []


def find_rewrites(compared: Sequence[Part], rows: Sequence[Sequence[float]]) -> list[tuple[str, str]]:
    """Pairs of documents of which one says what the other says.

    `rows` are the cosines of each passage with all of them, and with the sentences in `ELSEWHERE`.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(compared):
        places[each.document].append(at)
    usual = median([each for row in rows for each in row[len(compared) :]] or [1.0])
    if usual >= 1.0:
        return []
    found = []
    for one, other in combinations(places, 2):
        short, long = sorted((places[one], places[other]), key=lambda held: _size(held, compared))
        if _count_restated_words(short, long, compared, rows, usual) >= SHARE * _size(short, compared):
            found.append((one, other))
    return found


def merge_groups(groups: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """`groups` with the documents of each pair joined, numbered as before by their first document."""
    together = DocumentGroups(groups)
    together.join([*_members(groups), *pairs])
    return together.group_numbers()


def _size(places: Sequence[int], compared: Sequence[Part]) -> int:
    return sum(len(words(compared[at].text)) for at in places)


def _count_restated_words(
    short: Sequence[int], long: Sequence[int], compared: Sequence[Part], rows: Sequence[Sequence[float]], usual: float
) -> int:
    """Words of the passages in `short` that one of those in `long` restates."""
    restated = 0
    for at in short:
        figures = _figures(compared[at].text)
        if any(
            rows[at][other] >= usual + _least_similarity(figures, _figures(compared[other].text)) * (1.0 - usual)
            for other in long
        ):
            restated += len(words(compared[at].text))
    return restated


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def _least_similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """How near passages with these figures must be. If each has figures that the other lacks, no cosine suffices."""
    few, many = sorted((one, other), key=len)
    if not few:
        return PLAIN
    return FIGURED if few <= many else math.inf
