"""Documents come in, are looked at again, and go: the library and its collections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from assay.app import places
from assay.app.gathering import Gathering
from assay.app.online import Online
from assay.app.places import CRAWL, FILES, PAGE
from assay.app.readers import Readers
from assay.core.errors import UnknownName, UsageError
from assay.core.ports import Clock, CollectionRow, Hit, Origin, Query
from assay.core.sources import UNSORTED, Document
from assay.evidence.documents import Reader
from assay.evidence.ingest import Ingested
from assay.evidence.reading import Reading
from assay.search.local import LocalSearch
from assay.settings import Settings
from assay.store.common import Store

DEFAULT = "default"
NAMED = 5

Say = Callable[[str], None]
Sources = str | Path | Iterable[str | Path]


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """What a sync changed in a collection, and how many documents that holds now. A warning is a sentence."""

    collection: str
    added: int
    updated: int
    removed: int
    documents: int
    warnings: tuple[str, ...] = ()


class Collecting:
    """The part of `Assay` which keeps the library."""

    settings: Settings
    _store: Store
    _clock: Clock
    _readers: Readers
    _reader: Reader
    _search: LocalSearch
    _online: Online

    async def add(self, paths: Sources, collection: str | None = DEFAULT, progress: Say | None = None) -> Ingested:
        """Read files, folders, globs, pages (http…) and what connectors understand into the library.

        What is known already costs nothing. A collection remembers what it was added from, for `sync`; without one the
        answer names the collection which holds exactly these documents.

        Raises:
            UsageError: a path that does not exist, a name no collection can have, or nothing could be read.
        """
        if collection is not None:
            places.checked_name(collection)
        asked = places.sorted_out(listed(paths))
        reading = Reading(progress, self._clock)
        gathering = self._gathering(reading)
        try:
            origins = await self._gathered(gathering, asked, collection or UNSORTED)
            if collection is not None:
                await asyncio.to_thread(self._remember, collection, origins)
            await asyncio.to_thread(self._search.sync, reading.say)
        finally:
            reading.stop()
        named = ", ".join([*asked.paths, *asked.urls, *asked.connected][:3])
        return await self._ingested(gathering, origins, collection, named)

    async def crawl(
        self, url: str, collection: str = DEFAULT, *, pages: int = 200, depth: int = 5, progress: Say | None = None
    ) -> Ingested:
        """Read the pages of one site into a collection: those of the host of `url`, at or below its path.

        Args:
            pages: at most so many are read.
            depth: how many links away from `url`.

        What was read when it is interrupted is kept, and a sync goes on.

        Raises:
            UsageError: nothing could be read.
        """
        places.checked_name(collection)
        reading = Reading(progress, self._clock)
        gathering = self._gathering(reading)
        origin = Origin(place=url, kind=CRAWL, options={"pages": str(pages), "depth": str(depth)})
        try:
            read = await gathering.crawl(origin, collection, lambda far: self._remember(collection, [far]))
            await asyncio.to_thread(self._remember, collection, [read])
            await asyncio.to_thread(self._search.sync, reading.say)
        finally:
            reading.stop()
        return await self._ingested(gathering, [read], collection, url)

    async def sync(self, collection: str = DEFAULT, progress: Say | None = None) -> Synced:
        """Look again at all a collection was added from: what is new comes in, what is gone or changed leaves.

        A document which leaves stays in the library, for the reports which cite it. What cannot be reached now stays.

        Raises:
            UnknownName: there is no such collection.
            UsageError: nothing is known of what it was added from.
        """
        library = self._store.library
        await self.check_collection(collection)
        origins = await asyncio.to_thread(library.origins, collection)
        if not origins:
            raise UsageError(
                f"nothing is remembered of what the collection {collection!r} was added from: "
                "add its documents again with `assay docs add`"
            )
        reading = Reading(progress, self._clock)
        try:
            gathering = self._gathering(reading)
            after = await self._again(gathering, origins)
            synced = await asyncio.to_thread(self._apply, collection, origins, after)
            await asyncio.to_thread(self._search.sync, reading.say)
        finally:
            reading.stop()
        return msgspec.structs.replace(synced, warnings=_once(gathering.warnings))

    async def remove(self, references: Sequence[str], collection: str = DEFAULT) -> list[Document]:
        """Take documents out of a collection, by hash, name, address, title or path; a place takes out all it gave.

        They stay in the library, for the reports which cite them; a sync does not bring them back.

        Raises:
            UnknownName: there is no such collection, or no such document in it.
            UsageError: a reference means several.
        """
        await self.check_collection(collection)
        return await asyncio.to_thread(self._remove, references, collection)

    async def meant(self, references: Sequence[str], collection: str = DEFAULT) -> list[Document]:
        """The documents `remove` would take out.

        Raises:
            UnknownName: there is no such collection, or no such document in it.
            UsageError: a reference means several.
        """
        await self.check_collection(collection)
        found, _ = await asyncio.to_thread(self._meant, references, collection)
        return found

    async def drop(self, collection: str) -> None:
        """Forget a collection; its documents stay in the library.

        Raises:
            UnknownName: there is none of that name.
        """
        await self.check_collection(collection)
        await asyncio.to_thread(self._store.library.drop, collection)

    async def collections(self) -> list[CollectionRow]:
        """The collections people have made, by name."""
        rows = await asyncio.to_thread(self._store.library.collections)
        return [row for row in rows if places.is_named(row)]

    async def origins(self, collection: str = DEFAULT) -> list[Origin]:
        """Where a collection was added from."""
        return await asyncio.to_thread(self._store.library.origins, collection)

    async def mark(self, collection: str, *, private: bool) -> None:
        """Say whether a collection is private: never shown to models elsewhere, nor in scope while the web is searched.

        Raises:
            UsageError: no collection can have that name.
        """
        places.checked_name(collection)
        await asyncio.to_thread(self._store.library.mark, collection, private=private)

    async def check_collection(self, collection: str) -> None:
        """Make sure that there is such a collection.

        Raises:
            UnknownName: there is none; the message names those there are.
        """
        known = [row.name for row in await self.collections()]
        if collection not in known:
            raise places.unknown(collection, known)

    async def text(self, reference: str, collection: str | None = None) -> tuple[Document, str]:
        """A document of a collection (None: of any), by hash, name, address or title, with its text.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several.
        """
        names = [collection] if collection else [row.name for row in await self.collections()]
        document = await asyncio.to_thread(one, self._store.library.find(reference, names), reference, names)
        body = await asyncio.to_thread(self._store.blobs.get, document.sha256)
        return document, body.decode()

    async def documents(self, collection: str = DEFAULT) -> list[Document]:
        """The documents of a collection, in the order of adding."""
        return await asyncio.to_thread(self._store.library.documents, [collection])

    async def search(self, text: str, limit: int = 10, collection: str = DEFAULT) -> list[Hit]:
        """The best documents of a collection for `text`, best first."""
        return await self._search.search(Query(text=text, limit=limit, collections=(collection,)))

    # within

    def _gathering(self, reading: Reading) -> Gathering:
        return Gathering(self.settings, self._store, self._readers, self._clock, reading, self._online.kept)

    async def _gathered(self, gathering: Gathering, asked: places.Places, collection: str) -> list[Origin]:
        origins = await gathering.paths(asked.paths, collection)
        origins += await gathering.pages([Origin(place=url, kind=PAGE) for url in asked.urls], collection)
        return origins + [await gathering.connected(place, collection) for place in asked.connected]

    async def _again(self, gathering: Gathering, origins: Sequence[Origin]) -> list[Origin]:
        """All places as they are now."""
        of: dict[str, list[Origin]] = {FILES: [], PAGE: [], CRAWL: [], "": []}
        for origin in origins:
            of[origin.kind if origin.kind in of else ""].append(origin)
        after = await gathering.paths_again(of[FILES], UNSORTED)
        after += await gathering.pages(of[PAGE], UNSORTED)
        after += [await gathering.crawl(each, UNSORTED) for each in of[CRAWL]]
        return after + [await gathering.connected(each.place, UNSORTED, each) for each in of[""]]

    async def _ingested(
        self, gathering: Gathering, origins: Sequence[Origin], collection: str | None, named: str
    ) -> Ingested:
        """What came of reading places.

        Raises:
            UsageError: nothing.
        """
        documents = tuple({sha: None for origin in origins for sha in origin.documents})
        warnings = _once(gathering.warnings)
        if not documents:
            raise UsageError("; ".join([f"no document could be read in {named}", *warnings[:NAMED]]))
        if collection is None:
            collection = await asyncio.to_thread(self._store.library.select, documents)
        return Ingested(
            collection=collection,
            documents=len(documents),
            added=gathering.added,
            files=gathering.files,
            warnings=warnings,
        )

    def _remember(self, collection: str, origins: Sequence[Origin]) -> None:
        """Put what was read into a collection, and keep where it is from."""
        library, now = self._store.library, self._clock.now()
        kept = [msgspec.structs.replace(origin, synced_at=now) for origin in origins if origin.documents]
        if kept:
            library.include({sha: None for each in kept for sha in each.documents}, collection)
            library.remember(collection, kept)

    def _apply(self, collection: str, before: Sequence[Origin], after: Sequence[Origin]) -> Synced:
        """Make a collection hold what its places give now, but for what a person took out."""
        library, now = self._store.library, self._clock.now()
        left_out = {origin.place: origin.left_out for origin in before}
        renewed = [self._renewed(origin, left_out.get(origin.place, ()), now) for origin in after]
        held = {sha for origin in before for sha in origin.documents}
        wanted = {sha: None for origin in renewed for sha in origin.documents}
        new, gone = [sha for sha in wanted if sha not in held], held.difference(wanted)
        library.include(wanted, collection)
        library.remove(gone, collection)
        library.remember(collection, renewed)
        updated = len({*self._addresses(gone)} & {*self._addresses(new)})
        return Synced(
            collection=collection,
            added=len(new) - updated,
            updated=updated,
            removed=len(gone) - updated,
            documents=len(library.members([collection])),
        )

    def _renewed(self, origin: Origin, left_out: tuple[str, ...], now: str) -> Origin:
        kept = origin.documents
        if left_out:
            found = {sha: self._store.library.document(sha) for sha in kept}
            kept = tuple(sha for sha, each in found.items() if each is None or each.url not in left_out)
        return msgspec.structs.replace(origin, documents=kept, left_out=left_out, synced_at=now)

    def _addresses(self, documents: Iterable[str]) -> list[str]:
        found = (self._store.library.document(sha) for sha in documents)
        return [document.url for document in found if document is not None]

    def _meant(self, references: Sequence[str], collection: str) -> tuple[list[Document], list[Origin]]:
        """The documents meant, and the origins meant whole."""
        library = self._store.library
        origins = library.origins(collection)
        known = {origin.place: origin for origin in origins}
        found: dict[str, Document] = {}
        whole = []
        for reference in references:
            place = known.get(reference) or known.get(places.absolute(reference))
            if place is None:
                document = one(_candidates(reference, collection, library.find), reference, [collection])
                found[document.sha256] = document
                continue
            whole.append(place)
            others = {sha for each in origins if each not in whole for sha in each.documents}
            mine = (library.document(sha) for sha in place.documents if sha not in others)
            found |= {each.sha256: each for each in mine if each is not None}
        return list(found.values()), whole

    def _remove(self, references: Sequence[str], collection: str) -> list[Document]:
        library = self._store.library
        found, whole = self._meant(references, collection)
        urls = {document.sha256: document.url for document in found}
        library.remove(urls, collection)
        library.forget(collection, [origin.place for origin in whole])
        changed = [places.without(each, urls) for each in library.origins(collection)]
        library.remember(collection, changed)
        return found


def listed(sources: Sources) -> list[str]:
    """Sources as a list of their names."""
    return [str(sources)] if isinstance(sources, str | Path) else [str(path) for path in sources]


def one(found: Sequence[Document], reference: str, collections: Sequence[str]) -> Document:
    """The one document a reference means.

    Raises:
        UnknownName: there is none.
        UsageError: there are several, none of which it names exactly.
    """
    if not found:
        where = ", ".join(collections) or "the library, which is empty"
        raise UnknownName("document", reference, hint=f"in {where} (assay docs list shows what there is)")
    exact = [each for each in found if reference in (each.sha256, each.name, each.url, each.title)]
    chosen = exact or found
    if len(chosen) > 1:
        some = ", ".join(f"{each.sha256[:8]} ({each.title or each.name})" for each in chosen[:NAMED])
        raise UsageError(f"{reference!r} means {len(chosen)} documents: {some}; name one by its number")
    return chosen[0]


def _candidates(
    reference: str, collection: str, find: Callable[[str, Sequence[str]], list[Document]]
) -> list[Document]:
    """What a reference may mean: a document by what it is called, or the file at a path."""
    found = find(reference, [collection])
    if found:
        return found
    try:
        return find(Path(places.absolute(reference)).as_uri(), [collection])
    except ValueError:
        return []


def _once(warnings: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))
