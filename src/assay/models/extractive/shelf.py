"""What the model was shown, as sources with header fields, an identity and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import zip_longest

import msgspec

from assay.core import markers, shown
from assay.core.text import sentences, words
from assay.models.extractive.terms import is_cjk, stem, stems

HEADER_ORDINALS = 25
"""A passage further down a document than this is no header, even where nothing shown stands before it."""

_FIELD = re.compile(
    r"\s*(?:[-*+]\s+)?[*_]{0,2}(?P<key>[^\W\d_][\w /()'.-]{0,38}?)[*_]{0,2}\s*"
    r"(?::|：)[*_]{0,2}(?:\s+|(?<=：))(?P<value>\S.*)",
    re.DOTALL,
)
_RULE = re.compile(r"^[=\-~^*#+.`_]{3,}$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_STRUCTURE = ("#", "|", ">", "```", "~~~", "---", "<", "..", "![", ":", "$")
_URL = re.compile(r"\]\([^)\s]*\)|https?://\S+")
_END = (".", "!", "?", "。", "！", "？", "؟", "…", "।", "｡")
_CODE = re.compile(
    r"[{};]\s*$|^\s*[\w.\[\]\"']+\s*(?:[:+*/-]?=|->)\s*\S.*$"
    r"|^\s*(?:def|class|import|from|let|fn|pub|func|var|const|return)\b.*[:({;]?$",
    re.MULTILINE,
)

_ASSIGNED = re.compile(
    r"(?:(?:const|let|var|static|final|pub|export|set)\s+)*[A-Za-z_][\w.\[\]\"'-]{2,}\s*(?::[\w\s&<>\[\]]+)?(?:=|:=?)\s*\S"
)
_VERB = re.compile(r"is|are|was|were|has|have|had|be|been|ist|sind|war|hat|does|did|can|will|must|\w{2,}(?:ed|s|te|en)")


class Field(msgspec.Struct, frozen=True):
    """A header field: its key as written, its words joined by spaces, its value on one line, its passage."""

    key: str
    name: str
    value: str
    passage: str
    ordinal: int


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a passage on one line, with the keys of its words, and those of the heading shown above it.

    `kind` is "prose", "row" (a table row, a line with a key) or "code". `beside` are the keys of its whole passage.
    """

    text: str
    passage: str
    ordinal: int
    stems: frozenset[str]
    kind: str = "prose"
    above: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


class Identifier(msgspec.Struct, frozen=True):
    """A document's number in a series, as in "PEP 6": the series casefolded, the number without leading zeros."""

    series: str
    number: str


