"""Webhooks: addresses that receive events of runs, and their deliveries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from assay.core.ports.lists import RunStatus

DeliveryState = Literal["waiting", "sent", "failed"]


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """An address that receives `events` of its owner's runs, or of one `run` only (its id).

    `secret` signs the messages and is never shown. `disabled` says why it receives nothing any more, empty while it
    does. `created` is in seconds since 1970.
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
    """Events of a run that its owner's webhooks have not received yet. `number` is the run's, up to `last_seq`."""

    number: int
    run_id: str
    owner: str
    status: RunStatus
    last_seq: int
    events: tuple[NewEvent, ...]


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a webhook. `id` stays the same however often it is sent. Times are seconds since 1970.

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
        """Store a webhook and return it with its time; it receives what happens from now on."""

    async def all(self, owner: str | None = None, run: str = "") -> list[Webhook]:
        """The webhooks of an owner for all their runs, or for one `run`, in the order they were made.

        None: those of all owners, and those of single runs that may have more to send.
        """

    async def find(self, owner: str, id: str) -> Webhook | None:
        """A webhook of an owner, including those of single runs; None if there is none."""

    async def remove(self, owner: str, id: str) -> bool:
        """Delete a webhook of an owner with its deliveries; False if there is none."""

    async def disable(self, id: str, why: str) -> None:
        """Stop sending to a webhook; its waiting deliveries fail."""

    async def unsent_events(self, types: Collection[str], limit: int) -> list[NewEvents]:
        """Return runs that wait or have ended, oldest first, with their events of these types not yet noted."""

    async def record_deliveries(self, processed: Mapping[int, int], deliveries: Sequence[Delivery]) -> None:
        """Store deliveries, except those that exist, and note up to which event runs (by number) were processed."""

    async def claim(self, limit: int, seconds: float) -> list[tuple[Delivery, Webhook]]:
        """Take due deliveries, with their webhooks; nobody else gets them for `seconds`. Counts as an attempt."""

    async def record_outcome(
        self, id: str, state: DeliveryState, *, status: int = 0, error: str = "", wait: float = 0
    ) -> None:
        """Store the outcome of a delivery; one that waits is due again after `wait` seconds."""

    async def deliveries(self, webhook: str, limit: int) -> list[Delivery]:
        """The newest deliveries of a webhook."""

    async def drop_settled(self, seconds: float) -> int:
        """Delete deliveries made more than `seconds` ago that do not wait any more, and return how many.

        Webhooks of single runs that ended that long ago go too, if nothing waits for them.
        """


class PostResult(msgspec.Struct, frozen=True):
    """The answer to a message: its status, and after how many seconds to try again, if it says so."""

    status: int
    retry_after: float | None


class Poster(Protocol):
    """Posts messages to addresses that users name."""

    async def check_address(self, url: str) -> None:
        """Make sure that an address may be posted to.

        Raises:
            FetchFailed: it may not; the message says why.
        """

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """Post a body and return the answer.

        Raises:
            FetchFailed: the address may not be posted to, or does not answer; the reason begins with its kind.
        """

    async def close(self) -> None:
        """Close connections."""
