"""Requests that are repeated but done only once: a repetition gets the first result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec

from assay.core.errors import InProgress, RequestDiffers
from assay.core.ports import Cache
from assay.core.sources import sha256
from assay.run.process import is_dead, this_process
from assay.services.context import Context

PREFIX, DONE = "request/", "/done"
KEPT_SECONDS = 86_400.0
"""Seconds for which a request is recognized."""

_in_progress: set[str] = set()
"""Requests in progress in this process."""


class _Request(msgspec.Struct, frozen=True):
    """Who does a request, the hash of its content, and its time (seconds since 1970)."""

    holder: str
    asked: str
    at: float = 0.0


async def run_once(context: Context, key: str, request_data: bytes, do: Callable[[], Awaitable[str]]) -> str:
    """Return what `do` gave for the first request with this `key`; see `Home.once`."""
    cache, name = context.store.cache, f"{PREFIX}{sha256(key.encode())}"
    mine = _Request(this_process(), sha256(request_data), time.time())
    first = await _get_or_store(cache, name, mine)
    if first.asked != mine.asked:
        raise RequestDiffers(key)
    stored_result = await asyncio.to_thread(cache.recall, name + DONE)
    if stored_result is not None:
        return stored_result.decode()
    if name in _in_progress:
        raise InProgress(key)
    _in_progress.add(name)
    try:
        holder = await _holder(cache, name, first, mine)
        stored_result = await asyncio.to_thread(
            cache.recall, name + DONE
        )  # again: it may have been done since the first look
        if stored_result is not None:
            return stored_result.decode()
        if holder != mine.holder:
            raise InProgress(key)
        result = await do()  # a failed one may be repeated
        await asyncio.to_thread(cache.keep, name + DONE, result.encode())
    finally:
        _in_progress.discard(name)
    return result


async def _get_or_store(cache: Cache, name: str, mine: _Request) -> _Request:
    """What is stored under a name: `mine`, if nothing was."""
    await asyncio.to_thread(cache.keep, name, msgspec.json.encode(mine))
    data = await asyncio.to_thread(cache.recall, name)
    return mine if data is None else msgspec.json.decode(data, type=_Request)  # just deleted


async def _holder(cache: Cache, name: str, first: _Request, mine: _Request) -> str:
    """Who does a request. One process takes it over from one that has ended: the first that says so."""
    holder = first.holder
    while holder != mine.holder and is_dead(holder):
        holder = (await _get_or_store(cache, f"{name}/after/{sha256(holder.encode())}", mine)).holder
    return holder


async def forget_old(context: Context) -> int:
    """Delete the requests that are no longer recognized, and return how many. Blocking work runs in a thread."""
    cache, oldest = context.store.cache, time.time() - KEPT_SECONDS

    def forget() -> int:
        entries = cache.entries(PREFIX)
        request_entries = {name: data for name, data in entries.items() if not name.endswith(DONE)}
        old = [name for name, data in request_entries.items() if msgspec.json.decode(data, type=_Request).at < oldest]
        cache.forget([key for name in old if name not in _in_progress for key in (name + DONE, name)])
        return len(old)

    return await asyncio.to_thread(forget)
