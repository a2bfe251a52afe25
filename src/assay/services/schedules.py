"""The schedules of a home: a file, changed by one process at a time and never half written."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from assay import plugins
from assay.core.assurance import report_state
from assay.core.clean import error_words
from assay.core.difference import FeedEntry, difference
from assay.core.errors import StoreError, UnknownName, UsageError
from assay.core.report import Report, build_report
from assay.core.run_options import RunOptions
from assay.phases.fields.schema import MAX_SCHEMA_CHARS, canonical_schema
from assay.run.process import new_id
from assay.services.arguments import MAX_ARGUMENT_BYTES, read_text_argument
from assay.services.briefs import make_brief
from assay.services.home_paths import write_atomically
from assay.services.places import sort_places
from assay.services.ports import Researcher
from assay.services.providers import adapter_of
from assay.services.stored_runs import hash_of
from assay.settings import Settings

FILE = "schedules.json"
SECONDS = 30.0
"""Seconds to wait for another process's change."""
KEPT_RUNS = 50
"""The latest runs of a schedule that are stored."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A question, how often it is asked, and the runs that answered it.

    `next_at` is when it is due, `created_at` when it was created (ISO 8601 UTC). `options` are those of `Assay.start`,
    with texts instead of paths of files. `runs` are those that ended with a report, oldest first; `current` is one that
    has begun and not ended. `owner` is the user it belongs to, empty for the one local user. `feed` is the SHA-256 of
    the secret in its feed's address, empty if it has none.
    """

    id: str
    question: str
    every: int
    created_at: str
    next_at: str
    sources: tuple[str, ...] | None = None
    options: dict[str, Any] = {}
    runs: tuple[str, ...] = ()
    current: str = ""
    owner: str = ""
    feed: str = ""

    @property
    def last(self) -> str:
        """The latest run that ended with a report."""
        return self.runs[-1] if self.runs else ""


