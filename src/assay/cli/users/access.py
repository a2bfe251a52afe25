"""Tokens of users, and what the audit log holds of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from assay.cli import options
from assay.cli.library import opened
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.ports.users import AuditEntry, AuditFilter, Permission


@click.command("token")
@click.argument("user")
@click.option("--name", default="", help="Name of the token: what it is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(get_args(Permission)),
    help="Permission; repeatable [read and write].",
)
@click.option("--days", type=float, help="Days until the token expires; default: never.")
@click.option("--revoke", metavar="ID", help="Revoke the token with this id instead (assay users list shows ids).")
@options.common
def token(
    user: str, name: str, scopes: Sequence[Permission], days: float | None, revoke: str | None, home: Path | None
) -> None:
    """Make a token with which a program acts as USER; it goes to stdout this once, and can be seen never again.

    \b
        assay users token ana --name nightly --days 90
        curl -H "Authorization: Bearer assay_…" http://127.0.0.1:8484/api/v1/runs
        assay users token ana --name notebook
    """
    asyncio.run(_revoke_token(user, revoke, home) if revoke else _make(user, name, scopes, days, home))


async def _make(user: str, name: str, scopes: Sequence[Permission], days: float | None, home: Path | None) -> None:
    async with opened(home) as assay:
        role_allows: tuple[Permission, ...] = ("read",) if (await assay.users.find(user)).role == "reader" else ()
        wanted = tuple(scopes) or role_allows or ("read", "write")
        made, secret = await assay.users.new_token(user, name, wanted, days)
        await assay.note("make_token", f"{user}/{made.id}")
    write(secret)
    may = " and ".join(made.scopes)
    say(f"token {made.id} of {user} may {may}; to revoke it: assay users token {user} --revoke {made.id}")


async def _revoke_token(user: str, id: str, home: Path | None) -> None:
    async with opened(home) as assay:
        await assay.users.revoke(user, id)
        await assay.note("revoke_token", f"{user}/{id}")
    say(f"token {id} of {user} is worthless now")


COLUMNS = ("at", "actor", "action", "subject", "via", "address", "status")


@click.command("audit")
@click.option("--user", "actor", default="", help="Only what this user did.")
@click.option("--action", default="", help="Only this operation of the API: log_in, delete_run, make_token ….")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many, the newest.")
@options.json_output
@options.common
def show_audit(actor: str, action: str, limit: int, as_json: bool, home: Path | None) -> None:
    """Show who did what, and when: logins, also those which failed, users, tokens, runs begun and deleted.

    A status of 400 or more says that it was refused. What was done by a command on this machine has the
    status 0.

    \b
        assay users audit
        assay users audit --json
    """
    told = [_entry_line(each) for each in asyncio.run(_entries(AuditFilter(actor=actor, action=action), limit, home))]
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(told)).decode())
        return
    table(COLUMNS, [[str(each[name]) for name in COLUMNS] for each in told])


async def _entries(wanted: AuditFilter, limit: int, home: Path | None) -> list[AuditEntry]:
    async with opened(home) as assay:
        return [] if assay.audit is None else await assay.audit.page(wanted, limit)


def _entry_line(entry: AuditEntry) -> dict[str, Any]:
    told = msgspec.structs.asdict(entry) | {"at": datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds")}
    return {name: told[name] for name in COLUMNS}
