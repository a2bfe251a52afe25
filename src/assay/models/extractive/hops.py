"""Questions about a document which another document names: "who wrote the PEP that replaced PEP 5?".

Such a question is taken apart into the field to look up first (what PEP 5 was superseded by) and the question to ask of
each document which that field names. English only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal

import msgspec

from assay.core import markers
from assay.core.text import words
from assay.models.extractive.answering import OPPOSITE, answers, frame
from assay.models.extractive.lexicon import FACETS
from assay.models.extractive.passages import Field
from assay.models.extractive.question import analyze
from assay.models.extractive.relations import Relation, described
from assay.models.extractive.shelf import Book, Identifier, Shelf
from assay.models.extractive.subjects import resolve
from assay.models.extractive.units import Unit

Order = Literal["", "first", "last"]

HERE = "▯"
"""Stands in the outer question for the documents the inner one finds."""
_ASKED: dict[Relation, str] = {
    "requires": "What does {anchor} require?",
    "replaces": "Which document does {anchor} replace?",
    "superseded": "What was {anchor} superseded by?",
}
_NUMBERED = r"[^\W\d_]{2,12}[-–_ #]{0,2}\d{1,6}(?![\w.]*\d)"
_ASKS = {
    "author": "Who wrote {}?",
    "created": "When was {} created?",
    "version": "Which version does {} target?",
}
_HEADS = frozenset(
    "pep peps eip eips erc ercs rfc rfcs kep keps proposal proposals document documents specification specifications "
    "standard standards one ones them they those these others text texts paper papers idea ideas whatever".split()
)
"""Words for documents which are not called by their number."""
_MEANT = {
    "author": frozenset("who whose whom people person persons names minds hands team".split()),
    "created": frozenset("when day date year old age began begin begun start".split()),
    "status": frozenset("state stage fate stand stands standing outcome happened become became".split()),
}
"""Words by which a field is asked for where no word for the field itself is used."""
LONGEST = 600
"""Code points above which a text is a document, no question."""
MOST_MATCHES = 4
"""Readings of a question tried by each pattern."""
_ANCHOR = rf"(?:the\s+)?(?:(?-i:[A-Z])[a-z]+\s+)?(?P<anchor>{_NUMBERED}|[“\"][^”\"]{{3,160}}[”\"])"
_VERBS = r"(?:was|were|is|are|did|does|do|has|have|the|of|by|on|who|whom|when|what|which|that)\b"
_NOUN = rf"(?:the\s+)?(?:only\s+)?(?!{_VERBS})[^\W\d_]{{2,}}"
_THAT = r"(?:that|which)"
_BE = r"(?:(?:is|are|was|were|got|has been|have been|had been)\s+)"
_REPLACE = r"(?:supersed|replac|obsolet|succeed)"
_NEED = r"(?:require|need|depend|rel(?:y|ie)|build)"
_ON = r"(?:\s+(?:up)?on)?"
_FORMS: tuple[tuple[str, Relation], ...] = (
    (rf"{_NOUN}\s+(?:{_THAT}\s+)?{_BE}?{_REPLACE}ed\s+by\s+{_ANCHOR}", "replaces"),
    (rf"{_NOUN}\s+(?:{_THAT}\s+)?{_BE}?(?:required|needed)\s+(?:by|for)\s+{_ANCHOR}", "requires"),
    (rf"{_NOUN}\s+{_THAT}\s+(?:has\s+|have\s+)?{_REPLACE}(?:es|ed|s|e)?\s+{_ANCHOR}", "superseded"),
    (rf"{_NOUN}\s+(?:{_THAT}\s+)?{_ANCHOR}\s+{_BE}{_REPLACE}ed\s+by", "superseded"),
    (rf"{_NOUN}\s+(?:by\s+{_THAT}\s+){_ANCHOR}\s+{_BE}{_REPLACE}ed", "superseded"),
    (rf"{_NOUN}\s+(?:{_THAT}\s+)?{_ANCHOR}\s+(?:has\s+|had\s+)?{_REPLACE}(?:es|ed|s|e)", "replaces"),
    (rf"{_NOUN}\s+(?:(?:on\s+)?{_THAT}\s+)?{_ANCHOR}\s+(?:has\s+|had\s+)?{_NEED}(?:es|ed|s|d)?{_ON}", "requires"),
    (rf"(?:the\s+)?(?:successor|replacement)\s+(?:of|to|for)\s+{_ANCHOR}", "superseded"),
    (rf"(?:the\s+)?predecessor\s+(?:of|to)\s+{_ANCHOR}", "replaces"),
    (rf"(?:the\s+)?(?:prerequisite|requirement|dependenc(?:y|ie))s?\s+(?:of|for)\s+{_ANCHOR}", "requires"),
    (rf"{_ANCHOR}['’]s\s+(?:successor|replacement)", "superseded"),
    (rf"{_ANCHOR}['’]s\s+predecessor", "replaces"),
    (rf"{_ANCHOR}['’]s\s+(?:prerequisite|requirement|dependenc(?:y|ie))s?", "requires"),
)
_PATTERNS = tuple((re.compile(rf"(?<!\w){form}(?!\w)", re.IGNORECASE), relation) for form, relation in _FORMS)
_FIRST = frozenset(("first", "earliest", "oldest"))
_LAST = frozenset(("last", "latest", "newest", "youngest", "recent", "recently"))
_AT_FIRST = re.compile(r"\bwhen\b[^?]*?(?<!\bthe)(?<!\bwas)\s(?:first|last|recently)\s+(?=\w)", re.IGNORECASE)
"""In "when did it first appear?" nothing is the first of several."""
_ORDERING = re.compile(
    r"\b(?:the\s+)?(?:first|earliest|oldest|last|latest|newest|youngest|most\s+recent(?:ly)?)\b\s*", re.I
)
_FRAME = re.compile(
    r"(?P<key>[^:]{2,40}?) of (?P<series>[^\W\d_]{2,12})[- ]?0*(?P<number>\d{1,6})\b[^:]*?: (?P<value>.*)"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    """Such a question taken apart: the document it starts from, the field to follow, the question to ask of the rest.

    `order` says which of several documents is meant: the one created first, or last. `facets` are the fields asked of
    the documents found; `outer` is empty where the words of the question do not stand around what is described.
    """

    anchor: str
    relation: Relation
    facets: tuple[str, ...]
    outer: str = ""
    order: Order = ""

    @property
    def inner(self) -> str:
        """The question to begin with."""
        return _ASKED[self.relation].format(anchor=self.anchor)

    def of(self, targets: Sequence[str]) -> str:
        """The question to ask of `targets` ("EIP 20")."""
        named = ", ".join(targets[:-1]) + (" and " if len(targets) > 1 else "") + targets[-1]
        asked = ["When was {} created?"] if self.order else []
        if self.outer and self.facets:
            asked.append(_ORDERING.sub("", self.outer).replace(HERE, "{}"))
        else:
            asked += [_ASKS.get(facet, f"What is the {facet} of {{}}?") for facet in self.facets]
        return " ".join(dict.fromkeys(asked)).replace("{}", named)


@lru_cache(maxsize=256)
def read(text: str) -> Hop | None:
    """The question as a hop, None for any other question."""
    text = unicodedata.normalize("NFKC", text).strip()
    if len(text) > LONGEST:
        return None
    hops = (
        _hop(text, match, relation)
        for pattern, relation in _PATTERNS
        for match in islice(_matches(pattern, text), MOST_MATCHES)
    )
    return next((hop for hop in hops if hop.order or hop.facets), None) or _loose(text)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Every place a pattern fits, overlapping ones too: what reads like a noun may be the verb before it."""
    match = pattern.search(text)
    while match is not None:
        yield match
        match = pattern.search(text, match.start() + 1)


