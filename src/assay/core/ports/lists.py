"""Lists of runs and of threads, page by page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, Protocol

import msgspec

from assay.core.usage import Usage

RunStatus = Literal["created", "running", "waiting", "paused", "completed", "failed", "cancelled"]
FINAL: frozenset[RunStatus] = frozenset(("completed", "failed", "cancelled"))


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. `holder` is empty when no live process has it; `created_at` is ISO 8601 UTC.

    `thread` names the conversation it is part of, empty for none. One `queued` is there for any worker to take up.
    `owner` is whose it is, empty for the one local user; `labels` are those it has now.
    """

    run_id: str
    question: str
    status: RunStatus
    created_at: str
    holder: str
    fence: int
    active_seconds: float
    last_seq: int
    thread: str = ""
    queued: bool = False
    owner: str = ""
    labels: dict[str, str] = {}


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs a list is to hold.

    `text` is in the question, case and spacing aside. `since` and `until` (exclusive) are of the creation, ISO 8601 UTC
    or the beginning of it. `thread` names a conversation; the run it began with belongs to it. `collection` is one
    which the run was to search, called as its owner calls it. `label` is the name of one, or `name=value`. Empty says
    nothing.
    """

    status: tuple[RunStatus, ...] = ()
    text: str = ""
    since: str = ""
    until: str = ""
    thread: str = ""
    collection: str = ""
    label: str = ""


class RunPage(msgspec.Struct, frozen=True):
    """Some of a list, newest first; `next` is where it goes on, None at its end."""

    rows: list[RunRow]
    next: int | None


class ThreadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list: how many runs it has, and the last of them.

    `title` is what its owner calls it, empty where he said nothing; `question` is that of its first run.
    """

    name: str
    title: str
    question: str
    created_at: str
    runs: int
    last_run: str
    last_at: str
    status: RunStatus
    owner: str = ""


class ThreadPlace(msgspec.Struct, frozen=True, array_like=True):
    """Where a list of threads goes on: the order is that of the moment the first page was asked for."""

    newest: int
    before: int


class ThreadPage(msgspec.Struct, frozen=True):
    """Some of a list, those with the latest run first."""

    rows: list[ThreadRow]
    next: ThreadPlace | None


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What one user's runs took of one model: in how many of them it was asked, and what that used.

    `day` is the one (UTC) on which they were begun, empty for all of the time asked for.
    """

    owner: str
    model: str
    runs: int
    usage: Usage
    day: str = ""


class Listing(Protocol):
    """The part of a journal which lists: runs by what they are, and threads."""

    async def page(self, wanted: RunFilter, limit: int, before: int | None = None) -> RunPage:
        """The newest runs `wanted`; `before` is the `next` of the page before, whatever has begun since."""
        ...

    async def after(self, number: int, limit: int) -> list[tuple[int, RunRow]]:
        """Runs in the order in which they were begun, with their numbers, from `number` exclusive: how an index catches
        up. Numbers are never reused.
        """
        ...

    async def label(self, run_id: str, added: Mapping[str, str], removed: Collection[str] = ()) -> dict[str, str]:
        """Give a run labels, and take some from it; those it has then.

        Raises:
            UsageError: a run may not have these; nothing was changed.
            UnknownName: there is no such run.
        """
        ...

    async def usage(self, since: str = "", until: str = "", *, daily: bool = False) -> list[ModelUsage]:
        """What the runs begun at `since` or later, and before `until` (ISO 8601 UTC, empty for no bound), took of each
        model, by owner and model; `daily`: by day, owner and model.
        """
        ...

    async def counts(self) -> dict[RunStatus, int]:
        """How many runs there are of each status; one of which there is none is left out."""
        ...

    async def threads(self, text: str = "", limit: int = 100, place: ThreadPlace | None = None) -> ThreadPage:
        """The threads with the latest runs, those with `text` in their title or in a question; case aside."""
        ...

    async def thread(self, reference: str) -> ThreadRow:
        """A thread by its name, its title, or the start of its name.

        Raises:
            UnknownName: none, or more than one, is called so.
        """
        ...

    async def rename(self, thread: str, title: str) -> None:
        """Call a thread by another title; its name stays.

        Raises:
            UnknownName: there is no thread of that name.
        """
        ...

    async def delete_thread(self, thread: str, evict: Collection[str] = ()) -> tuple[str, ...]:
        """Forget all runs of a thread, and the thread, in one transaction; their ids, in order.

        `evict` are holders known to be dead.

        Raises:
            LeaseHeld: a live process executes one of them; nothing was deleted.
            UnknownName: there is no thread of that name.
        """
        ...
