"""Whether the store answers, for probes and metrics, which say only that; the log has the details."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from assay.core.errors import StoreAway, StoreError
from assay.server.problems import DATABASE_AWAY, STORE_BROKEN

T = TypeVar("T")

log = logging.getLogger(__name__)

READY_SECONDS = 5.0
"""Seconds in which the store must answer for the server to be ready; requests wait longer for it to return."""


class StoreHealth:
    """What the store last answered to a probe."""

    def __init__(self) -> None:
        self.fault = ""
        """What is wrong, "" if it answered."""

    async def try_read(self, read: Coroutine[Any, Any, T]) -> T | None:
        """What `read` gives; None if the store does not answer, or not soon. A change is logged, with its reason."""
        result, fault, reason = None, "", ""
        try:
            async with asyncio.timeout(READY_SECONDS):
                result = await read
        except TimeoutError:
            fault, reason = DATABASE_AWAY, f"no answer within {READY_SECONDS:g} s"
        except StoreError as error:
            fault, reason = DATABASE_AWAY if isinstance(error, StoreAway) else STORE_BROKEN, str(error)
        if fault != self.fault:
            log.warning("not ready: %s", reason) if fault else log.warning("ready again: the store answers")
        self.fault = fault
        return result
