"""New events of runs, read once per process for all followers.

However many follow a run, its log is read once: each follower reads from a window over the newest events, and from the
store only for older ones. The reader looks at a run when it is notified, and at all followed runs from time to time,
since notifications can get lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Literal

from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope, RunWaiting, decode
from assay.core.ports import FINAL, Journal, RunRow
from assay.run.process import is_dead
from assay.run.tasks import loop_listener, wait_for_event

POLL_SECONDS = 0.25
"""Between two looks at all followed runs."""
PAUSE_SECONDS = 0.02
"""Between two looks while there are always new events: they are written in groups, and so they are read."""
EVENTS_PER_READ = 1_000
"""Events read from the store at a time."""
MAX_WINDOW_EVENTS = 4_000
"""The number of newest events of a run that are kept for its followers."""

FeedState = Literal["going", "idle", "ended"]
"""Idle: the run waits for a person's answer, or for a process to resume it."""


class Feed:
    """The newest events of one run, for all its followers."""

    def __init__(self, row: RunRow, state: FeedState, topic: str) -> None:
        """`row` is the run now; the window begins after its last event. `topic` is what it waits for, "" for
        nothing.
        """
        self.state, self.topic, self.first = state, topic, row.last_seq
        self.followers = 0
        self.failure: BaseException | None = None
        self.news = asyncio.Event()
        self._window: list[Envelope] = []

    @property
    def last(self) -> int:
        """The number of the newest event read."""
        return self.first + len(self._window)

    def events_after(self, seq: int) -> list[Envelope] | None:
        """The events after number `seq`; None if the window does not reach back so far."""
        return self._window[seq - self.first :] if seq >= self.first else None

    def extend(self, envelopes: Collection[Envelope]) -> None:
        """Add events read from the log."""
        self._window += envelopes
        if (surplus := len(self._window) - MAX_WINDOW_EVENTS) > 0:
            del self._window[:surplus]
            self.first += surplus
        self.topic = waiting_topic(envelopes) or self.topic

    def wake(self) -> None:
        """Wake all waiting followers."""
        old_news, self.news = self.news, asyncio.Event()
        old_news.set()


