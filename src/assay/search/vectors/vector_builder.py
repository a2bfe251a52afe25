"""Makes vectors: every passage of the library's documents is embedded once, in lots.

A lot is committed together with the progress: a killed process loses one lot, and the next one continues after it. A
known text, of an earlier version of its document or of another, is not embedded again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from assay.core.errors import SearchError, StoreError, UsageError
from assay.core.ports import Embedder, Library
from assay.core.sources import Document, PassageSpan
from assay.core.text import estimate_tokens
from assay.search.local.index import pack
from assay.search.shared_index import ProgressLog, WriteTurn, ignore_progress
from assay.search.vectors.store import (
    DocumentVectors,
    Sleep,
    VectorProgress,
    VectorStore,
    embed,
    embedded_spans,
    key_of,
    quantize,
    text_of,
)

log = logging.getLogger(__name__)
PAGE_DOCUMENTS = 20
"""Documents read from the library at a time."""
LOT_PASSAGES = 512
"""Passages after which a lot ends: the most a killed process loses, except for a longer document."""


class EmbeddingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on making vectors: US dollars and tokens, None for no limit, and `batch` texts per request."""

    usd: float | None = None
    tokens: int | None = None
    batch: int = 64


class BuildResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result: documents done and their passages, texts that were embedded, and the cost.

    `withheld` documents are private, and the embedder is remote. `stopped` says why not everything was done.
    """

    documents: int = 0
    passages: int = 0
    embedded: int = 0
    tokens: int = 0
    usd: float = 0.0
    withheld: int = 0
    stopped: str = ""


class VectorBuilder:
    """Updates the vectors from the library. Blocking; thread-safe, one call at a time."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        library: Library,
        spans: Callable[[Document], Sequence[PassageSpan]],
        turn: WriteTurn,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.store, self.embedder, self.library, self.spans = store, embedder, library, spans
        self.sleep, self._turn = sleep, turn

    def build(
        self, limits: EmbeddingLimits, private: Collection[int], progress: ProgressLog | None = None
    ) -> BuildResult:
        """Embed what has no vectors yet, except the rows that are `private`.

        Raises:
            SearchError: the embedder failed for good, or the vectors cannot be stored.
            UsageError: there is a limit in US dollars, and the embedder's price is unknown.
            StoreError: the library cannot be read.
        """
        if limits.usd is not None and self.embedder.price is None:
            raise UsageError(
                f"embedder.max_usd is set, and there is no price for {self.embedder.name} costs: name its price in"
                f' [catalogue."{self.embedder.name}"] (input_price and output_price, in US dollars a million tokens)'
            )
        say = progress or ignore_progress
        with self._turn(say):
            return _VectorPass(self, limits).work(private, say)


class _LimitReached(Exception):
    """The next batch would exceed a limit."""


