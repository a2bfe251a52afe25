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
        self.shown: defaultdict[str, list[Passage]] = defaultdict(list)
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
        self, lanes: frozenset[int] | None = None, held: _LedgerState | None = None, *, trusted: tuple[str, ...] = ()
    ) -> None:
        self._lanes, self._held = lanes, held or _LedgerState(trusted)

    def seeing(self, lanes: Iterable[int]) -> Ledger:
        """The same ledger, limited to what these lanes have added."""
        return Ledger(frozenset(lanes), self._held)

    # rules

    def register(
        self, lane: int, shown: Sequence[DocumentPassages], queries: Sequence[str] = (), pages: Sequence[str] = ()
    ) -> Registration:
        """Return what showing `shown` to `lane` adds, in order. Changes nothing; apply the rows to change the ledger.

        `queries` are what the lane asked for, `pages` the names of the documents it opened.
        """
        return _Registration(self._held, lane).run(shown, queries, pages)

    def apply(self, rows: Iterable[LedgerRow]) -> None:
        """Add rows; a known one stays as it is."""
        for row in rows:
            if (row.kind, row.id) not in self._held.rows:
                self._held.rows.add((row.kind, row.id))
                self._take(row)

    def _take(self, row: LedgerRow) -> None:
        held = self._held
        if row.kind == "source":
            met = msgspec.json.decode(row.data, type=SourceRow)
            held.sources[met.source.id], held.documents[met.document.sha256] = met.source, met.document
            held.ids[row.lane, met.document.sha256] = met.source.id
            held.lane_sources[row.lane].append(met.source.id)
            held.count[row.lane] = max(held.count[row.lane], int(met.source.id[1:]) % (LANE_SOURCES + 1))
        elif row.kind == "passage":
            passage = msgspec.json.decode(row.data, type=Passage)
            held.passages[passage.id] = passage
            held.lane_passages[row.lane].append(passage)
            held.shown[passage.source].append(passage)
        elif row.kind != "answer":
            asked = held.queries if row.kind == "query" else held.pages
            asked[row.lane].append(msgspec.json.decode(row.data, type=str))

    def rows(self) -> tuple[str, ...]:
        """The applied rows, each by its kind and its id."""
        return tuple(sorted(map(row_name, self._held.rows)))

    # notices

    def notices_about(self, doi: str) -> tuple[Notice, ...] | None:
        """The notices about a work, by its DOI; None if it was not looked up."""
        return self._held.notices.get(doi)

    def store_notices(self, doi: str, notices: tuple[Notice, ...], sources: Iterable[str]) -> None:
        """Store the notices about a work; they are shown with it from now on, including these sources."""
        self._held.notices[doi] = notices
        for id in sources:
            self._held.sources[id] = msgspec.structs.replace(self._held.sources[id], notices=notices)

    # looking up

    def blocks(self, lane: int, shown: Sequence[DocumentPassages]) -> list[SourceBlock]:
        """`shown` with the ids of `lane`, once its rows are applied; in the same order, one block for each."""
        blocks = []
        for each in shown:
            source = self._held.sources.get(self._held.ids.get((lane, each.document.sha256), ""))
            if source is not None:
                ids = (f"{source.id}.{span.ordinal}" for span in each.spans)
                passages = tuple(self._held.passages[id] for id in ids if id in self._held.passages)
                blocks.append(SourceBlock(source=source, passages=passages))
        return blocks

    def source(self, id: str) -> Source | None:
        """A source by its id, if this view includes its lane."""
        source = self._held.sources.get(id)
        return source if source is not None and self._is_visible(id) else None

    def passage(self, id: str) -> Passage | None:
        """A passage by its id, if this view includes its lane."""
        passage = self._held.passages.get(id)
        return passage if passage is not None and self._is_visible(passage.source) else None

    def document(self, source: str) -> Document | None:
        """The document of a source."""
        met = self.source(source)
        return None if met is None else self._held.documents[met.document_sha256]

    def passages(self, source: str) -> tuple[Passage, ...]:
        """The shown passages of a source, in the order they were shown."""
        return tuple(self._held.shown[source]) if self.source(source) else ()

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
        made_up = bool(point) and lane > 0 and self._held.count.get(lane, 0) > 0 and self._is_visible(source)
        return made_up or self.source(source) is not None

    def passages_and_sources(self) -> tuple[dict[str, Passage], dict[str, Source]]:
        """All passages shown and all sources found by these lanes, by id: lane after lane, each in its order."""
        held = self._held
        passages = {each.id: each for lane in self._visible(held.lane_passages) for each in held.lane_passages[lane]}
        sources = {id: held.sources[id] for lane in self._visible(held.lane_sources) for id in held.lane_sources[lane]}
        return passages, sources

    def count(self) -> int:
        """The number of passages shown to these lanes."""
        return sum(len(self._held.lane_passages[lane]) for lane in self._visible(self._held.lane_passages))

    def queries(self, since: int = 0) -> tuple[str, ...]:
        """The queries of these lanes, by lane, each once; only of lane `since` and later."""
        return _distinct_texts(
            self._held.queries, [lane for lane in self._visible(self._held.queries) if lane >= since]
        )

    def pages(self) -> tuple[str, ...]:
        """The names of documents that these lanes opened, by lane, each once."""
        return _distinct_texts(self._held.pages, self._visible(self._held.pages))

    def recall(self, query: str, limit: int = 10) -> list[Passage]:
        """The passages in the ledger that answer `query` best, best first; one that two lanes saw counts once."""
        held = self._distinct_passages()
        statements = [
            QuotableStatement(text=each.text, label=each.label, heading=" ".join((*each.heading[-1:], each.lead)))
            for each in held
        ]
        asked = read_question(query, beside="\n".join(each.text for each in held[:5]))
        return [held[place] for place in rank(asked, statements, limit)]

    def excerpts(self, passages: Iterable[Passage]) -> list[DocumentPassages]:
        """Passages grouped by document, to be shown to another lane under its own ids."""
        grouped: defaultdict[str, list[PassageSpan]] = defaultdict(list)
        for passage in passages:
            grouped[passage.document_sha256].append(span_of(passage))
        return [
            DocumentPassages(document=self._held.documents[document], spans=tuple(spans))
            for document, spans in grouped.items()
        ]

    def _distinct_passages(self) -> list[Passage]:
        found: dict[tuple[str, int, int], Passage] = {}
        for lane in self._visible(self._held.lane_passages):
            for passage in self._held.lane_passages[lane]:
                found.setdefault((passage.document_sha256, passage.start, passage.end), passage)
        return list(found.values())

    def _visible(self, lanes: Iterable[int]) -> list[int]:
        return sorted(lane for lane in lanes if self._lanes is None or lane in self._lanes)

    def _is_visible(self, source: str) -> bool:
        return self._lanes is None or lane_of_source(source) in self._lanes

    # the cache

    def cached_answer(self, key: str) -> bytes | None:
        """The earlier result of a call with this key, in any lane of this process."""
        return self._held.answers.get(key)

    def cache_answer(self, key: str, data: bytes) -> None:
        """Store the result of a call, for the next equal one."""
        self._held.answers.setdefault(key, data)


