"""The ledger of a run: its sources, the passages shown to models, the queries asked and the pages read.

The rules are pure: `register` returns the rows that a turn's results make, `apply` adds rows. A row counts only when it
is applied, and rows are applied in the order their steps were stored, so a replay builds the same ledger.

A lane numbers its own sources, whatever the other lanes do meanwhile, and sees of the others only what `seeing` allows:
nothing a model is shown depends on timing.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from assay.core.ports import LedgerRow
from assay.core.relevance import QuotableStatement, rank, read_question
from assay.core.sources import (
    FINAL_URL,
    FOUND_BY,
    FOUND_DATE,
    SNIPPET,
    Document,
    Notice,
    Passage,
    PassageSpan,
    Source,
    lane_of_source,
    passage_of,
    source_id,
    span_of,
)
from assay.core.web_addresses import assess_source, canonical_url, doi_of

LANE_SOURCES = 999

RowKind = Literal["source", "passage", "query", "page"]
"""The kind of a row that a turn's results add; `cache_answer` rows are the tools' own."""


class DocumentPassages(msgspec.Struct, frozen=True, kw_only=True):
    """The passages that a call shows of one document, before the lane assigns ids."""

    document: Document
    spans: tuple[PassageSpan, ...]


class SourceBlock(msgspec.Struct, frozen=True, kw_only=True):
    """The passages of one source shown to a model."""

    source: Source
    passages: tuple[Passage, ...]


class SourceRow(msgspec.Struct, frozen=True, kw_only=True):
    """The data of a `source` row."""

    source: Source
    document: Document


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """The additions of a turn's results: new sources and passages, and sources that were known.

    `skipped` counts documents for which no number was left.
    """

    sources: tuple[Source, ...] = ()
    reused: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    skipped: int = 0
    rows: tuple[LedgerRow, ...] = ()


class ResolvedIds(msgspec.Struct, frozen=True, kw_only=True):
    """The passages and sources of some ids, each once, in order of mention; `dropped` ids are unknown."""

    passages: tuple[Passage, ...] = ()
    sources: tuple[Source, ...] = ()
    dropped: tuple[str, ...] = ()


class _LedgerState:
    """Everything applied so far; shared by all views of one run's ledger."""

    def __init__(self, trusted: tuple[str, ...] = ()) -> None:
        self.trusted = trusted
        self.sources: dict[str, Source] = {}
        self.documents: dict[str, Document] = {}
        self.passages: dict[str, Passage] = {}
        self.ids: dict[tuple[int, str], str] = {}
        self.count: Counter[int] = Counter()  # the last source of each lane; excluded ones leave gaps
        self.lane_sources: defaultdict[int, list[str]] = defaultdict(list)
        self.lane_passages: defaultdict[int, list[Passage]] = defaultdict(list)
        self.source_passages: defaultdict[str, list[Passage]] = defaultdict(list)
        self.queries: defaultdict[int, list[str]] = defaultdict(list)
        self.pages: defaultdict[int, list[str]] = defaultdict(list)
        self.rows: set[tuple[str, str]] = set()
        self.answers: dict[str, bytes] = {}
        self.notices: dict[str, tuple[Notice, ...]] = {}


def row_name(row: tuple[str, str]) -> str:
    """The (kind, id) of a row in one word."""
    return f"{row[0]} {row[1]}"


