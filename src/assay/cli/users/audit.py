"""`assay users audit`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from assay.cli import options
from assay.cli.library import opened
from assay.cli.tables import table
from assay.cli.terminal import write
from assay.core.ports.users import AuditEntry, AuditFilter

COLUMNS = ("at", "actor", "action", "subject", "via", "address", "status")


@click.command("audit")
@click.option("--user", "actor", default="", help="Only what this user did.")
@click.option("--action", default="", help="Only this operation of the API: log_in, delete_run, make_token ….")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many, the newest.")
@options.json_output
@options.common
def command(actor: str, action: str, limit: int, as_json: bool, home: Path | None) -> None:
    """Show who did what, and when: logins, also those which failed, users, tokens, runs begun and deleted.

    A status of 400 or more says that it was refused. What was done by a command on this machine has the
    status 0.

    \b
        assay users audit
        assay users audit --json
    """
    told = [_told(each) for each in asyncio.run(_found(AuditFilter(actor=actor, action=action), limit, home))]
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(told)).decode())
        return
    table(COLUMNS, [[str(each[name]) for name in COLUMNS] for each in told])


async def _found(wanted: AuditFilter, limit: int, home: Path | None) -> list[AuditEntry]:
    async with opened(home) as assay:
        return [] if assay.audit is None else await assay.audit.page(wanted, limit)


def _told(entry: AuditEntry) -> dict[str, Any]:
    told = msgspec.structs.asdict(entry) | {"at": datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds")}
    return {name: told[name] for name in COLUMNS}
