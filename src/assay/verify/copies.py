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

MAX_DOCUMENTS = 1_000
"""Further documents count as copying nothing, since all pairs are compared."""
MAX_COMPARED_CHARS = 100_000
"""Code points of a document that are compared."""
ALIKE = 0.5
"""The share of all runs of two documents that both have, from which they are copies: a changed lead leaves more."""
CONTAINED = 0.8
"""The share of a short document's runs in a longer one, from which it is a part of that."""
SHORT = 200
"""Words of a document that may be a part of another."""
MIN_TEXT_WORDS = 12
"""Shorter texts, in words, cannot show who copied whom; they are copies only if they are equal."""
LINE = 6
"""A shorter line, in words, is a menu, a button, a heading or a field, and says nothing about copying."""
SAME_PAGE = 0.3
"""The share of the shorter one's runs in the other, from which two addresses of one page are one source: versions for
small screens or for print leave out much.
"""
MAX_PAGE_FORMS = 20
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
    first = _group_by_text(names[:MAX_DOCUMENTS], documents)
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
        self._cache: dict[str, str] = {}
        self._room = _KEPT

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def words(self, name: str) -> list[str]:
        """The words that count."""
        if name in self._cache:
            return self._cache[name].split()
        counted_words = _words(self._texts[name], self._boilerplate)
        text = " ".join(counted_words)
        if len(text) <= self._room:
            self._room -= len(text)
            self._cache[name] = text
        return counted_words


def _page_versions(pages: Iterable[Sequence[str]], documents: _Documents) -> Iterator[tuple[str, str]]:
    """Pairs of documents that are versions of one page."""
    for page in pages:
        runs = {name: set(_runs(documents.words(name))) for name in page[:MAX_PAGE_FORMS] if name in documents}
        for first, second in combinations(runs, 2):
            if len(runs[first] & runs[second]) >= SAME_PAGE * (min(len(runs[first]), len(runs[second])) or 1):
                yield first, second


class DocumentGroups:
    """Groups of names, by union-find; a name that is joined and was not given is added."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._leader = {name: name for name in names}

    def join(self, groups: Iterable[Sequence[str]]) -> None:
        """Join the names of each group."""
        for group in groups:
            for name in group[1:]:
                root, other_root = self._find_root(group[0]), self._find_root(name)
                if root != other_root:
                    self._leader[other_root] = root

    def are_joined(self, name: str, other: str) -> bool:
        """True if both are in one group already."""
        return self._find_root(name) == self._find_root(other)

    def group_numbers(self) -> dict[str, int]:
        """The number of each name's group."""
        numbers: dict[str, int] = {}
        return {name: numbers.setdefault(self._find_root(name), len(numbers)) for name in self._leader}

    def _find_root(self, name: str) -> str:
        while self._leader.setdefault(name, name) != name:
            self._leader[name] = name = self._leader[self._leader[name]]
        return name


def _members(groups: Mapping[str, int]) -> list[list[str]]:
    members: dict[int, list[str]] = defaultdict(list)
    for name, group in groups.items():
        members[group].append(name)
    return list(members.values())


def _widespread(groups: Mapping[str, int], texts: Mapping[str, str]) -> frozenset[str]:
    """Lines that occur in several groups: licences, notices, a publisher's footers."""
    if max(Counter(groups.values()).values(), default=0) < 2:
        return frozenset()  # no copies: nothing to correct
    line_counts: Counter[str] = Counter()
    for members in _members(groups):
        line_counts.update({line for name in members for line in _lines(texts[name])})
    return frozenset(line for line, count in line_counts.items() if count >= WIDESPREAD)


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
    counted_words = words("\n".join(line for line in lines if len(line.split(None, LINE - 1)) == LINE))
    return counted_words if len(counted_words) >= MIN_TEXT_WORDS else words("\n".join(lines))


def _runs(document_words: Sequence[str]) -> list[str]:
    return list(map(" ".join, zip(*(document_words[offset:] for offset in range(_RUN)), strict=False)))


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
    for first, second, estimate in _near_pairs(sketches):
        if groups.are_joined(first, second):
            continue
        if estimate >= _SURE or _share(documents.words(first), documents.words(second)) >= ALIKE:
            groups.join([(first, second)])
    groups.join(_containing_pairs(sketches))
    return groups.group_numbers()