class Book:
    """One source with the passages shown of it, in document order."""

    def __init__(self, id: str, title: str, url: str, passages: Iterable[shown.ShownPassage]) -> None:
        self.id, self.title, self.url = id, title, url
        self.passages = sorted({passage.id: passage for passage in passages}.values(), key=lambda p: ordinal(p.id))

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Header fields, which stand before any prose; of equal keys the first."""
        found: dict[str, Field] = {}
        for passage in self.passages:
            field = read_field(passage.id, passage.text)
            if ordinal(passage.id) > HEADER_ORDINALS or (field is None and split(passage.id, passage.text)):
                break
            if field is not None:
                found.setdefault(field.name, field)
        return tuple(found.values())

    def field(self, *names: str) -> Field | None:
        """The first field with one of these names, in the order of `names`."""
        by_name = {field.name: field for field in self.fields}
        return next((by_name[name] for name in names if name in by_name), None)

    @cached_property
    def number(self) -> Field | None:
        """The field which numbers the document in its series: `PEP: 6`, `eip: 1559`."""
        first = self.fields[:6]
        return next(
            (f for f in first if re.fullmatch(r"0*\d{1,6}", f.value) and re.fullmatch(r"[^\W\d_]{2,8}", f.key)), None
        )

    @cached_property
    def titles(self) -> tuple[tuple[str, ...], ...]:
        """The document's titles as words: the source's, and that of a title field."""
        field = self.field("title", "feature name")
        texts = (self.title, field.value if field else "")
        return tuple(dict.fromkeys(tuple(words(text)) for text in texts if text))

    @cached_property
    def title_stems(self) -> frozenset[str]:
        """Word keys of all titles."""
        return frozenset(stem(word) for title in self.titles for word in title)

    @cached_property
    def place_stems(self) -> frozenset[str]:
        """Word keys of the address."""
        return frozenset(stems(self.url))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Every sentence which can be quoted, in document order, each once; header fields are none."""
        found: dict[str, Sentence] = {}
        header = {field.passage for field in self.fields}
        above: frozenset[str] = frozenset()
        columns: frozenset[str] | None = None
        body = [each for each in self.passages if each.id not in header]
        for passage, after in zip_longest(body, body[1:]):
            is_row, table_goes_on = _is_row(passage.text), after is not None and _is_row(after.text)
            if not is_row:
                columns = None
            elif columns is None and table_goes_on:
                columns = _stems(passage.text)
                continue
            quotable = split(passage.id, passage.text)
            if not quotable and _is_heading(passage.text):
                above = _stems(passage.text)
            for sentence in quotable:
                near = above | (columns or frozenset()) if sentence.kind == "row" else above
                placed = msgspec.structs.replace(sentence, above=near, beside=_stems(passage.text))
                found.setdefault(sentence.text, placed)
        return tuple(found.values())

    @cached_property
    def all_stems(self) -> frozenset[str]:
        """Word keys of title, address and all passages shown."""
        return self.title_stems | self.place_stems | frozenset(key for p in self.passages for key in _stems(p.text))

    def owns(self, wanted: Identifier) -> bool:
        """Whether this document is number `wanted.number` of the series, by field, title or address."""
        if self.number is not None and self.number.name == wanted.series:
            return self.number.value.lstrip("0") == wanted.number
        for field in self.fields[:4]:
            if _named(field.value, wanted, whole=True) and wanted.series not in {"http", "https"}:
                return True
        return _named(self.title, wanted, whole=True) or _named(self.url, wanted) or _numbered(self.url, wanted)

    def in_series(self, series: str) -> bool:
        """Whether this document has a number of `series`."""
        if self.number is not None and self.number.name == series:
            return True
        return (
            re.search(rf"(?<![a-z]){re.escape(series)}s?[-_/ ]?0*\d", f"{self.title} {self.url}".casefold()) is not None
        )


class Shelf:
    """All sources shown, in order of appearance."""

    def __init__(self, texts: Iterable[str]) -> None:
        gathered: dict[str, tuple[str, str, list[shown.ShownPassage]]] = {}
        for text in texts:
            for source in shown.read(text):
                gathered.setdefault(source.id, (source.title, source.url, []))[2].extend(source.passages)
        self.books = [Book(id, *rest) for id, rest in gathered.items()]

    @cached_property
    def by_passage(self) -> dict[str, Book]:
        """The book each passage is in."""
        return {passage.id: book for book in self.books for passage in book.passages}


def ordinal(passage: str) -> int:
    """The place of a passage in its document: 17 for `S2003.17`."""
    return int(passage.rpartition(".")[2])


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


@lru_cache(maxsize=4096)
def read_field(passage: str, text: str) -> Field | None:
    """The field a passage is, if it is one."""
    match = _FIELD.fullmatch(text)
    if match is None or len(match["key"].split()) > 4 or "\n\n" in text or re.search(r"\d", match["key"]):
        return None
    value = one_line(match["value"])
    if match["value"].startswith("**") or value.endswith("**"):
        value = value.removeprefix("**").removesuffix("**") if value.count("**") <= 2 else value
    name = " ".join(words(match["key"]))
    if not name or not value or _unsafe(value):
        return None
    return Field(key=match["key"].strip(), name=name, value=value, passage=passage, ordinal=ordinal(passage))


@lru_cache(maxsize=4096)
def split(passage: str, text: str) -> tuple[Sentence, ...]:
    """The sentences of a passage which may stand in a report."""
    place = ordinal(passage)
    if _is_heading_or_code(text):
        return _code(passage, place, text)
    if _is_row(text):
        return _row(passage, place, text)
    body = _BULLET.sub("", text, count=1)
    if (field := read_field(passage, text)) and not ends(field.value):
        return _line(passage, place, one_line(body))
    found = []
    for start, end in sentences(body):
        line = one_line(_BULLET.sub("", body[start:end], count=1))
        if _quotable(line):
            found.append(Sentence(line, passage, place, frozenset(stems(line))))
    return tuple(found)


