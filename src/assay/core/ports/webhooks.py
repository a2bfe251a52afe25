"""Webhooks: addresses which are told how runs went, and what waits to be told to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from assay.core.ports.lists import RunStatus

DeliveryState = Literal["waiting", "sent", "failed"]


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """An address which is told of `events` of its owner's runs, or of one `run` alone (its id).

    `secret` signs what it is told, and is never shown.

    `disabled` says why it is told nothing any more, empty while it is. `created` is in seconds since 1970.
    """

    id: str
    owner: str
    url: str
    secret: str
    events: tuple[str, ...]
    created: float = 0.0
    disabled: str = ""
    run: str = ""


class NewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a run; `at` is ISO 8601 UTC, `data` JSON."""

    seq: int
    type: str
    at: str
    data: bytes


class NewEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Events of a run which webhooks of its owner have not been told of. `number` is the run's, up to `last_seq`."""

    number: int
    run_id: str
    owner: str
    status: RunStatus
    last_seq: int
    events: tuple[NewEvent, ...]


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What a webhook is told, or was: `id` never changes, however often it is sent. Times are seconds since 1970.

    `due` is when it is sent next, `status` the last HTTP status, 0 for none; `error` says in a word what failed.
    """

    id: str
    webhook: str
    type: str
    body: bytes
    created: float = 0.0
    due: float = 0.0
    attempts: int = 0
    state: DeliveryState = "waiting"
    status: int = 0
    error: str = ""


class WebhookStore(Protocol):
    """Webhooks and their deliveries. Each method is one transaction, and may be called by several processes."""

    async def add(self, webhook: Webhook) -> Webhook:
        """Keep a webhook; it is told of what happens from now on. The result has the time of that."""
        ...

    async def all(self, owner: str | None = None, run: str = "") -> list[Webhook]:
        """The webhooks of an owner which are told of all his runs, or of one `run`, in the order of making.

        With None those of all owners, and those of single runs which may have more to tell.
        """
        ...

    async def one(self, owner: str, id: str) -> Webhook | None:
        """A webhook of an owner, also of a single run; None where there is none."""
        ...

    async def remove(self, owner: str, id: str) -> bool:
        """Forget a webhook of an owner with its deliveries; False where there is none."""
        ...

    async def disable(self, id: str, why: str) -> None:
        """Tell a webhook nothing any more; what waits for it has failed."""
        ...

    async def news(self, types: Collection[str], limit: int) -> list[NewEvents]:
        """Runs which wait or have ended, with the events of these types which were not noted yet; the oldest first."""
        ...

    async def note(self, seen: Mapping[int, int], deliveries: Sequence[Delivery]) -> None:
        """Keep deliveries, those known already aside, and that runs (by number) were looked at up to an event."""
        ...

    async def claim(self, limit: int, seconds: float) -> list[tuple[Delivery, Webhook]]:
        """Deliveries which are due, with their webhooks; nobody else gets them for so long. It counts as an attempt."""
        ...

    async def settle(self, id: str, state: DeliveryState, *, status: int = 0, error: str = "", wait: float = 0) -> None:
        """What became of a delivery; one that waits is due again after so many seconds."""
        ...

    async def deliveries(self, webhook: str, limit: int) -> list[Delivery]:
        """The newest deliveries of a webhook."""
        ...

    async def drop_settled(self, seconds: float) -> int:
        """Forget deliveries which were made so long ago and wait no more; how many.

        With them go the webhooks of runs which ended so long ago that nothing waits for them.
        """
        ...


class Posted(msgspec.Struct, frozen=True):
    """What was answered to a message: the status, and in how many seconds to come again, where that was said."""

    status: int
    retry_after: float | None


class Poster(Protocol):
    """Posts messages to addresses which users name."""

    async def check(self, url: str) -> None:
        """Make sure that an address may be posted to.

        Raises:
            FetchFailed: it may not; the message says why.
        """
        ...

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """Post a body; the answer's status.

        Raises:
            FetchFailed: it may not be posted to, or does not answer; the reason begins with its kind.
        """
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...
