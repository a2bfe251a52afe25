"""What a process adds in the background, and who waits for news of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

import msgspec

from assay.core.ports.collections import ENDED, Additions
from assay.run.tasks import Tasks


class Adding:
    """The additions this process reads; `additions` are those of all owners."""

    def __init__(self, additions: Additions) -> None:
        self._additions, self._tasks = additions, Tasks()
        self._going: set[str] = set()
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def start(self, work: Coroutine[object, object, None], id: str) -> None:
        """Read an addition, unless it is being read."""
        if id in self._going:
            work.close()
            return
        self._going.add(id)
        self._tasks.start(work, f"addition {id}").add_done_callback(lambda _: self._going.discard(id))

    def beside(self, work: Coroutine[object, object, None], id: str) -> asyncio.Task[None]:
        """Do something beside the reading of an addition, until it is cancelled."""
        return self._tasks.start(work, f"word of addition {id}")

    @contextmanager
    def news(self, id: str) -> Iterator[asyncio.Event]:
        """What is set, within the block, when something new is said of an addition by this process."""
        event = asyncio.Event()
        waiting = self._waiting.setdefault(id, set())
        waiting.add(event)
        try:
            yield event
        finally:
            waiting.discard(event)
            if not waiting:
                self._waiting.pop(id, None)

    def tell(self, id: str) -> None:
        """Something new was said."""
        for event in self._waiting.get(id, ()):
            event.set()

    async def close(self) -> None:
        """End what goes on; whoever opens the home next goes on with it."""
        going = set(self._going)
        await self._tasks.close()
        for id in going:
            left = await asyncio.to_thread(self._additions.find, id)
            if left.state not in ENDED:
                freed = msgspec.structs.replace(left, state="waiting", holder="", seq=left.seq + 1)
                await asyncio.to_thread(self._additions.put, freed)
