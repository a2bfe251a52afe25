"""Runs, and the threads they form: start, list, show, rename, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, closing
from typing import Annotated

import msgspec

from assay.core.errors import Cancelled
from assay.core.events import ControlApplied, RunWaiting
from assay.core.markers import CitationMode
from assay.core.ports import FINAL, RunRow, RunStatus
from assay.core.ports.lists import ThreadRow
from assay.core.run_options import RunOptions
from assay.server.api.run_details import Part, RunBegun, RunDetail, RunList, RunShown, detail, list_entry, located_run
from assay.server.api.run_requests import QuestionWanted, RequestBody, RunWanted, options_of, run_once, sources_of
from assay.server.wire import Endpoints, RouteCall
from assay.services.daily import UsedToday
from assay.services.run_lists import ThreadMessage

routes = Endpoints("runs")

RESTING_STATUSES = frozenset((*FINAL, "paused", "waiting"))
"""A run with one of these statuses does nothing until somebody tells it to."""


class RunsWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs: of these statuses, in a thread, over a collection, with a `label` (`name` or `name=value`), without
    another (`not_label`), with `q` in the question, begun from `since` until before `until`.

    Times are ISO 8601 UTC or the beginning of it (2026-11). `cursor` is `next` of the previous page.
    """

    q: str = ""
    status: tuple[RunStatus, ...] = ()
    thread: str = ""
    collection: str = ""
    label: str = ""
    not_label: str = ""
    since: str = ""
    until: str = ""
    cursor: str = ""
    limit: int = 50


class LabelsChanged(RequestBody, frozen=True, kw_only=True):
    """Labels to add, with values that may be empty, and names of labels to remove."""

    added: dict[str, str] = {}
    removed: tuple[str, ...] = ()


class RunLabels(msgspec.Struct, frozen=True, kw_only=True):
    """The labels a run has now."""

    labels: dict[str, str]


class WordsWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words to search for in questions and reports; `cursor` is `next` of the previous page."""

    q: str
    cursor: str = ""
    limit: int = 20


class RunMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A matching run, better with a higher score, and the sentence of its report that matches best."""

    run: RunShown
    score: float
    snippet: str


class RunMatches(msgspec.Struct, frozen=True, kw_only=True):
    """Runs, best first; `next` continues the list, empty at the end."""

    runs: tuple[RunMatch, ...]
    next: str


