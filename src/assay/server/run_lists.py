"""How the runs of users stand, read once for all who follow: each user's list costs one query a tick, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from itertools import islice

from assay.run.process import Tasks
from assay.server.streams import BEAT, BEGIN, HEARTBEAT, frame

LOOK_SECONDS = 1.0
"""Between two looks at a list which somebody follows."""
MOST = 200
"""The newest runs of a user which are looked at."""

ReadRuns = Callable[[], Awaitable[dict[str, bytes]]]
"""Gives a user's newest runs, by id, as lists show them."""


class FollowedList:
    """The newest runs of one user as lists show them, newest first, for all who follow them."""

    def __init__(self) -> None:
        self.followers = 0
        self.runs: dict[str, bytes] = {}
        self.news = asyncio.Event()
        self.failure: BaseException | None = None

    def tell(self) -> None:
        """Wake all who wait for news."""
        told, self.news = self.news, asyncio.Event()
        told.set()


class RunLists:
    """The lists of a server which somebody follows; one reader for each user, while there are followers."""

    def __init__(self, closing: asyncio.Event, tasks: Tasks) -> None:
        """`closing` is set when the server stops: then all that is followed ends."""
        self._closing, self._tasks = closing, tasks
        self._lists: dict[str, FollowedList] = {}

    async def frames(self, owner: str, read: ReadRuns, limit: int) -> AsyncIterator[bytes]:
        """The frames of runs which are not as they were told last, the newest last, until the server stops.

        `read` is called by the first who follows this owner's runs, for all who follow them then.

        Raises:
            StoreError: the store cannot be read.
        """
        yield BEGIN
        followed, told = self._join(owner, read), dict[str, bytes]()
        try:
            while not self._closing.is_set():
                news = followed.news  # before the runs: what comes later is news
                if followed.failure is not None:
                    raise followed.failure
                now = dict(islice(followed.runs.items(), limit))
                chunk = b"".join(frame(data, event="run") for id, data in reversed(now.items()) if told.get(id) != data)
                told = now
                if chunk:
                    yield chunk
                while not await _is_told(news):
                    yield BEAT
        finally:
            followed.followers -= 1
        yield BEGIN

    def _join(self, owner: str, read: ReadRuns) -> FollowedList:
        followed = self._lists.get(owner)
        if followed is None:
            followed = self._lists[owner] = FollowedList()
            self._tasks.start(self._keep(owner, followed, read), "the list of a user's runs")
        followed.followers += 1
        return followed

    async def _keep(self, owner: str, followed: FollowedList, read: ReadRuns) -> None:
        """Read a list again and again, as long as somebody follows it."""
        try:
            while followed.followers and not self._closing.is_set():
                now = await read()
                if now != followed.runs:
                    followed.runs = now
                    followed.tell()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), LOOK_SECONDS)
        except Exception as error:
            followed.failure = error
            raise
        finally:
            del self._lists[owner]
            followed.tell()


async def _is_told(news: asyncio.Event) -> bool:
    """Whether there was news before it was time to say that the connection lives."""
    try:
        async with asyncio.timeout(HEARTBEAT):
            return await news.wait()
    except TimeoutError:
        return False
