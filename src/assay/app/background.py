"""The class `BackgroundLibrary`: documents that are added in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from assay.app.home import Home
from assay.core.later import later
from assay.core.ports import Addition
from assay.core.ports.collections import AdditionStart
from assay.services.arguments import DEFAULT, Sources

if TYPE_CHECKING:
    from assay.services import additions, shelves
else:
    additions = later("assay.services.additions")
    shelves = later("assay.services.shelves")

LARGEST = 200_000_000
"""The default limit of an uploaded file in bytes."""


class BackgroundLibrary(Home):
    """Reading into a library in the background, with progress."""

    async def begin_add(self, paths: Sources, collection: str = DEFAULT) -> Addition:
        """Read documents into a collection in the background; `follow_addition` reports the progress.

        If this process dies, the next one on this machine that calls `go_on_adding`, or follows the addition, continues
        it.

        Raises:
            UsageError: nothing is named, or the collection's name is not valid. The addition itself reports what cannot
                be read.
        """
        return await additions.begin(self._context, paths, collection)

    async def begin_upload(
        self,
        name: str,
        pieces: AsyncIterable[bytes],
        collection: str = DEFAULT,
        *,
        media_type: str = "",
        most: int = LARGEST,
    ) -> Addition:
        """Receive a file in pieces and read it in the background; it is complete on disk when this returns.

        Args:
            name: its name, whose suffix says how to read it; without a suffix its `media_type` does.
            pieces: its bytes, at most `most`.
            collection: the collection to add it to.
            media_type: its declared media type.
            most: the largest allowed size in bytes.

        Raises:
            TooLarge: it is larger; nothing of it is kept.
            UsageError: the name of the file or collection is not valid.
            StoreError: it cannot be stored.
        """
        return await additions.upload(self._context, additions.Arriving(name, pieces, collection, most, media_type))

    async def begin_crawl(self, url: str, collection: str = DEFAULT, *, pages: int = 200, depth: int = 5) -> Addition:
        """Read a site into a collection in the background, as `crawl` does.

        Raises:
            UsageError: the collection's name is not valid. The addition itself reports what cannot be read.
        """
        how = AdditionStart(kind="crawl", options={"pages": pages, "depth": depth})
        return await additions.begin(self._context, [url], collection, how)

    async def begin_sync(self, collection: str = DEFAULT) -> Addition:
        """Look again in the background at every place a collection was added from, as `sync` does.

        Raises:
            UnknownName: there is no such collection.
        """
        await shelves.check_collection(self._context, collection)
        how = AdditionStart(kind="sync", name=collection)
        return await additions.begin(self._context, [f"@{collection}"], collection, how)

    async def additions(self, limit: int = 100) -> list[Addition]:
        """Additions in progress and those of the last days, newest first."""
        return await asyncio.to_thread(self._context.store.additions.all, limit)

    async def addition(self, id: str) -> Addition:
        """Return an addition.

        Raises:
            UnknownName: there is none with that id.
        """
        return await asyncio.to_thread(self._context.store.additions.find, id)

    def follow_addition(self, id: str, after: int = 0) -> AsyncIterator[Addition]:
        """Yield an addition after each update with `seq > after`, in whatever process, until it has ended.

        Of updates in quick succession only the last is yielded.

        Raises:
            UnknownName: there is none with that id.
        """
        return additions.follow(self._context, id, after)

    async def go_on_adding(self) -> list[Addition]:
        """Continue what killed processes of this machine were adding; a server does this when it starts."""
        return await additions.go_on(self._context)
