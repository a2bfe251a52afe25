"""The class `Home`: how a library and its runs are opened, their owner; and documents added in the background."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from assay.app.composition import open_context, watch_loop
from assay.core.allowance import OwnerLimits
from assay.core.lazy import lazy_module
from assay.core.ports import Addition, Model, Watch
from assay.core.ports.collections import AdditionStart
from assay.core.ports.users import AuditEntry, AuditLog, Buckets, LimitStore
from assay.services.arguments import DEFAULT_COLLECTION, Sources, checked_keywords, checked_methods
from assay.settings import Settings, load

if TYPE_CHECKING:
    from assay.app import warmth
    from assay.services import additions, ownership, requests, run_lists, shelves
    from assay.services.context import Context
    from assay.services.ownership import Handover
    from assay.services.run_lists import Overview
    from assay.services.stored_runs import Shares
    from assay.services.users import Users
    from assay.services.webhooks import Webhooks
else:
    ownership = lazy_module("assay.services.ownership")
    requests = lazy_module("assay.services.requests")
    run_lists = lazy_module("assay.services.run_lists")
    warmth = lazy_module("assay.app.warmth")
    additions = lazy_module("assay.services.additions")
    shelves = lazy_module("assay.services.shelves")


@checked_methods
class Home:
    """A library of documents; without `home` it is in memory, and nothing is written to disk.

    `models` adds models by name to those found by entry point: tests and embedding programs pass their own. `model` is
    for every role that neither the settings nor a run name one for (PROVIDER:NAME, then its fallbacks).

    Raises:
        UnknownOption: there is no such option; the message suggests the nearest.
        ConfigError: the settings cannot be read, or need something that is not installed.
        StoreError: the home cannot be created, or is not one.
    """

    @checked_keywords()
    def __init__(
        self,
        settings: Settings | None = None,
        *,
        home: str | Path | None = None,
        model: str | Sequence[str] | None = None,
        models: Mapping[str, Model] = {},
    ) -> None:
        self.settings = _set_model(settings or load(), model)
        folder = None if home is None else Path(home).expanduser()
        self._context = open_context(self.settings, folder, models)
        self._lent = False

    @classmethod
    def from_context(cls, context: Context) -> Self:
        """A home over an open context, as its owner sees it; closing it does nothing."""
        home = cls.__new__(cls)
        home.settings, home._context, home._lent = context.settings, context, True
        return home

    @property
    def owner(self) -> str | None:
        """The owner of these runs and documents: empty for the one local user, None for the view of all."""
        return self._context.owner

    def owned_by(self, owner: str | None, limits: OwnerLimits | None = None) -> Self:
        """Return the same home as another user sees it, over the same open stores: only their runs and documents.

        Other users' data is unknown there, except collections they share: `OWNER/NAME`. Closing it does nothing:
        whoever opened the home closes it. None sees everything, for administrators: new data belongs to the local user,
        and every user's collection is called `OWNER/NAME`.

        Args:
            owner: the user's name.
            limits: the user's limits; None: those in the settings (`limits.user_…`).

        Raises:
            UsageError: the name of the owner is not valid.
        """
        view = copy.copy(self)
        view._context, view._lent = self._context.owned_by(owner, limits), True
        return view

    def watched_by(self, watch: Watch) -> None:
        """Add an observer of the runs that this process executes from now on; closing the home closes it too."""
        self._context.add_watch(watch)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ready(self) -> None:
        """Load what runs need, in a thread, so that the first run does not block other work of this process.

        Calling it is optional: everything is loaded on first use. A server does it when it starts. With `log.stalls`
        set, what blocks the loop is reported from now on, until this is closed.
        """
        await asyncio.to_thread(warmth.warm, self._context)
        watch_loop(self._context)

    async def close(self) -> None:
        """Close models, connections and the store; active runs can be resumed.

        All are closed, even if one fails; then the error is raised, with earlier ones as its context.
        """
        if not self._lent:
            await self._context.close()

    async def once(self, key: str, asked: bytes, do: Callable[[], Awaitable[str]]) -> str:
        """Return what `do` gave for the first request with this `key`, in whatever process; call it if there is none
        yet.

        Raises:
            RequestDiffers: the first request asked for something else.
            InProgress: it is being done now.
        """
        return await requests.run_once(self._context, key, asked, do)

    async def forget_requests(self) -> int:
        """Delete the requests (`run_once`) first made more than a day ago, and return how many."""
        return await requests.forget_old(self._context)

    @property
    def users(self) -> Users:
        """The users of a server over this home.

        Raises:
            UsageError: everything is in memory, where no other process would know them.
        """
        return self._context.users

    @property
    def buckets(self) -> Buckets | None:
        """Limits on how often users may do something, counted over all processes; None if everything is in memory."""
        return self._context.full_store.buckets

    @property
    def limits(self) -> LimitStore | None:
        """The limits of single users; None if everything is in memory."""
        return self._context.full_store.limits

    @property
    def webhooks(self) -> Webhooks:
        """The webhooks of a server's users.

        Raises:
            UsageError: everything is in memory.
            ConfigError: `server.webhook_hosts` contains something that is neither a host nor a network.
        """
        return self._context.webhooks

    async def tell_webhooks(self) -> None:
        """Send webhook messages until cancelled; does nothing if everything is in memory."""
        if self._context.full_store.webhooks is not None:
            await self._context.teller.work()

    async def forget_deliveries(self, seconds: float) -> int:
        """Delete webhook deliveries older than `seconds`, and return how many."""
        store = self._context.full_store.webhooks
        return 0 if store is None else await store.drop_settled(seconds)

    @property
    def audit(self) -> AuditLog | None:
        """The audit log of a server over this home; None if everything is in memory."""
        return self._context.full_store.audit

    async def note(self, action: str, subject: str) -> None:
        """Record in the audit log what a command on this machine did."""
        if self.audit is not None:
            await self.audit.add(AuditEntry(actor="", action=action, subject=subject, via="command"))

    async def belongings(self, source: str, target: str) -> Handover:
        """Count what `adopt` would transfer, and list what prevents it.

        Raises:
            UsageError: everything is in memory, or the two are the same.
        """
        return await ownership.plan_handover(self._context, source, target)

    async def adopt(self, source: str, target: str) -> Handover:
        """Transfer everything of one owner to another: runs, conversations, documents, collections, schedules, links.

        Args:
            source: the present owner; empty for the local user.
            target: the new owner.

        Raises:
            UsageError: both have something with the same name, documents are being read, or everything is in memory.
            LeaseHeld: a live process executes one of the runs.
            StoreError: the home cannot be read or written.
        """
        return await ownership.adopt(self._context, source, target)

    @property
    def overview(self) -> Overview:
        """The administrator's view of all users; not for the users themselves."""
        return run_lists.Overview(self._context.full_store)

    @property
    def shares(self) -> Shares:
        """The links under which `assay serve` shows reports to anybody.

        Raises:
            UsageError: everything is in memory, where no server would know them.
        """
        return self._context.shares

    @property
    def home(self) -> Path | None:
        """The folder of library, index and runs; None: everything is in memory."""
        return self._context.home


