"""The world: everything a run can reach, the places its documents come from, and who watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from assay.core.events.envelope import Envelope
from assay.core.ports.documents import Blobs, Cache, DocumentTexts, Library, Search
from assay.core.ports.journal import Allowance
from assay.core.ports.models import Model, RateLimiter, Similarity
from assay.core.sources import Document, Fetched, Notice
from assay.core.web_addresses import ANYTHING, WebRules

# Watching a run from outside, for a log or a trace. The run does not depend on it.

SpanKind = Literal["run", "phase", "lane", "model", "tool"]
Fact = str | int | float | bool


class WatchedSpan(Protocol):
    """A span of work in progress."""

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """End the span. `error` is the name of the error, "" for none; never a message, which may quote documents."""


class Watch(Protocol):
    """Receives spans of work and stored events. It must not fail or take long.

    Facts are names, numbers and ids: never text of documents, questions or replies, and never a key.
    """

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Begin a span of work at `started_at` nanoseconds since 1970, within another. Replayed work is not
        reported.
        """

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        """Receive events that were just stored."""

    def close(self) -> None:
        """Close files and connections. Blocking."""


class Clock(Protocol):
    """Time: wall clock for records, monotonic for limits, sleep for retries."""

    def now(self) -> str:
        """ISO 8601 UTC with milliseconds and `Z`."""

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Pages(Protocol):
    """Pages of the web, as documents of the library."""

    async def read(self, url: str, rules: WebRules = ANYTHING, parts: int | None = None) -> tuple[Document, ...]:
        """Return the documents on the page at `url`, at least one, within these rules. They are stored first.

        Of an article on several pages at most `parts` are fetched; None: as many as one reads at once.

        Raises:
            FetchFailed: the page cannot be fetched or read; the reason begins with its kind.
        """


class Notices(Protocol):
    """Notices published about works later."""

    async def find_notices(self, doi: str) -> tuple[Notice, ...]:
        """Return retractions, corrections and the like of the work with this DOI; empty if none are known.

        Raises:
            SearchFailed: there is no answer.
        """


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run can reach: models by name, search providers, documents, time, and pages, if it may read the web.

    `cache` has results of earlier runs, if they are kept. `notices` reports retractions, if the web may be used.
    `watch` observes the run, if somebody wants to. `rate_limiter` delays model calls where a service limits them. A new
    run must fit into each of the `allowances`. `similarity` compares texts by meaning, if an embedder is named and may
    see them. `texts` caches the texts of the blobs, if others read them too; without it a tool reads them itself.

    `keep` receives the hashes of what was read, if another owner shares it: the run's owner can then still find it when
    the sharing ends. Blocking. `prompts` are texts of other packages that replace ours, by name (`phases.write`).
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


class Connector(Protocol):
    """Reads a place file by file. The name of its entry point is the scheme of its places (`git+https`).

    It is created without arguments. Its files are read like pages of the web: by media type, else by name.
    """

    def canonical(self, place: str) -> str:
        """Return the place in the form that is stored.

        Raises:
            UsageError: this connector does not handle it.
        """

    def reaches_out(self, place: str) -> bool:
        """True if reading `place` contacts another machine."""

    def fetch(self, place: str, folder: Path, clock: Clock, largest: int) -> Iterator[Fetched]:
        """Yield the current files at `place`, none larger than `largest` bytes. Blocking.

        Args:
            folder: an empty folder for this call alone, deleted afterwards or when the caller no longer wants the
                answer.

        Raises:
            FetchFailed: the place cannot be read; the reason begins with its kind. Raised by the iteration.
        """


class ListedFile(msgspec.Struct, frozen=True):
    """A file of a place: its name there, and a tag that changes with its content ("" if there is none)."""

    name: str
    version: str = ""


@runtime_checkable
class ListingConnector(Connector, Protocol):
    """A connector whose places can be listed first and then read in parts, by several processes."""

    def list(self, place: str, folder: Path, clock: Clock, largest: int) -> tuple[str, list[ListedFile]]:
        """Return the place under a name that stays valid (a commit), and its files at this moment.

        That name is accepted as `place` too. Files larger than `largest` bytes are left out. Blocking.

        Args:
            folder: a folder for this place alone, used by this call and by `read`. A caller that no longer wants the
                answer deletes it: check now and then whether it exists, and stop when it is gone.

        Raises:
            FetchFailed: as `fetch`.
            UsageError: there are more files than can be read.
        """

    def read(self, place: str, files: Sequence[ListedFile], folder: Path, clock: Clock) -> Iterator[Fetched]:
        """Yield some files of a listed place, without those deleted since. Blocking.

        Raises:
            FetchFailed: as `fetch`.
        """


@runtime_checkable
class GuardedConnector(Connector, Protocol):
    """A connector whose places may name any host, and which can be kept from the network of its own machine."""

    def guarded(self, allow: Sequence[str]) -> Connector:
        """Return a connector for places that a user of a server names.

        It connects only to public hosts and to those in `allow` (as in `web.allow`), follows no redirect, and reads no
        files of this machine.

        Raises:
            ConfigError: `allow` contains something that is neither a host nor a network.
        """
