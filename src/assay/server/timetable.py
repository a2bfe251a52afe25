"""Asks the questions of a library's schedules when they are due."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

from assay.app.assay import Assay
from assay.core.errors import StoreError
from assay.core.view import RunView
from assay.server.limits import LimitBook
from assay.services.results import RunHandle
from assay.services.schedule_runs import run_due
from assay.services.schedules import Schedule, ScheduleBook

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
"""Seconds between two checks of what is due: schedules may be added and removed meanwhile."""


async def keep_to(assay: Assay, limits: LimitBook) -> None:
    """Ask every question when it is due, one after another, until cancelled; other processes may do the same.

    `limits` say what each user may take.
    """
    if assay.home is None:
        return
    book = ScheduleBook(assay.home, None)
    while True:
        try:
            await limits.refresh()
            async for asked in run_due(assay, book, lambda: datetime.now(UTC), _awaited, limits.daily):
                came = asked.error or (asked.view.status if asked.view else "")
                log.info("schedule %s: %s", asked.schedule.id, came)
                run, status = (asked.view.run_id, asked.view.status) if asked.view else ("", "failed")
                await assay.webhooks.schedule_finished(asked.schedule.owner, asked.schedule.id, run, status)
        except StoreError as error:
            log.warning("schedules: %s; trying again", error)
        await asyncio.sleep(LOOK_SECONDS)


async def _awaited(_schedule: Schedule, handle: RunHandle) -> RunView:
    return await handle.view()