class ScheduleBook:
    """The schedules of the home in `folder`, as one owner sees them. None sees all."""

    def __init__(self, folder: Path, owner: str | None = "") -> None:
        self._folder, self._owner = folder.expanduser(), owner
        self._path = self._folder / FILE

    def owned_by(self, owner: str | None) -> ScheduleBook:
        """Return the same home's, as another owner sees them."""
        return ScheduleBook(self._folder, owner)

    def all(self) -> list[Schedule]:
        """Every schedule of the owner, in the order they were made.

        Raises:
            StoreError: the file cannot be read.
        """
        return [schedule for schedule in self._read_all() if self._owns(schedule)]

    def _owns(self, schedule: Schedule) -> bool:
        return self._owner is None or schedule.owner == self._owner

    def _read_all(self) -> list[Schedule]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[Schedule])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            raise StoreError(
                f"{self._path} cannot be read: {error_words(error)}; restore it from a backup, or delete it"
            ) from error

    def find(self, reference: str) -> Schedule:
        """Find a schedule by its id, or the start of it.

        Raises:
            UnknownName: no schedule, or more than one, matches.
        """
        schedules = self.all()
        matches = [schedule for schedule in schedules if reference and schedule.id.startswith(reference)]
        if len(matches) != 1:
            hint = "" if schedules else "(to make one: assay schedule add)"
            raise UnknownName("schedule", reference, (schedule.id for schedule in schedules), hint)
        return matches[0]

    def add(
        self, question: str, every: int, sources: Sequence[str] | None, options: Mapping[str, Any], now: datetime
    ) -> Schedule:
        """Add a schedule, due at once."""
        schedule = Schedule(
            id=new_id(6),
            question=question,
            every=every,
            created_at=format_time(now),
            next_at=format_time(now),
            sources=None if sources is None else tuple(sources),
            options=dict(options),
            owner=self._owner or "",
        )
        with self._edit() as schedules:
            schedules.append(schedule)
        return schedule

    def remove(self, id: str) -> None:
        """Delete a schedule; its runs stay."""
        with self._edit() as schedules:
            schedules[:] = [schedule for schedule in schedules if schedule.id != id or not self._owns(schedule)]

    def transfer_to(self, owner: str) -> int:
        """Transfer the owner's schedules to another, and return how many."""
        with self._edit() as schedules:
            mine = [index for index, schedule in enumerate(schedules) if self._owns(schedule)]
            for index in mine:
                schedules[index] = msgspec.structs.replace(schedules[index], owner=owner)
        return len(mine)

    def change(self, id: str, change: Callable[[Schedule], Schedule]) -> Schedule:
        """Replace a schedule by the result of `change`.

        Raises:
            UnknownName: it was removed meanwhile.
        """
        with self._edit() as schedules:
            for index, schedule in enumerate(schedules):
                if schedule.id == id and self._owns(schedule):
                    schedules[index] = change(schedule)
                    return schedules[index]
        raise UnknownName("schedule", id)

    @contextmanager
    def claim(self, id: str) -> Iterator[bool]:
        """In the block only this process asks this question; False if another does."""
        lock = FileLock(self._folder / f"schedule-{id}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise self._write_error(error) from error
        try:
            yield True
        finally:
            lock.release()

    @contextmanager
    def _edit(self) -> Iterator[list[Schedule]]:
        """The schedules, to be changed in place; they are written at the end of the block."""
        lock = FileLock(self._folder / f"{FILE}.lock", timeout=SECONDS)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise StoreError(f"another process has been changing {self._path} for {SECONDS:g} s: try again") from None
        except OSError as error:
            raise self._write_error(error) from error
        try:
            schedules = self._read_all()
            yield schedules
            self._write(msgspec.json.format(msgspec.json.encode(schedules)))
        finally:
            lock.release()

    def _write(self, data: bytes) -> None:
        try:
            write_atomically(self._path, data)
        except OSError as error:
            raise self._write_error(error) from error

    def _write_error(self, error: OSError) -> StoreError:
        return StoreError(f"{self._path} cannot be written ({error.strerror}): check the space and its permissions")


def format_time(moment: datetime) -> str:
    """ISO 8601 UTC, to the second."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


# How often: `12h`, `7d`, `weekly`.

UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
WORDS = {"hourly": 3_600, "daily": 86_400, "weekly": 604_800, "hour": 3_600, "day": 86_400, "week": 604_800}
MAX_INTERVAL_SECONDS = 10 * 365 * 86_400


def parse_interval(text: str) -> int:
    """Seconds between two times a question is asked.

    Raises:
        UsageError: the text is not an interval, or is longer than ten years.
    """
    text = text.strip().lower()
    match = re.fullmatch(r"([0-9]{1,7})\s?([mhdw])", text)
    seconds = WORDS.get(text, 0) or (int(match[1]) * UNITS[match[2]] if match else 0)
    if not 0 < seconds <= MAX_INTERVAL_SECONDS:
        raise UsageError(
            f"{text[:40]!r} is not an interval: write one such as 30m, 12h, 7d, 2w, hourly, daily or weekly"
        )
    return seconds


def format_interval(seconds: int) -> str:
    """Seconds as `parse_interval` reads them."""
    unit = next(unit for unit in ("w", "d", "h", "m") if seconds % UNITS[unit] == 0)
    return f"{seconds // UNITS[unit]}{unit}"


# Options of a run in the form that a schedule stores: what depends on time or place is resolved.


def stored_options(question: str, run_options: RunOptions, settings: Settings) -> dict[str, Any]:
    """The options that were given, with texts of files instead of paths; all are checked.

    Raises:
        UsageError: an option is not valid, a file cannot be read, or the question is empty.
        UnknownName: there is no such strategy, or no such provider of models.
    """
    brief = make_brief(question, settings, run_options)
    if brief.strategy not in plugins.names("strategies"):
        raise UnknownName("strategy", brief.strategy, plugins.names("strategies"))
    for name in {name for names in brief.models.values() for name in names}:
        adapter_of(settings, name)
    options = {name: value for name, value in run_options.items() if value is not None and value != () and value != {}}
    for name, value in options.items():
        if isinstance(value, Path):
            options[name] = read_text_argument(
                value, name, MAX_SCHEMA_CHARS if name == "schema" else MAX_ARGUMENT_BYTES
            )
        elif isinstance(value, type):
            options[name] = canonical_schema(value)
    return msgspec.json.decode(msgspec.json.encode(options), type=dict[str, Any])


def absolute_sources(sources: Iterable[str]) -> tuple[str, ...]:
    """Paths that are valid from any folder; collections (`@NAME`) and addresses unchanged."""
    input_places = sort_places(sources)
    paths = (path if path.startswith("@") else str(Path(path).expanduser().absolute()) for path in input_places.paths)
    return (*input_places.urls, *input_places.connector_places, *paths)


# As for a link to a report, only the SHA-256 of the secret in the address is stored.


FEED_PATH = "/feed/"
"""The path under which a server shows feeds; the secret follows."""
SHOWN_REPORTS = 15


def open_feed(book: ScheduleBook, reference: str) -> str:
    """The secret of a new feed for a schedule, which replaces an earlier one.

    Raises:
        UnknownName: there is no such schedule.
    """
    secret = secrets.token_urlsafe(32)
    secret_hash = hash_of(secret)
    book.change(book.find(reference).id, lambda old: msgspec.structs.replace(old, feed=secret_hash))
    return secret


def close_feed(book: ScheduleBook, reference: str) -> None:
    """Revoke the address of a schedule's feed.

    Raises:
        UnknownName: there is no such schedule.
    """
    book.change(book.find(reference).id, lambda old: msgspec.structs.replace(old, feed=""))


def schedule_of(book: ScheduleBook, secret: str) -> Schedule | None:
    """The schedule whose feed has this secret; `book` must see all owners."""
    secret_hash = hash_of(secret)
    return next(
        (schedule for schedule in book.all() if schedule.feed and secrets.compare_digest(schedule.feed, secret_hash)),
        None,
    )


async def feed_entries(assay: Researcher, schedule: Schedule) -> tuple[FeedEntry, ...]:
    """The latest reports of a schedule, newest first, without deleted runs."""
    entries: list[FeedEntry] = []
    before: Report | None = None
    for run_id in schedule.runs[-SHOWN_REPORTS - 1 :]:
        try:
            view = await assay.view(run_id)
        except UnknownName:
            continue
        if report_state(view) == "none":
            continue
        report = build_report(view, "none")
        changes = difference(before, report) if before is not None else None
        entries.append(FeedEntry(run_id=run_id, at=view.finished_at or view.created_at, report=report, changes=changes))
        before = report
    # With more entries, the first was read only to compare the second with it.
    return tuple(entries[: -SHOWN_REPORTS - 1 : -1])
