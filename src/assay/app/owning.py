"""What a run's owner may do, from any process: end or pause it, say what it should heed, answer what it asks."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from assay.app import threads
from assay.app.layout import log_file
from assay.app.texts import text_of
from assay.app.threads import Answers
from assay.core import plan_form
from assay.core.errors import LeaseHeld, UsageError
from assay.core.events import ControlApplied
from assay.core.plan import Plan, Reviewed
from assay.core.ports import FINAL, Clock, Journal, RunRow
from assay.core.view import Folder, RunView, Steered
from assay.run import control
from assay.run.control import LONGEST as LONGEST
from assay.run.control import Asked as Asked
from assay.run.holders import is_dead
from assay.store.common import Store

POLL = 0.1
WRITING = ("write", "verify")
TOO_LATE = "the report is being written already"

Came = Literal["applied", "ended", "stored"]
"""What came of a request: it was applied; the run ended before that; it is stored and was not applied in time."""


class Owning:
    """The part of `Assay` which a run's owner uses."""

    _store: Store
    _clock: Clock
    _home: Path | None

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`."""
        raise NotImplementedError

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        raise NotImplementedError

    async def control(self, reference: str, action: Asked, *, wait: float = 0.0) -> Came:
        """Finish, cancel or pause a run, in whatever process it is. One that nobody executes is changed at once.

        Args:
            wait: seconds to wait until that is done.

        Raises:
            UnknownName: no such run.
            UsageError: it has ended, or there is nothing of it to pause.
        """
        row = await self.find(reference)
        if action == "pause" and row.status in ("waiting", "paused") and not alive(row):
            waits = "waits for an answer" if row.status == "waiting" else "is paused already"
            raise UsageError(f"run {row.run_id} {waits}, and nobody executes it: there is nothing to pause")
        journal = self._store.journal
        await control.request(journal, self._clock, row, action)
        return await _came_of(journal, self._clock, row, action, wait)

    async def steer(self, reference: str, text: str, *, wait: float = 0.0) -> Steered:
        """Tell a run what to heed from its next decision on; what became of that.

        Args:
            wait: seconds to wait until a decision has taken it, or none will.

        Raises:
            UnknownName: no such run.
            UsageError: it has ended, or the text is empty or too long.
        """
        row = await self.find(reference)
        if row.status in FINAL:
            raise UsageError(
                f"run {row.run_id} has ended ({row.status}): nothing of it can be steered any more; "
                f"to ask further: assay QUESTION --continue {row.run_id}"
            )
        writing = is_writing(await self.view(row.run_id))
        journal = self._store.journal
        id = await control.steer(journal, self._clock, row.run_id, text, refused=TOO_LATE if writing else "")
        return await self._decided(row.run_id, id, wait)

    async def _decided(self, run_id: str, id: str, wait: float) -> Steered:
        end, folder = self._clock.monotonic() + wait, Folder()
        while True:
            row = await self.find(run_id)
            folder.extend(await self._store.journal.events(run_id, after=folder.view.last_seq))
            view = folder.view
            told = next(each for each in view.steering if each.id == id)
            if told.state == "accepted" and (row.status in FINAL or is_writing(view)):
                # the writer takes what there is before its phase begins: what it left, nobody takes
                note = control.ENDED_FIRST if row.status in FINAL else TOO_LATE
                return msgspec.structs.replace(told, state="rejected", note=note)
            if told.state != "accepted" or self._clock.monotonic() >= end:
                return told
            await asyncio.sleep(POLL)

    async def answer(self, reference: str, answers: Answers) -> None:
        """Give a run the answers it waits for: in the order of its questions, or by question. `resume` goes on with it.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for answers, or these do not fit its questions.
        """
        row = await self.find(reference)
        await threads.answer(self._store.journal, row, await self.view(row.run_id), answers)
        await self._wake(row.run_id)

    async def approve(self, reference: str, plan: Plan | str | Path | None = None) -> None:
        """Approve the plan a run waits with, or give it another. `resume` goes on with it.

        Args:
            plan: a plan; or a plan's form or JSON, as text or as the `Path` of a file. None: as it is.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for that, or this is no plan.
        """
        row = await self.find(reference)
        view = await self.view(row.run_id)
        if row.status != "waiting" or view.waiting_for != "plan":
            raise UsageError(f"run {row.run_id} does not wait for its plan to be approved: it is {row.status}")
        if await threads.is_answered(self._store.journal, row.run_id, "plan"):
            raise UsageError(
                f"the plan of run {row.run_id} has been approved; to go on with it: assay runs resume {row.run_id}"
            )
        await self._store.journal.post(row.run_id, "plan", msgspec.json.encode(reviewed(plan)))
        await self._wake(row.run_id)

    async def _wake(self, run_id: str) -> None:
        """A worker goes on with it, where it came from the queue."""
        if self._store.queue is not None:
            await self._store.queue.wake(run_id)

    async def delete(self, reference: str) -> None:
        """Forget a run: its events, steps and messages. What it read stays in the library.

        Raises:
            UnknownName: no such run.
            LeaseHeld: a live process executes it.
        """
        row = await self.find(reference)
        await self._store.journal.delete(row.run_id, evict=row.holder if is_dead(row.holder) else "")
        if self._home is not None:
            log_file(self._home, row.run_id).unlink(missing_ok=True)

    async def is_answered(self, reference: str) -> bool:
        """Whether a run has been given what it waits for: answers to its questions, or its plan."""
        row = await self.find(reference)
        topic = (await self.view(row.run_id)).waiting_for
        return not topic or await threads.is_answered(self._store.journal, row.run_id, topic)


def is_writing(view: RunView) -> bool:
    """Whether the report of a run is being written, or was."""
    return any(phase.name in WRITING for phase in view.phases)


def alive(row: RunRow) -> bool:
    """Whether a process executes a run, as far as can be told."""
    return bool(row.holder) and not is_dead(row.holder)


def reviewed(plan: Plan | str | Path | None) -> Reviewed:
    """What a person said of a plan.

    Raises:
        UsageError: it is no plan.
    """
    if plan is None:
        return Reviewed()
    if isinstance(plan, Plan):
        return Reviewed(plan=plan_form.checked(plan))
    return Reviewed(plan=plan_form.read(text_of(plan, "plan", plan_form.LARGEST)))


async def _came_of(journal: Journal, clock: Clock, row: RunRow, action: Asked, wait: float) -> Came:
    """Wait until a request is applied, and where who executed the run dies over it, apply it."""
    end, seq = clock.monotonic() + wait, row.last_seq
    while True:
        now = await journal.find(row.run_id)
        if await _is_applied(journal, now, action, seq):
            return "applied"
        if now.status in FINAL:
            return "ended"
        if not alive(now):
            if action == "finish":
                return "stored"
            with suppress(LeaseHeld):  # somebody took it up in this moment, and will see the request
                await control.change(journal, clock, now, action)
                continue
        if clock.monotonic() >= end:
            return "stored"
        await asyncio.sleep(POLL)


async def _is_applied(journal: Journal, row: RunRow, action: Asked, after: int) -> bool:
    if action == "finish":
        said = await journal.events(row.run_id, after=after)
        return any(each.type == ControlApplied.kind for each in said)
    return row.status == ("cancelled" if action == "cancel" else "paused") and not row.holder
