"""`assay users token`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from assay.cli import options
from assay.cli.library import opened
from assay.cli.terminal import say, write
from assay.core.ports.users import Permission


@click.command("token")
@click.argument("user")
@click.option("--name", default="", help="Name of the token: what it is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(get_args(Permission)),
    help="Permission of the token, of those the user has; repeatable [read and write].",
)
@click.option("--days", type=float, help="Days until the token expires; default: never.")
@click.option("--revoke", metavar="ID", help="Revoke the token with this id instead (assay users list shows ids).")
@options.common
def command(
    user: str, name: str, scopes: Sequence[Permission], days: float | None, revoke: str | None, home: Path | None
) -> None:
    """Make a token with which a program acts as USER; it goes to stdout this once, and can be seen never again.

    \b
        assay users token ana --name nightly --days 90
        curl -H "Authorization: Bearer assay_…" http://127.0.0.1:8484/api/v1/runs
        assay users token ana --name notebook
    """
    asyncio.run(_revoke(user, revoke, home) if revoke else _make(user, name, scopes, days, home))


async def _make(user: str, name: str, scopes: Sequence[Permission], days: float | None, home: Path | None) -> None:
    async with opened(home) as assay:
        role_allows: tuple[Permission, ...] = ("read",) if (await assay.users.find(user)).role == "reader" else ()
        wanted = tuple(scopes) or role_allows or ("read", "write")
        made, secret = await assay.users.new_token(user, name, wanted, days)
        await assay.note("make_token", f"{user}/{made.id}")
    write(secret)
    may = " and ".join(made.scopes)
    say(f"token {made.id} of {user} may {may}; to revoke it: assay users token {user} --revoke {made.id}")


async def _revoke(user: str, id: str, home: Path | None) -> None:
    async with opened(home) as assay:
        await assay.users.revoke(user, id)
        await assay.note("revoke_token", f"{user}/{id}")
    say(f"token {id} of {user} is worthless now")
