"""What all parts of the library work with: made out of settings and a home, most of it when it is first asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay import app
from assay.app.closing import close_all
from assay.app.layout import store_of
from assay.app.observing import unwatch, watch_for
from assay.core.ports import LibrarySearch, Model, PageCache, Turns
from assay.run.clock import SystemClock
from assay.settings import Settings
from assay.store.presence import Presence

if TYPE_CHECKING:
    from assay.app.embedding import Vectors
    from assay.app.online import Online
    from assay.app.readers import Readers
    from assay.evidence.documents import Reader
    from assay.phases.pipeline import Services
    from assay.run.engine import Engine
    from assay.run.feeds import Feeds


class Context:
    """Settings, the store of a home, and what works on it; nothing of it is exchanged while it is used.

    The store is opened at once, so that what is wrong with a home is said at once. All else is made by `app.wiring`
    when it is first asked for: a command which lists runs loads neither a search index nor a pipeline.

    Raises:
        StoreError: the store cannot be made, read or reached.
        ConfigError: what reaches it is not installed, or the log's file cannot be written.
    """

    def __init__(self, settings: Settings, home: Path | None, models: Mapping[str, Model]) -> None:
        self.settings, self.home = settings, home
        self.own_models, self.made_models = dict(models), dict[str, Model]()
        self.store = store_of(home, settings)
        self.presence, self.clock = Presence(home), SystemClock()
        self.watch = watch_for(settings)

    @cached_property
    def reader(self) -> Reader:
        """Reads the passages of documents."""
        return app.holdings.reader(self)

    @cached_property
    def readers(self) -> Readers:
        """What takes the text out of files."""
        return app.holdings.readers()

    @cached_property
    def search(self) -> LibrarySearch:
        """The index over the library."""
        return app.holdings.search(self)

    @cached_property
    def vectors(self) -> Vectors:
        """The embedder which the settings name, and the vectors it made."""
        return app.embedding.vectors(self)

    @cached_property
    def kept(self) -> PageCache:
        """Pages of the web which were read before."""
        return app.holdings.kept(self)

    @cached_property
    def online(self) -> Online:
        """What all runs share of the web."""
        return app.holdings.online(self)

    @cached_property
    def services(self) -> Services:
        """What all runs share of tools and strategies."""
        return app.worlds.services(self)

    @cached_property
    def engine(self) -> Engine:
        """Executes runs."""
        return app.worlds.engine(self)

    @cached_property
    def feeds(self) -> Feeds:
        """The new events of runs which somebody follows."""
        return app.following.feeds(self)

    @cached_property
    def turns(self) -> Turns | None:
        """When a model may be called, where its service has a limit."""
        return app.worlds.turns(self)

    @property
    def busy(self) -> bool:
        """Whether runs are going on in this process."""
        return "engine" in self.__dict__ and self.engine.busy

    async def close(self) -> None:
        """Let go of what was made, whichever of it fails; see `Library.close`."""
        made = self.__dict__
        engine = [self.engine.close] if "engine" in made else []
        feeds = [self.feeds.close] if "feeds" in made else []
        readers = [partial(asyncio.to_thread, self.readers.close)] if "readers" in made else []
        online = [self.online.close] if "online" in made else []
        models = [model.close for model in self.made_models.values()]
        search = [partial(asyncio.to_thread, self.search.close)] if "search" in made else []
        told = partial(asyncio.to_thread, unwatch, self.watch)
        await close_all([*feeds, *engine, *readers, *models, *online, *search, self.store.close, self._leave, told])

    async def _leave(self) -> None:
        self.presence.close()
