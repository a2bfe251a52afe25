"""Rewrites a text with citations of its own kind to one with a run's markers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from typing import TypeVar

import msgspec

from assay.core.lazy import regex
from assay.core.markers import RenderedMarkers
from assay.core.scanner import Token, scan
from assay.core.web_addresses import canonical_url
from assay.verify.texts.author_years import (
    AuthorIndex,
    AuthorYear,
    CitedWork,
    choose_citations,
    find_author_years,
    names_work,
)
from assay.verify.texts.references import (
    BARE_URL,
    Definition,
    Definitions,
    export_headings,
    is_counts_line,
    normalize_label,
    read_definitions,
    read_link,
    trim_url,
)

# Citations: `[1]`, `[1, 3-5]`, `【1†…】`, `[^note]`, `<sup>1</sup>`, `[words](address)`, `<address>`, `https://…`;
# by author and year as in `find_author_years`.

MOST = 50
"""The most numbers of a range (`[3-5]`)."""


class CitationSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A citation at code points `[start, end)`: labels of references, or one address, or works by author and year.

    `shown` is the part of it that belongs to the sentence: a link's words, or what authors found.
    """

    start: int
    end: int
    labels: tuple[str, ...] = ()
    url: str = ""
    shown: str = ""
    works: tuple[CitedWork, ...] = ()


_NUMBER = r"\^?\d{1,3}(?!\d)"
_NUMBERS = regex(rf"\s*{_NUMBER}(?:\s*(?:[-\u2010-\u2015~]|[,;，、；&]|and)\s*{_NUMBER})*\s*(?:†[^\]】\n]*)?")
_PART = regex(r"(\d{1,3})(?:\s*[-\u2010-\u2015~]\s*\^?(\d{1,3}))?")
_PROSE = regex(
    rf"(?P<bracket>[\[【](?P<label>[^\[\]【】\n]{{1,120}})[\]】])"
    rf"|<sup>[ \t]{{0,3}}\[?(?P<raised>{_NUMBER}(?:[ \t]?[,;-][ \t]?{_NUMBER})*)\]?[ \t]{{0,3}}</sup>"
    rf"|(?P<url>{BARE_URL.pattern})",
    re.IGNORECASE,
)
_CHECKBOX = regex(r"[ xX]")


_Place = TypeVar("_Place", CitationSpan, AuthorYear)


def citation_spans(text: str, known: Definitions, tokens: Sequence[Token]) -> tuple[CitationSpan, ...]:
    """The citations of `text`, whose pieces are `tokens`: in order, not nested, outside the entries of `known`."""
    found = _drop_overlaps(_find_citations(text, known, tokens), known)
    index = AuthorIndex(known.all)
    pieces = (piece for is_prose, piece in _pieces(tokens) if is_prose)
    dated = (each for piece in pieces for each in find_author_years(text, piece[0].start, piece[-1].end, index))
    by_author = [
        CitationSpan(start=each.start, end=each.end, works=each.works, shown=each.shown)
        for each in choose_citations(_drop_overlaps(dated, known), others=bool(found))
    ]
    return tuple(_drop_overlaps(merge(found, by_author, key=lambda place: place.start), known))


def _drop_overlaps(places: Iterable[_Place], known: Definitions) -> list[_Place]:
    """Those of `places`, in order, that are outside the entries of `known` and do not overlap one before."""
    entries = [(each.start, each.end) for each in known.all]
    found: list[_Place] = []
    at = 0
    for place in places:
        while at < len(entries) and entries[at][1] <= place.start:
            at += 1
        if not (at < len(entries) and entries[at][0] <= place.start) and not (found and place.start < found[-1].end):
            found.append(place)
    return found


def _pieces(tokens: Sequence[Token]) -> Iterator[tuple[bool, list[Token]]]:
    """Runs of tokens that are prose, or not."""
    for is_prose, group in groupby(tokens, key=lambda token: token.kind == "text"):
        yield is_prose, list(group)


def _find_citations(text: str, known: Definitions, tokens: Sequence[Token]) -> Iterator[CitationSpan]:
    for is_prose, alike in _pieces(tokens):
        if is_prose:
            yield from _prose_citations(text, alike[0].start, alike[-1].end, known)
        else:
            yield from (place for token in alike if (place := _token_citation(text, token)))


def _token_citation(text: str, token: Token) -> CitationSpan | None:
    """The citation in a link, an address in angle brackets, or something that looks like a run's marker."""
    piece = text[token.start : token.end]
    if token.marker:
        return CitationSpan(start=token.start, end=token.end, labels=tuple(map(normalize_label, token.marker.ids)))
    if token.kind == "link" and text[token.start - 1 : token.start] != "!":
        found = read_link(piece)
        if found:
            label, url = found
            number = label.strip(" []^")
            shown = "" if number.isdecimal() or names_work(label) else label
            return CitationSpan(start=token.start, end=token.end, url=url, shown=shown)
    if token.kind == "verbatim" and piece.startswith("<") and BARE_URL.fullmatch(piece[1:-1]):
        return CitationSpan(start=token.start, end=token.end, url=piece[1:-1])
    return None