class _VectorPass:
    """One pass over the library."""

    def __init__(self, builder: VectorBuilder, limits: EmbeddingLimits) -> None:
        self._store, self._embedder, self._library = builder.store, builder.embedder, builder.library
        self._spans, self._sleep, self._limits = builder.spans, builder.sleep, limits
        self._result = BuildResult()
        self._price = self._embedder.price or 0.0
        self._state = self._load_progress()
        self._vectors = dict(self._store.all_vectors())

    def work(self, private: Collection[int], say: ProgressLog) -> BuildResult:
        """Process everything that is not done."""
        total, started_at = self._library.last_row(), time.monotonic()
        try:
            released = sorted(self._store.withheld_rows().difference(private))
            for start in range(0, len(released), PAGE_DOCUMENTS):
                documents = self._library.documents_at(released[start : start + PAGE_DOCUMENTS])
                self._add(sorted(documents.items()), private, self._state.row)
            while page := self._library.documents_after(self._state.row, PAGE_DOCUMENTS):
                for lot in _split_page(page, self._spans_of):
                    self._add(lot, private, lot[-1][0])
                say(_progress_line(self._result, self._state.row, total, time.monotonic() - started_at))
        except _LimitReached as spent:
            self._result = msgspec.structs.replace(self._result, stopped=str(spent))
        else:
            self._store.forget_other_segmenters()
        finally:
            self._store.add((), self._state)  # what was paid for is counted, whatever happened to it
        return msgspec.structs.replace(self._result, withheld=len(self._store.withheld_rows()))

    def _load_progress(self) -> VectorProgress:
        """The progress of the vectors; those of another library are deleted."""
        state = self._store.progress()
        if state.row:
            is_there = self._library.documents_at([state.row])
            hashes = self._store.hashes([state.row])
            is_other_library = (
                state.row in is_there and state.row in hashes and is_there[state.row].sha256 != hashes[state.row]
            )
            if is_other_library or state.row > self._library.last_row():
                self._store.clear()
                return VectorProgress()
        return state

    def _add(self, documents: Sequence[tuple[int, Document]], private: Collection[int], row: int) -> None:
        """Embed and store some documents; the progress is `row` afterwards."""
        texts: dict[bytes, str] = {}
        keyed_spans: dict[int, list[tuple[bytes, PassageSpan]]] = {}
        for number, document in documents:
            if number in private:
                continue
            keyed_spans[number] = []
            for span in embedded_spans(self._spans_of(document)):
                text = text_of(span, document)
                keyed_spans[number].append((key_of(text), span))
                texts[keyed_spans[number][-1][0]] = text
        new = {key: text for key, text in texts.items() if key not in self._vectors}
        new_vectors = self._embed_texts(new)
        records = []
        for number, document in documents:
            if number not in keyed_spans:
                records.append(DocumentVectors(row=number, sha256=document.sha256, withheld=True))
                continue
            keys = [key for key, _ in keyed_spans[number]]
            vectors = b"".join(new_vectors.get(key) or self._vectors[key] for key in keys)
            spans = tuple(pack(span) for _, span in keyed_spans[number])
            records.append(DocumentVectors(number, document.sha256, b"".join(keys), vectors, spans))
        self._state = msgspec.structs.replace(self._state, row=row)
        self._store.add(records, self._state)
        self._vectors |= new_vectors
        self._count(documents=len(records), passages=sum(len(record.spans) for record in records), embedded=len(new))

    def _embed_texts(self, texts: dict[bytes, str]) -> dict[bytes, bytes]:
        """The vectors of new texts. Texts of similar length are batched: a batch takes as long as its longest text."""
        vectors: dict[bytes, bytes] = {}
        self._check(texts.values())
        sorted_keys = sorted(texts, key=lambda key: (len(texts[key]), key))
        for start in range(0, len(sorted_keys), self._limits.batch):
            keys = sorted_keys[start : start + self._limits.batch]
            batch = [texts[key] for key in keys]
            answer = embed(self._embedder, batch, "passage", sleep=self._sleep)
            self._check_length(len(answer.vectors[0]))
            vectors |= zip(keys, map(quantize, answer.vectors), strict=True)
            self._spend(answer.tokens)
        return vectors

    def _spend(self, tokens: int) -> None:
        usd = tokens * self._price / 1e6
        self._state = msgspec.structs.replace(
            self._state, tokens=self._state.tokens + tokens, usd=self._state.usd + usd
        )
        self._count(tokens=tokens, usd=usd)

    def _check(self, texts: Iterable[str]) -> None:
        """Stop before a limit is exceeded."""
        tokens = self._result.tokens + sum(map(estimate_tokens, texts))
        usd = tokens * self._price / 1e6
        if self._limits.tokens is not None and tokens > self._limits.tokens:
            raise _LimitReached(f"the limit of {self._limits.tokens:,} tokens (embedder.max_tokens) is reached")
        if self._limits.usd is not None and usd > self._limits.usd:
            raise _LimitReached(f"the limit of ${self._limits.usd:g} (embedder.max_usd) is reached")

    def _check_length(self, dimensions: int) -> None:
        """Check that vectors have the same length as earlier ones.

        Raises:
            SearchError: they do not: another model has the same name.
        """
        if self._state.dimensions not in (0, dimensions):
            raise SearchError(
                f"{self._embedder.name} now gives vectors of {dimensions} numbers, and the stored ones have"
                f" {self._state.dimensions}: `assay docs embed --anew` makes all of them again"
            )
        self._state = msgspec.structs.replace(self._state, dimensions=dimensions)

    def _spans_of(self, document: Document) -> Sequence[PassageSpan]:
        try:
            return self._spans(document)
        except StoreError as error:
            log.warning("%s gets no vectors: %s", document.name, error)
            return ()

    def _count(self, **counts: float) -> None:
        totals = {name: getattr(self._result, name) + value for name, value in counts.items()}
        self._result = msgspec.structs.replace(self._result, **totals)


def _split_page(
    page: Sequence[tuple[int, Document]], spans: Callable[[Document], Sequence[PassageSpan]]
) -> Iterable[list[tuple[int, Document]]]:
    """A page in parts of about `LOT_PASSAGES` passages."""
    lot: list[tuple[int, Document]] = []
    count = 0
    for row, document in page:
        lot.append((row, document))
        count += len(spans(document))
        if count >= LOT_PASSAGES:
            yield lot
            lot, count = [], 0
    if lot:
        yield lot


def _progress_line(result: BuildResult, row: int, total: int, seconds: float) -> str:
    """A line of progress; the remainder is in rows, which the library counts."""
    cost = f", ${result.usd:.4f}" if result.usd else ""
    rate = result.embedded / seconds if seconds > 1 else 0.0
    speed = f", {rate:,.0f} a second" if rate else ""
    return f"vectors: {result.passages:,} passages, {row / max(total, 1):.0%} of the library{speed}{cost}"
