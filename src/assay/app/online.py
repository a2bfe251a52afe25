"""The web as a run sees it: the search providers the settings name, and pages which become documents of the library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from assay import plugins
from assay.app.pages import make_fetcher
from assay.app.readers import Readers
from assay.core.errors import ConfigError, FetchFailed, UsageError
from assay.core.ports import Blobs, Clock, Fetcher, Library, Search
from assay.core.secrets import Secret
from assay.core.sources import Document, Fetched, Span
from assay.evidence.ingest import ingest
from assay.search.web.asking import SearchAccess
from assay.search.web.online import OnlineSearch
from assay.settings import Settings

KEYLESS = ("ddgs", "wikipedia")


class Online:
    """What all runs of a process share of the web; made when the first run wants it."""

    def __init__(
        self,
        settings: Settings,
        library: Library,
        blobs: Blobs,
        clock: Clock,
        readers: Readers,
        spans: Callable[[Document], Sequence[Span]],
    ) -> None:
        self._settings, self._library, self._blobs, self._clock = settings, library, blobs, clock
        self._readers, self._spans = readers, spans
        self._searches: dict[str, OnlineSearch] = {}
        self._fetcher: Fetcher | None = None

    def searches(self) -> tuple[Search, ...]:
        """The providers a run asks.

        Raises:
            UnknownName: the settings name one that is not installed.
            ConfigError: one lacks its key or its address.
        """
        return tuple(self._search(name) for name in self._names())

    async def read(self, url: str) -> tuple[Document, ...]:
        """The documents on a page; implements `core.ports.Pages`.

        Raises:
            FetchFailed: it cannot be had or read.
        """
        if self._fetcher is None:
            self._fetcher = make_fetcher(self._settings.web, self._clock)
        page = await self._fetcher.fetch(url)
        return await asyncio.to_thread(self._documents, page)

    async def close(self) -> None:
        """Let go of the connections."""
        for search in self._searches.values():
            await search.close()
        if self._fetcher is not None:
            await self._fetcher.close()

    def _names(self) -> tuple[str, ...]:
        named = self._settings.search.providers
        return named or tuple(name for name in plugins.names("searches") if self._is_ready(name)) or KEYLESS

    def _is_ready(self, name: str) -> bool:
        """Whether somebody has set up this provider, with all it needs."""
        reached, key = self._settings.search.services.get(name), self._key(name)
        if reached is None and key is None:
            return False
        try:
            plugins.load("searches", name)(self._access(name))
        except ConfigError:
            return False
        return True

    def _search(self, name: str) -> OnlineSearch:
        if name not in self._searches:
            provider = plugins.load("searches", name)(self._access(name))
            self._searches[name] = OnlineSearch(provider, self._library, self._blobs, self._clock, self._spans)
        return self._searches[name]

    def _access(self, name: str) -> SearchAccess:
        reached = self._settings.search.services.get(name)
        url, option = (reached.url or "", reached.option) if reached else ("", "")
        return SearchAccess(url=url, key=self._key(name), option=option)

    def _key(self, name: str) -> Secret | None:
        found = getattr(self._settings.keys, name, None)
        return None if found is None else Secret(found.get_secret_value())

    def _documents(self, page: Fetched) -> tuple[Document, ...]:
        try:
            done = ingest(
                (),
                pages=(page,),
                library=self._library,
                blobs=self._blobs,
                extractors=self._readers.extractors(),
                clock=self._clock,
            )
        except UsageError as error:
            raise FetchFailed(f"not text: {error}") from error
        return tuple(self._library.documents((done.collection,)))
