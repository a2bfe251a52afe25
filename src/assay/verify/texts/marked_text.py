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
# by file as `[plan.pdf, p. 3; notes.md]`, in parentheses with a page or "source:"; by author and year as in
# `find_author_years`.

MAX_RANGE_NUMBERS = 50
"""The most numbers of a range (`[3-5]`)."""


class CitationSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A citation at code points `[start, end)`: labels of references, one address, files, or works by author and year.

    `sentence_text` is the part of it that belongs to the sentence: a link's words, or what authors found.
    """

    start: int
    end: int
    labels: tuple[str, ...] = ()
    url: str = ""
    sentence_text: str = ""
    works: tuple[CitedWork, ...] = ()
    files: tuple[str, ...] = ()


_NUMBER = r"\^?\d{1,3}(?!\d)"
_NUMBERS = regex(rf"\s*{_NUMBER}(?:\s*(?:[-\u2010-\u2015~]|[,;，、；&]|and)\s*{_NUMBER})*\s*(?:†[^\]】\n]*)?")
_PART = regex(r"(\d{1,3})(?:\s*[-\u2010-\u2015~]\s*\^?(\d{1,3}))?")
_SEPARATORS = ",;，；、،؛"
_FILE = (
    rf"[^\[\]【】()\n:#{_SEPARATORS}]{{1,100}}"
    r"\.(?:pdf|docx?|odt|rtf|xlsx?|ods|csv|tsv|pptx?|odp|x?html?|md|rst|txt|tex|jsonl?|xml|"
    r"ya?ml|eml|mbox|epub|ipynb|srt|vtt)"
)
"""A file's name; without such an ending it is a word in brackets."""
_NUMBERS_OF_PAGES = r"\d{1,5}(?:[ ]?[-–,][ ]?\d{1,5}){0,5}"
_PAGE_WORD = r"pp?|pages?|page=|s|seiten?|folien?|zeilen?|slides?|sheets?|lines?|l|p[aáà]g(?:ina)?s?|str|стр|ص|صفحة|第"
_PAGE = rf"(?:[ ,:#，،]{{0,3}}(?:{_PAGE_WORD})?\.?[ ]{{0,2}}{_NUMBERS_OF_PAGES}[页頁]?)"
_FILES = regex(
    rf"(?:(?:sources?|quelle):[ ])?{_FILE}{_PAGE}?(?:[ ]?[{_SEPARATORS}][ ]?{_FILE}{_PAGE}?){{0,9}}", re.IGNORECASE
)
_FILE_NAME = regex(rf"(?:(?:sources?|quelle):)?\s*({_FILE})", re.IGNORECASE)
_PROSE = regex(
    rf"(?P<bracket>[\[【](?P<label>[^\[\]【】\n]{{1,120}})[\]】])"
    rf"|<sup>[ \t]{{0,3}}\[?(?P<raised>{_NUMBER}(?:[ \t]?[,;-][ \t]?{_NUMBER})*)\]?[ \t]{{0,3}}</sup>"
    rf"|\((?P<aside>(?:sources?|quelle):[ ]{_FILE}[^()\n]{{0,60}}|{_FILE}[ ,:#]{{1,3}}[^()\n]{{1,60}})\)"
    rf"|(?P<url>{BARE_URL.pattern})",
    re.IGNORECASE,
)
_CHECKBOX = regex(r"[ xX]")


_Place = TypeVar("_Place", CitationSpan, AuthorYear)


def citation_spans(text: str, definitions: Definitions, tokens: Sequence[Token]) -> tuple[CitationSpan, ...]:
    """The citations of `text`, whose pieces are `tokens`: in order, not nested, outside the entries of
    `definitions`.
    """
    citations = _drop_overlaps(_find_citations(text, definitions, tokens), definitions)
    index = AuthorIndex(definitions.entries)
    pieces = (piece for is_prose, piece in _pieces(tokens) if is_prose)
    author_years = (
        author_year for piece in pieces for author_year in find_author_years(text, piece[0].start, piece[-1].end, index)
    )
    by_author = [
        CitationSpan(
            start=author_year.start,
            end=author_year.end,
            works=author_year.works,
            sentence_text=author_year.sentence_text,
        )
        for author_year in choose_citations(_drop_overlaps(author_years, definitions), has_others=bool(citations))
    ]
    return tuple(_drop_overlaps(merge(citations, by_author, key=lambda span: span.start), definitions))


def _drop_overlaps(spans: Iterable[_Place], definitions: Definitions) -> list[_Place]:
    """Those of `spans`, in order, that are outside the entries of `definitions` and do not overlap one before."""
    entries = [(definition.start, definition.end) for definition in definitions.entries]
    distinct: list[_Place] = []
    index = 0
    for span in spans:
        while index < len(entries) and entries[index][1] <= span.start:
            index += 1
        if not (index < len(entries) and entries[index][0] <= span.start) and not (
            distinct and span.start < distinct[-1].end
        ):
            distinct.append(span)
    return distinct


def _pieces(tokens: Sequence[Token]) -> Iterator[tuple[bool, list[Token]]]:
    """Runs of tokens that are prose, or not."""
    for is_prose, group in groupby(tokens, key=lambda token: token.kind == "text"):
        yield is_prose, list(group)


