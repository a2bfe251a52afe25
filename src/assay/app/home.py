"""The class `Home`: what a library and its runs are opened with, and whose they are."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.app.composition import opened, watch_loop
from assay.core.allowance import OwnerLimits
from assay.core.later import later
from assay.core.ports import Model, Watch
from assay.core.ports.users import AuditEntry, AuditLog, Buckets, LimitStore
from assay.services.arguments import named
from assay.settings import Settings, load

if TYPE_CHECKING:
    from assay.app import warmth
    from assay.services import overview, ownership, requests
    from assay.services.context import Context
    from assay.services.overview import Overview
    from assay.services.ownership import Handover
    from assay.services.shares import Shares
    from assay.services.users import Users
    from assay.services.webhooks import Webhooks
else:
    overview = later("assay.services.overview")
    ownership = later("assay.services.ownership")
    requests = later("assay.services.requests")
    warmth = later("assay.app.warmth")


class Home:
    """A library of documents; without `home` in memory, and nothing is written to disk.

    `models` adds models by name, beside those found by entry point: how tests and embedders pass their own. `model` is
    the model of every role which the settings or a run name none for (PROVIDER:NAME, then its fallbacks).

    Raises:
        UnknownOption: there is no such option; the message offers the nearest.
        ConfigError: the settings cannot be read, or need what is not installed.
        StoreError: the home cannot be made, or is not one.
    """

    @named()
    def __init__(
        self,
        settings: Settings | None = None,
        *,
        home: str | Path | None = None,
        model: str | Sequence[str] | None = None,
        models: Mapping[str, Model] = {},
    ) -> None:
        self.settings = _with_model(settings or load(), model)
        folder = None if home is None else Path(home).expanduser()
        self._context = opened(self.settings, folder, models)
        self._lent = False

    @classmethod
    def over(cls, context: Context) -> Self:
        """One over what is open already, as its owner knows it; closing it does nothing."""
        made = cls.__new__(cls)
        made.settings, made._context, made._lent = context.settings, context, True
        return made

    @property
    def owner(self) -> str | None:
        """Whose runs and documents these are: empty for the one local user, None for those of all."""
        return self._context.owner

    def owned_by(self, owner: str | None, limits: OwnerLimits | None = None) -> Self:
        """The same home as another user knows it, over the same open stores: his runs and documents alone.

        Another's are unknown in it, but for collections which their owners let him read: `OWNER/NAME`. Closing it does
        nothing: whoever opened the home closes it. None knows all, for those who look after a home: what is begun there
        is the local user's, and every user's collection is called `OWNER/NAME`.

        Args:
            owner: his name.
            limits: what he may take; None: what the settings say of every user (`limits.user_…`).

        Raises:
            UsageError: no owner can be called so.
        """
        view = copy.copy(self)
        view._context, view._lent = self._context.owned_by(owner, limits), True
        return view

    def watched_by(self, watch: Watch) -> None:
        """Have another be told of the runs which this process executes from now on; closing the home closes it too."""
        self._context.add_watch(watch)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ready(self) -> None:
        """Load what runs need, in a thread, so that the first one does not hold up what else this process does.

        It need not be called: what is not loaded is loaded when it is first used. A server does so when it starts.
        With `log.stalls` set, what holds up the loop is told from now on until this is closed.
        """
        await asyncio.to_thread(warmth.warm, self._context)
        watch_loop(self._context)

    async def close(self) -> None:
        """Let go of models, connections and the store; runs still going can be resumed.

        All are let go of, whichever of them fails; the error is raised then, with those before it as its context.
        """
        if not self._lent:
            await self._context.close()

    async def once(self, key: str, asked: bytes, do: Callable[[], Awaitable[str]]) -> str:
        """What `do` gave for the first request of this `key`, in whatever process; it is done where it was not yet.

        Raises:
            RequestDiffers: the first request asked for something else.
            InProgress: it is being done now.
        """
        return await requests.once(self._context, key, asked, do)

    async def forget_requests(self) -> int:
        """Forget the requests (`once`) which were first made more than a day ago; how many these were."""
        return await requests.forget_old(self._context)

    @property
    def users(self) -> Users:
        """The users of a server over this home.

        Raises:
            UsageError: all is in memory, where no other process would know them.
        """
        return self._context.users

    @property
    def buckets(self) -> Buckets | None:
        """How often users may do something, counted by all processes; None where all is in memory."""
        return self._context.whole.buckets

    @property
    def limits(self) -> LimitStore | None:
        """What is said of single users' limits; None where all is in memory."""
        return self._context.whole.limits

    @property
    def webhooks(self) -> Webhooks:
        """The webhooks of a server's users.

        Raises:
            UsageError: all is in memory.
            ConfigError: `server.webhook_hosts` holds what is neither a host nor a network.
        """
        return self._context.webhooks

    async def tell_webhooks(self) -> None:
        """Tell webhooks what is new, until this is cancelled; where all is in memory there are none."""
        if self._context.whole.webhooks is not None:
            await self._context.teller.work()

    async def forget_deliveries(self, seconds: float) -> int:
        """Forget what webhooks were told so long ago; how much."""
        store = self._context.whole.webhooks
        return 0 if store is None else await store.drop_settled(seconds)

    @property
    def audit(self) -> AuditLog | None:
        """Who did what on a server over this home; None where all is in memory."""
        return self._context.whole.audit

    async def note(self, action: str, subject: str) -> None:
        """Keep in the audit log what a command on this machine did."""
        if self.audit is not None:
            await self.audit.add(AuditEntry(actor="", action=action, subject=subject, via="command"))

    async def belongings(self, source: str, target: str) -> Handover:
        """What `adopt` would hand over, and what stands in its way.

        Raises:
            UsageError: all is in memory, or the two are one.
        """
        return await ownership.planned(self._context, source, target)

    async def adopt(self, source: str, target: str) -> Handover:
        """Hand all that is an owner's to another: runs, conversations, documents, collections, schedules, links.

        Args:
            source: whose it is; empty for the local user.
            target: whose it is to be.

        Raises:
            UsageError: both have something by the same name, documents are being read, or all is in memory.
            LeaseHeld: a live process executes a run of his.
            StoreError: the home cannot be read or written.
        """
        return await ownership.adopt(self._context, source, target)

    @property
    def overview(self) -> Overview:
        """What whoever runs a server sees of all its users; not for the users themselves."""
        return overview.Overview(self._context.whole)

    @property
    def shares(self) -> Shares:
        """The links under which `assay serve` shows reports to anybody.

        Raises:
            UsageError: all is in memory, where no server would know them.
        """
        return self._context.shares

    @property
    def home(self) -> Path | None:
        """The folder of library, index and runs; None: all is in memory."""
        return self._context.home


def _with_model(settings: Settings, model: str | Sequence[str] | None) -> Settings:
    """The settings with this model for every role that they name none for."""
    if not model:
        return settings
    return settings.model_copy(update={"model": (model,) if isinstance(model, str) else tuple(model)})
