"""`assay users adopt`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay.app.adoption import Handover
from assay.cli import options
from assay.cli.confirmation import confirm
from assay.cli.library import opened
from assay.cli.progress import counted
from assay.cli.terminal import say, write


@click.command("adopt")
@click.argument("name")
@click.option("--from", "source", default="", metavar="USER", help="Take from this user, not from the local one.")
@click.option("--dry-run", is_flag=True, help="Say what would be handed over, and hand over nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; use the defaults.")
@options.json_output
@options.common
def command(name: str, source: str, dry_run: bool, yes: bool, as_json: bool, home: Path | None) -> None:
    """Give the user NAME all that was made on this machine without a login, or all that is another user's.

    Runs, conversations, collections, documents, uploads, links, webhooks and schedules have one owner; the commands
    of this machine show what is handed over no more. Stop `assay serve` before. If it is interrupted, say it again.

    \b
        assay users adopt ana --dry-run
        assay users adopt ana
        assay users adopt ana --from bob
    """
    asyncio.run(_adopt(name, source, dry_run, yes, as_json, home))


async def _adopt(name: str, source: str, dry_run: bool, yes: bool, as_json: bool, home: Path | None) -> None:
    async with opened(home) as assay:
        await assay.users.find(name)
        if source:
            await assay.users.find(source)
        handed = await assay.belongings(source, name)
        if not dry_run:
            clashes = [f"in the way: both have {each}" for each in handed.belongings.clashes]
            confirm(f"Hand all that is {_whose(source)} to {name}?", [counts(handed), *clashes], yes=yes)
            handed = await assay.adopt(source, name)
            await assay.note("adopt", f"{source}/{name}" if source else name)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(handed)).decode())
        return
    say(f"{name} {'would get' if dry_run else 'has got'} {counts(handed)}")
    for each in handed.belongings.clashes:
        say(f"in the way: both have {each}")


def counts(handed: Handover) -> str:
    """What is handed over, in words."""
    had = handed.belongings
    numbers = (
        (had.runs, "run"),
        (had.threads, "conversation"),
        (had.collections, "collection"),
        (had.documents, "document"),
        (had.links, "link"),
        (had.webhooks, "webhook"),
        (handed.schedules, "schedule"),
    )
    return ", ".join(counted(number, word) for number, word in numbers if number) or "nothing"


def _whose(source: str) -> str:
    return f"{source}'s" if source else "the local user's"
