"""An index over the library of all owners, as one of them may query it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from assay.core.errors import SearchError, StoreError
from assay.core.messages import Rarity
from assay.core.ports import Counting, Explanation, Hit, Library, LibrarySearch, Metered, Query
from assay.core.usage import Usage


class OwnedSearch:
    """Implements `core.ports.Search`, `Counting` and `Metered`, with collections as the owner of `library` names them.

    Collections that do not exist or that the owner may not read are removed from the query before it reaches the index.
    """

    def __init__(self, index: LibrarySearch, library: Library) -> None:
        self._index, self._library = index, library

    @property
    def name(self) -> str:
        """The index's."""
        return self._index.name

    async def search(self, query: Query) -> list[Hit]:
        """Return the best documents.

        Raises:
            SearchError: the index or the library cannot be read or written.
        """
        return await self._index.search(await self._scoped_query(query))

    async def metered(self, query: Query) -> tuple[list[Hit], Usage]:
        """Return what `search` returns, and its cost.

        Raises:
            SearchError: as `search`.
        """
        asked = await self._scoped_query(query)
        if isinstance(self._index, Metered):
            return await self._index.metered(asked)
        return await self._index.search(asked), Usage()

    async def explain(self, query: Query) -> list[Explanation]:
        """Return what `search` returns, with the reasons for each rank.

        Raises:
            SearchError: as `search`.
        """
        return await self._index.explain(await self._scoped_query(query))

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        """The counts of the index; empty if it does not count.

        Raises:
            SearchError: as `search`.
        """
        asked = await self._scoped_query(Query(text=text, collections=tuple(collections)))
        return await self._index.rarity(text, asked.collections) if isinstance(self._index, Counting) else Rarity()

    async def _scoped_query(self, query: Query) -> Query:
        try:
            meant = await asyncio.to_thread(self._library.referred, query.collections)
        except StoreError as error:
            raise SearchError(f"{self.name} search: {error}") from error
        return msgspec.structs.replace(query, collections=meant)