def _code(passage: str, place: int, text: str) -> tuple[Sentence, ...]:
    """The lines of code which give a name a value; prose does not quote others."""
    if "```" not in text and "~~~" not in text and not _CODE.search(text):
        return ()
    lines = (line.strip() for line in text.splitlines())
    return tuple(
        Sentence(line, passage, place, frozenset(stems(line)), "code")
        for line in lines
        if len(line) <= 200 and _ASSIGNED.match(line) and not _unsafe(line)
    )


def _is_row(text: str) -> bool:
    return text.lstrip().startswith("|")


def _row(passage: str, place: int, text: str) -> tuple[Sentence, ...]:
    line = one_line(text).strip("| ")
    return () if set(line) <= set("-|: +=") else _line(passage, place, line)


def _line(passage: str, place: int, line: str) -> tuple[Sentence, ...]:
    """A table row, or a line with a key and a value, quoted as a whole."""
    bare = len(_URL.sub("", line)) * 2 < len(line)
    return (
        ()
        if bare or _unsafe(line) or len(line) > 500
        else (Sentence(line, passage, place, frozenset(stems(line)), "row"),)
    )


def _is_name_list(line: str) -> bool:
    """Whether a line is names and little else: nothing is said of them."""
    found = re.findall(r"[^\W\d_][\w.'’-]*", line)
    small = [word for word in found if word[0].islower()]
    capitals = sum(word[0].isupper() for word in found)
    return len(found) >= 6 and capitals >= 0.7 * len(found) and not any(_VERB.fullmatch(word) for word in small)


def _is_heading(text: str) -> bool:
    """Whether a passage nobody would quote looks like a heading: a short line."""
    return len(text) < 100 and "\n" not in text.strip() and not text.lstrip().startswith(("|", "```"))


def _is_heading_or_code(text: str) -> bool:
    stripped = text.strip()
    if stripped.startswith(("#", "```", "~~~", "    ", "<!--", ".. ")) or "```" in stripped:
        return True
    if _RULE.search(stripped) and len(stripped) < 200 and stripped.count("\n") <= 2:
        return True
    lines = stripped.count("\n") + 1
    return len(_CODE.findall(stripped)) * 2 > lines


def _quotable(line: str) -> bool:
    letters = sum(letter.isalpha() for letter in line)
    return (
        letters
        >= (4 if is_cjk(line) else 6 if ends(line) and len(line.split()) > 2 else 8 if not line.isascii() else 16)
        and len(line) <= 700
        and letters * 2 > len(line)
        and not line.startswith(_STRUCTURE)
        and not line.endswith((":", "："))
        and line.count(" = ") < 2
        and (ends(line) or _long(line))
        and len(_URL.sub("", line)) * 2 > len(line)
        and not _unsafe(line)
        and (is_cjk(line) or not _is_name_list(line))
    )


def ends(line: str) -> bool:
    """Whether a line ends as sentences do."""
    return line.rstrip("\"'”’»›)]*_`」』】）").endswith(_END)


def _long(line: str) -> bool:
    """Whether a line without a sentence's end is more than a heading or a label."""
    return len(line.split()) >= 8 or (is_cjk(line) and len(line) >= 16)


def _unsafe(line: str) -> bool:
    """Whether a line holds what would be read as a citation of ours, or opens a code span without closing it."""
    return bool(markers.parse(line)) or line.count("`") % 2 == 1


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def _named(text: str, wanted: Identifier, whole: bool = False) -> bool:
    series, number = re.escape(wanted.series), re.escape(wanted.number)
    pattern = rf"(?<![^\W_]){series}s?[-_/ #]{{0,2}}0*{number}(?![^\W_])"
    text = text.casefold()
    if whole:
        return re.match(rf"\W*{pattern}", text) is not None
    return re.search(pattern, text) is not None


def _numbered(url: str, wanted: Identifier) -> bool:
    """Whether an address names the series, and has a part which begins with the number: `/rfcs/1946-intra-links`."""
    url = url.casefold()
    series = re.search(rf"(?<![a-z]){re.escape(wanted.series)}s?(?![a-z])", url)
    return bool(series) and re.search(rf"/0*{wanted.number}(?=[-_./]|$)", url) is not None
