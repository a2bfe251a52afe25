"""The class `BackgroundLibrary`: documents which come in while one does other things."""

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
"""Bytes an uploaded file may have, where nobody says how many."""


class BackgroundLibrary(Home):
    """What is read into a library in the background, and how that goes."""

    async def begin_add(self, paths: Sources, collection: str = DEFAULT) -> Addition:
        """Have documents read into a collection in the background; `follow_addition` tells how it goes.

        It goes on when this process dies: in the next which calls `go_on_adding`, or follows it, on this machine.

        Raises:
            UsageError: nothing is named, or a name no collection can have. What cannot be read, the addition tells.
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
        """Have a file read in the background which comes piece by piece; it is whole on the disk when this returns.

        Args:
            name: what it is called; its end says how it is read, or else its `media_type`.
            pieces: its bytes, at most `most`.
            collection: where it comes in.
            media_type: what it is said to be.
            most: bytes it may have.

        Raises:
            TooLarge: it has more bytes; nothing of it is kept.
            UsageError: this is no name of a file or collection.
            StoreError: it cannot be stored.
        """
        return await additions.upload(self._context, additions.Arriving(name, pieces, collection, most, media_type))

    async def begin_crawl(self, url: str, collection: str = DEFAULT, *, pages: int = 200, depth: int = 5) -> Addition:
        """Have a site read into a collection in the background, as `crawl` does.

        Raises:
            UsageError: a name no collection can have. What cannot be read, the addition tells.
        """
        how = AdditionStart(kind="crawl", options={"pages": pages, "depth": depth})
        return await additions.begin(self._context, [url], collection, how)

    async def begin_sync(self, collection: str = DEFAULT) -> Addition:
        """Have a look taken in the background at all a collection was added from, as `sync` does.

        Raises:
            UnknownName: there is no such collection.
        """
        await shelves.check_collection(self._context, collection)
        how = AdditionStart(kind="sync", name=collection)
        return await additions.begin(self._context, [f"@{collection}"], collection, how)

    async def additions(self, limit: int = 100) -> list[Addition]:
        """What was added in the background in the last days, or is being added; newest first."""
        return await asyncio.to_thread(self._context.store.additions.all, limit)

    async def addition(self, id: str) -> Addition:
        """How an addition stands.

        Raises:
            UnknownName: there is none of that id.
        """
        return await asyncio.to_thread(self._context.store.additions.find, id)

    def follow_addition(self, id: str, after: int = 0) -> AsyncIterator[Addition]:
        """An addition each time something is said of it, in whatever process, from `seq > after`, until it has ended.

        Of what is said fast, the last is told.

        Raises:
            UnknownName: there is none of that id.
        """
        return additions.follow(self._context, id, after)

    async def go_on_adding(self) -> list[Addition]:
        """Go on with what killed processes of this machine were adding; a server does this when it starts."""
        return await additions.go_on(self._context)
