"""A web provider for runs: each hit is a document whose text is the provider's snippet of the page.

So a hit can be cited, is stored as it was, and is recognized by its media type; opening it reads the page.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Literal, Self

import msgspec

from assay.core.clean import HARMFUL, one_line
from assay.core.errors import SearchError
from assay.core.ports import AskedAhead, Blobs, Clock, Hit, Library, Query, RateLimiter
from assay.core.sources import SNIPPET, UNSORTED, Document, PassageSpan, Snapshot, sha256
from assay.core.web_addresses import canonical_url
from assay.search.web.http import ProviderRest, WebHit, WebSearchProvider

EXTRACTOR = "snippet/1"


CutSnippet = Callable[[Document, bytes], Sequence[PassageSpan]]
"""Returns the passages of a document with this text."""


class OnlineSearch:
    """Implements `core.ports.Search`; `spans` returns a document's passages."""

    def __init__(
        self,
        provider: WebSearchProvider,
        library: Library,
        blobs: Blobs,
        clock: Clock,
        spans: CutSnippet,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        """`rate_limiter` delays queries to the provider, by its name; None does not."""
        self._provider, self._library, self._blobs, self._clock, self._spans = provider, library, blobs, clock, spans
        self._rest, self._turns = ProviderRest(), rate_limiter

    def with_library(self, library: Library) -> Self:
        """The same provider, with hits stored in another view of the library."""
        view = copy.copy(self)
        view._library = library
        return view

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def ahead(self) -> Literal["free", "paid", "never"]:
        """The provider's answer; by default it is never queried ahead."""
        return self._provider.ahead if isinstance(self._provider, AskedAhead) else "never"

    async def search(self, query: Query) -> list[Hit]:
        hits = {canonical_url(hit.url): hit for hit in reversed(await self._query_provider(query))}
        return await asyncio.to_thread(self._store_hits, list(reversed(hits.values())))

    async def _query_provider(self, query: Query) -> list[WebHit]:
        async with nullcontext() if self._turns is None else self._turns.call_slot(self.name):
            self._rest.check()
            started_at = self._clock.monotonic()
            try:
                hits = await self._provider.find(query)
            except SearchError as failed:
                self._rest.record_failure(failed.reason, self._clock.monotonic() - started_at)
                raise
            self._rest.record_success()
            return [_without_control_characters(hit) for hit in hits]

    async def close(self) -> None:
        await self._provider.close()

    def _store_hits(self, hits: Sequence[WebHit]) -> list[Hit]:
        texts = ["\n\n".join(filter(None, (hit.title, hit.snippet, hit.url))).encode() + b"\n" for hit in hits]
        bodies = [msgspec.json.encode(hit) for hit in hits]
        self._blobs.put_all([*bodies, *texts])
        pairs = [self._document(hit, body, text) for hit, body, text in zip(hits, bodies, texts, strict=True)]
        self._library.add(pairs, UNSORTED)
        return [
            Hit(document=document, score=1 / rank, spans=self._passages(document, text))
            for rank, ((_, document), text) in enumerate(zip(pairs, texts, strict=True), 1)
        ]

    def _passages(self, document: Document, text: bytes) -> tuple[PassageSpan, ...]:
        """The provider's snippet of the page. Its address, at the end of the text, is not a passage."""
        return tuple(span for span in self._spans(document, text) if span.text != document.url)

    def _document(self, hit: WebHit, body: bytes, text: bytes) -> tuple[Snapshot, Document]:
        now = self._clock.now()
        snapshot = Snapshot(
            sha256=sha256(body), url=hit.url, media_type="application/json", size=len(body), fetched_at=now
        )
        return snapshot, Document(
            sha256=sha256(text),
            snapshot_sha256=snapshot.sha256,
            extractor=EXTRACTOR,
            url=hit.url,
            title=hit.title or hit.url,
            name=hit.url,
            media_type=SNIPPET,
            syntax="plain",
            size=len(text),
            fetched_at=now,
            author=hit.author,
            published=hit.published,
            metadata={"provider": self.name},
        )


def _without_control_characters(hit: WebHit) -> WebHit:
    """A hit without the control characters that databases refuse and terminals obey."""
    return msgspec.structs.replace(
        hit,
        url=HARMFUL.sub("", hit.url),
        title=one_line(hit.title),
        snippet=HARMFUL.sub("", hit.snippet),
        author=one_line(hit.author),
    )
