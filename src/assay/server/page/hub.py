"""Live screens: one reader per run for all viewers renders each region once and sends it to all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import msgspec
from markupsafe import Markup, escape
from starlette.datastructures import State

from assay.core import events
from assay.core.claims import VERDICTS
from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope, Event, decode
from assay.core.phrases import stop_reason_phrase, verdict
from assay.core.ports import FINAL
from assay.core.translation import ENGLISH, N_, gettext, join_list
from assay.core.view import RunView, ViewBuilder
from assay.locale import use_page_locale
from assay.server.backend import Backend
from assay.server.page.regions import regions_of
from assay.server.page.words import format_count, measure_word
from assay.server.streams import HEARTBEAT_FRAME, RETRY_FRAME, frame, wait_for_news

# The regions of one run as last rendered, and which of them changed when.

RENDER_PAUSE_FACTOR = 20.0
"""A region is rendered again after this multiple of its last rendering time, so a run takes little of a core."""


class RenderedRegions(msgspec.Struct, frozen=True):
    """The result of a look at a run: the changed regions, whether some must wait, and the last event they show."""

    fresh: dict[str, Markup]
    late: bool
    seq: int


class Board:
    """The rendered regions of one run. `edition` counts their changes.

    `shown_seq` is the number of the last event that all of them show; `late` says that some wait to be rendered.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = language
        self.html: dict[str, Markup] = {}
        self.edition, self.shown_seq, self.late = 0, 0, False
        self._editions: dict[str, int] = {}
        self._made_of: dict[str, object] = {}
        self._not_before: dict[str, float] = {}

    def render(self, view: RunView, *, at_once: bool = False, dear: bool = True) -> RenderedRegions:
        """Render what has changed and may be rendered by now; with `at_once` everything, without `dear` only what is
        cheap.

        It takes a while: call it from a worker thread.
        """
        late, changed_regions = False, {}
        for region in regions_of(view):
            made_of = region.made_of(view)
            if region.name in self.html and self._made_of[region.name] == made_of:
                continue
            began = perf_counter()
            if not at_once and (region.dear > dear or began < self._not_before.get(region.name, 0.0)):
                late = True
                continue
            with use_page_locale(self.language):
                html = region.render(view)
            self._made_of[region.name] = made_of
            self._not_before[region.name] = perf_counter() + RENDER_PAUSE_FACTOR * (perf_counter() - began)
            if self.html.get(region.name) != html:
                changed_regions[region.name] = html
        return RenderedRegions(changed_regions, late, view.last_seq)

    def put(self, rendered: RenderedRegions) -> bool:
        """Store rendered regions; return whether anything has changed."""
        self.late = rendered.late
        if not rendered.late:
            self.shown_seq = rendered.seq
        if rendered.fresh:
            self.edition += 1
            self.html |= rendered.fresh
            self._editions |= dict.fromkeys(rendered.fresh, self.edition)
        return bool(rendered.fresh)

    def changes_since(self, edition: int) -> tuple[tuple[str, Markup], ...]:
        """The names and regions that changed after an edition."""
        names = [name for name, changed_edition in self._editions.items() if changed_edition > edition]
        if "team" in names:  # which contains the agents
            names = [name for name in names if not name.startswith("lane-")]
        return tuple((name, self.html[name]) for name in names)


def render_regions(view: RunView, language: str = ENGLISH) -> dict[str, Markup]:
    """Every region by its name, rendered."""
    return Board(language).render(view, at_once=True).fresh


# The milestones of a run for screen readers, in the language of the page.

_CONTROLLED = {"pause": N_("Paused"), "steer": N_("Your message is followed")}


def _report_line(event: events.FindingAdded) -> str:
    cited = format_count(len(event.passages), "{count} passage cited", "{count} passages cited")
    if event.uncited:
        return gettext("Agent {number} reported and cited nothing").format(number=event.lane)
    return gettext("Agent {number} reported: {cited}").format(number=event.lane, cited=cited)


def _check_line(event: events.VerifySummary) -> str:
    verdicts = [f"{count} {verdict(name)}" for name in VERDICTS if (count := getattr(event.summary, name))]
    checked = format_count(event.summary.claims, "{count} claim was checked", "{count} claims were checked")
    return f"{checked}: {join_list(verdicts)}" if verdicts else checked


