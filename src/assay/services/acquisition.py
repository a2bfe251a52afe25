"""Reads files, pages, sites, and what connectors reach, into the library."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from assay.core.errors import FetchFailed
from assay.core.lazy import lazy_module
from assay.core.ports import Connector, Extractor, KeptPage, Library, Origin, PageCache, SkippedFile
from assay.core.sources import Fetched
from assay.core.web_addresses import canonical_url
from assay.evidence.ingest import (
    FileReaders,
    IngestResult,
    IngestTarget,
    ReadingMonitor,
    extractor_for,
    find_files,
    ingest,
    page_name,
    printable,
)
from assay.evidence.ingest.files import content_exclusion, left_out_notes, name_exclusion
from assay.services import places
from assay.services.briefs import check_online
from assay.services.context import Context
from assay.services.extraction import open_fetcher
from assay.services.home_paths import scratch_folder
from assay.services.places import FILES

if TYPE_CHECKING:
    from assay.services import crawler
else:
    crawler = lazy_module("assay.services.crawler")

GONE_REASONS = ("not found", "gone")
"""Kinds of failures after which a page is gone; after any other it stays as it was."""
RENEWAL_PREFIX = "renewal/"
"""Before the row number of a document that was moved, as long as its names in the index are those of before."""
BATCH, BATCH_BYTES = 200, 32_000_000


class PlaceReader:
    """Reads places into the library, and returns them as origins with their documents.

    `files` counts what was read, `added` what of it is new to the library. `warnings` are sentences for the user,
    `notes` say in detail what was left out on purpose; `skipped` has the same by file.
    """

    def __init__(self, context: Context, monitor: ReadingMonitor) -> None:
        self._settings, self._store, self._clock = context.settings, context.store, context.clock
        self._readers, self._page_cache, self._monitor = context.readers, context.page_cache, monitor
        self._allowed_hosts, self._context = context.allowed_hosts, context
        self._largest = int(context.settings.documents.max_file_mb * 1_000_000)
        self.files = self.added = self.copies = 0
        self._has_renewed = False
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.unchanged: list[str] = []
        self.skipped: dict[str, tuple[SkippedFile, ...]] = {}

    async def read_paths(self, paths: Sequence[str], collection: str) -> list[Origin]:
        """Read paths and globs.

        Raises:
            UsageError: one does not exist.
        """
        if not paths:
            return []
        await asyncio.to_thread(find_files, paths)
        return await asyncio.to_thread(self._read_paths, paths, collection)

    async def reread_paths(self, origins: Sequence[Origin], collection: str) -> list[Origin]:
        """Read paths and globs again; a deleted file gives nothing, a folder that is away what it gave."""
        return await asyncio.to_thread(self._reread_paths, origins, collection) if origins else []

    async def read_pages(self, origins: Sequence[Origin], collection: str) -> list[Origin]:
        """Read pages of the web; one that cannot be reached now stays as it was.

        Raises:
            UsageError: the settings forbid the web.
        """
        if not origins:
            return []
        check_online(self._settings)
        pages, failures = await self._fetch([origin.place for origin in origins])
        result = await asyncio.to_thread(self.ingest_files, pages, collection)
        self.warnings += [f"skipped {url}: {why}" for url, why in failures.items()]
        self._record_skipped(failures)
        return [
            msgspec.structs.replace(
                _renew_origin(origin, result.given.get(origin.place, ()), failures.get(origin.place, "")),
                skipped=self.skipped.get(origin.place, ()),
            )
            for origin in origins
        ]

    async def crawl(self, origin: Origin, collection: str, keep: Callable[[Origin], None] | None = None) -> Origin:
        """Read the pages of one site; those that cannot be reached now stay as they were.

        Args:
            keep: receives the origin from time to time, as far as it is read, for somebody who continues later. Without
                it the site was read before, and each of its pages is requested again.

        Raises:
            UsageError: the settings forbid the web, or the place is not an address.
        """
        check_online(self._settings)
        gave: dict[str, None] = {}
        skipped_before = len(self.skipped)
        page_cache = _RevalidatedPages(self._page_cache) if keep is None else self._page_cache
        site = crawler.Site(origin.place, pages=int(origin.options["pages"]), depth=int(origin.options["depth"]))
        async with (
            open_fetcher(self._settings.web, self._clock, page_cache) as fetcher,
            aclosing(crawler.crawl(fetcher, site, self._monitor.report_line)) as pages,
        ):
            async for page in pages:
                result = await asyncio.to_thread(self.ingest_files, [page], collection)
                gave.update(dict.fromkeys(itertools.chain.from_iterable(result.given.values())))
                if keep is not None and len(gave) % crawler.PROGRESS_PAGES == 1:
                    await asyncio.to_thread(keep, msgspec.structs.replace(origin, documents=tuple(gave)))
        gave.update(dict.fromkeys(await asyncio.to_thread(self._unreachable_documents, origin, site)))
        self.warnings += [*(f"skipped {url}: {why}" for url, why in site.failures.items()), *site.notes]
        self._record_skipped(site.failures)
        return msgspec.structs.replace(origin, documents=tuple(gave), skipped=self._skipped_since(skipped_before))

    async def read_connected(self, place: str, collection: str, before: Origin | None = None) -> Origin:
        """Read a connector's place; if it cannot be reached now, keep what it gave before.

        Raises:
            UnknownName: no such connector is installed.
            UsageError: the connector does not handle the place.
        """
        scheme = place.partition(":")[0]
        connector = places.connector_of(place, self._allowed_hosts)
        origin = before or Origin(place=connector.canonical(place), kind=scheme)
        if connector.reaches_out(place):
            check_online(self._settings)
        try:
            skipped_before = len(self.skipped)
            documents = await self._fetch_place(connector, origin.place, collection)
        except FetchFailed as failed:
            self.warnings.append(f"skipped {origin.place}: {failed.reason}")
            return origin
        return msgspec.structs.replace(origin, documents=documents, skipped=self._skipped_since(skipped_before))

    def ingest_files(self, pages: Sequence[Fetched], collection: str, paths: Sequence[str] = ()) -> IngestResult:
        """Read files and pages, possibly none, into a collection. Blocking.

        Raises:
            Cancelled: reading was stopped.
        """
        result = ingest(
            paths,
            IngestTarget(
                library=self._store.library,
                blobs=self._store.blobs,
                clock=self._clock,
                collection=collection,
                is_shared=self._context.settings.database is not None,
                is_near=not isinstance(self._context.settings.blobs, str),
                on_move=self._note_renewals,
            ),
            FileReaders(
                extractors=self._readers.extractors(), archives=self._readers.archives(), largest=self._largest
            ),
            pages=pages,
            progress=self._monitor.report_progress,
            require_document=False,
        )
        self.files += result.files
        self.added += result.added
        self.copies += result.copies
        self.warnings += result.warnings
        self.notes += result.notes
        self.skipped |= result.skipped
        self.unchanged += result.unchanged
        self._renew(result.moved)
        return result

    def _renew(self, moved_rows: Sequence[int]) -> None:
        """Renew moved documents (row numbers) in the index, and those for which it failed before.

        Raises:
            SearchError, StoreError: the index cannot be written; the next reading tries it again.
        """
        cache = self._store.cache
        self._note_renewals(moved_rows)  # again: another process may have renewed them before they moved
        if (moved_rows or not self._has_renewed) and (keys := cache.entries(RENEWAL_PREFIX)):
            self._context.search.reindex_names(sorted(int(key.removeprefix(RENEWAL_PREFIX)) for key in keys))
            cache.forget(keys)
        self._has_renewed = True

    def _note_renewals(self, rows: Sequence[int]) -> None:
        for row in rows:
            self._store.cache.keep(f"{RENEWAL_PREFIX}{row}", b"")

    def _reread_paths(self, origins: Sequence[Origin], collection: str) -> list[Origin]:
        unavailable = {origin.place for origin in origins if places.is_unavailable(origin, self._store.library)}
        self.warnings += [
            f"{printable(place)} is missing or empty (a drive that is not mounted?): its documents stay; "
            "to drop them, remove this place from the collection"
            for place in sorted(unavailable)
        ]
        available = [origin.place for origin in origins if origin.place not in unavailable]
        reread = iter(self._read_paths(available, collection, before=self._store.library))
        return [origin if origin.place in unavailable else next(reread) for origin in origins]

    def _read_paths(self, paths: Sequence[str], collection: str, *, before: Library | None = None) -> list[Origin]:
        files_by_place, missing = places.files_of(paths)
        self.warnings += [f"{why}: what came from there left the collection" for why in missing.values()]
        result = self.ingest_files((), collection, [path for path in paths if path not in missing])
        return [
            Origin(
                place=place,
                kind=FILES,
                documents=places.documents_of(files, result.given, before),
                skipped=places.skipped_files(files, result.skipped),
            )
            for place, files in files_by_place.items()
        ]

    async def _fetch(self, urls: Iterable[str]) -> tuple[list[Fetched], dict[str, str]]:
        """Fetch pages; return them, and why others could not be fetched, by address."""
        pages, failures = [], {}
        async with open_fetcher(self._settings.web, self._clock) as fetcher:
            for url in urls:
                try:
                    pages.append(await fetcher.fetch(url))
                except FetchFailed as error:
                    failures[url] = error.reason
        return pages, failures

    async def _fetch_place(self, connector: Connector, place: str, collection: str) -> tuple[str, ...]:
        folder = await asyncio.to_thread(scratch_folder)
        files = connector.fetch(place, folder, self._clock, self._largest)
        try:
            return await asyncio.to_thread(self.read_fetched, files, place, collection)
        finally:  # a cancelled call leaves a thread, which ends when the folder is gone
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def read_fetched(self, files: Iterator[Fetched], place: str, collection: str) -> tuple[str, ...]:
        """Read what a connector gives of a place, in batches, and return its documents. Blocking.

        Raises:
            FetchFailed: the place cannot be read.
        """
        extractors = self._readers.extractors()
        gave: dict[str, None] = {}
        unread = 0
        left_out: dict[str, list[str]] = {}
        for batch in _batches(files):
            chosen = [file for file in batch if not _should_skip(file, extractors, left_out)]
            readable = [file for file in chosen if extractor_for(file, extractors) is not None]
            unread += len(chosen) - len(readable)
            self._record_skipped({file.url: "not text" for file in chosen if extractor_for(file, extractors) is None})
            result = self.ingest_files(readable, collection)
            gave.update(dict.fromkeys(itertools.chain.from_iterable(result.given.values())))
        self.notes += left_out_notes(left_out)
        self._record_skipped({url: reason for reason, urls in left_out.items() for url in urls})
        if unread:
            count_text = "1 file that is" if unread == 1 else f"{unread} files that are"
            self.warnings.append(f"skipped {count_text} not text in {place}")
        return tuple(gave)

    def _unreachable_documents(self, origin: Origin, site: crawler.Site) -> list[str]:
        """The documents of pages that a crawl found, or had no room for, and could not read this time."""
        lost_urls = {canonical_url(url) for url, why in site.failures.items() if not why.startswith(GONE_REASONS)}
        lost_urls |= {canonical_url(url) for url in site.unread_urls}
        if not (lost_urls and origin.documents):
            return []
        documents = self._store.library.documents_by_hash(origin.documents)
        return [document.sha256 for document in documents if canonical_url(document.url) in lost_urls]

    def _record_skipped(self, reasons: Mapping[str, str]) -> None:
        """Remember why addresses gave no document."""
        self.skipped |= {url: (SkippedFile(url, why),) for url, why in reasons.items()}

    def _skipped_since(self, count: int) -> tuple[SkippedFile, ...]:
        """Everything skipped after the first `count` files and pages."""
        later = itertools.islice(self.skipped.values(), count, None)
        return tuple(itertools.chain.from_iterable(later))[: places.MAX_SKIPPED_FILES]


class _RevalidatedPages:
    """Cached pages whose server is always asked whether they have changed."""

    def __init__(self, cache: PageCache) -> None:
        self._cache = cache

    def get(self, url: str) -> KeptPage | None:
        page = self._cache.get(url)
        return None if page is None else msgspec.structs.replace(page, fresh_until=0.0)

    def put(self, page: KeptPage) -> None:
        self._cache.put(page)

    def forget(self, url: str) -> None:
        self._cache.forget(url)


def _renew_origin(origin: Origin, new_documents: tuple[str, ...], why: str) -> Origin:
    """A page's origin after it was requested: gone, out of reach, or as it is now."""
    documents = origin.documents if why and not why.startswith(GONE_REASONS) else new_documents
    return msgspec.structs.replace(origin, documents=documents)


def _should_skip(file: Fetched, extractors: Sequence[Extractor], reasons: dict[str, list[str]]) -> bool:
    """True if no extractor reads this file of a repository; the reason goes to `reasons`."""
    name, reader = page_name(file), extractor_for(file, extractors)
    why = name_exclusion(name) or content_exclusion(name, file.body, reader.media_type if reader else "")
    if why:
        reasons.setdefault(why, []).append(file.url)
    return bool(why)


def _batches(files: Iterator[Fetched]) -> Iterator[list[Fetched]]:
    """A few files at a time, so that only a few megabytes are in memory."""
    batch: list[Fetched] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.body)
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