def _set_model(settings: Settings, model: str | Sequence[str] | None) -> Settings:
    """The settings with this model for every role without one."""
    if not model:
        return settings
    return msgspec.structs.replace(settings, model=(model,) if isinstance(model, str) else tuple(model))


# Documents that are added in the background.

MAX_UPLOAD_BYTES = 200_000_000
"""The default limit of an uploaded file in bytes."""


@checked_methods
class BackgroundLibrary(Home):
    """Reading into a library in the background, with progress."""

    async def begin_add(self, paths: Sources, collection: str = DEFAULT_COLLECTION) -> Addition:
        """Read documents into a collection in the background; `follow_addition` reports the progress.

        If this process dies, the next one on this machine that calls `go_on_adding`, or follows the addition, continues
        it.

        Raises:
            UsageError: nothing is named, or the collection's name is not valid. The addition itself reports what cannot
                be read.
        """
        return await additions.begin_addition(self._context, paths, collection)

    async def begin_upload(
        self,
        name: str,
        pieces: AsyncIterable[bytes],
        collection: str = DEFAULT_COLLECTION,
        *,
        media_type: str = "",
        most: int = MAX_UPLOAD_BYTES,
    ) -> Addition:
        """Receive a file in pieces and read it in the background; it is complete on disk when this returns.

        Args:
            name: its name, whose suffix says how to read it; without a suffix its `media_type` does.
            pieces: its bytes, at most `most`.
            collection: the collection to add it to.
            media_type: its declared media type.
            most: the largest allowed size in bytes.

        Raises:
            TooLarge: it is larger; nothing of it is kept.
            UsageError: the name of the file or collection is not valid.
            StoreError: it cannot be stored.
        """
        return await additions.begin_upload(
            self._context, additions.ArrivingFile(name, pieces, collection, most, media_type)
        )

    async def begin_crawl(
        self, url: str, collection: str = DEFAULT_COLLECTION, *, pages: int = 200, depth: int = 5
    ) -> Addition:
        """Read a site into a collection in the background, as `crawl` does.

        Raises:
            UsageError: the collection's name is not valid. The addition itself reports what cannot be read.
        """
        addition = AdditionStart(kind="crawl", options={"pages": pages, "depth": depth})
        return await additions.begin_addition(self._context, [url], collection, addition)

    async def begin_sync(self, collection: str = DEFAULT_COLLECTION) -> Addition:
        """Look again in the background at every place a collection was added from, as `sync` does.

        Raises:
            UnknownName: there is no such collection.
        """
        await shelves.check_collection(self._context, collection)
        addition = AdditionStart(kind="sync", name=collection)
        return await additions.begin_addition(self._context, [f"@{collection}"], collection, addition)

    async def additions(self, limit: int = 100) -> list[Addition]:
        """Additions in progress and those of the last days, newest first."""
        return await asyncio.to_thread(self._context.store.additions.all, limit)

    async def addition(self, id: str) -> Addition:
        """Return an addition.

        Raises:
            UnknownName: there is none with that id.
        """
        return await asyncio.to_thread(self._context.store.additions.find, id)

    def follow_addition(self, id: str, after: int = 0) -> AsyncIterator[Addition]:
        """Yield an addition after each update with `seq > after`, in whatever process, until it has ended.

        Of updates in quick succession only the last is yielded.

        Raises:
            UnknownName: there is none with that id.
        """
        return additions.follow_addition(self._context, id, after)

    async def go_on_adding(self) -> list[Addition]:
        """Continue what killed processes of this machine were adding; a server does this when it starts."""
        return await additions.resume_additions(self._context)
