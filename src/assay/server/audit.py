"""Writes the audit log; the start of a run is recorded where it begins, whatever protocol it comes by.

A module of its own, because MCP over stdin writes it too and needs nothing else of the server.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

from assay.core.errors import StoreError
from assay.core.ports.users import AuditEntry, AuditLog

log = logging.getLogger(__name__)

BEGIN_RUN = "create_run"

origin: ContextVar[tuple[str, str]] = ContextVar("origin", default=("none", ""))
"""How the caller was identified, and their address."""


class Auditor:
    """Records actions. If the audit log cannot be written, the action still happens, and the log reports it."""

    def __init__(self, entries: AuditLog | None) -> None:
        self._entries = entries

    async def store_entry(self, entry: AuditEntry) -> None:
        if self._entries is None:
            return
        try:
            await self._entries.add(entry)
        except StoreError as error:
            log.error("audit: %s of %s by %s is not noted: %s", entry.action, entry.subject, entry.actor, error)

    async def record_start(self, owner: str, run_id: str) -> None:
        """Record that the current request started a run."""
        via, address = origin.get()
        await self.store_entry(
            AuditEntry(actor=owner, action=BEGIN_RUN, subject=run_id, via=via, address=address, status=202)
        )
