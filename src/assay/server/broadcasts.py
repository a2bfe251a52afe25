"""Runs that are followed at this server: each event is encoded once, and its bytes are written to all followers.

A follower is behind at first and catches up by itself. When it has everything, it is live: it costs no task, no
encoding, and a timer a minute; one task writes to all. A follower that stops reading falls behind and catches up
again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from assay.core.errors import Cancelled, StoreError, UnknownName
from assay.core.events import Envelope
from assay.run.tasks import Tasks
from assay.server.streams import (
    ACCESS_SECONDS,
    HEARTBEAT,
    HEARTBEAT_FRAME,
    RETRY_FRAME,
    Chunk,
    EventFilter,
    EventStream,
    Outlet,
    Ticket,
    event_frame,
    frame,
    has_access,
    outlet_of,
    type_filter,
    wait_for_news,
)

# The runs of users, read once for all followers: a user's list costs at most one query per tick.

LOOK_SECONDS = 1.0
"""Between two looks at a followed list."""
MAX_LISTED_RUNS = 200
"""The newest runs of a user that are examined."""

ReadRuns = Callable[[], Awaitable[dict[str, bytes]]]
"""Returns a user's newest runs, by id, as lists show them."""


class FollowedList:
    """The newest runs of one user as lists show them, newest first, for all followers."""

    def __init__(self) -> None:
        self.followers = 0
        self.runs: dict[str, bytes] = {}
        self.news = asyncio.Event()
        self.failure: BaseException | None = None

    def wake(self) -> None:
        news, self.news = self.news, asyncio.Event()
        news.set()


class RunLists:
    """The followed lists of a server, with one reader per user while there are followers."""

    def __init__(self, closing: asyncio.Event, tasks: Tasks) -> None:
        """`closing` is set when the server stops: then all streams end."""
        self._closing, self._tasks = closing, tasks
        self._lists: dict[str, FollowedList] = {}

    async def frames(self, owner: str, read: ReadRuns, limit: int) -> AsyncIterator[bytes]:
        """Yield the frames of runs that have changed, the newest last, until the server stops.

        The first follower of this owner's runs calls `read` for all of them.

        Raises:
            StoreError: the store cannot be read.
        """
        yield RETRY_FRAME
        followed_list, sent = self._join(owner, read), dict[str, bytes]()
        try:
            while not self._closing.is_set():
                news = followed_list.news  # before the runs: later ones are news
                if followed_list.failure is not None:
                    raise followed_list.failure
                current_runs = dict(itertools.islice(followed_list.runs.items(), limit))
                chunk = b"".join(
                    frame(data, event="run") for id, data in reversed(current_runs.items()) if sent.get(id) != data
                )
                sent = current_runs
                if chunk:
                    yield chunk
                while not await wait_for_news(news):
                    yield HEARTBEAT_FRAME
        finally:
            followed_list.followers -= 1
        yield RETRY_FRAME

    def _join(self, owner: str, read: ReadRuns) -> FollowedList:
        followed_list = self._lists.get(owner)
        if followed_list is None:
            followed_list = self._lists[owner] = FollowedList()
            self._tasks.start(self._keep_reading(owner, followed_list, read), "the list of a user's runs")
        followed_list.followers += 1
        return followed_list

    async def _keep_reading(self, owner: str, followed_list: FollowedList, read: ReadRuns) -> None:
        """Read a list repeatedly while somebody follows it."""
        try:
            while followed_list.followers and not self._closing.is_set():
                current_runs = await read()
                if current_runs != followed_list.runs:
                    followed_list.runs = current_runs
                    followed_list.wake()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), LOOK_SECONDS)
        except Exception as error:
            followed_list.failure = error
            raise
        finally:
            del self._lists[owner]
            followed_list.wake()


# Followed runs: each event is encoded once.

log = logging.getLogger(__name__)

IDLE_SECONDS = HEARTBEAT / 3
"""Seconds without an event after which followers without recent data are looked for."""
KEPT_EVENTS = 1_000
"""Encoded events kept for followers who come late."""
PAGE = 1_000
"""Events read from the store at a time for a follower who is behind."""
SLICE = 100
"""Followers written to before other tasks run."""
SEND_SECONDS = 60.0
"""Seconds in which a follower who is behind must read something; else the connection is closed, and the client may
return.
"""

EventGroups = Callable[[str, int, float], AsyncIterator[Sequence[Envelope]]]
"""The events of a run after a number as they come; an empty group if none came for so many seconds."""
ReadEvents = Callable[[str, int, int], Awaitable[Sequence[Envelope]]]
"""A number of stored events of a run after a number."""
EventTypes = tuple[str, ...]

