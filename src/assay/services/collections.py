"""Adds, syncs and removes documents of collections."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from assay.core.errors import UsageError
from assay.core.ports import Library, Origin, SkippedFile
from assay.core.sources import UNSORTED, Fetched
from assay.core.ways import suggest_command
from assay.evidence.ingest import IngestResult as IngestResult
from assay.evidence.ingest import ReadingMonitor
from assay.evidence.ingest.files import nothing_read_message
from assay.services import places
from assay.services.acquisition import PlaceReader
from assay.services.arguments import ProgressLog, Sources, sources_to_add
from assay.services.context import Context
from assay.services.places import CRAWL, FILES, PAGE
from assay.services.shelves import MAX_NAMED, check_collection, check_name


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a sync in a collection, and its number of documents now.

    A warning is a sentence; a note says what was left out on purpose; `skipped` has both, by file.
    """

    collection: str
    added: int
    updated: int
    removed: int
    documents: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: dict[str, tuple[SkippedFile, ...]] = {}


class FilesRead(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading files of a place: their documents (hashes), how many are new, and what was skipped."""

    documents: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]
    added: int
    files: int
    warnings: tuple[str, ...] = ()


async def add(context: Context, paths: Sources, collection: str | None, progress: ProgressLog | None) -> IngestResult:
    """Read files, folders, globs, pages (http…) and what connectors reach; see `DocumentLibrary.add`."""
    if collection is not None:
        await check_name(context, collection)
    input_places = places.sort_places(sources_to_add(paths))
    with reading_monitor(context, progress) as monitor:
        reader = PlaceReader(context, monitor)
        origins = await _read_places(reader, input_places, collection or UNSORTED)
        if collection is not None:
            await asyncio.to_thread(_store_origins, context, collection, origins, reader.unchanged)
        await asyncio.to_thread(context.search.sync, monitor.report_line)
    names = ", ".join([*input_places.paths, *input_places.urls, *input_places.connector_places][:3])
    return await _ingest_result(context, reader, origins, collection, names)


async def read_files(
    context: Context, files: Sequence[str], collection: str, progress: ProgressLog | None
) -> FilesRead:
    """Read files of one place into a collection. Whoever has the whole place stores its origin (`store_and_index`)."""
    with reading_monitor(context, progress) as monitor:
        result = await asyncio.to_thread(PlaceReader(context, monitor).ingest_files, (), collection, files)
    return FilesRead(
        documents=places.documents_of(files, result.given, None),
        skipped=places.skipped_files(files, result.skipped),
        added=result.added,
        files=result.files,
        warnings=_unique(result.warnings),
    )


async def read_listed(
    context: Context, files: Iterator[Fetched], place: str, collection: str, progress: ProgressLog | None
) -> FilesRead:
    """Read files of a connector's place into a collection; see `read_files`."""
    with reading_monitor(context, progress) as monitor:
        reader = PlaceReader(context, monitor)
        documents = await asyncio.to_thread(reader.read_fetched, files, place, collection)
    skipped = tuple(file for group in reader.skipped.values() for file in group)[: places.MAX_SKIPPED_FILES]
    return FilesRead(
        documents=documents,
        skipped=skipped,
        added=reader.added,
        files=reader.files,
        warnings=_unique(reader.warnings),
    )


async def store_and_index(
    context: Context, collection: str, origins: Sequence[Origin], progress: ProgressLog | None
) -> None:
    """Store the origins of whole places that were read into a collection, and index it.

    Homes that share a database each have a local index. That of one is of no use to the others, and each catches up
    when it is next searched. So no job waits for it: with a large library a worker would have to live for minutes.
    """
    with reading_monitor(context, progress) as monitor:
        await asyncio.to_thread(_store_origins, context, collection, origins)
        if context.settings.database is None or context.settings.search.index != "local":
            await asyncio.to_thread(context.search.sync, monitor.report_line)


async def drop_files(context: Context, files: Sequence[str], collection: str, origins: Sequence[Origin]) -> None:
    """Take documents of deleted files out of a collection, except those that its origins or `origins` gave."""
    if files:
        await asyncio.to_thread(_drop_files, context.store.library, files, collection, origins)


def _drop_files(library: Library, files: Sequence[str], collection: str, origins: Sequence[Origin]) -> None:
    kept_documents = {sha for origin in (*library.origins(collection), *origins) for sha in origin.documents}
    stamps = library.stamps([places.absolute_path(file) for file in files])
    file_documents = {sha for stamp in stamps.values() for sha in stamp.documents}
    library.remove(file_documents - kept_documents, collection)


async def crawl(
    context: Context, url: str, collection: str, pages: int, depth: int, progress: ProgressLog | None
) -> IngestResult:
    """Read the pages of one site into a collection; see `DocumentLibrary.crawl`."""
    await check_name(context, collection)
    origin = Origin(place=url, kind=CRAWL, options={"pages": str(pages), "depth": str(depth)})
    with reading_monitor(context, progress) as monitor:
        reader = PlaceReader(context, monitor)
        crawled = await reader.crawl(origin, collection, lambda far: _store_origins(context, collection, [far]))
        await asyncio.to_thread(_store_origins, context, collection, [crawled])
        await asyncio.to_thread(context.search.sync, monitor.report_line)
    return await _ingest_result(context, reader, [crawled], collection, url)


async def sync(
    context: Context, collection: str, progress: ProgressLog | None, only: Sequence[str] | None = None
) -> Synced:
    """Look again at every place a collection was added from; see `DocumentLibrary.sync`."""
    library = context.store.library
    await check_collection(context, collection)
    every = await asyncio.to_thread(library.origins, collection)
    only_places = None if only is None else {places.absolute_path(place) for place in only} | set(only)
    origins = [origin for origin in every if only_places is None or origin.place in only_places]
    if not origins:
        raise UsageError(
            f"Assay does not know where the collection {collection!r} was added from: "
            f"add its documents again: {suggest_command('add', collection)}"
        )
    with reading_monitor(context, progress) as monitor:
        reader = PlaceReader(context, monitor)
        before = {origin.place: origin for origin in origins}
        current = await _reread_places(reader, origins)
        after = [places.keep_earlier_skipped(origin, before.get(origin.place), reader.unchanged) for origin in current]
        result = await asyncio.to_thread(_apply, context, collection, every, after)
        await asyncio.to_thread(context.search.sync, monitor.report_line)
    fields = {"warnings": _unique(reader.warnings), "notes": _unique(reader.notes), "skipped": reader.skipped}
    return msgspec.structs.replace(result, **fields)


@contextmanager
def reading_monitor(context: Context, progress: ProgressLog | None) -> Iterator[ReadingMonitor]:
    """A monitor of what is read in the block; after it, a thread that still reads ends at its next report."""
    monitor = ReadingMonitor(progress, context.clock)
    try:
        yield monitor
    finally:
        monitor.stop()


async def _read_places(reader: PlaceReader, input_places: places.InputPlaces, collection: str) -> list[Origin]:
    origins = await reader.read_paths(input_places.paths, collection)
    origins += await reader.read_pages([Origin(place=url, kind=PAGE) for url in input_places.urls], collection)
    return origins + [await reader.read_connected(place, collection) for place in input_places.connector_places]


async def _reread_places(reader: PlaceReader, origins: Sequence[Origin]) -> list[Origin]:
    """All places as they are now."""
    by_kind: dict[str, list[Origin]] = {FILES: [], PAGE: [], CRAWL: [], "": []}
    for origin in origins:
        by_kind[origin.kind if origin.kind in by_kind else ""].append(origin)
    after = await reader.reread_paths(by_kind[FILES], UNSORTED)
    after += await reader.read_pages(by_kind[PAGE], UNSORTED)
    after += [await reader.crawl(origin, UNSORTED) for origin in by_kind[CRAWL]]
    return after + [await reader.read_connected(origin.place, UNSORTED, origin) for origin in by_kind[""]]


async def _ingest_result(
    context: Context, reader: PlaceReader, origins: Sequence[Origin], collection: str | None, names: str
) -> IngestResult:
    """The result of reading places.

    Raises:
        UsageError: nothing was read.
    """
    documents = tuple({sha: None for origin in origins for sha in origin.documents})
    warnings = _unique(reader.warnings)
    if not documents:
        raise UsageError(nothing_read_message(names, [*warnings[:MAX_NAMED], *reader.notes]))
    if collection is None:
        collection = await asyncio.to_thread(context.store.library.collection_for, documents)
    return IngestResult(
        collection=collection,
        documents=len(documents),
        added=reader.added,
        files=reader.files,
        copies=reader.copies,
        warnings=warnings,
        notes=_unique(reader.notes),
        skipped=reader.skipped,
    )


def _store_origins(
    context: Context, collection: str, origins: Sequence[Origin], unchanged: Collection[str] = ()
) -> None:
    """Store the origins of what was read into a collection."""
    library, now = context.store.library, context.clock.now()
    any_documents = any(origin.documents for origin in origins)
    stored = [origin for origin in origins if origin.documents or (any_documents and origin.skipped)]
    before = {origin.place: origin for origin in library.origins(collection)} if unchanged else {}
    merged = (places.keep_earlier_skipped(origin, before.get(origin.place), unchanged) for origin in stored)
    dated_origins = [msgspec.structs.replace(origin, synced_at=now) for origin in merged]
    if dated_origins:
        library.add_origins(collection, dated_origins)


def _apply(
    context: Context,
    collection: str,
    before: Sequence[Origin],
    after: Sequence[Origin],
) -> Synced:
    """Make a collection contain what its places give now, except what a person removed.

    Reading takes long, so what others have added and removed since `before` is looked up again: it stays so.
    """
    library, now = context.store.library, context.clock.now()
    origins_by_place = {origin.place: origin for origin in library.origins(collection)}
    looked_at = {origin.place: origin for origin in after if origin.place in origins_by_place}
    renewed = [
        _updated_origin(context, origin, origins_by_place[place].left_out, now) for place, origin in looked_at.items()
    ]
    other_origins = [origin for place, origin in origins_by_place.items() if place not in looked_at]
    documents_before = {sha for origin in before for sha in origin.documents}
    documents_after = {sha: None for origin in (*renewed, *other_origins) for sha in origin.documents}
    new, removed = (
        [sha for sha in documents_after if sha not in documents_before],
        documents_before.difference(documents_after),
    )
    library.include(documents_after, collection)
    library.remove(removed, collection)
    library.add_origins(collection, renewed)
    updated = len({*_addresses(context, removed)} & {*_addresses(context, new)})
    return Synced(
        collection=collection,
        added=len(new) - updated,
        updated=updated,
        removed=len(removed) - updated,
        documents=library.count([collection]),
    )


def _updated_origin(context: Context, origin: Origin, left_out: tuple[str, ...], now: str) -> Origin:
    documents = origin.documents
    if left_out:
        stored_documents = context.store.library.documents_by_hash(documents)
        left_out_hashes = {document.sha256 for document in stored_documents if document.url in left_out}
        documents = tuple(sha for sha in documents if sha not in left_out_hashes)
    return msgspec.structs.replace(origin, documents=documents, left_out=left_out, synced_at=now)


def _addresses(context: Context, documents: Collection[str]) -> list[str]:
    return [document.url for document in context.store.library.documents_by_hash(documents)]


def _unique(warnings: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))
