"""All documents in scope in a fixed order, what code reads of each, and the rows for the report."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar

import msgspec

from assay.core.clean import escape_markdown, one_line
from assay.core.errors import LimitReached, StoreError
from assay.core.events import SourceFailed, ToolFinished, ToolStarted
from assay.core.markers import strip_markers
from assay.core.sources import Document, PassageSpan, content_spans
from assay.core.text import sentences, words
from assay.core.translation import format_number, ngettext, record_statement
from assay.core.translation import gettext as _
from assay.evidence.documents import DocumentReader
from assay.phases.survey.filters import Header, read_header
from assay.run.run import Run
from assay.run.steps import StepContext

# Rows: the result of a survey, one per document; code merges and counts them, and writes the report.

MAX_SHOWN_ROWS = 50
"""The most documents that the report names; all are counted."""


class SurveyLine(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, and the passages of its document that state it."""

    text: str
    spans: tuple[PassageSpan, ...]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a document: its hash, its name, and lines about it; `position` is its place in the order.

    `names_document` says that the lines name the document themselves.
    """

    document: str
    position: int
    name: str
    lines: tuple[SurveyLine, ...]
    names_document: bool = False


class SurveyExtent(msgspec.Struct, frozen=True, kw_only=True):
    """How far a survey came: documents read, of all in scope; `portion` was read of each; `parts` counts those cut.

    `counts_all` says that there was nothing to look for, so all were counted.
    """

    documents_read: int
    total: int
    portion: str = ""
    parts: int = 0
    counts_all: bool = False


def merge_rows(rows: Iterable[Row]) -> tuple[Row, ...]:
    """One row per document, in the documents' order; repeated lines count once."""
    merged: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: row.position):
        earlier = merged.get(row.document)
        lines = {tuple(words(line.text)): line for line in reversed((*(earlier.lines if earlier else ()), *row.lines))}
        merged[row.document] = msgspec.structs.replace(row, lines=tuple(reversed(lines.values())))
    return tuple(merged.values())


def first_line(rows: Sequence[Row], extent: SurveyExtent) -> str:
    """How many documents match, and how many were read for that, as counted by code."""
    count = len(rows)
    if extent.counts_all:
        text = ngettext(
            "{count} document is in scope, counted by code.", "{count} documents are in scope, counted by code.", count
        )
        return record_statement(text.format(count=format_number(count)))
    match_text = ngettext("{count} document matches", "{count} documents match", count).format(
        count=format_number(count)
    )
    read_text = ngettext("{read} of {count} document was read", "{read} of {count} documents were read", extent.total)
    if extent.portion:
        read_text = ngettext(
            "{what} of {read} of {count} document was read",
            "{what} of {read} of {count} documents were read",
            extent.total,
        )
    line = read_text.format(
        what=extent.portion, read=format_number(extent.documents_read), count=format_number(extent.total)
    )
    return record_statement(_("{text}.").format(text=_("; ").join((match_text, line))))


def compose_report(
    rows: Sequence[Row], extent: SurveyExtent, query: str, cite: Callable[[Row, SurveyLine], str]
) -> str:
    """The report: the count, then the first rows with their citations, and the number of rows not shown.

    Args:
        query: what was looked for, as a heading.
        cite: the marker of a line.
    """
    blocks = [first_line(rows, extent), f"## {escape_markdown(query.rstrip('. '))}"]
    if not rows:
        blocks.append(_("None"))
    else:
        blocks.append("\n".join(part for row in rows[:MAX_SHOWN_ROWS] for part in _item(row, cite)))
    if len(rows) > MAX_SHOWN_ROWS:
        shown_text = _("The first {shown} of {count} documents are listed.")
        blocks.append(
            record_statement(shown_text.format(shown=format_number(MAX_SHOWN_ROWS), count=format_number(len(rows))))
        )
    return "\n\n".join(blocks)


def _item(row: Row, cite: Callable[[Row, SurveyLine], str]) -> list[str]:
    if row.names_document:
        return [f"- {_text(line)} {cite(row, line)}" for line in row.lines]
    return [f"- **{escape_markdown(row.name)}**", *(f"  - {_text(line)} {cite(row, line)}" for line in row.lines)]