def _find_citations(text: str, definitions: Definitions, tokens: Sequence[Token]) -> Iterator[CitationSpan]:
    for is_prose, alike in _pieces(tokens):
        if is_prose:
            yield from _prose_citations(text, alike[0].start, alike[-1].end, definitions)
        else:
            yield from (citation for token in alike if (citation := _token_citation(text, token)))


def _token_citation(text: str, token: Token) -> CitationSpan | None:
    """The citation in a link, an address in angle brackets, or something that looks like a run's marker."""
    piece = text[token.start : token.end]
    if token.marker:
        return CitationSpan(start=token.start, end=token.end, labels=tuple(map(normalize_label, token.marker.ids)))
    if token.kind == "link" and text[token.start - 1 : token.start] != "!":
        link = read_link(piece)
        if link:
            label, url = link
            number = label.strip(" []^")
            sentence_text = "" if number.isdecimal() or names_work(label) else label
            return CitationSpan(start=token.start, end=token.end, url=url, sentence_text=sentence_text)
    if token.kind == "verbatim" and piece.startswith("<") and BARE_URL.fullmatch(piece[1:-1]):
        return CitationSpan(start=token.start, end=token.end, url=piece[1:-1])
    return None


def _prose_citations(text: str, start: int, end: int, definitions: Definitions) -> Iterator[CitationSpan]:
    bracket: re.Match[str] | None = None  # a bracket without meaning of its own, directly before
    for match in _PROSE.finditer(text, start, end):
        labels = _labels(match, definitions)
        if match["url"]:
            url = trim_url(match["url"])
            yield CitationSpan(start=match.start(), end=match.start() + len(url), url=url)
        elif files := () if labels else _files(match["label"] or match["aside"] or ""):
            yield CitationSpan(start=match.start(), end=match.end(), files=files)
        elif labels:
            label_bracket = (
                bracket if bracket and bracket.end() == match.start() and not labels[0].isdecimal() else None
            )
            first, last = (label_bracket or match).start(), match.end()
            if not label_bracket and text[first - 1 : first] == "[" and text[last : last + 1] == "]":
                first, last = first - 1, last + 1
            yield CitationSpan(
                start=first, end=last, labels=labels, sentence_text=label_bracket["label"] if label_bracket else ""
            )
        bracket = match if match["bracket"] and not labels else None


def _files(inner: str) -> tuple[str, ...]:
    """The files that brackets name, if they hold nothing else."""
    inner = inner.strip()
    if not _FILES.fullmatch(inner):
        return ()
    matches = (_FILE_NAME.match(part.strip()) for part in re.split(f"[{_SEPARATORS}]", inner))
    return tuple(dict.fromkeys(match[1] for match in matches if match))


def _labels(match: re.Match[str], definitions: Definitions) -> tuple[str, ...]:
    """The references that a bracket names: one that is defined, or numbers."""
    inner = match["raised"] or match["label"]
    if not inner or _CHECKBOX.fullmatch(inner):
        return ()
    if inner in definitions or (inner.startswith("^") and " " not in inner):
        return (normalize_label(inner),)
    if _NUMBERS.fullmatch(inner):
        return _numbers(inner.partition("†")[0])
    parts = [part.strip() for part in re.split(r"[,;]", inner)]
    return tuple(map(normalize_label, parts)) if len(parts) > 1 and all(part in definitions for part in parts) else ()


def _numbers(inner: str) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for part in _PART.finditer(inner):
        first, last = int(part[1]), int(part[2] or part[1])
        numbers = range(first, min(last, first + MAX_RANGE_NUMBERS - 1) + 1) if first <= last else (first, last)
        labels.update(dict.fromkeys(map(str, numbers)))
    return tuple(labels)


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
    citations: tuple[CitationSpan, ...]
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
    definitions = read_definitions(text, tokens)
    citations = citation_spans(text, definitions, tokens)
    numbering = _Numbering(definitions)
    marks = [(citation, [f"[{id}]" for id in numbering.ids(citation)]) for citation in citations]
    edits = [edit for group in _groups(text, marks) for edit in _edits(text, group)]
    definition_spans = [(definition.start, definition.end) for definition in definitions.entries]
    edits += [(start, end, "\n") for start, end in (*definition_spans, *_export_sections(text))]
    rendered = _apply(text, sorted(edits))
    return MarkedText(
        text=rendered.text,
        references=tuple(numbering.references),
        uncited=tuple(
            definition for definition in definitions.entries if definition not in numbering.cited_definitions
        ),
        citations=citations,
        rendered=rendered,
    )


