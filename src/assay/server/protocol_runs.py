"""What a client of a protocol may do with runs: begin one (once for the same request), follow it, have it deleted."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, Unpack
from weakref import WeakKeyDictionary

import msgspec

from assay.app.assay import Assay
from assay.core.errors import UnknownName
from assay.core.events import Envelope
from assay.core.ports import FINAL
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.services.arguments import Sources

REQUEST = "assay.request"
"""The label of a run which says what request it was begun by."""
AGAIN = timedelta(minutes=10)
"""For so long the same request is the same run: clients ask again when they grew tired of waiting."""
LOOKED_AT = 200
"""Of the latest runs so many are looked at for one of the same request."""
CANCEL_SECONDS = 5.0
"""How long a run may take to let go before it is deleted."""
HEARTBEAT_SECONDS = 10.0
"""The longest silence of a stream: proxies and clients cut those which say nothing for long."""


class Runs(Protocol):
    """How runs are begun and followed where a protocol is served; no run depends on a connection."""

    async def begin(
        self, owner: str, question: str, *, sources: Sources | None = None, **wanted: Unpack[RunOptions]
    ) -> str:
        """Store a run and have it executed; its id."""
        ...

    async def begin_ask(self, owner: str, reference: str, question: str, **wanted: Unpack[RunOptions]) -> str:
        """Have a question answered from what a run has read; the id of the run which does."""
        ...

    async def go_on(self, owner: str, reference: str) -> None:
        """Have a run executed which was answered, paused, or left by its process."""
        ...

    async def view(self, owner: str, reference: str) -> RunView:
        """A run as it stands."""
        ...

    def groups(
        self, owner: str, run_id: str, after: int = 0, rest: float | None = None
    ) -> AsyncIterator[Sequence[Envelope]]:
        """The events of a run as they come, until it has ended; nothing, where none came for `rest` seconds."""
        ...


_beginning: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Held while a request is looked for among the latest runs and begun: twins come close together."""


class Caller(msgspec.Struct, frozen=True):
    """Who asks: the library bound to it, its name, and how its runs are executed."""

    assay: Assay
    runs: Runs
    owner: str = ""

    async def begin(
        self,
        question: str,
        *,
        key: str = "",
        again: bool = True,
        sources: Sources | None = None,
        **wanted: Unpack[RunOptions],
    ) -> str:
        """Begin a run; its id. With a `key`, a run which was begun by it a short while ago is it.

        Args:
            question: what is to be found out.
            key: names the request.
            again: whether the request may have come before; without, the key is only noted.
            sources: as for `Assay.create`.
            wanted: as for `Assay.create`.

        Raises:
            UsageError, UnknownName: as `Assay.create`.
        """
        if not key:
            return await self.runs.begin(self.owner, question, sources=sources, **wanted)
        async with _beginning.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if again and (found := await self.begun_by(key)):
                return found
            wanted["labels"] = {**(wanted.get("labels") or {}), REQUEST: key}
            return await self.runs.begin(self.owner, question, sources=sources, **wanted)

    async def has_ended(self, run_id: str) -> bool:
        """Whether there is a run of this id which others can go on from."""
        try:
            row = await self.assay.find(run_id)
        except UnknownName:
            return False
        return row.run_id == run_id and row.status in FINAL

    async def begun_by(self, key: str) -> str:
        """The run which was begun by this request a short while ago and did not come to grief; "" for none."""
        since = datetime.now(UTC) - AGAIN
        for row in await self.assay.listed(LOOKED_AT):
            if datetime.fromisoformat(row.created_at) < since:
                break
            if row.labels.get(REQUEST) == key and row.status not in ("failed", "cancelled"):
                return row.run_id
        return ""

    async def ask(self, reference: str, question: str, **wanted: Unpack[RunOptions]) -> str:
        """Have a question answered from what a run has read; the id of the run which does.

        Raises:
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        return await self.runs.begin_ask(self.owner, reference, question, **wanted)

    async def go_on(self, reference: str) -> None:
        """See that a run is executed which can go on: one that has not ended, is not paused, and waits for nobody."""
        row = await self.assay.find(reference)
        answered = row.status == "waiting" and await self.assay.is_answered(row.run_id)
        if not row.queued and (answered or row.status in ("created", "running")):
            await self.runs.go_on(self.owner, row.run_id)

    async def view(self, reference: str) -> RunView:
        """A run as it stands.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.runs.view(self.owner, reference)

    def groups(self, run_id: str, after: int = 0, rest: float = HEARTBEAT_SECONDS) -> AsyncIterator[Sequence[Envelope]]:
        """The events of a run as they come, until it has ended; nothing, where none came for `rest` seconds."""
        return self.runs.groups(self.owner, run_id, after=after, rest=rest)

    async def remove(self, reference: str) -> None:
        """Delete a run; one which goes on is cancelled first.

        Raises:
            UnknownName: there is no such run.
            LeaseHeld: its process does not let go of it.
        """
        row = await self.assay.find(reference)
        if row.status not in FINAL:
            await self.assay.control(row.run_id, "cancel", wait=CANCEL_SECONDS)
        await self.assay.delete(row.run_id)


def request_key(*parts: object) -> str:
    """A short name of a request: equal for equal parts, which are plain data."""
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:24]
