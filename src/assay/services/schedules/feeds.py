"""The feed of a schedule: its reports and the changes between them, for anyone with its address.

As for a link to a report, only the SHA-256 of the secret in the address is stored.
"""

from __future__ import annotations

import secrets

import msgspec

from assay.core.difference import FeedEntry, difference
from assay.core.errors import UnknownName
from assay.core.report import Report, build_report
from assay.core.report_state import report_state
from assay.services.ports import Researcher
from assay.services.schedules.book import Schedule, ScheduleBook
from assay.services.shares import hash_of

PATH = "/feed/"
"""The path under which a server shows feeds; the secret follows."""
SHOWN_REPORTS = 15


def open_feed(book: ScheduleBook, reference: str) -> str:
    """The secret of a new feed for a schedule, which replaces an earlier one.

    Raises:
        UnknownName: there is no such schedule.
    """
    secret = secrets.token_urlsafe(32)
    kept = hash_of(secret)
    book.change(book.find(reference).id, lambda old: msgspec.structs.replace(old, feed=kept))
    return secret


def close_feed(book: ScheduleBook, reference: str) -> None:
    """Revoke the address of a schedule's feed.

    Raises:
        UnknownName: there is no such schedule.
    """
    book.change(book.find(reference).id, lambda old: msgspec.structs.replace(old, feed=""))


def schedule_of(book: ScheduleBook, secret: str) -> Schedule | None:
    """The schedule whose feed has this secret; `book` must see all owners."""
    wanted = hash_of(secret)
    return next((each for each in book.all() if each.feed and secrets.compare_digest(each.feed, wanted)), None)


async def feed_entries(assay: Researcher, schedule: Schedule) -> tuple[FeedEntry, ...]:
    """The latest reports of a schedule, newest first, without deleted runs."""
    made: list[FeedEntry] = []
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
        made.append(FeedEntry(run_id=run_id, at=view.finished_at or view.created_at, report=report, changes=changes))
        before = report
    # With more entries, the first was read only to compare the second with it.
    return tuple(made[: -SHOWN_REPORTS - 1 : -1])