def _prose_citations(text: str, start: int, end: int, known: Definitions) -> Iterator[CitationSpan]:
    bracket: re.Match[str] | None = None  # a bracket without meaning of its own, directly before
    for match in _PROSE.finditer(text, start, end):
        labels = _labels(match, known)
        if match["url"]:
            url = trim_url(match["url"])
            yield CitationSpan(start=match.start(), end=match.start() + len(url), url=url)
        elif labels:
            joined = bracket if bracket and bracket.end() == match.start() and not labels[0].isdecimal() else None
            first, last = (joined or match).start(), match.end()
            if not joined and text[first - 1 : first] == "[" and text[last : last + 1] == "]":
                first, last = first - 1, last + 1
            yield CitationSpan(start=first, end=last, labels=labels, shown=joined["label"] if joined else "")
        bracket = match if match["bracket"] and not labels else None


def _labels(match: re.Match[str], known: Definitions) -> tuple[str, ...]:
    """The references that a bracket names: one that is defined, or numbers."""
    inner = match["raised"] or match["label"]
    if not inner or _CHECKBOX.fullmatch(inner):
        return ()
    if inner in known or (inner.startswith("^") and " " not in inner):
        return (normalize_label(inner),)
    if _NUMBERS.fullmatch(inner):
        return _numbers(inner.partition("†")[0])
    parts = [part.strip() for part in re.split(r"[,;]", inner)]
    return tuple(map(normalize_label, parts)) if len(parts) > 1 and all(part in known for part in parts) else ()