class _Registration:
    """Registers one turn's results for a lane."""

    def __init__(self, held: _LedgerState, lane: int) -> None:
        self.held, self.lane, self.next = held, lane, held.count[lane] + 1
        self.ids: dict[str, str] = {}
        self.sources: list[Source] = []
        self.reused: list[str] = []
        self.passages: dict[str, Passage] = {}
        self.rows: list[LedgerRow] = []
        self.known: set[tuple[str, str]] = set()
        self.skipped = 0

    def run(self, shown: Sequence[DocumentPassages], queries: Sequence[str], pages: Sequence[str]) -> Registration:
        for query in queries:
            self._add_row("query", f"{self.lane}:{_short_hash(query)}", query)
        for page in pages:
            self._add_row("page", f"{self.lane}:{_short_hash(page)}", page)
        for each in shown:
            self._add_passages(each)
        return Registration(
            sources=tuple(self.sources),
            reused=tuple(dict.fromkeys(self.reused)),
            passages=tuple(self.passages.values()),
            skipped=self.skipped,
            rows=tuple(self.rows),
        )

    def _add_passages(self, each: DocumentPassages) -> None:
        id = self._add_source(each.document)
        self.skipped += not id
        for span in each.spans if id else ():
            passage = passage_of(id, each.document, span)
            if passage.id not in self.held.passages and passage.id not in self.passages:
                self.passages[passage.id] = passage
                self._add_row("passage", passage.id, passage)

    def _add_source(self, document: Document) -> str:
        known = self.held.ids.get((self.lane, document.sha256)) or self.ids.get(document.sha256, "")
        if known:
            self.reused.append(known)
            return known
        if self.next > LANE_SOURCES:
            return ""
        id = self.ids[document.sha256] = source_id(self.lane, self.next)
        self.next += 1
        self.sources.append(_source(id, document, self.held, self._found_date(document)))
        self._add_row("source", id, SourceRow(source=self.sources[-1], document=document))
        return id

    def _found_date(self, document: Document) -> dict[str, str]:
        """The date of a page that states none, as the lane's own searches gave it, with the name of the service.

        It is no more than their word: it may be the day on which they first saw the page. So it is kept apart.
        """
        claimed = {key: "" for key in (FOUND_DATE, FOUND_BY) if key in document.metadata}  # a file may have any field
        if document.published or document.media_type == SNIPPET:
            return claimed
        place = canonical_url(document.url)
        earlier = (self.held.sources[id] for id in self.held.lane_sources[self.lane])
        for hit in (*earlier, *self.sources):
            if hit.media_type == SNIPPET and hit.published and canonical_url(hit.url) == place:
                return {FOUND_DATE: hit.published, FOUND_BY: hit.metadata.get("provider", "")}
        return claimed

    def _add_row(self, kind: RowKind, id: str, data: object) -> None:
        if (kind, id) not in self.held.rows and (kind, id) not in self.known:
            self.known.add((kind, id))
            self.rows.append(LedgerRow(kind=kind, id=id, lane=self.lane, data=msgspec.json.encode(data)))


def _source(id: str, document: Document, held: _LedgerState, more: dict[str, str]) -> Source:
    # an address that only redirects says nothing about what is there
    quality = assess_source(document.metadata.get(FINAL_URL, document.url), document.metadata, held.trusted)
    return Source(
        id=id,
        document_sha256=document.sha256,
        snapshot_sha256=document.snapshot_sha256,
        url=document.url,
        title=document.title or document.name,
        media_type=document.media_type,
        fetched_at=document.fetched_at,
        metadata=document.metadata | more,
        author=document.author,
        published=document.published,
        kind=quality.kind,
        kind_reason=quality.reason,
        notices=held.notices.get(doi_of(document.metadata, document.url).lower(), ()),
    )


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _distinct_texts(by_lane: dict[int, list[str]], lanes: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for lane in lanes for text in by_lane[lane]))
