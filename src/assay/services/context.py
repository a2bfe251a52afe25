"""The context of all services: settings, a home, and what works on them, mostly created on first use."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import msgspec

from assay.core.allowance import OwnerLimits
from assay.core.brief import Brief
from assay.core.errors import StoreClosed, UsageError
from assay.core.events import Envelope
from assay.core.lazy import lazy_module
from assay.core.ports import Fact, LibrarySearch, Model, PageCache, RateLimiter, SpanKind, Watch, WatchedSpan
from assay.core.ports.collections import ADDITION_ENDED, SLASH, Additions
from assay.core.ports.store import Store
from assay.core.ports.webhooks import Poster, WebhookStore
from assay.run.process import SystemClock
from assay.run.tasks import Tasks
from assay.services.given_models import guard_models
from assay.services.ports import HomePresence, Readers, SharedWeb, Wiring
from assay.settings import Settings

if TYPE_CHECKING:
    from assay.evidence.documents import DocumentReader
    from assay.phases.pipeline import PipelineParts
    from assay.run import feeds as _feeds
    from assay.run.engine import Engine
    from assay.services import places as _places
    from assay.services import providers as _providers
    from assay.services import run_lists as _run_lists
    from assay.services import stored_runs as _stored_runs
    from assay.services import users as _users
    from assay.services import webhooks as _webhooks
    from assay.services import worlds as _worlds
else:
    _feeds = lazy_module("assay.run.feeds")
    _places = lazy_module("assay.services.places")
    _providers = lazy_module("assay.services.providers")
    _run_lists = lazy_module("assay.services.run_lists")
    _stored_runs = lazy_module("assay.services.stored_runs")
    _users = lazy_module("assay.services.users")
    _webhooks = lazy_module("assay.services.webhooks")
    _worlds = lazy_module("assay.services.worlds")


async def close_all(closers: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """Call each in order. An error is raised after all were called, with earlier ones as its context."""
    if not closers:
        return
    try:
        await closers[0]()
    finally:
        await close_all(closers[1:])


# Additions of this process, and who waits for news about them.


class OwnAdditions:
    """The additions that this process reads; `additions` are those of all owners."""

    def __init__(self, additions: Additions) -> None:
        self._additions, self._tasks = additions, Tasks()
        self._going: set[str] = set()
        self._update_events: dict[str, set[asyncio.Event]] = {}

    def start(self, work: Coroutine[object, object, None], id: str) -> None:
        """Read an addition, unless it is being read."""
        if id in self._going:
            work.close()
            return
        self._going.add(id)
        self._tasks.start(work, f"addition {id}").add_done_callback(lambda _: self._going.discard(id))

    def start_task(self, work: Coroutine[object, object, None], id: str) -> asyncio.Task[None]:
        """Run a task while an addition is read, until it is cancelled."""
        return self._tasks.start(work, f"word of addition {id}")

    @contextmanager
    def update_event(self, id: str) -> Iterator[asyncio.Event]:
        """An event, for the block, that is set when this process updates an addition."""
        event = asyncio.Event()
        events = self._update_events.setdefault(id, set())
        events.add(event)
        try:
            yield event
        finally:
            events.discard(event)
            if not events:
                self._update_events.pop(id, None)

    def notify(self, id: str) -> None:
        """Signal an update."""
        for event in self._update_events.get(id, ()):
            event.set()

    async def close(self) -> None:
        """End all work; whoever opens the home next continues it."""
        going = set(self._going)
        await self._tasks.close()
        for id in going:
            addition = await asyncio.to_thread(self._additions.find, id)
            if addition.state not in ADDITION_ENDED:
                released = msgspec.structs.replace(addition, state="waiting", holder="", seq=addition.seq + 1)
                await asyncio.to_thread(self._additions.put, released)


class WatchGroup:
    """Implements `core.ports.Watch`: tells each of them."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = tuple(watches)

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Each gets the outer span it made itself."""
        outer = parent_span.spans if isinstance(parent_span, _SpanGroup) else (None,) * len(self._watches)
        pairs = zip(self._watches, outer, strict=True)
        return _SpanGroup(tuple(watch.begin(kind, name, started_at, outer_span, facts) for watch, outer_span in pairs))

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        for watch in self._watches:
            watch.observe(envelopes)

    def close(self) -> None:
        for watch in self._watches:
            watch.close()


class _SpanGroup:
    """A span as each of them has it."""

    def __init__(self, spans: tuple[WatchedSpan, ...]) -> None:
        self.spans = spans

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        for span in self.spans:
            span.end(facts, error)


T = TypeVar("T")
MAX_OWNER_CHARS = 200


class shared(Generic[T]):  # noqa: N801 - it stands where `property` does
    """A property created on first use, once for all views of a context."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    def __get__(self, context: Context, _: type[Context] | None = None) -> T:
        return context.get_or_create(self._name, self._make)