def _hop(text: str, match: re.Match[str], relation: Relation) -> Hop:
    outer = f"{text[: match.start()]}{HERE}{text[match.end() :]}"
    order = _order(outer)
    facets = _plain(analyze(outer.replace(HERE, "it")).facets, order)
    return Hop(anchor=match["anchor"], relation=relation, facets=facets, outer=outer, order=order)


def _plain(facets: Iterable[str], order: Order) -> tuple[str, ...]:
    """The fields asked for, without the day which only says which document is meant."""
    return tuple(facet for facet in facets if facet not in _ASKED and not (order and facet == "created"))


def _loose(text: str) -> Hop | None:
    """A hop in other words: one document is numbered, another is described by how it relates to that, and asked about.

    The other one has to be spoken of ("the EIP", "which of them", "its successor").
    """
    mentions = analyze(text).mentions
    if len(mentions) != 1:
        return None
    anchor = mentions[0].text
    start = text.index(anchor)
    found = described(text, start, start + len(anchor))
    if found is None:
        return None
    before, after = text[: found.start], text[found.end :]
    order = _order(f"{before} {after}")
    facets = _plain(analyze(f"{before} it {after}").facets, order) or (() if order else _meant(f"{before} {after}"))
    spoken = found.noun or bool(_HEADS & {*words(before), *words(after)})
    if not (facets or order) or not spoken:
        return None
    return Hop(anchor=anchor, relation=found.relation, facets=facets, order=order)


