"""The world: all a run can reach, and who watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from assay.core.events.envelope import Envelope
from assay.core.ports.documents import Blobs, Cache, DocumentTexts, Library, Search
from assay.core.ports.journal import Allowance
from assay.core.ports.models import Model, RateLimiter, Similarity
from assay.core.sources import Document, Notice
from assay.core.web_addresses import ANYTHING, WebRules

# Watching a run from outside: what a log or a trace is told while it goes on. Nothing of a run depends on it.

SpanKind = Literal["run", "phase", "lane", "model", "tool"]
Fact = str | int | float | bool


class WatchedSpan(Protocol):
    """A stretch of work which was begun."""

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """It is over. `error` is the name of what went wrong, "" for nothing; never a message, which may quote."""
        ...


class Watch(Protocol):
    """Is told of stretches of work and of stored events. It must not fail, and not take long.

    Facts are names, numbers and ids: no text of documents, questions or replies, and no key is ever among them.
    """

    def begin(
        self, kind: SpanKind, name: str, at: int, within: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """A stretch of work began `at` nanoseconds since 1970, within another. Replayed work is not told."""
        ...

    def heard(self, envelopes: Sequence[Envelope]) -> None:
        """These events are stored now."""
        ...

    def close(self) -> None:
        """Let go of files and connections. Blocking."""
        ...


class Clock(Protocol):
    """Time: wall clock for records, monotonic for limits, sleep for retries."""

    def now(self) -> str:
        """ISO 8601 UTC with milliseconds and `Z`."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Pages(Protocol):
    """Pages of the web, as documents of the library."""

    async def read(self, url: str, rules: WebRules = ANYTHING) -> tuple[Document, ...]:
        """What is on the page at `url`, by these rules; stored before it is given. At least one document.

        Raises:
            FetchFailed: it cannot be had or read; the reason begins with its kind.
        """
        ...


class Notices(Protocol):
    """What was published about works later."""

    async def of(self, doi: str) -> tuple[Notice, ...]:
        """Retractions, corrections and the like of the work with this DOI; none where nobody knows it.

        Raises:
            SearchFailed: there is no answer.
        """
        ...


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What a run can reach: models by name, search providers, documents, time; pages, where it may read the web.

    `cache` has what earlier runs found out, where that is kept; `notices` tells of retractions, where
    the web may be asked.
    `watch` is told how the run goes, where somebody wants to know; `rate_limiter` says when a model may be called,
    where services get so many calls at once and no more. A new run has to fit into each of the `allowances`.
    `similarity` compares texts by meaning, where an embedder is named and may be told of them.
    `texts` are those of the blobs, where others read them too; without it a tool reads them by itself.
    `keep` is told the hashes of what was read, where it may be another's who lets it be read today: the run's owner is
    to find it again when that ends. Blocking.
    `prompts` are texts of other packages in place of ours, by name (`phases.write`).
    """

    models: dict[str, Model]
    searches: tuple[Search, ...]
    library: Library
    blobs: Blobs
    clock: Clock
    pages: Pages | None = None
    cache: Cache | None = None
    notices: Notices | None = None
    watch: Watch | None = None
    rate_limiter: RateLimiter | None = None
    allowances: tuple[Allowance, ...] = ()
    keep: Callable[[Sequence[str]], None] | None = None
    similarity: Similarity | None = None
    texts: DocumentTexts | None = None
    prompts: Mapping[str, str] = {}