def _text(line: SurveyLine) -> str:
    return one_line(strip_markers(line.text))


GROUP_SIZE = 100
"""The most documents read in one step."""
QUOTABLE_KINDS = ("paragraph", "item", "field", "row")


class GroupReading(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a group of documents: places of passages by document, and the documents that could not be read."""

    step_tag: ClassVar[str] = "found"

    passages: dict[str, int] = {}
    failed: tuple[str, ...] = ()


_GroupReader = Callable[[Sequence[Document]], Awaitable[GroupReading]]


class Collection:
    """The documents of a run's scope; `read_count` counts those that were read."""

    def __init__(self, phase: Run, reader: DocumentReader, documents: Sequence[Document]) -> None:
        self._phase, self._reader, self.documents = phase, reader, tuple(documents)
        self._positions = {document.sha256: position for position, document in enumerate(self.documents)}
        self.read_count = 0

    def place(self, document: str) -> int:
        """The place of a document in the order."""
        return self._positions[document]

    async def read_headers(self) -> list[Header]:
        """The header of each document, as far as limits allow."""
        headers: list[Header] = []

        async def read_group(group: Sequence[Document]) -> GroupReading:
            group_headers, unreadable = await asyncio.to_thread(self._group_headers, group)
            headers.extend(group_headers)
            return GroupReading(failed=unreadable)

        groups = await self._read_groups("headers", "header fields", read_group)
        done_hashes = {header.document.sha256 for header in headers}
        for group, reading in groups:  # after a crash, a finished step only has the failures: the rest is read again
            unread = [
                document
                for document in group
                if document.sha256 not in done_hashes and document.sha256 not in reading.failed
            ]
            headers.extend((await asyncio.to_thread(self._group_headers, unread))[0] if unread else ())
        return sorted(headers, key=lambda header: self.place(header.document.sha256))

    def _group_headers(self, group: Sequence[Document]) -> tuple[list[Header], tuple[str, ...]]:
        headers: list[Header] = []
        unreadable: list[str] = []
        for document in group:
            try:
                headers.append(read_header(document, self._reader.text(document)))
            except StoreError:
                unreadable.append(document.sha256)
        return headers, tuple(unreadable)

    async def find_all_phrases(self, phrases: Sequence[str]) -> list[Row]:
        """The rows of documents that contain all of `phrases`: for each the first sentence with it."""
        row_groups = [
            await self.find_phrases([phrase], f"phrases-{number}")
            for number, phrase in enumerate(dict.fromkeys(phrases), 1)
        ]
        everywhere = set.intersection(*({row.document for row in rows} for rows in row_groups))
        return [row for rows in row_groups for row in rows if row.document in everywhere]

    async def find_phrases(self, texts: Sequence[str], name: str = "phrases") -> list[Row]:
        """A row for each document that contains any of `texts`: the first sentence with it."""
        phrases = [tuple(words(phrase)) for phrase in texts if words(phrase)]

        async def scan_group(group: Sequence[Document]) -> GroupReading:
            return await asyncio.to_thread(self._scan, group, phrases)

        hits: dict[str, int] = {}
        for _group, reading in await self._read_groups(name, f"the words {', '.join(texts)}"[:200], scan_group):
            hits |= reading.passages
        return await asyncio.to_thread(self._quote_hits, hits, phrases)

    def _scan(self, group: Sequence[Document], phrases: Sequence[tuple[str, ...]]) -> GroupReading:
        passages: dict[str, int] = {}
        unreadable: list[str] = []
        for document in group:
            try:
                likely = _can_contain(self._reader.text(document), phrases)
                spans = (
                    [
                        span
                        for span in content_spans(self._reader.spans(document))
                        if _contains_phrase(span.text, phrases)
                    ]
                    if likely
                    else []
                )
            except StoreError:
                unreadable.append(document.sha256)
                continue
            best = min(spans, key=lambda span: (span.kind not in QUOTABLE_KINDS, span.ordinal), default=None)
            if best is not None:
                passages[document.sha256] = best.ordinal
        return GroupReading(passages=passages, failed=tuple(unreadable))

    def _quote_hits(self, hits: dict[str, int], phrases: Sequence[tuple[str, ...]]) -> list[Row]:
        rows = []
        for document in self.documents:
            if document.sha256 in hits:
                spans = self._reader.spans(document)
                span = next(candidate for candidate in spans if candidate.ordinal == hits[document.sha256])
                name = read_header(document, self._reader.text(document)).display_name
                lines = (SurveyLine(text=_matching_sentence(span, phrases), spans=(span,)),)
                rows.append(Row(document=document.sha256, position=self.place(document.sha256), name=name, lines=lines))
        return rows

    async def _read_groups(
        self, name: str, label: str, read_group: _GroupReader
    ) -> list[tuple[Sequence[Document], GroupReading]]:
        """Read the documents in groups, a step for each; if a limit ends it, the rest is not read."""
        run = self._phase.child(name)
        run.emit(ToolStarted(call=name, tool="read", arguments=msgspec.json.encode({"what": label}).decode()))
        readings: list[tuple[Sequence[Document], GroupReading]] = []
        self.read_count = 0
        for start in range(0, len(self.documents), GROUP_SIZE):
            group = self.documents[start : start + GROUP_SIZE]
            try:
                reading = await self._read_in_step(run, name, group, read_group)
            except LimitReached:
                break
            readings.append((group, reading))
            self.read_count += len(group) - len(reading.failed)
        total = len(self.documents)
        run.emit(ToolFinished(call=name, tool="read", summary=f"{self.read_count:,} of {total:,} documents read"))
        return readings

    async def _read_in_step(
        self, run: Run, name: str, group: Sequence[Document], read_group: _GroupReader
    ) -> GroupReading:
        urls = {document.sha256: document.url for document in group}

        async def work(step_context: StepContext) -> GroupReading:
            reading = await read_group(group)
            for sha256 in reading.failed:
                step_context.emit(SourceFailed(url=urls[sha256], reason="its text is not there, or damaged"))
            return reading

        return await run.step(name, work, returns=GroupReading, input=list(urls))


async def collect_documents(phase: Run, reader: DocumentReader) -> Collection:
    """The documents in scope, ordered by name, with numbers in names as numbers.

    Raises:
        LimitReached: there was no time to look.
    """
    library, collections = phase.world.library, phase.brief.scope.collections

    async def list_documents(_: StepContext) -> tuple[str, ...]:
        documents = await asyncio.to_thread(library.documents, collections)
        return tuple(document.sha256 for document in sorted(documents, key=_name_key))

    hashes = await phase.step("collection", list_documents, returns=tuple[str, ...])
    documents_by_hash = {
        document.sha256: document for document in await asyncio.to_thread(library.documents, collections)
    }
    return Collection(phase, reader, [documents_by_hash[hash] for hash in hashes if hash in documents_by_hash])


def _name_key(document: Document) -> tuple[list[tuple[int, str]], str]:
    name = document.name or document.url or document.title
    pieces = re.findall(r"\d{1,18}|\D+|\d", name.casefold())
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces], document.sha256


def _can_contain(text: bytes, phrases: Sequence[tuple[str, ...]]) -> bool:
    """True if a text has all words of a phrase: a quick check, since splitting a text takes longer."""
    folded_text = unicodedata.normalize("NFKC", text.decode()).casefold()
    return any(all(word in folded_text for word in phrase) for phrase in phrases)


def _contains_phrase(text: str, phrases: Sequence[tuple[str, ...]]) -> bool:
    padded = f" {' '.join(words(text))} "
    return any(f" {' '.join(phrase)} " in padded for phrase in phrases)


def _matching_sentence(span: PassageSpan, phrases: Sequence[tuple[str, ...]]) -> str:
    """The first sentence of a passage with one of the phrases; the whole passage if the phrase spans sentences."""
    matches = (
        span.text[start:end] for start, end in sentences(span.text) if _contains_phrase(span.text[start:end], phrases)
    )
    return next(matches, span.text)
