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
from assay.services.arguments import Say, Sources, source_names
from assay.services.context import Context
from assay.services.places import CRAWL, FILES, PAGE
from assay.services.shelves import MAX_NAMED, check_collection


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


async def add(context: Context, paths: Sources, collection: str | None, progress: Say | None) -> IngestResult:
    """Read files, folders, globs, pages (http…) and what connectors reach; see `DocumentLibrary.add`."""
    if collection is not None:
        places.check_collection_name(collection)
    asked = places.sort_places(source_names(paths))
    with reading_monitor(context, progress) as reading:
        gathering = PlaceReader(context, reading)
        origins = await _read_places(gathering, asked, collection or UNSORTED)
        if collection is not None:
            await asyncio.to_thread(_store_origins, context, collection, origins, gathering.unchanged)
        await asyncio.to_thread(context.search.sync, reading.report_line)
    named = ", ".join([*asked.paths, *asked.urls, *asked.connected][:3])
    return await _ingest_result(context, gathering, origins, collection, named)


async def read_files(context: Context, files: Sequence[str], collection: str, progress: Say | None) -> FilesRead:
    """Read files of one place into a collection. Whoever has the whole place stores its origin (`store_and_index`)."""
    with reading_monitor(context, progress) as reading:
        done = await asyncio.to_thread(PlaceReader(context, reading).ingest_files, (), collection, files)
    return FilesRead(
        documents=places.documents_of(files, done.given, None),
        skipped=places.skipped_files(files, done.skipped),
        added=done.added,
        files=done.files,
        warnings=_unique(done.warnings),
    )


async def read_listed(
    context: Context, files: Iterator[Fetched], place: str, collection: str, progress: Say | None
) -> FilesRead:
    """Read files of a connector's place into a collection; see `read_files`."""
    with reading_monitor(context, progress) as reading:
        gathering = PlaceReader(context, reading)
        documents = await asyncio.to_thread(gathering.read_fetched, files, place, collection)
    skipped = tuple(each for of in gathering.skipped.values() for each in of)[: places.MOST_SKIPPED]
    return FilesRead(
        documents=documents,
        skipped=skipped,
        added=gathering.added,
        files=gathering.files,
        warnings=_unique(gathering.warnings),
    )


async def store_and_index(context: Context, collection: str, origins: Sequence[Origin], progress: Say | None) -> None:
    """Store the origins of whole places that were read into a collection, and index it.

    Homes that share a database each have a local index. That of one is of no use to the others, and each catches up
    when it is next searched. So no job waits for it: with a large library a worker would have to live for minutes.
    """
    with reading_monitor(context, progress) as reading:
        await asyncio.to_thread(_store_origins, context, collection, origins)
        if context.settings.database is None or context.settings.search.index != "local":
            await asyncio.to_thread(context.search.sync, reading.report_line)


async def drop_files(context: Context, files: Sequence[str], collection: str, origins: Sequence[Origin]) -> None:
    """Take documents of deleted files out of a collection, except those that its origins or `origins` gave."""
    if files:
        await asyncio.to_thread(_drop_files, context.store.library, files, collection, origins)


def _drop_files(library: Library, files: Sequence[str], collection: str, origins: Sequence[Origin]) -> None:
    given = {sha for origin in (*library.origins(collection), *origins) for sha in origin.documents}
    stamps = library.stamps([places.absolute_path(file) for file in files])
    found = {sha for stamp in stamps.values() for sha in stamp.documents}
    library.remove(found - given, collection)


async def crawl(
    context: Context, url: str, collection: str, pages: int, depth: int, progress: Say | None
) -> IngestResult:
    """Read the pages of one site into a collection; see `DocumentLibrary.crawl`."""
    places.check_collection_name(collection)
    origin = Origin(place=url, kind=CRAWL, options={"pages": str(pages), "depth": str(depth)})
    with reading_monitor(context, progress) as reading:
        gathering = PlaceReader(context, reading)
        read = await gathering.crawl(origin, collection, lambda far: _store_origins(context, collection, [far]))
        await asyncio.to_thread(_store_origins, context, collection, [read])
        await asyncio.to_thread(context.search.sync, reading.report_line)
    return await _ingest_result(context, gathering, [read], collection, url)


async def sync(context: Context, collection: str, progress: Say | None, only: Sequence[str] | None = None) -> Synced:
    """Look again at every place a collection was added from; see `DocumentLibrary.sync`."""
    library = context.store.library
    await check_collection(context, collection)
    every = await asyncio.to_thread(library.origins, collection)
    named = None if only is None else {places.absolute_path(each) for each in only} | set(only)
    origins = [each for each in every if named is None or each.place in named]
    if not origins:
        raise UsageError(
            f"Assay does not know where the collection {collection!r} was added from: "
            f"add its documents again: {suggest_command('add', collection)}"
        )
    with reading_monitor(context, progress) as reading:
        gathering = PlaceReader(context, reading)
        before = {each.place: each for each in origins}
        found = await _reread_places(gathering, origins)
        after = [places.keep_earlier_skipped(each, before.get(each.place), gathering.unchanged) for each in found]
        synced = await asyncio.to_thread(_apply, context, collection, every, after)
        await asyncio.to_thread(context.search.sync, reading.report_line)
    fields = {"warnings": _unique(gathering.warnings), "notes": _unique(gathering.notes), "skipped": gathering.skipped}
    return msgspec.structs.replace(synced, **fields)


