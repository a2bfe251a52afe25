"""Live screens: one reader of a run for all who watch it, which renders each region once and tells it to everybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

from markupsafe import escape
from starlette.datastructures import State

from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope, decode
from assay.core.ports import FINAL
from assay.core.translation import ENGLISH
from assay.core.view import ViewBuilder
from assay.locale import speaking_page
from assay.server.backend import Backend
from assay.server.page.announcements import READ_OUT, announcement
from assay.server.page.board import Board
from assay.server.streams import BEAT, BEGIN, HEARTBEAT

TICK = 0.2
"""Seconds between two looks of a screen, at least."""
IDLE = 1.0
"""Seconds between two looks at a run nobody works on."""
QUIET = 5.0
"""Seconds between two milestones which are read out."""


class Watched:
    """A run somebody watches: its screen as of now, and what was read out last. `news` is set when either changes.

    `wanted` is the number of the last event which somebody has seen already.
    """

    def __init__(self, run_id: str, language: str = ENGLISH) -> None:
        self.run_id, self.watchers, self.wanted = run_id, 0, 0
        self.board, self.said = Board(language), ""
        self.over, self.ended = False, False
        self.news = asyncio.Event()
        self.reader: asyncio.Task[None] | None = None
        self._folder, self._said_at = ViewBuilder(), -QUIET
        self._known, self._chunk = (-1, "", -1, ""), b""

    async def read(self, backend: Backend, owner: str) -> None:
        """Keep the screen up to date until the run has ended."""
        try:
            while not self.ended:
                await self._read_on(backend, owner)
                if not self.ended:
                    await asyncio.sleep(IDLE)  # it waits for a person, or is paused
        except (Cancelled, UnknownName):
            pass  # the server stops, or the run was deleted: who watches asks again, and is told so
        finally:
            self.over = True
            self._tell()

    async def _read_on(self, backend: Backend, owner: str) -> None:
        now = asyncio.get_running_loop().time
        async for group in backend.groups(owner, self.run_id, self._folder.view.last_seq, TICK):
            began = now()
            self._folder.extend(group)
            if self._folder.view.last_seq < self.wanted:
                continue  # who watches has seen more than that: nothing is shown which is older
            if group or self.board.late:
                spoken = self._listen(group, began)
                if await self._renew(at_once=not self.board.edition, dear=not self.board.edition) or spoken:
                    self._tell()
                if self.board.late and await self._renew():
                    self._tell()
            await asyncio.sleep(max(TICK - (now() - began), 0.0) if group else 0.0)
        await self._renew(at_once=True)
        self.ended = self._folder.view.status in FINAL
        self._tell()

    async def _renew(self, *, at_once: bool = False, dear: bool = True) -> bool:
        view = self._folder.view
        return self.board.put(await asyncio.to_thread(self.board.render, view, at_once=at_once, dear=dear))

    def _listen(self, group: Sequence[Envelope], now: float) -> bool:
        """Keep the last milestone, to be read out; not more often than anybody can listen."""
        if now - self._said_at < QUIET:
            return False
        with speaking_page(self.board.language):
            line = next(filter(None, map(_line, reversed(group))), "")
        if line:
            self.said, self._said_at = line, now
        return bool(line)

    def chunk(self, edition: int, said: str) -> bytes:
        """What has changed for who knows an edition and what was said; made once for all who know the same."""
        known = (max(edition, 0), said, self.board.edition, self.said)
        if known != self._known:
            spoken = _spoken(self.said) if self.said != said else ""
            data = _partials(self.board.since(max(edition, 0))) + spoken
            self._known, self._chunk = known, framed(data, id=str(self.board.settled))
        return self._chunk

    def _tell(self) -> None:
        news, self.news = self.news, asyncio.Event()
        news.set()


class Hub:
    """The runs which are watched now."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._watched: dict[tuple[str, str], Watched] = {}

    async def frames(self, owner: str, run_id: str, after: int, language: str = ENGLISH) -> AsyncIterator[bytes]:
        """The regions of a run as they change, for who has the screen as of event `after`, until the run has ended."""
        watched = self._join(owner, run_id, language)
        watched.wanted = max(watched.wanted, after)
        try:
            yield BEGIN
            edition, said = -1, ""
            while True:
                news, over, board = watched.news, watched.over or watched.ended, watched.board
                if edition < 0 and (board.settled >= after or over):
                    edition, said = board.edition if board.settled == after else 0, watched.said
                if edition >= 0 and (board.edition > edition or watched.said != said):
                    chunk = watched.chunk(edition, said)
                    edition, said = board.edition, watched.said
                    yield chunk
                elif over:
                    break
                elif not await _is_told(news):
                    yield BEAT
            yield framed("over", event="ended") if watched.ended else BEGIN
        finally:
            self._leave(watched)

    def _join(self, owner: str, run_id: str, language: str) -> Watched:
        watched = self._watched.get((run_id, language))
        if watched is None or watched.over:
            watched = self._watched[run_id, language] = Watched(run_id, language)
            watched.reader = self._backend.tasks.start(
                watched.read(self._backend, owner), f"the screen of run {run_id}"
            )
        watched.watchers += 1
        return watched

    def _leave(self, watched: Watched) -> None:
        watched.watchers -= 1
        if watched.watchers or watched.reader is None:
            return
        watched.reader.cancel()
        known = (watched.run_id, watched.board.language)
        if self._watched.get(known) is watched:
            del self._watched[known]


def hub_of(state: State, backend: Backend) -> Hub:
    """The hub of an application."""
    hub = getattr(state, "page_hub", None)
    if not isinstance(hub, Hub):
        hub = state.page_hub = Hub(backend)
    return hub


async def _is_told(news: asyncio.Event) -> bool:
    """Wait for news; False where there was none for so long that a sign of life is wanted."""
    try:
        await asyncio.wait_for(news.wait(), HEARTBEAT)
    except TimeoutError:
        return False
    return True


def _line(envelope: Envelope) -> str:
    event = decode(envelope) if envelope.type in READ_OUT else None
    return announcement(event)[:200] if event is not None else ""


def _partials(regions: Iterable[tuple[str, str]]) -> str:
    """Regions as htmx takes them: each in the place of the one of its name, changing only what differs."""
    return "".join(
        f'<hx-partial hx-target="#r-{name}" hx-swap="outerMorph">{html}</hx-partial>' for name, html in regions
    )


def _spoken(said: str) -> str:
    return f'<hx-partial hx-target="#announced" hx-swap="innerHTML">{escape(said)}</hx-partial>' if said else ""


def framed(data: str, *, event: str = "", id: str = "") -> bytes:
    """A server-sent event whose data has several lines."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = (f"id: {id}\n" if id else "") + (f"event: {event}\n" if event else "")
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()
