"""`assay users passwd`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.library import opened
from assay.cli.terminal import say
from assay.cli.users import passwords
from assay.core.ports.users import UserRole


@click.command("passwd")
@click.argument("name")
@passwords.role
@options.common
def command(name: str, role: UserRole | None, home: Path | None) -> None:
    """Give the user NAME another password (typed unseen, or read from stdin); with --role another role instead.

    With a new password his sessions end, and he is locked no more.

    \b
        assay users passwd ana
        assay users passwd ana --role reader
    """
    asyncio.run(_change(name, role, home))


async def _change(name: str, role: UserRole | None, home: Path | None) -> None:
    async with opened(home) as assay:
        await assay.users.find(name)
        if role is not None:
            await assay.users.set_role(name, role)
            await assay.note("change_user", name)
            say(f"{name} is {role} now")
            return
        await assay.users.set_password(name, passwords.password(name))
        await assay.note("change_user", name)
        say(f"{name} has another password; he has to log in again everywhere")