_BEAT = Chunk(HEARTBEAT_FRAME)


class Follower:
    """A follower of a run: the wanted events, the number of the last one received, and the connection."""

    __slots__ = ("chunked", "event_filter", "last_seq", "outlet", "types", "wake_event")

    def __init__(self, outlet: Outlet, types: EventTypes, last_seq: int, *, chunked: bool) -> None:
        self.outlet, self.types, self.last_seq, self.chunked = outlet, types, last_seq, chunked
        self.event_filter: EventFilter = type_filter(types)
        self.wake_event = asyncio.Event()

    def write(self, chunk: Chunk) -> bool:
        """Send a part without waiting; False if that is impossible."""
        return self.outlet.write(chunk, chunked=self.chunked)


class Broadcast:
    """One run, for all its followers here."""

    def __init__(self, last: int) -> None:
        """`last` is the number of the newest event so far."""
        self.last, self.ended, self.followers = last, False, 0
        self.task: asyncio.Task[None] | None = None
        self._recent: deque[tuple[int, str, bytes]] = deque(maxlen=KEPT_EVENTS)
        self._live: dict[EventTypes, dict[Follower, None]] = {}
        self._spoke: dict[EventTypes, float] = {}

    async def run(self, groups: AsyncIterator[Sequence[Envelope]]) -> None:
        """Write new events until the run ends, the server stops, or it cannot be read."""
        try:
            async for group in groups:
                await self._send(group)
        except (Cancelled, UnknownName):
            pass  # clients are told to reconnect: to another server, or to learn that the run is gone
        except StoreError as error:
            log.warning("who follows a run is told to come back: %s", error)
        finally:
            self.ended = True
            for follower in itertools.chain(*self._live.values()):
                follower.wake_event.set()
            self._live.clear()

    def join(self, follower: Follower) -> bool:
        """Write to a follower from now on; False if it is behind."""
        if self.ended or follower.last_seq < self.last:
            return False
        follower.wake_event.clear()
        self._live.setdefault(follower.types, {})[follower] = None
        self._spoke.setdefault(follower.types, time.monotonic())
        return True

    def leave(self, follower: Follower) -> None:
        """Stop writing to it, and wake it."""
        same = self._live.get(follower.types)
        if same is not None and same.pop(follower, self) is None and not same:
            del self._live[follower.types], self._spoke[follower.types]
        follower.wake_event.set()

    def recent_frames(self, follower: Follower) -> bytes | None:
        """The kept events that a follower does not have yet; None if they do not reach back so far."""
        if not self._recent or follower.last_seq < self._recent[0][0] - 1:
            return None
        new = itertools.islice(self._recent, follower.last_seq - self._recent[0][0] + 1, None)
        data = b"".join(frame for _, type, frame in new if follower.event_filter(type))
        follower.last_seq = self.last
        return data

    async def _send(self, group: Sequence[Envelope]) -> None:
        before, frames = self.last, [(envelope.seq, envelope.type, event_frame(envelope)) for envelope in group]
        if frames:
            self._recent.extend(frames)
            self.last = frames[-1][0]
        now = time.monotonic()
        for types, followers in list(self._live.items()):
            chunk = _chunk(frames, type_filter(types))
            if chunk is None and now - self._spoke.get(types, now) > HEARTBEAT - IDLE_SECONDS:
                chunk = _BEAT
            if chunk is not None:
                self._spoke[types] = now
            parts = (
                (follower, chunk if follower.last_seq == before else _unseen_chunk(frames, follower))
                for follower in list(followers)
            )
            await self._write(parts)

    async def _write(self, parts: Iterable[tuple[Follower, Chunk | None]]) -> None:
        """Write to all who have everything before; others catch up by themselves."""
        for number, (follower, chunk) in enumerate(parts, 1):
            if follower.wake_event.is_set():
                continue
            if chunk is None or follower.write(chunk):
                follower.last_seq = max(follower.last_seq, self.last)
            else:
                self.leave(follower)
            if chunk is not None and number % SLICE == 0:
                await asyncio.sleep(0)


def _unseen_chunk(frames: Sequence[tuple[int, str, bytes]], follower: Follower) -> Chunk | None:
    """The news for a follower who is ahead of the broadcast."""
    return _chunk((entry for entry in frames if entry[0] > follower.last_seq), follower.event_filter)


