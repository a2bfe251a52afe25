"""Lists of runs and threads, page by page; the labels of runs, and the index that searches them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeVar, cast

import msgspec

from assay.core.errors import UsageError
from assay.core.lazy import regex
from assay.core.usage import Usage

T = TypeVar("T")

MAX_CURSOR_CHARS = 500
MAX_PAGE_ENTRIES = 1_000
"""The most entries of one page."""


def cursor_text(position: object) -> str:
    """A place as text; empty if it is None, because nothing follows."""
    return "" if position is None else base64.urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def read_cursor(cursor: str, kind: type[T]) -> T | None:
    """The place of a cursor; None if it is empty, which is the head of the list.

    Raises:
        UsageError: it is not a cursor of such a list.
    """
    if not cursor:
        return None
    try:
        if len(cursor) > MAX_CURSOR_CHARS:
            raise ValueError
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(data, type=kind)
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        raise UsageError(f"{cursor[:40]!r} is not a cursor of this list: use the one from the previous page") from None


_TIME = regex(
    r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])(?:[T ][0-2]\d(?::[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?Z?)?)?)?"
)


def check_times(*times: str) -> None:
    """Refuse what is not the beginning of a time: times are compared as text, and anything else finds nothing, or all.

    Raises:
        UsageError: one is not valid.
    """
    for text in times:
        if text and not _TIME.fullmatch(text):
            raise UsageError(
                f"{text[:40]!r} is not a time: write it as 2026-11, 2026-11-23 or 2026-11-23T12:00:00Z (UTC)"
            )


def check_page_size(limit: int) -> int:
    """Check the number of entries of a page.

    Raises:
        UsageError: it is not valid, or too large.
    """
    if not 0 < limit <= MAX_PAGE_ENTRIES:
        raise UsageError(f"a page has 1 to {MAX_PAGE_ENTRIES} entries, not {limit}")
    return limit


# Labels: names, or names with values, that an owner gives a run, for lists, logs and limits.

MAX_LABELS, MAX_LABEL_CHARS = 50, 512
STARRED = "starred"
"""The label of runs that their owner wants to find again; the page shows it as a star."""
CELL_OF = "cell-of"
"""The label of runs that fill a cell of a table, with the table's name; lists and `last` pass over them."""


def check_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return `labels` if a run may have them.

    Raises:
        UsageError: there are too many, one is too long, or one has no name.
    """
    for name, value in cast("Mapping[object, object]", labels).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise UsageError(f"a label cannot be {name!r}={value!r}: write both as text")
    if not all(name.strip() and name.isprintable() for name in labels):
        raise UsageError("a label has a name of printable characters: name one as `to-read` or `project=tides`")
    if len(labels) > MAX_LABELS or any(len(part) > MAX_LABEL_CHARS for pair in labels.items() for part in pair):
        raise UsageError(f"a run has up to {MAX_LABELS} labels, names and values of up to {MAX_LABEL_CHARS} characters")
    return dict(labels)


def change_labels(labels: Mapping[str, str], added: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    """Return `labels` without those `removed` and with those `added`.

    Raises:
        UsageError: a run may not have these.
    """
    return check_labels({name: value for name, value in labels.items() if name not in removed} | dict(added))


def read_label(text: str) -> tuple[str, str]:
    """Split `name` or `name=value` into a name and a value."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


class IndexedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The row of a run in the index. `number` is its place in the journal, `seq` the end of its log at that time.

    An `ended` run does not change any more.
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
    """A run that matches, and the sentence of its report that matches best; empty if only the question matches."""

    run_id: str
    score: float
    snippet: str = ""


class RunIndexing(Protocol):
    """An index of runs, derived from the journal. Blocking; one thread at a time.

    All methods except `write_lock` and `clear` raise `IndexDamaged` if the files are not a valid index.
    """

    def write_lock(self) -> AbstractContextManager[None]:
        """Lock the index for changes.

        Raises:
            SearchError: another process holds the lock too long.
            OSError: the folder cannot be written.
        """

    def indexed_runs(self) -> dict[str, int]:
        """The indexed runs, with their numbers."""

    def count(self, owner: str) -> int:
        """The number of indexed runs of an owner."""

    def unfinished_runs(self) -> dict[str, tuple[int, int]]:
        """The runs that had not ended when they were indexed: their numbers, and the end of their logs at that time."""

    def last_number(self) -> int:
        """The highest number; 0 if there is none."""

    def change(self, added: Sequence[IndexedRun], forget: Iterable[str] = ()) -> None:
        """Add or replace some runs and remove others. Call it within `write_lock`."""

    def clear(self) -> None:
        """Empty the index. Call it within `write_lock`."""

    def search(self, text: str, owner: str | None, limit: int, offset: int = 0) -> list[RunHit]:
        """Return the best matches among the runs of an owner (None: of all owners), from `offset` on."""