def _numbers(inner: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for part in _PART.finditer(inner):
        first, last = int(part[1]), int(part[2] or part[1])
        numbers = range(first, min(last, first + MOST - 1) + 1) if first <= last else (first, last)
        found.update(dict.fromkeys(map(str, numbers)))
    return tuple(found)


_HEADING = regex(r"(#{1,6})[ \t]+\S")
_ALONE = regex(r"\((?:(?:sources?|see|via|from|quelle|cf\.?)[ \t]{0,3}:?[ \t]{0,3})?\Z", re.IGNORECASE)
_BEHIND = regex(r"[ \t]*(?:$|[)\]|,;.\[【(])", re.MULTILINE)

_BETWEEN = regex(r"[ \t]*(?:[,;&/|]|and)?[ \t]*")
_CLOSING = regex(r"[ \t]*\)")
_Edit = tuple[int, int, str]
_Marks = tuple[CitationSpan, list[str]]


class TextReference(msgspec.Struct, frozen=True, kw_only=True):
    """A reference of a text: an entry of its list, or an address it links. `id` is `S1` and so on, in order of
    appearance.

    `label` is the text's own label in brackets, empty for a link. `is_defined` is False if the list lacks that label.
    """

    id: str
    label: str = ""
    url: str = ""
    title: str = ""
    text: str = ""
    is_defined: bool = True


class MarkedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text with markers; `origin` maps a place in `text` back to the original text."""

    text: str
    references: tuple[TextReference, ...]
    uncited: tuple[Definition, ...]
    places: tuple[CitationSpan, ...]
    rendered: RenderedMarkers

    def origin(self, point: int) -> int:
        """The place in the original text of code point `point` of `text`."""
        return self.rendered.origin(point)


def mark_citations(text: str) -> MarkedText:
    """`text` with `[S1]` for each of its citations, without its list of references, and with words in place of links.

    A link whose words only name the source (after the end of a sentence, or in parentheses) is removed completely. So
    is what one of Assay's exports says about itself (verification, limits), because it is not part of the report.
    """
    tokens = tuple(scan(text))
    known = read_definitions(text, tokens)
    found = citation_spans(text, known, tokens)
    numbering = _Numbering(known)
    marks = [(place, [f"[{id}]" for id in numbering.ids(place)]) for place in found]
    edits = [edit for group in _groups(text, marks) for edit in _edits(text, group)]
    gone = [(each.start, each.end) for each in known.all]
    edits += [(start, end, "\n") for start, end in (*gone, *_export_sections(text))]
    rendered = _apply(text, sorted(edits))
    return MarkedText(
        text=rendered.text,
        references=tuple(numbering.references),
        uncited=tuple(each for each in known.all if each not in numbering.cited),
        places=found,
        rendered=rendered,
    )


class _Numbering:
    """Assigns an id to each cited reference."""

    def __init__(self, known: Definitions) -> None:
        self.references: list[TextReference] = []
        self.cited: set[Definition] = set()
        self._known = known
        self._ids: dict[tuple[str, str], str] = {}

    def ids(self, place: CitationSpan) -> tuple[str, ...]:
        if place.url:
            return (self._id(("url", canonical_url(place.url)), url=place.url, title=place.shown),)
        named = (id for work in place.works for id in self._work(work))
        return tuple(dict.fromkeys((*(self._entry_of_label(label, place.start) for label in place.labels), *named)))

    def _work(self, work: CitedWork) -> Iterator[str]:
        """The ids of a work's entries; if there is none, of one missing from the list, if the text has a list."""
        for entry in work.entries:
            yield self._entry(entry, work.label)
        if not work.entries and self._known.all:
            yield self._id(("none", work.label), label=work.label, is_defined=False)

    def _entry_of_label(self, label: str, point: int) -> str:
        named = self._known.lookup(label, point)
        if named is None:
            return self._id(("none", label), label=label, is_defined=False)
        return self._entry(named, label)

    def _entry(self, named: Definition, label: str) -> str:
        self.cited.add(named)
        key = ("entry", str(named.start))
        return self._id(key, label=label, url=named.url, title=named.title, text=named.text)

    def _id(self, key: tuple[str, str], **about: object) -> str:
        if key not in self._ids:
            self._ids[key] = f"S{len(self.references) + 1}"
            self.references.append(msgspec.convert({"id": self._ids[key], **about}, TextReference))
        return self._ids[key]


def _groups(text: str, marks: Sequence[_Marks]) -> Iterator[list[_Marks]]:
    """Adjacent citations, separated only by list separators."""
    group: list[_Marks] = []
    for place, markers in marks:
        if group and not _BETWEEN.fullmatch(text, group[-1][0].end, place.start):
            yield group
            group = []
        group.append((place, markers))
    if group:
        yield group


def _edits(text: str, group: Sequence[_Marks]) -> Iterator[_Edit]:
    """Replace citations with markers; if a group is alone in parentheses, remove these too."""
    first, last = group[0][0], group[-1][0]
    opening = _ALONE.search(text, max(text.rfind("\n", 0, first.start) + 1, first.start - 60), first.start)
    closing = _CLOSING.match(text, last.end)
    if opening and closing:
        whole = " ".join(marker for _, markers in group for marker in markers)
        yield opening.start(), closing.end(), _replacement(text, opening.start(), closing.end(), "", whole)
        return
    for place, markers in group:
        if not markers:  # an author and a year, in a text without a list of references
            start = place.start - (text[place.start - 1 : place.start] == " ")
            yield start, place.end, ""
            continue
        shown = "" if place.url and _only_names(text, place) else " ".join(place.shown.split())
        kept = shown.replace("[", "(").replace("]", ")")
        yield place.start, place.end, _replacement(text, place.start, place.end, kept, " ".join(markers))


def _replacement(text: str, start: int, end: int, kept: str, markers: str) -> str:
    """The replacement of `[start, end)`: words, then markers, separated from anything Markdown would join to them."""
    before, after = text[start - 1 : start], text[end : end + 1]
    apart = " " if kept or (before and not before.isspace()) else ""
    return f"{kept}{apart}{markers}{' ' if after and after in '([:' else ''}"


def _only_names(text: str, place: CitationSpan) -> bool:
    """True if a link's words only name the source: they follow the end of a sentence, and no sentence follows."""
    line = text.rfind("\n", 0, place.start) + 1
    before = text[max(line, place.start - 300) : place.start].rstrip(" \t")
    ended = before[-1:] in tuple('.!?。！？”")]】|') and not _ITEM.fullmatch(before)
    return ended and _BEHIND.match(text, place.end) is not None


_ITEM = regex(r"[ \t>]*(?:\d{1,4}[.)]|[-*+•])(?:[ \t]*\[[ xX]\])?")


def _export_sections(text: str) -> Iterator[tuple[int, int]]:
    """The sections in which one of Assay's exports describes itself."""
    level, start, at = 0, 0, 0
    for line in text.splitlines(keepends=True):
        heading = _HEADING.match(line)
        if heading and level and len(heading[1]) <= level:
            yield start, at
            level = 0
        if not level and is_counts_line(line.rstrip()):
            yield at, at + len(line)
        if heading and not level and line.strip(" \t#\r\n").lower() in export_headings():
            level, start = len(heading[1]), at
        at += len(line)
    if level:
        yield start, at


def _apply(text: str, edits: Iterable[_Edit]) -> RenderedMarkers:
    """`text` after `edits`; of two that overlap, the first is made."""
    parts: list[str] = []
    pieces: list[tuple[int, int, bool]] = []
    raw = out = 0
    for start, end, new in edits:
        if start < raw:
            continue
        for begin, part, copied in ((raw, text[raw:start], True), (start, new, False)):
            pieces.append((begin, out, copied))
            parts.append(part)
            out += len(part)
        raw = end
    pieces.append((raw, out, True))
    return RenderedMarkers("".join((*parts, text[raw:])), tuple(pieces))