def _control_line(event: events.ControlApplied) -> str:
    if event.lane:
        return gettext("Agent {number} is stopped").format(number=event.lane)
    return gettext(_CONTROLLED[event.action]) if event.action in _CONTROLLED else ""


_ANNOUNCEMENTS: dict[type[Event], Callable[[Any], str]] = {
    events.RunResumed: lambda _: gettext("The run was resumed"),
    events.RunWaiting: lambda event: (
        gettext("Waiting for you to approve the plan") if event.topic == "plan" else gettext("Waiting for your answers")
    ),
    events.PlanApproved: lambda event: format_count(
        len(event.plan.steps), "The plan is ready: {count} step", "The plan is ready: {count} steps"
    ),
    events.AgentFailed: lambda event: gettext("Agent {number} failed: {why}").format(
        number=event.lane, why=event.error
    ),
    events.FindingAdded: _report_line,
    events.ReportStarted: lambda _: gettext("The report is being written"),
    events.VerifySummary: _check_line,
    events.BudgetLow: lambda event: gettext("80 % of the limit is used: {measure}").format(
        measure=measure_word(event.measure)
    ),
    events.RunExhausted: lambda event: gettext("Research ends: {why}").format(why=stop_reason_phrase(event.reason)),
    events.RunCancelled: lambda _: gettext("Cancelled; findings are kept"),
    events.ControlApplied: _control_line,
    events.ControlRejected: lambda event: gettext("Not followed: {why}").format(why=event.why),
}
ANNOUNCED_TYPES = frozenset(kind.kind for kind in _ANNOUNCEMENTS)
"""The kinds of events that are read out."""


def announcement(event: Event) -> str:
    """The sentence for an event, empty if it is not read out."""
    announce = _ANNOUNCEMENTS.get(type(event))
    return "" if announce is None else announce(event)


# One reader of a run for all viewers.

MIN_UPDATE_SECONDS = 0.2
"""Seconds between two looks of a screen, at least."""
IDLE_SECONDS = 1.0
"""Seconds between two looks at a run that nobody executes."""
ANNOUNCE_SECONDS = 5.0
"""Seconds between two milestones that are read out."""


class WatchedRun:
    """A watched run: its current screen, and what was read out last. `news` is set when either changes.

    `viewed_seq` is the number of the last event that a viewer has seen already.
    """

    def __init__(self, run_id: str, language: str = ENGLISH) -> None:
        self.run_id, self.watchers, self.viewed_seq = run_id, 0, 0
        self.board, self.announcement = Board(language), ""
        self.stopped, self.ended = False, False
        self.news = asyncio.Event()
        self.reader: asyncio.Task[None] | None = None
        self._folder, self._announced_at = ViewBuilder(), -ANNOUNCE_SECONDS
        self._chunk_key, self._chunk = (-1, "", -1, ""), b""

    async def read(self, backend: Backend, owner: str) -> None:
        """Keep the screen up to date until the run has ended."""
        try:
            while not self.ended:
                await self._follow_events(backend, owner)
                if not self.ended:
                    await asyncio.sleep(IDLE_SECONDS)  # it waits for a person, or is paused
        except (Cancelled, UnknownName):
            pass  # the server stops, or the run was deleted: viewers ask again, and learn which
        finally:
            self.stopped = True
            self._wake_followers()

    async def _follow_events(self, backend: Backend, owner: str) -> None:
        now = asyncio.get_running_loop().time
        async for group in backend.groups(owner, self.run_id, self._folder.view.last_seq, MIN_UPDATE_SECONDS):
            began = now()
            self._folder.extend(group)
            if self._folder.view.last_seq < self.viewed_seq:
                continue  # a viewer has seen more than that: nothing older is shown
            if group or self.board.late:
                spoken = self._update_announcement(group, began)
                if await self._update_board(at_once=not self.board.edition, dear=not self.board.edition) or spoken:
                    self._wake_followers()
                if self.board.late and await self._update_board():
                    self._wake_followers()
            await asyncio.sleep(max(MIN_UPDATE_SECONDS - (now() - began), 0.0) if group else 0.0)
        await self._update_board(at_once=True)
        self.ended = self._folder.view.status in FINAL
        self._wake_followers()

    async def _update_board(self, *, at_once: bool = False, dear: bool = True) -> bool:
        view = self._folder.view
        return self.board.put(await asyncio.to_thread(self.board.render, view, at_once=at_once, dear=dear))

    def _update_announcement(self, group: Sequence[Envelope], now: float) -> bool:
        """Store the last milestone to be read out, not more often than anybody can listen."""
        if now - self._announced_at < ANNOUNCE_SECONDS:
            return False
        with use_page_locale(self.board.language):
            line = next(filter(None, map(_envelope_announcement, reversed(group))), "")
        if line:
            self.announcement, self._announced_at = line, now
        return bool(line)

    def chunk(self, edition: int, text: str) -> bytes:
        """The changes since an edition and an announcement; made once for all viewers at the same state."""
        key = (max(edition, 0), text, self.board.edition, self.announcement)
        if key != self._chunk_key:
            spoken = _announcement(self.announcement) if self.announcement != text else ""
            data = _partials(self.board.changes_since(max(edition, 0))) + spoken
            self._chunk_key, self._chunk = key, frame(data.encode(), id=str(self.board.shown_seq))
        return self._chunk

    def _wake_followers(self) -> None:
        news, self.news = self.news, asyncio.Event()
        news.set()