RunStatus = Literal["created", "running", "waiting", "paused", "completed", "failed", "cancelled"]
FINAL: frozenset[RunStatus] = frozenset(("completed", "failed", "cancelled"))


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. `holder` is empty if no live process has it; `created_at` is ISO 8601 UTC.

    `thread` names its conversation, empty for none. A `queued` run is waiting for any worker. `owner` is the user it
    belongs to, empty for the one local user; `labels` are its current labels.
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
    """Which runs to list. Empty fields do not restrict.

    `text` must occur in the question, ignoring case and spacing. `since` and `until` (exclusive) limit the time of
    creation, in ISO 8601 UTC or the beginning of it. `thread` names a conversation, including the run it began with.
    `collection` is one that the run was to search, under its owner's name for it. `label` is the name of a label, or
    `name=value`; runs with `not_label` are left out.
    """

    status: tuple[RunStatus, ...] = ()
    text: str = ""
    since: str = ""
    until: str = ""
    thread: str = ""
    collection: str = ""
    label: str = ""
    not_label: str = ""


class RunPage(msgspec.Struct, frozen=True):
    """A part of a list, newest first. `next` continues it; None at its end."""

    rows: list[RunRow]
    next: int | None


class ThreadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list: the number of its runs, and the last of them.

    `title` is the owner's name for it, empty if there is none; `question` is that of its first run.
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
    """Where a list of threads continues. The order is that of the moment the first page was read."""

    newest: int
    before: int


class ThreadPage(msgspec.Struct, frozen=True):
    """A part of a list, threads with the latest run first."""

    rows: list[ThreadRow]
    next: ThreadPlace | None


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of one model by one user's runs, and the number of runs that called it.

    `day` (UTC) is when the runs began, empty for the whole period.
    """

    owner: str
    model: str
    runs: int
    usage: Usage
    day: str = ""


class RunListing(Protocol):
    """The part of a journal that lists runs and threads."""

    async def page(self, run_filter: RunFilter, limit: int, before: int | None = None) -> RunPage:
        """Return the newest runs that match. `before` is the `next` of the previous page, unaffected by newer runs."""

    async def runs_after(self, number: int, limit: int) -> list[tuple[int, RunRow]]:
        """Return runs after `number`, in the order they began, with their numbers, which are never reused."""

    async def label(self, run_id: str, added: Mapping[str, str], removed: Collection[str] = ()) -> dict[str, str]:
        """Add labels to a run and remove others; return its labels.

        Raises:
            UsageError: a run may not have these; nothing was changed.
            UnknownName: there is no such run.
        """

    async def usage(self, since: str = "", until: str = "", *, daily: bool = False) -> list[ModelUsage]:
        """Return the usage of each model by runs begun from `since` until before `until` (ISO 8601 UTC, empty: no
        bound).

        One row per owner and model; with `daily`, per day, owner and model.
        """

    async def counts(self) -> dict[RunStatus, int]:
        """Count runs by status; a status without runs is left out."""

    async def threads(self, text: str = "", limit: int = 100, position: ThreadPlace | None = None) -> ThreadPage:
        """Return the threads with the latest runs, or those with `text` in their title or a question, ignoring case."""

    async def thread(self, reference: str) -> ThreadRow:
        """Find a thread by its name, its title, or the start of its name.

        Raises:
            UnknownName: no thread, or more than one, matches.
        """

    async def rename(self, thread: str, title: str) -> None:
        """Change the title of a thread; its name stays.

        Raises:
            UnknownName: there is no thread with that name.
        """

    async def delete_thread(self, thread: str, evict: Collection[str] = ()) -> tuple[str, ...]:
        """Delete a thread and all its runs, in one transaction, and return the runs' ids in order.

        `evict` are holders known to be dead.

        Raises:
            LeaseHeld: a live process executes one of them; nothing was deleted.
            UnknownName: there is no thread with that name.
        """