def _chunk(frames: Iterable[tuple[int, str, bytes]], event_filter: EventFilter) -> Chunk | None:
    data = b"".join(frame for _, type, frame in frames if event_filter(type))
    return Chunk(data) if data else None


class Broadcasts:
    """The runs followed at this server. A run is read while somebody follows it."""

    def __init__(self, groups: EventGroups, log: ReadEvents) -> None:
        self._groups, self._log, self._tasks = groups, log, Tasks()
        self._going: dict[str, Broadcast] = {}

    def join(self, run_id: str, last: int) -> Broadcast:
        """The broadcast of a run whose newest event has number `last`, or a later one; `leave` it afterwards."""
        broadcast = self._going.get(run_id)
        if broadcast is None or broadcast.ended:
            broadcast = self._going[run_id] = Broadcast(last)
            broadcast.task = self._tasks.start(
                broadcast.run(self._groups(run_id, last, IDLE_SECONDS)), f"followers of run {run_id}"
            )
        broadcast.followers += 1
        return broadcast

    def leave(self, run_id: str, broadcast: Broadcast) -> None:
        """Remove a follower; after the last one nothing is read any more."""
        broadcast.followers -= 1
        if broadcast.followers:
            return
        if broadcast.task is not None:
            broadcast.task.cancel()
        if self._going.get(run_id) is broadcast:
            del self._going[run_id]

    async def missed_events(self, run_id: str, broadcast: Broadcast, follower: Follower) -> bytes:
        """The events that a follower does not have yet, or the first of them; they count as received.

        Raises:
            UnknownName: the run was deleted.
            StoreError: its log cannot be read.
        """
        frames = broadcast.recent_frames(follower)
        if frames is not None:
            return frames
        events = await self._log(run_id, follower.last_seq, PAGE)
        follower.last_seq = events[-1].seq if events else broadcast.last
        return b"".join(event_frame(envelope) for envelope in events if follower.event_filter(envelope.type))

    async def close(self) -> None:
        """Stop writing."""
        await self._tasks.close()


class RunStream(EventStream):
    """The log of a run as a response, from a broadcast if its connection can be written to directly."""

    def __init__(
        self,
        broadcasts: Broadcasts,
        run: tuple[str, int],
        selection: tuple[EventTypes, int],
        ticket: Ticket,
        frames: Frames,
    ) -> None:
        """`run` is its id and the number of its newest event; `selection` the types and the number to start after.

        `frames` yields the frames one by one, if there is no direct way to the client.
        """
        super().__init__(frames, ticket)
        self._broadcasts, (self._run, self._last), (self._types, self._after) = broadcasts, run, selection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outlet = outlet_of(scope)
        if outlet is None:
            await super().__call__(scope, receive, send)
            return
        follower = Follower(outlet, self._types, self._after, chunked=scope["http_version"] == "1.1")
        outlet.on_lost(follower.wake_event.set)
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await _send_chunk(send, RETRY_FRAME)
            with suppress(TimeoutError, UnknownName, StoreError):
                await self._follow(follower, scope, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            outlet.on_lost(None)
            self.close()

    async def _follow(self, follower: Follower, scope: Scope, send: Send) -> None:
        """Alternate between catching up and being live, while the user of the request may.

        Raises:
            TimeoutError: the client stops reading; its connection is closed.
            UnknownName, StoreError: as `Broadcasts.missed_events`.
        """
        broadcast = self._broadcasts.join(self._run, self._last)
        now = asyncio.get_running_loop().time
        due = now() + ACCESS_SECONDS
        try:
            while not follower.outlet.is_disconnected:
                if now() >= due:
                    broadcast.leave(follower)
                    if not await has_access(scope):
                        return
                    due = now() + ACCESS_SECONDS
                if broadcast.join(follower):
                    with suppress(TimeoutError):
                        async with asyncio.timeout_at(due):
                            await follower.wake_event.wait()
                elif follower.last_seq < broadcast.last:
                    await _send_in_time(
                        follower, send, await self._broadcasts.missed_events(self._run, broadcast, follower)
                    )
                else:  # it is over, or the server stops: the client reconnects, and learns which
                    await _send_chunk(send, RETRY_FRAME)
                    return
        finally:
            broadcast.leave(follower)
            self._broadcasts.leave(self._run, broadcast)


Frames = AsyncIterator[bytes]


async def _send_chunk(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def _send_in_time(follower: Follower, send: Send, data: bytes) -> None:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await _send_chunk(send, data)
    except TimeoutError:
        follower.outlet.close()
        raise
