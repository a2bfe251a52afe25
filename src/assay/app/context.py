"""What all parts of the library work with: made out of settings and a home, most of it when it is first asked for."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import msgspec

from assay import app
from assay.app.cleanup import close_all
from assay.app.layout import store_of
from assay.app.observers import unwatch, watch_for
from assay.core.allowance import OwnerLimits
from assay.core.brief import Brief
from assay.core.errors import UsageError
from assay.core.later import later
from assay.core.ports import LibrarySearch, Model, PageCache, RateLimiter, Watch
from assay.core.ports.collections import ENDED, Additions
from assay.core.ports.webhooks import WebhookStore
from assay.run.clock import SystemClock
from assay.run.tasks import Tasks
from assay.settings import Settings
from assay.store.common import SLASH
from assay.store.presence import Presence
from assay.telemetry.several import Several

if TYPE_CHECKING:
    from assay.app.embeddings import Vectors
    from assay.app.listed_places import ListedPlaces
    from assay.app.online import Online
    from assay.app.readers import LazyReaders
    from assay.app.run_search import Seeker
    from assay.app.shares import Shares
    from assay.app.users import Users
    from assay.app.webhook_delivery import Teller
    from assay.app.webhooks import Webhooks
    from assay.evidence.documents import DocumentReader
    from assay.fetch.web import post
    from assay.fetch.web.post import WebPoster
    from assay.phases.pipeline import Services
    from assay.run.engine import Engine
    from assay.run.feeds import Feeds
    from assay.telemetry import watchdog
    from assay.telemetry.watchdog import Watchdog
else:
    watchdog = later("assay.telemetry.watchdog")
    post = later("assay.fetch.web.post")


# What a process adds in the background, and who waits for news of it.


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


T = TypeVar("T")
LONGEST_OWNER = 200


class shared(Generic[T]):  # noqa: N801 - it stands where `property` does
    """A property made when it is first asked for, once for all views of a context."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    def __get__(self, context: Context, _: type[Context] | None = None) -> T:
        made = context.made
        if self._name not in made:
            made[self._name] = self._make(context.root)
        found: T = made[self._name]
        return found


