"""Threads: conversations of runs that follow one another."""

from __future__ import annotations

import msgspec

from assay.core.ports.lists import ThreadRow
from assay.server.api.run_requests import RequestBody
from assay.server.wire import Endpoints, RouteCall
from assay.services.run_lists import ThreadMessage

routes = Endpoints("threads")


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


@routes.get("/threads")
async def list_threads(call: RouteCall, query: ThreadsWanted) -> ThreadList:
    """List threads with the latest runs first."""
    found = await call.assay.threads(query.q, cursor=query.cursor, limit=query.limit)
    return ThreadList(threads=tuple(found.threads), next=found.next)


@routes.get("/threads/{thread}")
async def show_thread(call: RouteCall, thread: str) -> ThreadShown:
    """Show a thread with its messages."""
    row = await call.assay.thread(thread)
    return ThreadShown(thread=row, messages=tuple(await call.assay.messages(row.name)))


@routes.patch("/threads/{thread}")
async def rename_thread(call: RouteCall, thread: str, body: ThreadTitle) -> ThreadRow:
    """Rename a thread."""
    return await call.assay.rename_thread(thread, body.title)


@routes.delete("/threads/{thread}")
async def delete_thread(call: RouteCall, thread: str) -> ThreadGone:
    """Delete a thread with all its runs; what they read stays in the library."""
    return ThreadGone(runs=tuple(await call.assay.delete_thread(thread)))
