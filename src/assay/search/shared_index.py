"""An index that several share: each owner queries a part of it, and processes take turns to write it.

The turns here are among the processes of a home; `postgres.tables` has those among the machines of a database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from assay.core.errors import SearchError, StoreError
from assay.core.messages import Rarity
from assay.core.ports import Counting, Explanation, Hit, Library, LibrarySearch, Metered, Query
from assay.core.usage import Usage

Turn = Callable[[Callable[[str], None]], AbstractContextManager[None]]
"""The right to write; while another process has it, the caller is told."""

PATIENCE = 3_600.0
"""Seconds to wait for another process."""


class SharedWork(msgspec.Struct, frozen=True, kw_only=True):
    """An index that one process writes at a time.

    `lock` is its advisory lock in PostgreSQL, `pause` the seconds between two checks there, `patience` the longest
    wait.
    """

    name: str
    lock: int = 0
    pause: float = 1.0
    patience: float = PATIENCE


VECTORS = SharedWork(name="the vectors", lock=0x61737369)
INDEX = SharedWork(name="the search index", lock=0x61737368, pause=0.05)


def no_turn(say: Callable[[str], None]) -> AbstractContextManager[None]:
    """The right to write something that is not shared."""
    return nullcontext()


@contextmanager
def file_turn(file: Path, work: SharedWork, say: Callable[[str], None]) -> Iterator[None]:
    """The right of one process of a home, by a lock file beside `file`.

    Raises:
        SearchError: another process has it too long.
    """
    lock = FileLock(file.with_suffix(".lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(waiting(work))
        try:
            lock.acquire(timeout=work.patience)
        except Timeout:
            raise SearchError(f"another process has held {lock.lock_file} for {work.patience:.0f} s") from None
    try:
        yield
    finally:
        lock.release()


def waiting(work: SharedWork) -> str:
    """The message to a waiting caller."""
    return f"waiting for another process to finish {work.name}"


# An index over the library of all owners, as one of them may query it.


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
