"""`assay users add`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.library import opened
from assay.cli.terminal import say
from assay.cli.users import adopt as adoption
from assay.cli.users import passwords
from assay.core.ports.users import UserRole


@click.command("add")
@click.argument("name")
@passwords.role
@click.option("--no-password", is_flag=True, help="Ask for no password: the user logs in at the OpenID provider alone.")
@click.option("--adopt", is_flag=True, help="Give the user all that was made without a login (assay users adopt).")
@options.common
def command(name: str, role: UserRole | None, no_password: bool, adopt: bool, home: Path | None) -> None:
    """Add the user NAME; the password is typed unseen, or read from stdin.

    The first user is an admin, the others are members unless --role says otherwise. A server which was
    started without users demands a login when it is started again.

    \b
        assay users add ana --adopt
        assay users add bob --role reader < password
    """
    asyncio.run(_add(name, role, no_password, adopt, home))


async def _add(name: str, role: UserRole | None, no_password: bool, adopt: bool, home: Path | None) -> None:
    async with opened(home) as assay:
        known = await assay.users.all()
        password = None if no_password else passwords.password(name)
        made = await assay.users.add(name, password, role or ("member" if known else "admin"))
        await assay.note("add_user", made.name)
        say(
            f"{made.name} can log in now ({made.role}); a server which is running without login has to be started again"
        )
        if adopt:
            handed = await assay.adopt("", made.name)
            await assay.note("adopt", made.name)
    if adopt:
        say(f"{made.name} has got {adoption.counts(handed)}")
    elif not known:
        say("runs and documents from before stay with the commands of this machine: the page begins empty")
        say(f"to hand them over: assay users adopt {made.name}")