class Shown(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which parts of a run to show, how its report cites, and how many seconds to wait for it."""

    expand: tuple[Part, ...] = ()
    citations: CitationMode = "numbers"
    wait: Annotated[float, msgspec.Meta(ge=0, le=60)] = 0.0


class Patience(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many seconds to wait for the run to end, or to wait for a person."""

    wait: Annotated[float, msgspec.Meta(ge=0, le=60)] = 0.0


@routes.post("/runs", status=202, headers=("Idempotency-Key",))
async def create_run(call: RouteCall, body: RunWanted, query: Patience) -> RunBegun:
    """Start a run: it is stored, then executed by the server, whoever watches it.

    With an `Idempotency-Key` the same request gives the same run, however often it is sent. With `wait` the answer
    comes when the run has ended, is paused or waits for a person, or after so many seconds.
    """

    async def begin() -> str:
        return await _begin(call, body, options_of(body))

    return await _start(call, body, begin, query.wait)


@routes.get("/runs")
async def list_runs(call: RouteCall, query: RunsWanted) -> RunList:
    """List runs, newest first."""
    page = await call.assay.page(
        status=query.status,
        text=query.q,
        since=query.since,
        until=query.until,
        thread=query.thread,
        collection=query.collection,
        label=query.label,
        not_label=query.not_label,
        cursor=query.cursor,
        limit=query.limit,
    )
    return RunList(runs=tuple(map(list_entry, page.runs)), next=page.next)


@routes.get("/search/runs")
async def search_runs(call: RouteCall, query: WordsWanted) -> RunMatches:
    """Search the questions and reports of the user's runs."""
    page = await call.assay.search_runs(query.q, cursor=query.cursor, limit=query.limit)
    hits = (RunMatch(run=list_entry(hit.run), score=hit.score, snippet=hit.snippet) for hit in page.runs)
    return RunMatches(runs=tuple(hits), next=page.next)


@routes.get("/limits")
async def show_limits(call: RouteCall) -> UsedToday:
    """Show today's usage (UTC) and limits of the user."""
    return await call.assay.used_today()


@routes.get("/runs/{run}")
async def show_run(call: RouteCall, run: str, query: Shown) -> RunDetail:
    """Show a run; `events?after=last_seq` continues from there.

    With `wait` the answer comes when it has ended, is paused or waits for a person, or after so many seconds.
    """
    if query.wait and call.request.method != "HEAD":
        run_row = await call.assay.find(run)
        if run_row.status not in RESTING_STATUSES:
            with closing(call.backend.streams.ticket(call.owner)):
                await _wait_until_resting(call, run_row, query.wait)
    view = await call.backend.view(call.owner, run)
    row = await call.assay.find(view.run_id)
    call.headers["ETag"] = f'W/"{view.last_seq}"'
    return msgspec.structs.replace(detail(view, frozenset(query.expand), query.citations), labels=row.labels)


@routes.patch("/runs/{run}/labels")
async def label_run(call: RouteCall, run: str, body: LabelsChanged) -> RunLabels:
    """Add labels to a run and remove others. They are for lists: models do not see them."""
    return RunLabels(labels=await call.assay.label(run, body.added, body.removed))


@routes.delete("/runs/{run}", status=204)
async def delete_run(call: RouteCall, run: str) -> None:
    """Delete a run: its events, steps and messages. What it read stays in the library."""
    call.set_subject((await call.assay.find(run)).run_id)
    await call.assay.delete(run)


@routes.post("/runs/{run}/follow-up", status=202, headers=("Idempotency-Key",))
async def follow_up(call: RouteCall, run: str, body: RunWanted, query: Patience) -> RunBegun:
    """Start a run that continues this one: it knows the earlier messages, and what was read. `wait` as for a run."""

    async def begin() -> str:
        row = await call.assay.find(run)
        options = options_of(body)
        options["continues"] = row.run_id
        return await _begin(call, body, options)

    return await _start(call, body, begin, query.wait)


@routes.post("/runs/{run}/ask", status=202, headers=("Idempotency-Key",))
async def ask_run(call: RouteCall, run: str, body: QuestionWanted, query: Patience) -> RunBegun:
    """Ask about what a run has read, in a new run of the same thread; nothing new is searched. `wait` as for a run."""

    async def begin() -> str:
        return await call.backend.begin_ask(call.owner, run, body.question, **options_of(body))

    return await _start(call, body, begin, query.wait)


async def _start(
    call: RouteCall, body: RunWanted | QuestionWanted, begin: Callable[[], Awaitable[str]], wait: float
) -> RunBegun:
    """Start a run, and wait for it to rest for at most so many seconds."""
    if not wait:
        return located_run(call, await run_once(call, body, begin))
    with closing(call.backend.streams.ticket(call.owner)):  # before it begins: who is refused may send it again
        run_id = await run_once(call, body, begin)
        await _wait_until_resting(call, await call.assay.find(run_id), wait)
    return located_run(call, run_id, (await call.assay.find(run_id)).status)


async def _begin(call: RouteCall, body: RunWanted, options: RunOptions) -> str:
    sources, hook, webhook = sources_of(body.scope, call.backend.settings), body.webhook, None
    if hook is not None:
        webhook = await call.backend.assay.webhooks.make_for_run(call.owner, hook.url, hook.secret, hook.events)
    return await call.backend.begin(call.owner, body.question, sources=sources, webhook=webhook, **options)


async def _wait_until_resting(call: RouteCall, row: RunRow, seconds: float) -> None:
    """Wait until a run is at rest, at most so long; the caller has a ticket, since it counts as a stream."""
    if row.status in RESTING_STATUSES:
        return
    try:
        async with (
            aclosing(call.backend.groups(call.owner, row.run_id, row.last_seq)) as groups,
            asyncio.timeout(seconds),
        ):
            async for group in groups:
                stopped = any(envelope.type in (ControlApplied.kind, RunWaiting.kind) for envelope in group)
                if stopped and (await call.assay.find(row.run_id)).status in RESTING_STATUSES:
                    return
    except (TimeoutError, Cancelled):
        pass  # the wait is over, or the server stops: the run goes on, and is shown as it is


thread_routes = Endpoints("threads")


class ThreadsWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which threads: with `q` in a title or a question; `cursor` is `next` of the previous page."""

    q: str = ""
    cursor: str = ""
    limit: int = 50


class ThreadList(msgspec.Struct, frozen=True, kw_only=True):
    """Threads with the latest runs first; `next` continues the list, empty at the end."""

    threads: tuple[ThreadRow, ...]
    next: str


class ThreadShown(msgspec.Struct, frozen=True, kw_only=True):
    """A thread and its messages, oldest first."""

    thread: ThreadRow
    messages: tuple[ThreadMessage, ...]


class ThreadTitle(RequestBody, frozen=True, kw_only=True):
    """The new title of a thread; empty restores its first question."""

    title: str


class ThreadGone(msgspec.Struct, frozen=True, kw_only=True):
    """The runs deleted with a thread."""

    runs: tuple[str, ...]


@thread_routes.get("/threads")
async def list_threads(call: RouteCall, query: ThreadsWanted) -> ThreadList:
    """List threads with the latest runs first."""
    page = await call.assay.threads(query.q, cursor=query.cursor, limit=query.limit)
    return ThreadList(threads=tuple(page.threads), next=page.next)


@thread_routes.get("/threads/{thread}")
async def show_thread(call: RouteCall, thread: str) -> ThreadShown:
    """Show a thread with its messages."""
    row = await call.assay.thread(thread)
    return ThreadShown(thread=row, messages=tuple(await call.assay.messages(row.name)))


@thread_routes.patch("/threads/{thread}")
async def rename_thread(call: RouteCall, thread: str, body: ThreadTitle) -> ThreadRow:
    """Rename a thread."""
    return await call.assay.rename_thread(thread, body.title)


@thread_routes.delete("/threads/{thread}")
async def delete_thread(call: RouteCall, thread: str) -> ThreadGone:
    """Delete a thread with all its runs; what they read stays in the library."""
    return ThreadGone(runs=tuple(await call.assay.delete_thread(thread)))