class Ledger:
    """A run's ledger as some lanes see it; `lanes` None sees all. `trusted` are hosts the user vouches for."""

    def __init__(
        self, lanes: frozenset[int] | None = None, state: _LedgerState | None = None, *, trusted: tuple[str, ...] = ()
    ) -> None:
        self._lanes, self._state = lanes, state or _LedgerState(trusted)

    def seeing(self, lanes: Iterable[int] | None) -> Ledger:
        """The same ledger, limited to what these lanes have added; None: not limited."""
        return Ledger(None if lanes is None else frozenset(lanes), self._state)

    # rules

    def register(
        self, lane: int, excerpts: Sequence[DocumentPassages], queries: Sequence[str] = (), pages: Sequence[str] = ()
    ) -> Registration:
        """Return what showing `excerpts` to `lane` adds, in order. Changes nothing; apply the rows to change the
        ledger.

        `queries` are what the lane asked for, `pages` the names of the documents it opened.
        """
        return _Registration(self._state, lane).run(excerpts, queries, pages)

    def apply(self, rows: Iterable[LedgerRow]) -> None:
        """Add rows; a known one stays as it is."""
        for row in rows:
            if (row.kind, row.id) not in self._state.rows:
                self._state.rows.add((row.kind, row.id))
                self._take(row)

    def _take(self, row: LedgerRow) -> None:
        state = self._state
        if row.kind == "source":
            source_row = msgspec.json.decode(row.data, type=SourceRow)
            state.sources[source_row.source.id] = source_row.source
            state.documents[source_row.document.sha256] = source_row.document
            state.ids[row.lane, source_row.document.sha256] = source_row.source.id
            state.lane_sources[row.lane].append(source_row.source.id)
            state.count[row.lane] = max(state.count[row.lane], int(source_row.source.id[1:]) % (LANE_SOURCES + 1))
        elif row.kind == "passage":
            passage = msgspec.json.decode(row.data, type=Passage)
            state.passages[passage.id] = passage
            state.lane_passages[row.lane].append(passage)
            state.source_passages[passage.source].append(passage)
        elif row.kind != "answer":
            entries = state.queries if row.kind == "query" else state.pages
            entries[row.lane].append(msgspec.json.decode(row.data, type=str))

    def rows(self) -> tuple[str, ...]:
        """The applied rows, each by its kind and its id."""
        return tuple(sorted(map(row_name, self._state.rows)))

    # notices

    def notices_about(self, doi: str) -> tuple[Notice, ...] | None:
        """The notices about a work, by its DOI; None if it was not looked up."""
        return self._state.notices.get(doi)

    def store_notices(self, doi: str, notices: tuple[Notice, ...], sources: Iterable[str]) -> None:
        """Store the notices about a work; they are shown with it from now on, including these sources."""
        self._state.notices[doi] = notices
        for id in sources:
            self._state.sources[id] = msgspec.structs.replace(self._state.sources[id], notices=notices)

    # looking up

    def blocks(self, lane: int, excerpts: Sequence[DocumentPassages]) -> list[SourceBlock]:
        """`excerpts` with the ids of `lane`, once its rows are applied; in the same order, one block for each."""
        blocks = []
        for excerpt in excerpts:
            source = self._state.sources.get(self._state.ids.get((lane, excerpt.document.sha256), ""))
            if source is not None:
                ids = (f"{source.id}.{span.ordinal}" for span in excerpt.spans)
                passages = tuple(self._state.passages[id] for id in ids if id in self._state.passages)
                blocks.append(SourceBlock(source=source, passages=passages))
        return blocks

    def source(self, id: str) -> Source | None:
        """A source by its id, if this view includes its lane."""
        source = self._state.sources.get(id)
        return source if source is not None and self._is_visible(id) else None

    def passage(self, id: str) -> Passage | None:
        """A passage by its id, if this view includes its lane."""
        passage = self._state.passages.get(id)
        return passage if passage is not None and self._is_visible(passage.source) else None

    def document(self, source: str) -> Document | None:
        source_record = self.source(source)
        return None if source_record is None else self._state.documents[source_record.document_sha256]

    def passages(self, source: str) -> tuple[Passage, ...]:
        """The shown passages of a source, in the order they were shown."""
        return tuple(self._state.source_passages[source]) if self.source(source) else ()

    def resolve(self, ids: Iterable[str]) -> ResolvedIds:
        """The passages and sources of ids. An unknown id is never mapped to something else."""
        passages: dict[str, Passage] = {}
        sources: dict[str, Source] = {}
        dropped: list[str] = []
        for id in ids:
            if passage := self.passage(id):
                passages[id] = passage
            elif source := self.source(id):
                sources[id] = source
            else:
                dropped.append(id)
        return ResolvedIds(passages=tuple(passages.values()), sources=tuple(sources.values()), dropped=tuple(dropped))

    def knows(self, id: str) -> bool:
        """True if an id belongs to this run: to a source it found, a passage in one, or an invented one of an agent's
        lane.

        An invented id names nothing, but differs from words that only look like an id.
        """
        source, point, _ = id.partition(".")
        lane = lane_of_source(source)
        made_up = bool(point) and lane > 0 and self._state.count.get(lane, 0) > 0 and self._is_visible(source)
        return made_up or self.source(source) is not None

    def passages_and_sources(self) -> tuple[dict[str, Passage], dict[str, Source]]:
        """All passages shown and all sources found by these lanes, by id: lane after lane, each in its order."""
        state = self._state
        passages = {
            passage.id: passage for lane in self._visible(state.lane_passages) for passage in state.lane_passages[lane]
        }
        sources = {
            id: state.sources[id] for lane in self._visible(state.lane_sources) for id in state.lane_sources[lane]
        }
        return passages, sources

    def count(self) -> int:
        """The number of passages shown to these lanes."""
        return sum(len(self._state.lane_passages[lane]) for lane in self._visible(self._state.lane_passages))

    def queries(self, since: int = 0) -> tuple[str, ...]:
        """The queries of these lanes, by lane, each once; only of lane `since` and later."""
        return _distinct_texts(
            self._state.queries, [lane for lane in self._visible(self._state.queries) if lane >= since]
        )

    def pages(self) -> tuple[str, ...]:
        """The names of documents that these lanes opened, by lane, each once."""
        return _distinct_texts(self._state.pages, self._visible(self._state.pages))

    def recall(self, query: str, limit: int = 10) -> list[Passage]:
        """The passages in the ledger that answer `query` best, best first; one that two lanes saw counts once."""
        passages = self._distinct_passages()
        statements = [
            QuotableStatement(
                text=passage.text, label=passage.label, heading=" ".join((*passage.heading[-1:], passage.lead))
            )
            for passage in passages
        ]
        question = read_question(query, document_text="\n".join(passage.text for passage in passages[:5]))
        return [passages[index] for index in rank(question, statements, limit)]

    def excerpts(self, passages: Iterable[Passage]) -> list[DocumentPassages]:
        """Passages grouped by document, to be shown to another lane under its own ids."""
        spans_by_document: defaultdict[str, list[PassageSpan]] = defaultdict(list)
        for passage in passages:
            spans_by_document[passage.document_sha256].append(span_of(passage))
        return [
            DocumentPassages(document=self._state.documents[document], spans=tuple(spans))
            for document, spans in spans_by_document.items()
        ]

    def _distinct_passages(self) -> list[Passage]:
        distinct: dict[tuple[str, int, int], Passage] = {}
        for lane in self._visible(self._state.lane_passages):
            for passage in self._state.lane_passages[lane]:
                distinct.setdefault((passage.document_sha256, passage.start, passage.end), passage)
        return list(distinct.values())

    def _visible(self, lanes: Iterable[int]) -> list[int]:
        return sorted(lane for lane in lanes if self._lanes is None or lane in self._lanes)

    def _is_visible(self, source: str) -> bool:
        return self._lanes is None or lane_of_source(source) in self._lanes

    # the cache

    def cached_answer(self, key: str) -> bytes | None:
        """The earlier result of a call with this key, in any lane of this process."""
        return self._state.answers.get(key)

    def cache_answer(self, key: str, data: bytes) -> None:
        """Store the result of a call, for the next equal one."""
        self._state.answers.setdefault(key, data)