def _short_documents(names: Sequence[str], documents: _Documents) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The short documents that may be parts of others, each with the number of its runs; and where each run is."""
    sizes: dict[str, int] = {}
    where: dict[str, list[str]] = defaultdict(list)
    for name in names:
        document_words = documents.words(name)
        if MIN_TEXT_WORDS <= len(document_words) <= SHORT:
            runs = set(_runs(document_words))
            sizes[name] = len(runs)
            for run in runs:
                where[run].append(name)
    return sizes, dict(where)


def _make_sketch(
    document_words: Sequence[str], short: Mapping[str, int], where: Mapping[str, Sequence[str]]
) -> _Sketch:
    digest = (
        hashlib.sha256(" ".join(document_words).encode("utf-8", "surrogatepass")).digest() if document_words else b""
    )
    if len(document_words) < MIN_TEXT_WORDS:
        return _Sketch(digest, len(document_words), None, ())
    runs = _runs(document_words)
    minhash = RMinHash(_PERMUTATIONS, _SEED)
    minhash.update(runs)
    counts = Counter(part for run in where.keys() & runs for part in where[run]) if where else {}
    parts = [part for part, count in counts.items() if count >= CONTAINED * short[part]]
    return _Sketch(digest, len(document_words), minhash, parts)


def _equal_groups(sketches: Mapping[str, _Sketch]) -> Iterable[Sequence[str]]:
    same: dict[bytes, list[str]] = defaultdict(list)
    for name, sketch in sketches.items():
        if sketch.digest:
            same[sketch.digest].append(name)
    return same.values()


def _near_pairs(sketches: Mapping[str, _Sketch]) -> Iterator[tuple[str, str, float]]:
    """Pairs that may share most of their runs, and the estimate of the share."""
    minhashes = [(name, sketch.minhash) for name, sketch in sketches.items() if sketch.minhash is not None]
    for (first_name, first), (second_name, second) in combinations(minhashes, 2):
        estimate = first.jaccard(second)
        if estimate >= _NEAR:
            yield first_name, second_name, estimate


def _share(document_words: Sequence[str], other_words: Sequence[str]) -> float:
    first, second = set(_runs(document_words)), set(_runs(other_words))
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
MIN_PASSAGE_WORDS = 8
"""A shorter passage, in words, is a heading, a field or a button."""
MIN_DOCUMENT_WORDS = 25
"""With fewer words in all its passages, a document cannot show who rewrote whom."""
MAX_COMPARED_DOCUMENTS, MAX_PASSAGES = 40, 16
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
    embedded_text: str
    text: str


def comparable_parts(document: str, passages: Sequence[tuple[str, str]]) -> list[Part]:
    """The passages of a document that count, at most `MAX_PASSAGES`, each as embedded and as written."""
    parts = [
        Part(document, embedded_text, text) for embedded_text, text in passages if len(words(text)) >= MIN_PASSAGE_WORDS
    ]
    return parts[:MAX_PASSAGES] if sum(len(words(part.text)) for part in parts) >= MIN_DOCUMENT_WORDS else []


def find_rewrites(parts: Sequence[Part], rows: Sequence[Sequence[float]]) -> list[tuple[str, str]]:
    """Pairs of documents of which one says what the other says.

    `rows` are the cosines of each passage with all of them, and with the sentences in `ELSEWHERE`.
    """
    indices: defaultdict[str, list[int]] = defaultdict(list)
    for index, part in enumerate(parts):
        indices[part.document].append(index)
    usual = median([cosine for row in rows for cosine in row[len(parts) :]] or [1.0])
    if usual >= 1.0:
        return []
    pairs = []
    for name, other_name in combinations(indices, 2):
        short, long = sorted((indices[name], indices[other_name]), key=lambda members: _size(members, parts))
        if _count_restated_words(short, long, parts, rows, usual) >= SHARE * _size(short, parts):
            pairs.append((name, other_name))
    return pairs


def merge_groups(groups: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """`groups` with the documents of each pair joined, numbered as before by their first document."""
    together = DocumentGroups(groups)
    together.join([*_members(groups), *pairs])
    return together.group_numbers()


def _size(indices: Sequence[int], parts: Sequence[Part]) -> int:
    return sum(len(words(parts[index].text)) for index in indices)


def _count_restated_words(
    short: Sequence[int], long: Sequence[int], parts: Sequence[Part], rows: Sequence[Sequence[float]], usual: float
) -> int:
    """Words of the passages in `short` that one of those in `long` restates."""
    count = 0
    for index in short:
        figures = _figures(parts[index].text)
        if any(
            rows[index][other_index]
            >= usual + _least_similarity(figures, _figures(parts[other_index].text)) * (1.0 - usual)
            for other_index in long
        ):
            count += len(words(parts[index].text))
    return count


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def _least_similarity(figures: frozenset[str], other: frozenset[str]) -> float:
    """How near passages with these figures must be. If each has figures that the other lacks, no cosine suffices."""
    smaller, larger = sorted((figures, other), key=len)
    if not smaller:
        return PLAIN
    return FIGURED if smaller <= larger else math.inf