@contextmanager
def reading_monitor(context: Context, progress: Say | None) -> Iterator[ReadingMonitor]:
    """A monitor of what is read in the block; after it, a thread that still reads ends at its next report."""
    reading = ReadingMonitor(progress, context.clock)
    try:
        yield reading
    finally:
        reading.stop()


async def _read_places(gathering: PlaceReader, asked: places.InputPlaces, collection: str) -> list[Origin]:
    origins = await gathering.read_paths(asked.paths, collection)
    origins += await gathering.read_pages([Origin(place=url, kind=PAGE) for url in asked.urls], collection)
    return origins + [await gathering.read_connected(place, collection) for place in asked.connected]


async def _reread_places(gathering: PlaceReader, origins: Sequence[Origin]) -> list[Origin]:
    """All places as they are now."""
    of: dict[str, list[Origin]] = {FILES: [], PAGE: [], CRAWL: [], "": []}
    for origin in origins:
        of[origin.kind if origin.kind in of else ""].append(origin)
    after = await gathering.reread_paths(of[FILES], UNSORTED)
    after += await gathering.read_pages(of[PAGE], UNSORTED)
    after += [await gathering.crawl(each, UNSORTED) for each in of[CRAWL]]
    return after + [await gathering.read_connected(each.place, UNSORTED, each) for each in of[""]]


async def _ingest_result(
    context: Context, gathering: PlaceReader, origins: Sequence[Origin], collection: str | None, named: str
) -> IngestResult:
    """The result of reading places.

    Raises:
        UsageError: nothing was read.
    """
    documents = tuple({sha: None for origin in origins for sha in origin.documents})
    warnings = _unique(gathering.warnings)
    if not documents:
        raise UsageError(nothing_read_message(named, [*warnings[:MAX_NAMED], *gathering.notes]))
    if collection is None:
        collection = await asyncio.to_thread(context.store.library.collection_for, documents)
    return IngestResult(
        collection=collection,
        documents=len(documents),
        added=gathering.added,
        files=gathering.files,
        copies=gathering.copies,
        warnings=warnings,
        notes=_unique(gathering.notes),
        skipped=gathering.skipped,
    )


def _store_origins(
    context: Context, collection: str, origins: Sequence[Origin], unchanged: Collection[str] = ()
) -> None:
    """Store the origins of what was read into a collection."""
    library, now = context.store.library, context.clock.now()
    found = any(origin.documents for origin in origins)
    remembered = [origin for origin in origins if origin.documents or (found and origin.skipped)]
    before = {each.place: each for each in library.origins(collection)} if unchanged else {}
    known = (places.keep_earlier_skipped(each, before.get(each.place), unchanged) for each in remembered)
    kept = [msgspec.structs.replace(origin, synced_at=now) for origin in known]
    if kept:
        library.add_origins(collection, kept)


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
    known = {each.place: each for each in library.origins(collection)}
    looked_at = {origin.place: origin for origin in after if origin.place in known}
    renewed = [_updated_origin(context, each, known[place].left_out, now) for place, each in looked_at.items()]
    others = [origin for place, origin in known.items() if place not in looked_at]
    held = {sha for origin in before for sha in origin.documents}
    wanted = {sha: None for origin in (*renewed, *others) for sha in origin.documents}
    new, gone = [sha for sha in wanted if sha not in held], held.difference(wanted)
    library.include(wanted, collection)
    library.remove(gone, collection)
    library.add_origins(collection, renewed)
    updated = len({*_addresses(context, gone)} & {*_addresses(context, new)})
    return Synced(
        collection=collection,
        added=len(new) - updated,
        updated=updated,
        removed=len(gone) - updated,
        documents=library.count([collection]),
    )


def _updated_origin(context: Context, origin: Origin, left_out: tuple[str, ...], now: str) -> Origin:
    kept = origin.documents
    if left_out:
        found = context.store.library.documents_by_hash(kept)
        gone = {each.sha256 for each in found if each.url in left_out}
        kept = tuple(sha for sha in kept if sha not in gone)
    return msgspec.structs.replace(origin, documents=kept, left_out=left_out, synced_at=now)


def _addresses(context: Context, documents: Collection[str]) -> list[str]:
    return [document.url for document in context.store.library.documents_by_hash(documents)]


def _unique(warnings: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))