class Context:
    """Settings, the store of a home as one owner sees it, and what works on it; fixed while it is used.

    `store` sees only what is `owner`'s; `full_store` sees everything, for what serves every owner: the engine, the
    index. `wiring` creates the rest on first use, so a command that lists runs loads neither a search index nor a
    pipeline. `presence` says that this process works with the home; `watch` observes its runs.
    """

    def __init__(
        self,
        settings: Settings,
        home: Path | None,
        *,
        store: Store,
        wiring: Wiring,
        presence: HomePresence,
        models: Mapping[str, Model] = {},
    ) -> None:
        self.settings, self.home, self.wiring = settings, home, wiring
        self.own_models, self.made_models = guard_models(models), dict[str, Model]()
        self.root, self.owner = self, cast("str | None", "")
        self.full_store = store
        self.store = self.full_store.owned_by(self.owner)
        self.limits: OwnerLimits | None = None
        self.parts: dict[str, Any] = {}
        self.presence, self.clock = presence, SystemClock()
        self.watch: Watch | None = None
        self.ends: list[Callable[[], None]] = []
        self._is_closed = False

    def owned_by(self, owner: str | None, limits: OwnerLimits | None = None) -> Self:
        """Return the same as another owner sees it. None sees everything; what it creates belongs to the local user.

        `limits` are the owner's, in place of those in the settings.

        Raises:
            UsageError: the name of the owner is not valid.
        """
        if owner and (
            SLASH in owner or len(owner) > MAX_OWNER_CHARS or not owner.isprintable() or owner != owner.strip()
        ):
            raise UsageError(
                f"{owner[:MAX_OWNER_CHARS]!r} cannot be the name of an owner: up to {MAX_OWNER_CHARS} printable "
                "characters,"
                f" none of them {SLASH!r}"
            )
        view = copy.copy(self)
        view.owner, view.store, view.limits = owner, self.full_store.owned_by(owner), limits
        return view

    def add_watch(self, watch: Watch) -> None:
        """Add an observer of all runs."""
        root = self.root
        root.watch = self.watch = watch if root.watch is None else WatchGroup((root.watch, watch))

    def get_or_create(self, name: str, make: Callable[[Any], T]) -> T:
        """Create something with `make` from the context of all owners, on first use.

        Raises:
            StoreClosed: the context was closed; nobody would close what is created.
        """
        parts = self.parts
        if name not in parts:
            if self.root._is_closed:
                raise StoreClosed
            parts[name] = make(self.root)
        part: T = parts[name]
        return part

    @property
    def allowed_hosts(self) -> tuple[str, ...] | None:
        """The hosts that are not public and that a place may name nevertheless; None: all, because the owner is the
        person at this machine and no user of a server.
        """
        return tuple(self.settings.web.allow) if self.owner else None

    def for_owner_of(self, brief: Brief) -> Self:
        """Return the same as the owner of a run sees it."""
        return self if brief.owner == self.owner else self.owned_by(brief.owner)

    @shared
    def reader(self) -> DocumentReader:
        """Reads the passages of documents."""
        return self.wiring.reader(self)

    @shared
    def readers(self) -> Readers:
        """The extractors of text from files."""
        return self.wiring.readers()

    @shared
    def search(self) -> LibrarySearch:
        """The index over the library, of all owners; use `wiring.searched` for queries."""
        return self.wiring.search(self)

    @shared
    def page_cache(self) -> PageCache:
        """Cached pages of the web."""
        return self.wiring.page_cache(self)

    @shared
    def online(self) -> SharedWeb:
        """Everything all runs share for using the web."""
        return self.wiring.online(self)

    @shared
    def pipeline_parts(self) -> PipelineParts:
        """The tools and strategies that all runs share."""
        return _worlds.pipeline_parts(self)

    @shared
    def engine(self) -> Engine:
        """Executes runs."""
        return _worlds.engine(self)

    @shared
    def feeds(self) -> _feeds.Feeds:
        """The new events of followed runs."""
        return _feeds.Feeds(self.full_store.journal)

    @shared
    def adding(self) -> OwnAdditions:
        """Additions to the library in the background."""
        return OwnAdditions(self.full_store.additions)

    @shared
    def listed_places(self) -> _places.ListedPlaces:
        """Places that jobs read in parts, such as repositories, as fetched here."""
        return _places.ListedPlaces()

    @shared
    def seeker(self) -> _run_lists.RunSearch:
        """The index of the questions and reports of runs."""
        return _run_lists.RunSearch(self.full_store.journal, self.wiring.run_index(self))

    @shared
    def rate_limiter(self) -> RateLimiter | None:
        """Delays model calls, if their service has a limit."""
        return _providers.model_rate_limiter(self.store, self.settings)

    @shared
    def users(self) -> _users.Users:
        """The users of a server over this home."""
        if self.store.users is None:
            raise UsageError("there are no users in memory: open Assay with a home or a database")
        return _users.Users(self.store.users, self.store.shares)

    @property
    def shares(self) -> _stored_runs.Shares:
        """The links to the reports of this owner's runs."""
        if self.store.shares is None:
            raise UsageError("there are no links in memory: open Assay with a home or a database")
        return _stored_runs.Shares(self, self.store.shares)

    @shared
    def poster(self) -> Poster:
        """Posts to the addresses of webhooks."""
        return self.wiring.poster(self.settings)

    @shared
    def webhooks(self) -> _webhooks.Webhooks:
        """The webhooks of the users of this home."""
        return _webhooks.Webhooks(self._webhook_store(), self.poster)

    @shared
    def teller(self) -> _webhooks.WebhookSender:
        """Sends webhook messages."""
        return _webhooks.WebhookSender(self._webhook_store(), self.full_store.journal, self.poster)

    def _webhook_store(self) -> WebhookStore:
        if self.full_store.webhooks is None:
            raise UsageError("there are no webhooks in memory: open Assay with a home or a database")
        return self.full_store.webhooks

    @property
    def busy(self) -> bool:
        """True if this process has active runs."""
        return "engine" in self.parts and self.engine.busy

    async def until_stored(self, reference: str) -> None:
        """Wait while this process prepares the run with this id; then it is stored, or its preparation failed."""
        if "engine" in self.parts:
            await self.engine.until_stored(reference)

    async def close(self) -> None:
        """Close everything that was created, even if some of it fails; see `Home.close`."""
        for end in self.ends:
            end()
        watch = [partial(asyncio.to_thread, self.watch.close)] if self.watch is not None else []
        try:
            await close_all(
                [
                    *self._closers("feeds", "adding", "engine"),
                    # readers after the search: what it indexes in the background needs them
                    *self._closers("search", "readers", "listed_places", blocking=True),
                    *(model.close for model in self.made_models.values()),
                    *self._closers("online", "poster"),
                    self.full_store.close,
                    self._close_presence,
                    *watch,
                ]
            )
        finally:
            self._is_closed = True

    def _closers(self, *names: str, blocking: bool = False) -> list[Callable[[], Awaitable[object]]]:
        """What closes those of these that were created."""
        closes = [self.parts[name].close for name in names if name in self.parts]
        return [partial(asyncio.to_thread, close) for close in closes] if blocking else closes

    async def _close_presence(self) -> None:
        self.presence.close()
