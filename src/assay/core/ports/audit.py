"""The audit log of a server: who did what, and when."""

from __future__ import annotations

from typing import Protocol

import msgspec


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something which was done, or refused. It holds names and ids; never a secret, a question or another text.

    `action` is the operation's name in the API, `subject` what it was done to. `via` is what the actor was known by:
    `session`, `token`, `login`, `none` (a server without users), `command` (on the machine itself). `status` is that
    of the HTTP answer, 0 for a command. `number` orders entries; `at` is in seconds since 1970.
    """

    actor: str
    action: str
    subject: str = ""
    via: str = "none"
    address: str = ""
    status: int = 0
    at: float = 0.0
    number: int = 0


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries; empty says nothing. Times are in seconds since 1970, `until` is exclusive."""

    actor: str = ""
    action: str = ""
    since: float = 0.0
    until: float = 0.0


class AuditLog(Protocol):
    """What was done, for a while."""

    async def add(self, entry: AuditEntry) -> None:
        """Keep an entry; its number is given here, and its time."""
        ...

    async def page(self, wanted: AuditFilter, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest entries wanted, with numbers below `before`."""
        ...

    async def drop(self, seconds: float, most: int) -> int:
        """Forget entries which are older than so many seconds, and the oldest where there are more than `most`."""
        ...