class Context:
    """Settings, the store of a home as one owner knows it, and what works on it; nothing is exchanged while it is used.

    `store` knows what is `owner`'s alone; `whole` knows all, for what serves every owner: the engine, the index.

    The store is opened at once, so that what is wrong with a home is said at once. All else is made by `app.wiring`
    when it is first asked for: a command which lists runs loads neither a search index nor a pipeline.

    Raises:
        StoreError: the store cannot be made, read or reached.
        ConfigError: what reaches it is not installed, or the log's file cannot be written.
    """

    def __init__(self, settings: Settings, home: Path | None, models: Mapping[str, Model]) -> None:
        self.settings, self.home = settings, home
        self.own_models, self.made_models = dict(models), dict[str, Model]()
        self.root, self.owner = self, cast("str | None", "")
        self.whole = store_of(home, settings)
        self.store = self.whole.owned_by(self.owner)
        self.limits: OwnerLimits | None = None
        self.made: dict[str, Any] = {}
        self.presence, self.clock = Presence(home), SystemClock()
        self.watch = watch_for(settings)
        self.watchdog: Watchdog | None = None

    def owned_by(self, owner: str | None, limits: OwnerLimits | None = None) -> Self:
        """The same, as another owner knows it; None knows all, and what is made there is the local user's.

        `limits` are what he may take, in place of what the settings say of every user.

        Raises:
            UsageError: no owner can be called so.
        """
        if owner and (
            SLASH in owner or len(owner) > LONGEST_OWNER or not owner.isprintable() or owner != owner.strip()
        ):
            raise UsageError(
                f"{owner[:LONGEST_OWNER]!r} cannot be the name of an owner: up to {LONGEST_OWNER} printable characters,"
                f" none of them {SLASH!r}"
            )
        view = copy.copy(self)
        view.owner, view.store, view.limits = owner, self.whole.owned_by(owner), limits
        return view

    def add_watch(self, watch: Watch) -> None:
        """Have one more be told of what runs do."""
        root = self.root
        root.watch = self.watch = watch if root.watch is None else Several((root.watch, watch))

    def watch_loop(self) -> None:
        """Have it told what holds up the running loop, where the settings say so."""
        root, milliseconds = self.root, self.settings.log.stalls
        if milliseconds is not None and root.watchdog is None:
            root.watchdog = watchdog.Watchdog(milliseconds / 1000, watchdog.tell)
            root.watchdog.begin()

    def of(self, brief: Brief) -> Self:
        """The same, as the owner of a run knows it."""
        return self if brief.owner == self.owner else self.owned_by(brief.owner)

    @shared
    def reader(self) -> DocumentReader:
        """Reads the passages of documents."""
        return app.components.reader(self)

    @shared
    def readers(self) -> LazyReaders:
        """What takes the text out of files."""
        return app.components.readers()

    @shared
    def search(self) -> LibrarySearch:
        """The index over the library, of all owners; `app.components.searched` is what one may ask."""
        return app.components.search(self)

    @shared
    def vectors(self) -> Vectors:
        """The embedder which the settings name, and the vectors it made."""
        return app.embeddings.vectors(self)

    @shared
    def kept(self) -> PageCache:
        """Pages of the web which were read before."""
        return app.components.kept(self)

    @shared
    def online(self) -> Online:
        """What all runs share of the web."""
        return app.components.online(self)

    @shared
    def services(self) -> Services:
        """What all runs share of tools and strategies."""
        return app.worlds.services(self)

    @shared
    def engine(self) -> Engine:
        """Executes runs."""
        return app.worlds.engine(self)

    @shared
    def feeds(self) -> Feeds:
        """The new events of runs which somebody follows."""
        return app.remote_runs.feeds(self)

    @shared
    def adding(self) -> Adding:
        """What is added to the library in the background."""
        return Adding(self.whole.additions)

    @shared
    def listed_places(self) -> ListedPlaces:
        """Repositories and the like which jobs read in parts, as they were fetched here."""
        return app.listed_places.ListedPlaces()

    @shared
    def seeker(self) -> Seeker:
        """The index of what runs asked and say."""
        return app.components.seeker(self)

    @shared
    def rate_limiter(self) -> RateLimiter | None:
        """When a model may be called, where its service has a limit."""
        return app.worlds.rate_limiter(self)

    @shared
    def users(self) -> Users:
        """The users of a server over this home."""
        if self.store.users is None:
            raise UsageError("there are no users in memory: open Assay with a home or a database")
        return app.users.Users(self.store.users, self.store.shares)

    @property
    def shares(self) -> Shares:
        """The links to the reports of this owner's runs."""
        if self.store.shares is None:
            raise UsageError("there are no links in memory: open Assay with a home or a database")
        return app.shares.Shares(self, self.store.shares)

    @shared
    def poster(self) -> WebPoster:
        """Posts to the addresses of webhooks."""
        return post.WebPoster(
            agent=f"Assay/{version('assay')} (webhooks)",
            allow=self.settings.server.webhook_hosts,
            setting="server.webhook_hosts",
        )

    @shared
    def webhooks(self) -> Webhooks:
        """The webhooks of the users of this home."""
        return app.webhooks.Webhooks(self._webhook_store(), self.poster)

    @shared
    def teller(self) -> Teller:
        """Tells them what is new."""
        return app.webhook_delivery.Teller(self._webhook_store(), self.whole.journal, self.poster)

    def _webhook_store(self) -> WebhookStore:
        if self.whole.webhooks is None:
            raise UsageError("there are no webhooks in memory: open Assay with a home or a database")
        return self.whole.webhooks

    @property
    def busy(self) -> bool:
        """Whether runs are going on in this process."""
        return "engine" in self.made and self.engine.busy

    async def close(self) -> None:
        """Let go of what was made, whichever of it fails; see `Library.close`."""
        if self.watchdog is not None:
            self.watchdog.end()
        made = {*self.made, *self.__dict__}
        engine = [self.engine.close] if "engine" in made else []
        feeds = [self.feeds.close] if "feeds" in made else []
        adding = [self.adding.close] if "adding" in made else []
        readers = [partial(asyncio.to_thread, self.readers.close)] if "readers" in made else []
        online = [self.online.close] if "online" in made else []
        listed = [partial(asyncio.to_thread, self.listed_places.close)] if "listed_places" in made else []
        models = [model.close for model in self.made_models.values()]
        poster = [self.poster.close] if "poster" in made else []
        search = [partial(asyncio.to_thread, self.search.close)] if "search" in made else []
        told = partial(asyncio.to_thread, unwatch, self.watch)
        await close_all(
            [
                *feeds,
                *adding,
                *engine,
                *readers,
                *listed,
                *models,
                *online,
                *poster,
                *search,
                self.whole.close,
                self._leave,
                told,
            ]
        )

    async def _leave(self) -> None:
        self.presence.close()