class _Numbering:
    """Assigns an id to each cited reference."""

    def __init__(self, definitions: Definitions) -> None:
        self.references: list[TextReference] = []
        self.cited_definitions: set[Definition] = set()
        self._definitions = definitions
        self._ids: dict[tuple[str, str], str] = {}

    def ids(self, citation: CitationSpan) -> tuple[str, ...]:
        if citation.url:
            return (self._id(("url", canonical_url(citation.url)), url=citation.url, title=citation.sentence_text),)
        if citation.files:
            return tuple(self._id(("file", name.lower()), label=name, text=name) for name in citation.files)
        work_ids = (id for work in citation.works for id in self._work(work))
        return tuple(
            dict.fromkeys((*(self._entry_of_label(label, citation.start) for label in citation.labels), *work_ids))
        )

    def _work(self, work: CitedWork) -> Iterator[str]:
        """The ids of a work's entries; if there is none, of one missing from the list, if the text has a list."""
        for entry in work.entries:
            yield self._entry(entry, work.label)
        if not work.entries and self._definitions.entries:
            yield self._id(("none", work.label), label=work.label, is_defined=False)

    def _entry_of_label(self, label: str, point: int) -> str:
        definition = self._definitions.lookup(label, point)
        if definition is None:
            return self._id(("none", label), label=label, is_defined=False)
        return self._entry(definition, label)

    def _entry(self, definition: Definition, label: str) -> str:
        self.cited_definitions.add(definition)
        key = ("entry", str(definition.start))
        return self._id(key, label=label, url=definition.url, title=definition.title, text=definition.text)

    def _id(self, key: tuple[str, str], **fields: object) -> str:
        if key not in self._ids:
            self._ids[key] = f"S{len(self.references) + 1}"
            self.references.append(msgspec.convert({"id": self._ids[key], **fields}, TextReference))
        return self._ids[key]


def _groups(text: str, marks: Sequence[_Marks]) -> Iterator[list[_Marks]]:
    """Adjacent citations, separated only by list separators."""
    group: list[_Marks] = []
    for citation, markers in marks:
        if group and not _BETWEEN.fullmatch(text, group[-1][0].end, citation.start):
            yield group
            group = []
        group.append((citation, markers))
    if group:
        yield group


def _edits(text: str, group: Sequence[_Marks]) -> Iterator[_Edit]:
    """Replace citations with markers; if a group is alone in parentheses, remove these too."""
    first, last = group[0][0], group[-1][0]
    opening = _ALONE.search(text, max(text.rfind("\n", 0, first.start) + 1, first.start - 60), first.start)
    closing = _CLOSING.match(text, last.end)
    if opening and closing:
        markers_text = " ".join(marker for _, markers in group for marker in markers)
        yield opening.start(), closing.end(), _replacement(text, opening.start(), closing.end(), "", markers_text)
        return
    for citation, markers in group:
        if not markers:  # an author and a year, in a text without a list of references
            start = citation.start - (text[citation.start - 1 : citation.start] == " ")
            yield start, citation.end, ""
            continue
        sentence_text = "" if citation.url and _only_names(text, citation) else " ".join(citation.sentence_text.split())
        words = sentence_text.replace("[", "(").replace("]", ")")
        yield citation.start, citation.end, _replacement(text, citation.start, citation.end, words, " ".join(markers))


def _replacement(text: str, start: int, end: int, words: str, markers: str) -> str:
    """The replacement of `[start, end)`: words, then markers, separated from anything Markdown would join to them."""
    before, after = text[start - 1 : start], text[end : end + 1]
    apart = " " if words or (before and not before.isspace()) else ""
    return f"{words}{apart}{markers}{' ' if after and after in '([:' else ''}"


def _only_names(text: str, citation: CitationSpan) -> bool:
    """True if a link's words only name the source: they follow the end of a sentence, and no sentence follows."""
    line = text.rfind("\n", 0, citation.start) + 1
    before = text[max(line, citation.start - 300) : citation.start].rstrip(" \t")
    follows_end = before[-1:] in tuple('.!?。！？”")]】|') and not _ITEM.fullmatch(before)
    return follows_end and _BEHIND.match(text, citation.end) is not None


_ITEM = regex(r"[ \t>]*(?:\d{1,4}[.)]|[-*+•])(?:[ \t]*\[[ xX]\])?")


def _export_sections(text: str) -> Iterator[tuple[int, int]]:
    """The sections in which one of Assay's exports describes itself."""
    level, start, position = 0, 0, 0
    for line in text.splitlines(keepends=True):
        heading = _HEADING.match(line)
        if heading and level and len(heading[1]) <= level:
            yield start, position
            level = 0
        if not level and is_counts_line(line.rstrip()):
            yield position, position + len(line)
        if heading and not level and line.strip(" \t#\r\n").lower() in export_headings():
            level, start = len(heading[1]), position
        position += len(line)
    if level:
        yield start, position


def _apply(text: str, edits: Iterable[_Edit]) -> RenderedMarkers:
    """`text` after `edits`; of two that overlap, the first is made."""
    parts: list[str] = []
    pieces: list[tuple[int, int, bool]] = []
    raw = output_length = 0
    for start, end, new in edits:
        if start < raw:
            continue
        for begin, part, is_copied in ((raw, text[raw:start], True), (start, new, False)):
            pieces.append((begin, output_length, is_copied))
            parts.append(part)
            output_length += len(part)
        raw = end
    pieces.append((raw, output_length, True))
    return RenderedMarkers("".join((*parts, text[raw:])), tuple(pieces))
