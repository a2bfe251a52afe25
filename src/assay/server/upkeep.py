"""What a server keeps for a while only, forgotten when its time is over."""

from __future__ import annotations

import asyncio
import logging

from assay.app.assay import Assay
from assay.core.errors import StoreError

log = logging.getLogger(__name__)

EVERY_SECONDS = 3_600.0
DELIVERED_SECONDS = 7 * 86_400.0
"""For so long is known what webhooks were told."""
AUDITED = 100_000
"""Entries of the audit log which are kept at most, the newest."""


async def tidying(assay: Assay) -> None:
    """Forget what is over, now and every hour, until this is cancelled; other servers may do so too."""
    while True:
        try:
            await tidy(assay)
        except StoreError as error:
            log.warning("upkeep: %s; trying again in an hour", error)
        await asyncio.sleep(EVERY_SECONDS)


async def tidy(assay: Assay) -> None:
    """Forget requests which nobody repeats any more, full buckets, old deliveries, and old entries of the audit log."""
    await assay.forget_requests()
    if assay.buckets is not None:
        await assay.buckets.drop_full()
    await assay.forget_deliveries(DELIVERED_SECONDS)
    if assay.audit is not None:
        await assay.audit.drop(assay.settings.server.audit_days * 86_400, AUDITED)
