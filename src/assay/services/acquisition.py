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

    def __init__(self, context: Context, reading: ReadingMonitor) -> None:
        self._settings, self._store, self._clock = context.settings, context.store, context.clock
        self._readers, self._kept, self._reading = context.readers, context.page_cache, reading
        self._allowed, self._context = context.allowed_hosts, context
        self._largest = int(context.settings.documents.max_file_mb * 1_000_000)
        self.files = self.added = self.copies = 0
        self._renewed = False
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
        pages, failed = await self._fetch([each.place for each in origins])
        done = await asyncio.to_thread(self.ingest_files, pages, collection)
        self.warnings += [f"skipped {url}: {why}" for url, why in failed.items()]
        self._record_skipped(failed)
        return [
            msgspec.structs.replace(
                _renew_origin(each, done.given.get(each.place, ()), failed.get(each.place, "")),
                skipped=self.skipped.get(each.place, ()),
            )
            for each in origins
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
        known = len(self.skipped)
        kept = _RevalidatedPages(self._kept) if keep is None else self._kept
        site = crawler.Site(origin.place, pages=int(origin.options["pages"]), depth=int(origin.options["depth"]))
        async with (
            open_fetcher(self._settings.web, self._clock, kept) as fetcher,
            aclosing(crawler.crawl(fetcher, site, self._reading.report_line)) as pages,
        ):
            async for page in pages:
                done = await asyncio.to_thread(self.ingest_files, [page], collection)
                gave.update(dict.fromkeys(itertools.chain.from_iterable(done.given.values())))
                if keep is not None and len(gave) % crawler.PROGRESS_PAGES == 1:
                    await asyncio.to_thread(keep, msgspec.structs.replace(origin, documents=tuple(gave)))
        gave.update(dict.fromkeys(await asyncio.to_thread(self._unreachable_documents, origin, site)))
        self.warnings += [*(f"skipped {url}: {why}" for url, why in site.failed.items()), *site.notes]
        self._record_skipped(site.failed)
        return msgspec.structs.replace(origin, documents=tuple(gave), skipped=self._skipped_since(known))

    async def read_connected(self, place: str, collection: str, before: Origin | None = None) -> Origin:
        """Read a connector's place; if it cannot be reached now, keep what it gave before.

        Raises:
            UnknownName: no such connector is installed.
            UsageError: the connector does not handle the place.
        """
        scheme = place.partition(":")[0]
        connector = places.connector_of(place, self._allowed)
        origin = before or Origin(place=connector.canonical(place), kind=scheme)
        if connector.reaches_out(place):
            check_online(self._settings)
        try:
            known = len(self.skipped)
            documents = await self._fetch_place(connector, origin.place, collection)
        except FetchFailed as failed:
            self.warnings.append(f"skipped {origin.place}: {failed.reason}")
            return origin
        return msgspec.structs.replace(origin, documents=documents, skipped=self._skipped_since(known))

    def ingest_files(self, pages: Sequence[Fetched], collection: str, paths: Sequence[str] = ()) -> IngestResult:
        """Read files and pages, possibly none, into a collection. Blocking.

        Raises:
            Cancelled: reading was stopped.
        """
        done = ingest(
            paths,
            IngestTarget(
                library=self._store.library,
                blobs=self._store.blobs,
                clock=self._clock,
                collection=collection,
                shared=self._context.settings.database is not None,
                on_move=self._note_renewals,
            ),
            FileReaders(
                extractors=self._readers.extractors(), archives=self._readers.archives(), largest=self._largest
            ),
            pages=pages,
            progress=self._reading.report_progress,
            require_document=False,
        )
        self.files += done.files
        self.added += done.added
        self.copies += done.copies
        self.warnings += done.warnings
        self.notes += done.notes
        self.skipped |= done.skipped
        self.unchanged += done.unchanged
        self._renew(done.moved)
        return done

    def _renew(self, moved: Sequence[int]) -> None:
        """Renew moved documents (row numbers) in the index, and those for which it failed before.

        Raises:
            SearchError, StoreError: the index cannot be written; the next reading tries it again.
        """
        cache = self._store.cache
        self._note_renewals(moved)  # again: another process may have renewed them before they moved
        if (moved or not self._renewed) and (waiting := cache.entries(RENEWAL_PREFIX)):
            self._context.search.reindex_names(sorted(int(each.removeprefix(RENEWAL_PREFIX)) for each in waiting))
            cache.forget(waiting)
        self._renewed = True

    def _note_renewals(self, rows: Sequence[int]) -> None:
        for row in rows:
            self._store.cache.keep(f"{RENEWAL_PREFIX}{row}", b"")

    def _reread_paths(self, origins: Sequence[Origin], collection: str) -> list[Origin]:
        away = {each.place for each in origins if places.is_unavailable(each, self._store.library)}
        self.warnings += [
            f"{printable(place)} is missing or empty (a drive that is not mounted?): its documents stay; "
            "to drop them, remove this place from the collection"
            for place in sorted(away)
        ]
        found = [each.place for each in origins if each.place not in away]
        read = iter(self._read_paths(found, collection, before=self._store.library))
        return [each if each.place in away else next(read) for each in origins]

    def _read_paths(self, paths: Sequence[str], collection: str, *, before: Library | None = None) -> list[Origin]:
        found, missing = places.files_of(paths)
        self.warnings += [f"{why}: what came from there left the collection" for why in missing.values()]
        done = self.ingest_files((), collection, [path for path in paths if path not in missing])
        return [
            Origin(
                place=place,
                kind=FILES,
                documents=places.documents_of(files, done.given, before),
                skipped=places.skipped_files(files, done.skipped),
            )
            for place, files in found.items()
        ]

    async def _fetch(self, urls: Iterable[str]) -> tuple[list[Fetched], dict[str, str]]:
        """Fetch pages; return them, and why others could not be fetched, by address."""
        pages, failed = [], {}
        async with open_fetcher(self._settings.web, self._clock) as fetcher:
            for url in urls:
                try:
                    pages.append(await fetcher.fetch(url))
                except FetchFailed as error:
                    failed[url] = error.reason
        return pages, failed

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
            wanted = [file for file in batch if not _should_skip(file, extractors, left_out)]
            readable = [file for file in wanted if extractor_for(file, extractors) is not None]
            unread += len(wanted) - len(readable)
            self._record_skipped({file.url: "not text" for file in wanted if extractor_for(file, extractors) is None})
            done = self.ingest_files(readable, collection)
            gave.update(dict.fromkeys(itertools.chain.from_iterable(done.given.values())))
        self.notes += left_out_notes(left_out)
        self._record_skipped({url: reason for reason, urls in left_out.items() for url in urls})
        if unread:
            some = "1 file that is" if unread == 1 else f"{unread} files that are"
            self.warnings.append(f"skipped {some} not text in {place}")
        return tuple(gave)

    def _unreachable_documents(self, origin: Origin, site: crawler.Site) -> list[str]:
        """The documents of pages that a crawl found, or had no room for, and could not read this time."""
        lost = {canonical_url(url) for url, why in site.failed.items() if not why.startswith(GONE_REASONS)}
        lost |= {canonical_url(url) for url in site.left}
        if not (lost and origin.documents):
            return []
        found = self._store.library.documents_by_hash(origin.documents)
        return [each.sha256 for each in found if canonical_url(each.url) in lost]

    def _record_skipped(self, reasons: Mapping[str, str]) -> None:
        """Remember why addresses gave no document."""
        self.skipped |= {url: (SkippedFile(url, why),) for url, why in reasons.items()}

    def _skipped_since(self, known: int) -> tuple[SkippedFile, ...]:
        """Everything skipped after the first `known` files and pages."""
        later = itertools.islice(self.skipped.values(), known, None)
        return tuple(itertools.chain.from_iterable(later))[: places.MOST_SKIPPED]


class _RevalidatedPages:
    """Cached pages whose server is always asked whether they have changed."""

    def __init__(self, kept: PageCache) -> None:
        self._kept = kept

    def get(self, url: str) -> KeptPage | None:
        found = self._kept.get(url)
        return None if found is None else msgspec.structs.replace(found, fresh_until=0.0)

    def put(self, page: KeptPage) -> None:
        self._kept.put(page)

    def forget(self, url: str) -> None:
        self._kept.forget(url)


def _renew_origin(origin: Origin, given: tuple[str, ...], why: str) -> Origin:
    """A page's origin after it was requested: gone, out of reach, or as it is now."""
    documents = origin.documents if why and not why.startswith(GONE_REASONS) else given
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