class _Registration:
    """Registers one turn's results for a lane."""

    def __init__(self, state: _LedgerState, lane: int) -> None:
        self.state, self.lane, self.next = state, lane, state.count[lane] + 1
        self.ids: dict[str, str] = {}
        self.sources: list[Source] = []
        self.reused: list[str] = []
        self.passages: dict[str, Passage] = {}
        self.rows: list[LedgerRow] = []
        self.known_rows: set[tuple[str, str]] = set()
        self.skipped = 0

    def run(self, excerpts: Sequence[DocumentPassages], queries: Sequence[str], pages: Sequence[str]) -> Registration:
        for query in queries:
            self._add_row("query", f"{self.lane}:{_short_hash(query)}", query)
        for page in pages:
            self._add_row("page", f"{self.lane}:{_short_hash(page)}", page)
        for excerpt in excerpts:
            self._add_passages(excerpt)
        return Registration(
            sources=tuple(self.sources),
            reused=tuple(dict.fromkeys(self.reused)),
            passages=tuple(self.passages.values()),
            skipped=self.skipped,
            rows=tuple(self.rows),
        )

    def _add_passages(self, excerpt: DocumentPassages) -> None:
        id = self._add_source(excerpt.document)
        self.skipped += not id
        for span in excerpt.spans if id else ():
            passage = passage_of(id, excerpt.document, span)
            if passage.id not in self.state.passages and passage.id not in self.passages:
                self.passages[passage.id] = passage
                self._add_row("passage", passage.id, passage)

    def _add_source(self, document: Document) -> str:
        known_id = self.state.ids.get((self.lane, document.sha256)) or self.ids.get(document.sha256, "")
        if known_id:
            self.reused.append(known_id)
            return known_id
        if self.next > LANE_SOURCES:
            return ""
        id = self.ids[document.sha256] = source_id(self.lane, self.next)
        self.next += 1
        self.sources.append(_source(id, document, self.state, self._found_date(document)))
        self._add_row("source", id, SourceRow(source=self.sources[-1], document=document))
        return id

    def _found_date(self, document: Document) -> dict[str, str]:
        """The date of a page that states none, as the lane's own searches gave it, with the name of the service.

        It is no more than their word: it may be the day on which they first saw the page. So it is kept apart.
        """
        cleared = {key: "" for key in (FOUND_DATE, FOUND_BY) if key in document.metadata}  # a file may have any field
        if document.published or document.media_type == SNIPPET:
            return cleared
        url = canonical_url(document.url)
        earlier = (self.state.sources[id] for id in self.state.lane_sources[self.lane])
        for hit in (*earlier, *self.sources):
            if hit.media_type == SNIPPET and hit.published and canonical_url(hit.url) == url:
                return {FOUND_DATE: hit.published, FOUND_BY: hit.metadata.get("provider", "")}
        return cleared

    def _add_row(self, kind: RowKind, id: str, data: object) -> None:
        if (kind, id) not in self.state.rows and (kind, id) not in self.known_rows:
            self.known_rows.add((kind, id))
            self.rows.append(LedgerRow(kind=kind, id=id, lane=self.lane, data=msgspec.json.encode(data)))


def _source(id: str, document: Document, state: _LedgerState, extra_metadata: dict[str, str]) -> Source:
    # an address that only redirects says nothing about what is there
    quality = assess_source(document.metadata.get(FINAL_URL, document.url), document.metadata, state.trusted)
    return Source(
        id=id,
        document_sha256=document.sha256,
        snapshot_sha256=document.snapshot_sha256,
        url=document.url,
        title=document.title or document.name,
        media_type=document.media_type,
        fetched_at=document.fetched_at,
        metadata=document.metadata | extra_metadata,
        author=document.author,
        published=document.published,
        kind=quality.kind,
        kind_reason=quality.reason,
        notices=state.notices.get(doi_of(document.metadata, document.url).lower(), ()),
    )


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _distinct_texts(by_lane: dict[int, list[str]], lanes: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for lane in lanes for text in by_lane[lane]))