def _meant(text: str) -> tuple[str, ...]:
    said = set(words(text))
    return tuple(facet for facet, asking in _MEANT.items() if said & asking)[:1]


def _order(outer: str) -> Order:
    said = set(words(_AT_FIRST.sub(" ", outer)))
    return "first" if said & _FIRST else "last" if said & _LAST else ""


# following a field through findings, which are text


def targets(hop: Hop, findings: Iterable[str]) -> list[str]:
    """The documents which findings name in the field followed, each as its series and number."""
    number = re.search(r"\d+", hop.anchor)
    wanted = number[0].lstrip("0") if number else ""
    found = [name for text in findings for line in text.splitlines() for name in _named(hop, wanted, line)]
    return list(dict.fromkeys(found))


def _named(hop: Hop, number: str, line: str) -> list[str]:
    match = _FRAME.match(markers.strip(line).strip().removeprefix("- "))
    if match is None:
        return []
    key, mine = " ".join(words(match["key"])), match["number"].lstrip("0")
    value = _numbers(match["value"])
    if key in FACETS[hop.relation].keys and number in ("", mine):
        return [f"{match['series']} {each}" for each in value if each != mine]
    converse = FACETS[OPPOSITE[hop.relation]].keys if hop.relation in OPPOSITE else frozenset()
    return [f"{match['series']} {mine}"] if key in converse and number in value else []


def _numbers(value: str) -> list[str]:
    plain = re.sub(r"\]\([^)]*\)", "]", value)
    return list(dict.fromkeys(each.lstrip("0") for each in re.findall(r"(?<![\d.])\d{1,6}(?![\d.]*\d)", plain)))


# the answer, out of what was read


def answer(text: str, shelf: Shelf) -> list[Unit]:
    """Frames which answer a hop, then the one that led there; nothing for other questions, or where a link is missing.

    Where one of several is asked for, and not all of them say when they were created, none is.
    """
    hop = read(text)
    if hop is None:
        return []
    subject = resolve(analyze(hop.inner), shelf)
    led = answers(analyze(hop.inner), subject, shelf) if subject.books else []
    names = targets(hop, [unit.line() for unit in led])
    books = [_book(name, shelf) for name in names]
    found = [book for book in books if book is not None]
    if not found or (hop.order and len(found) < len(books)):
        return []
    if hop.order:
        found = _extreme(found, hop.order)
    facets = hop.facets or ("created",)
    fields = [(book, book.field(*FACETS[facet].keys)) for book in found for facet in facets]
    framed = [frame(book, field) for book, field in fields if field is not None]
    return [*framed, *led] if framed else []


def _book(name: str, shelf: Shelf) -> Book | None:
    series, _, number = name.rpartition(" ")
    wanted = Identifier(series.casefold(), number)
    return next((book for book in shelf.books if book.owns(wanted)), None)


def _extreme(books: Sequence[Book], order: Order) -> list[Book]:
    """The document created first or last; none where one does not say when it was, and all that share the day."""
    dated = [(day, book) for book in books if (day := _created(book))]
    if len(dated) < len(books):
        return []
    wanted = (min if order == "first" else max)(day for day, _ in dated)
    return [book for day, book in dated if day == wanted]


def _created(book: Book) -> tuple[int, int, int] | None:
    field = book.field(*FACETS["created"].keys)
    return date(field) if field else None


def date(field: Field) -> tuple[int, int, int] | None:
    """The day a field says first, as `2015-11-19` or `19-Nov-2015`."""
    match = re.search(r"(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ,]+(\d{4})", field.value)
    if match is None:
        return None
    if match[1]:
        return int(match[1]), int(match[2]), int(match[3])
    month = match[5].casefold()
    return (int(match[6]), _MONTHS.index(month) + 1, int(match[4])) if month in _MONTHS else None