class Hub:
    """The runs that are watched now."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._watched_runs: dict[tuple[str, str], WatchedRun] = {}

    async def frames(self, owner: str, run_id: str, after: int, language: str = ENGLISH) -> AsyncIterator[bytes]:
        """Yield the regions of a run as they change, for a viewer with the screen as of event `after`, until the run
        ends.
        """
        watched_run = self._join(owner, run_id, language)
        watched_run.viewed_seq = max(watched_run.viewed_seq, after)
        try:
            yield RETRY_FRAME
            edition, last = -1, ""
            while True:
                news, is_over, board = watched_run.news, watched_run.stopped or watched_run.ended, watched_run.board
                if edition < 0 and (board.shown_seq >= after or is_over):
                    edition, last = board.edition if board.shown_seq == after else 0, watched_run.announcement
                if edition >= 0 and (board.edition > edition or watched_run.announcement != last):
                    chunk = watched_run.chunk(edition, last)
                    edition, last = board.edition, watched_run.announcement
                    yield chunk
                elif is_over:
                    break
                elif not await wait_for_news(news):
                    yield HEARTBEAT_FRAME
            yield frame(b"over", event="ended") if watched_run.ended else RETRY_FRAME
        finally:
            self._leave(watched_run)

    def _join(self, owner: str, run_id: str, language: str) -> WatchedRun:
        watched_run = self._watched_runs.get((run_id, language))
        if watched_run is None or watched_run.stopped:
            watched_run = self._watched_runs[run_id, language] = WatchedRun(run_id, language)
            watched_run.reader = self._backend.tasks.start(
                watched_run.read(self._backend, owner), f"the screen of run {run_id}"
            )
        watched_run.watchers += 1
        return watched_run

    def _leave(self, watched_run: WatchedRun) -> None:
        watched_run.watchers -= 1
        if watched_run.watchers or watched_run.reader is None:
            return
        watched_run.reader.cancel()
        key = (watched_run.run_id, watched_run.board.language)
        if self._watched_runs.get(key) is watched_run:
            del self._watched_runs[key]


def hub_of(state: State, backend: Backend) -> Hub:
    """The hub of an application."""
    hub = getattr(state, "page_hub", None)
    if not isinstance(hub, Hub):
        hub = state.page_hub = Hub(backend)
    return hub


def _envelope_announcement(envelope: Envelope) -> str:
    event = decode(envelope) if envelope.type in ANNOUNCED_TYPES else None
    return announcement(event)[:200] if event is not None else ""


def _partials(regions: Iterable[tuple[str, str]]) -> str:
    """Regions in htmx's form: each replaces the one with its name, changing only what differs."""
    return "".join(
        f'<hx-partial hx-target="#r-{name}" hx-swap="outerMorph">{html}</hx-partial>' for name, html in regions
    )


def _announcement(text: str) -> str:
    return f'<hx-partial hx-target="#announced" hx-swap="innerHTML">{escape(text)}</hx-partial>' if text else ""
