"""The web for runs: the search providers in the settings, and pages that become documents of the library."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain

import msgspec

from assay import plugins
from assay.core.errors import ConfigError, FetchFailed, NothingRead
from assay.core.ports import Blobs, Clock, Fetcher, Library, Notices, PageCache, RateLimiter, Search
from assay.core.ports.models import Secret
from assay.core.sources import UNSORTED, Document, Fetched
from assay.core.web_addresses import ANYTHING, MCP_PREFIX, WebRules
from assay.evidence.ingest import FileReaders, IngestTarget, ingest
from assay.fetch.web.page_parts import next_part
from assay.search.mcp import McpAccess, McpServer
from assay.search.web.http import SearchAccess, WebSearchProvider
from assay.search.web.online import CutSnippet, OnlineSearch
from assay.search.web.scholarship import CrossrefNotices
from assay.services.context import close_all
from assay.services.extraction import make_fetcher
from assay.services.ports import Readers
from assay.settings import Settings
from assay.settings.research import Mcp
from assay.store.pages import MemoryPages

KEYLESS = ("ddgs", "wikipedia")
MAX_ARTICLE_PAGES = 5
"""Pages of one article that are read, each a document of its own."""


class PageIntake(msgspec.Struct, frozen=True, kw_only=True):
    """Where pages are stored as documents, and their extractors; `spans` returns the passages of a snippet."""

    library: Library
    blobs: Blobs
    clock: Clock
    readers: Readers
    spans: CutSnippet


class Online:
    """Everything that all runs of a process share for using the web; created for the first run that uses it."""

    def __init__(
        self,
        settings: Settings,
        intake: PageIntake,
        page_cache: PageCache | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        """`rate_limiter` delays queries to search providers."""
        self._settings, self._library, self._blobs, self._clock = settings, intake.library, intake.blobs, intake.clock
        self._readers, self._spans, self._turns = intake.readers, intake.spans, rate_limiter
        self.page_cache: PageCache = MemoryPages() if page_cache is None else page_cache
        self._searches: dict[str, OnlineSearch] = {}
        self._servers: dict[str, tuple[McpServer, OnlineSearch]] = {}
        self._fetcher: Fetcher | None = None
        self._notices: CrossrefNotices | None = None

    def use_fetcher(self, fetcher: Fetcher) -> None:
        """Read pages with `fetcher` instead of the one from the settings."""
        self._fetcher = fetcher

    def searches(self) -> tuple[OnlineSearch, ...]:
        """The providers that a run queries.

        Raises:
            UnknownName: the settings name one that is not installed.
            ConfigError: one lacks its key or its address.
        """
        servers = tuple(self._server(name)[1] for name in self._settings.mcp)
        return (*(self._search(name) for name in self._names()), *servers)

    def for_library(self, library: Library) -> OwnedWeb:
        """The same, with pages as documents of one owner's library."""
        return OwnedWeb(self, library)

    async def read(
        self, url: str, rules: WebRules = ANYTHING, parts: int | None = None, library: Library | None = None
    ) -> tuple[Document, ...]:
        """Return the documents on a page, read into a view of the library; implements `core.ports.Pages`.

        Raises:
            FetchFailed: it cannot be fetched or read.
        """
        if url.startswith(MCP_PREFIX):
            page = await self._server_of(url).read(url)
            return await asyncio.to_thread(self._documents, [page], library or self._library)
        pages = await self._parts(url, rules, MAX_ARTICLE_PAGES if parts is None else min(parts, MAX_ARTICLE_PAGES))
        return await asyncio.to_thread(self._documents, pages, library or self._library)

    async def _parts(self, url: str, rules: WebRules, limit: int) -> list[Fetched]:
        """The page at `url`, and the parts of the article that follow it; one that cannot be fetched ends it.

        Raises:
            FetchFailed: the page cannot be fetched.
        """
        parts = [await self._get_fetcher().fetch(url, rules)]
        while len(parts) < limit and (next_url := await asyncio.to_thread(next_part, parts[-1])):
            if any(next_url == part.final_url for part in parts):
                break
            try:
                parts.append(await self._get_fetcher().fetch(next_url, rules))
            except FetchFailed:
                break
        return parts

    def warm(self) -> None:
        """Create what searches and fetches before it is needed. Blocking.

        Raises:
            UnknownName, ConfigError: as `searches`.
        """
        self.searches()
        self._get_fetcher()

    def _get_fetcher(self) -> Fetcher:
        if self._fetcher is None:
            self._fetcher = make_fetcher(self._settings.web, self._clock, self.page_cache)
        return self._fetcher

    def notices(self) -> Notices:
        """Looks up notices published about works later."""
        if self._notices is None:
            self._notices = CrossrefNotices(self._access(CrossrefNotices.name))
        return self._notices

    async def close(self) -> None:
        closers = [client.close for client in (self._fetcher, self._notices) if client is not None]
        servers = [server.close for server, _ in self._servers.values()]
        await close_all([*(search.close for search in self._searches.values()), *servers, *closers])

    def _names(self) -> tuple[str, ...]:
        providers = self._settings.search.providers
        return providers or tuple(name for name in plugins.names("searches") if self._is_ready(name)) or KEYLESS

    def _is_ready(self, name: str) -> bool:
        """True if this provider is set up completely."""
        service, key = self._settings.search.services.get(name), self._key(name)
        if service is None and key is None:
            return False
        try:
            plugins.load("searches", name)(self._access(name))
        except ConfigError:
            return False
        return True

    def _search(self, name: str) -> OnlineSearch:
        if name not in self._searches:
            provider = plugins.load("searches", name)(self._access(name))
            self._searches[name] = self._as_search(provider)
        return self._searches[name]

    def _as_search(self, provider: WebSearchProvider) -> OnlineSearch:
        return OnlineSearch(provider, self._library, self._blobs, self._clock, self._spans, self._turns)

    def _server(self, name: str) -> tuple[McpServer, OnlineSearch]:
        """The server with this name in the settings, as itself and as a search provider."""
        if name not in self._servers:
            server = McpServer(name, _mcp_access(self._settings.mcp[name]), self._clock)
            self._servers[name] = (server, self._as_search(server))
        return self._servers[name]

    def _server_of(self, url: str) -> McpServer:
        """The server that found what is at an address.

        Raises:
            FetchFailed: it is no longer in the settings.
        """
        name = url.removeprefix(MCP_PREFIX).partition("/")[0]
        if name not in self._settings.mcp:
            raise FetchFailed(f"blocked: the settings name no MCP server {name!r}")
        return self._server(name)[0]

    def _access(self, name: str) -> SearchAccess:
        service = self._settings.search.services.get(name)
        if service is None:
            return SearchAccess(key=self._key(name))
        return SearchAccess(url=service.url or "", key=self._key(name), option=service.option, pause=service.pause)

    def _key(self, name: str) -> Secret | None:
        return self._settings.keys.of(name)

    def _documents(self, pages: Sequence[Fetched], library: Library) -> tuple[Document, ...]:
        try:
            result = ingest(
                (),
                IngestTarget(library=library, blobs=self._blobs, clock=self._clock, collection=UNSORTED),
                FileReaders(extractors=self._readers.page_extractors()),
                pages=pages,
            )
        except NothingRead as error:
            raise FetchFailed(f"{error.kind}: {error}") from error
        return tuple(library.documents_by_hash([*chain.from_iterable(result.given.values())]))


class OwnedWeb:
    """The web as one owner's runs see it: pages become documents of this owner. Implements `core.ports.Pages`."""

    def __init__(self, online: Online, library: Library) -> None:
        self._online, self._library = online, library

    def searches(self) -> tuple[Search, ...]:
        """The providers that a run queries; see `Online.searches`."""
        return tuple(search.with_library(self._library) for search in self._online.searches())

    async def read(self, url: str, rules: WebRules = ANYTHING, parts: int | None = None) -> tuple[Document, ...]:
        """The documents on a page; see `Online.read`."""
        return await self._online.read(url, rules, parts, self._library)

    def notices(self) -> Notices:
        """Looks up notices published about works later."""
        return self._online.notices()


def _mcp_access(server: Mcp) -> McpAccess:
    """How to connect to a server of the Model Context Protocol."""
    return McpAccess(
        url=server.url or "",
        command=server.command,
        key=server.key,
        search=server.search,
        fetch=server.fetch,
        seconds=server.timeout,
        bytes=int(server.max_mb * 1_000_000),
    )