class Feeds:
    """The feeds of a process over one journal. It reads only while somebody follows."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._feeds: dict[str, Feed] = {}
        self._heard_runs: set[str] = set()
        self._wake = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._last_look = 0.0

    async def follow(self, run_id: str, after: int = 0, *, patient: bool = False) -> AsyncIterator[Envelope]:
        """Yield the events after number `after` as they are stored, until the run ends.

        Args:
            run_id: the run's full id.
            after: the number of the last event the caller has.
            patient: keep waiting while the run waits for a person or a process. Without it, either ends the iteration.

        Raises:
            UnknownName: there is no such run, or it was deleted in the meantime.
            StoreError: the log cannot be read.
            Cancelled: the feeds were closed.
        """
        async for group in self.groups(run_id, after, patient=patient):
            for envelope in group:
                yield envelope

    async def groups(
        self, run_id: str, after: int = 0, *, patient: bool = False, rest: float | None = None
    ) -> AsyncIterator[Sequence[Envelope]]:
        """As `follow`, but yield all new events at once, and an empty group if none came for `rest` seconds.

        Raises:
            UnknownName, StoreError, Cancelled: as `follow`.
        """
        feed = await self._join(run_id)
        try:
            while True:
                news, state, last = feed.news, feed.state, feed.last  # before the events: later ones are news
                if events := await self._events_after(feed, run_id, after):
                    after = events[-1].seq
                    yield events
                elif after < last:  # the log no longer has them, so it is not the one that was followed
                    raise feed.failure or _unknown_run(run_id)
                if after < last:
                    continue
                if feed.failure is not None:
                    raise feed.failure
                if state == "ended" or (state == "idle" and not patient):
                    return
                while not await wait_for_event(news, rest):
                    yield ()
        finally:
            self._leave(run_id, feed)

    async def close(self) -> None:
        """Stop reading and tell all followers."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _events_after(self, feed: Feed, run_id: str, after: int) -> list[Envelope]:
        buffered = feed.events_after(after)
        return await self._journal.events(run_id, after=after, limit=EVENTS_PER_READ) if buffered is None else buffered

    async def _join(self, run_id: str) -> Feed:
        if run_id not in self._feeds:
            row = (await self._journal.rows([run_id])).get(run_id)
            if row is None:
                raise _unknown_run(run_id)
            topic = waiting_topic(await self._journal.events(run_id)) if row.status == "waiting" else ""
            feed = Feed(row, await self._state(row, topic), topic)
            self._feeds.setdefault(run_id, feed)  # another task may have added it meanwhile
        feed = self._feeds[run_id]
        feed.followers += 1
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read_due_runs(), name="feeds")
            self._reader.add_done_callback(self._on_done)
        return feed

    def _leave(self, run_id: str, feed: Feed) -> None:
        feed.followers -= 1
        if not feed.followers and self._feeds.get(run_id) is feed:
            del self._feeds[run_id]
            self._wake.set()

    def _on_done(self, reader: asyncio.Task[None]) -> None:
        """Let nobody wait for a reader that has ended: its error is raised in the followers."""
        if reader is not self._reader:  # the next one reads for followers who came since
            return
        failure = Cancelled("the library was closed") if reader.cancelled() else reader.exception()
        for feed in self._feeds.values():
            feed.failure = failure
            feed.wake()
        self._feeds.clear()

    async def _read_due_runs(self) -> None:
        clock = asyncio.get_running_loop().time
        stop = self._journal.listen(loop_listener(self._note_news))
        try:
            while self._feeds:
                await self._read_runs(await self._due_runs(clock))
        finally:
            stop()

    def _note_news(self, run_id: str) -> None:
        if run_id in self._feeds:
            self._heard_runs.add(run_id)
            self._wake.set()

    async def _due_runs(self, clock: Callable[[], float]) -> Collection[str]:
        """The runs to look at now: those with news, and from time to time all."""
        await asyncio.sleep(PAUSE_SECONDS)
        if (delay := self._last_look + POLL_SECONDS - clock()) > 0 and not self._heard_runs:
            self._wake.clear()
            await wait_for_event(self._wake, delay)  # without a notification it is time to look at all
        heard_runs, self._heard_runs = self._heard_runs, set()
        if clock() < self._last_look + POLL_SECONDS:
            return heard_runs & self._feeds.keys()
        self._last_look = clock()
        return tuple(self._feeds)

    async def _read_runs(self, run_ids: Collection[str]) -> None:
        last = {run_id: self._feeds[run_id].last for run_id in run_ids if run_id in self._feeds}
        news_by_run = await self._journal.news(last, EVENTS_PER_READ) if last else {}
        for run_id, seq in last.items():
            feed, news = self._feeds.get(run_id), news_by_run.get(run_id)
            if feed is not None and news is not None and news.row.last_seq >= seq:
                if news.events and feed.last == seq:  # else it was created again meanwhile
                    feed.extend(news.events)
                    feed.wake()
                await self._catch_up(feed, news.row)
            elif feed is not None and feed.last == seq:  # deleted, and perhaps stored again with fewer events
                feed.failure = _unknown_run(run_id)
                del self._feeds[run_id]
                feed.wake()

    async def _catch_up(self, feed: Feed, row: RunRow) -> None:
        """Read what is new. The row is older than these events, so a run that it shows as ended has no more."""
        while feed.last < row.last_seq:
            feed.extend(await self._journal.events(row.run_id, after=feed.last, limit=EVENTS_PER_READ))
            feed.wake()
        state = await self._state(row, feed.topic)
        if state != feed.state:
            feed.state = state
            feed.wake()

    async def _state(self, row: RunRow, topic: str) -> FeedState:
        if row.status in FINAL:
            return "ended"
        waits = row.status == "waiting" and not await self._journal.inbox(row.run_id, topic)
        return "going" if not waits and (is_executed(row) or row.queued) else "idle"


def is_executed(row: RunRow) -> bool:
    """True if a process executes a run, as far as can be known."""
    return bool(row.holder) and not is_dead(row.holder)


def waiting_topic(envelopes: Collection[Envelope]) -> str:
    """The topic a run last waited for, according to these events; "" for nothing."""
    waits = [decode(envelope) for envelope in envelopes if envelope.type == RunWaiting.kind]
    return next((event.topic for event in reversed(waits) if isinstance(event, RunWaiting)), "")


def _unknown_run(run_id: str) -> UnknownName:
    return UnknownName("run", run_id, ())
