"""What is noted in the audit log; a run is noted where it begins, whatever protocol it comes by."""

from __future__ import annotations

import logging
from contextvars import ContextVar

from assay.core.errors import StoreError
from assay.core.ports.users import AuditEntry, AuditLog

log = logging.getLogger(__name__)

BEGIN_RUN = "create_run"

origin: ContextVar[tuple[str, str]] = ContextVar("origin", default=("none", ""))
"""What who asks is known by, and the address he asks from."""


class Auditor:
    """Notes what is done; a log which cannot be written keeps nothing from being done, and is told of in the log."""

    def __init__(self, entries: AuditLog | None) -> None:
        self._entries = entries

    async def note(self, entry: AuditEntry) -> None:
        """Keep an entry."""
        if self._entries is None:
            return
        try:
            await self._entries.add(entry)
        except StoreError as error:
            log.error("audit: %s of %s by %s is not noted: %s", entry.action, entry.subject, entry.actor, error)

    async def begun(self, owner: str, run_id: str) -> None:
        """A run was begun by the request which is answered now."""
        via, address = origin.get()
        await self.note(AuditEntry(actor=owner, action=BEGIN_RUN, subject=run_id, via=via, address=address, status=202))
