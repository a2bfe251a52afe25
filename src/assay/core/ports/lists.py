"""Lists of runs and of threads, page by page; the labels runs are told apart by, and the index they are searched in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

from assay.core.errors import UsageError
from assay.core.usage import Usage

# Labels: what a run's owner calls it, for lists, logs and limits; a name, or a name and a value.

MOST_LABELS, LONGEST_LABEL = 50, 512
STARRED = "starred"
"""The label of runs which their owner wants to find again; the page shows it as a star."""


def checked_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels which a run may have.

    Raises:
        UsageError: too many, or too long ones.
    """
    if len(labels) > MOST_LABELS or any(len(each) > LONGEST_LABEL for pair in labels.items() for each in pair):
        raise UsageError(f"a run has up to {MOST_LABELS} labels, names and values of up to {LONGEST_LABEL} characters")
    return dict(labels)


def relabelled(labels: Mapping[str, str], added: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    """`labels` without those which are `removed`, and with those which are `added`.

    Raises:
        UsageError: a run may not have these.
    """
    if not all(name.strip() and name.isprintable() for name in added):
        raise UsageError("a label has a name of printable characters: name one as `to-read` or `project=tides`")
    return checked_labels({name: value for name, value in labels.items() if name not in removed} | dict(added))


def read_label(text: str) -> tuple[str, str]:
    """The name and the value of `name` or `name=value`."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


class IndexedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the index holds of a run; `number` is its place in the journal, `seq` how far its log had come.

    One which has `ended` stays as it is.
    """

    number: int
    run_id: str
    owner: str
    seq: int
    ended: bool
    question: str
    report: str = ""
    language: str = ""


class RunHit(msgspec.Struct, frozen=True, kw_only=True):
    """A run which answers, and the sentence of its report which answers best; empty where only the question does."""

    run_id: str
    score: float
    snippet: str = ""


class RunIndexing(Protocol):
    """An index of runs, derived from the journal. Blocking; one thread at a time.

    Each of its methods but `writing` and `remove` raises `IndexDamaged` where the files are no index.
    """

    def writing(self) -> AbstractContextManager[None]:
        """The right to change the index.

        Raises:
            SearchError: another process has it for too long.
            OSError: the folder cannot be written.
        """
        ...

    def known(self) -> dict[str, int]:
        """The runs it holds, with their numbers."""
        ...

    def count(self, owner: str) -> int:
        """How many runs it holds of an owner."""
        ...

    def unended(self) -> dict[str, tuple[int, int]]:
        """Those which had not ended when they were taken in: their numbers, and how far their logs had come."""
        ...

    def last(self) -> int:
        """The highest number, 0 where there is none."""
        ...

    def change(self, put: Sequence[IndexedRun], forget: Iterable[str] = ()) -> None:
        """Take runs in, in the place of what is known of them, and others out; within `writing`."""
        ...

    def remove(self) -> None:
        """Forget everything; within `writing`."""
        ...

    def search(self, text: str, owner: str | None, limit: int, offset: int = 0) -> list[RunHit]:
        """The best runs of an owner, None: of all, from `offset` on."""
        ...


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
