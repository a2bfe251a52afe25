"""`assay docs collection`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import Assay
from assay.cli import options
from assay.cli.collection_names import collection_names
from assay.cli.library import opened, stored
from assay.cli.progress import counted
from assay.cli.terminal import clean, say, write
from assay.core.ports import Origin


@click.command("collection")
@click.argument("name", shell_complete=collection_names)
@click.option(
    "--private/--public",
    "private",
    default=None,
    help="Keep its documents on this machine: remote models never see them, and no web search runs beside them.",
)
@click.option(
    "--readers",
    metavar="USERS",
    help="Who else may read it on `assay serve`: names separated by commas, `all`, or `none`.",
)
@click.option("--user", default="", help="The collection of this user of `assay serve`; default: your own.")
@options.common
def command(name: str, private: bool | None, readers: str | None, user: str, home: Path | None) -> None:
    """What the collection NAME was added from; or mark it as private, before anything is added if you like.

    With --readers, say who else may read it: they call it OWNER/NAME, and cannot change it. What is yours without
    a login is /NAME to them.

    A run which would show private documents to a model elsewhere, or search the web with them in scope, is refused
    before anything is sent; --allow-private lets it.

    \b
        assay docs collection diary --private
        assay docs add ~/diary -c diary
        assay docs collection papers --readers bob,cleo
        assay docs collection papers --user ana --readers all
    """
    if private is None and readers is None:
        asyncio.run(_show(name, user, home))
    else:
        asyncio.run(_change(name, user, private, readers, home))


async def _change(name: str, user: str, private: bool | None, readers: str | None, home: Path | None) -> None:
    async with opened(home) as whole:
        assay = whole.owned_by(user)
        if private is not None:
            await assay.mark(name, private=private)
            say(f"the collection {name} is {'private' if private else 'not private'}")
        if readers is not None:
            say(await _shared(whole, user, name, readers))


async def _shared(whole: Assay, user: str, name: str, readers: str) -> str:
    """Let others read a collection of a user's; a word on who may now."""
    named = () if readers == "none" else tuple(filter(None, (each.strip() for each in readers.split(","))))
    if "all" in named or not named:
        if readers not in ("all", "none"):
            raise click.UsageError("--readers takes names of users, separated by commas, or `all` or `none` alone")
        await whole.owned_by(user).share(name, "all" if named else ())
    else:
        for each in named:
            await whole.users.find(each)
        await whole.owned_by(user).share(name, named)
    await whole.note("mark_collection", f"{user}/{name}" if user else name)
    if not named:
        return f"nobody else may read the collection {name}"
    who = "every user" if named == ("all",) else ", ".join(named)
    return f"{who} may read the collection {name}, and {'calls' if len(named) == 1 else 'call'} it {user}/{name}"


async def _show(name: str, user: str, home: Path | None) -> None:
    async with stored(home) as whole:
        assay = whole.owned_by(user)
        await assay.check_collection(name)
        write(await _line(assay, name))
        for origin in await assay.origins(name):
            write(_told(origin))


async def _line(assay: Assay, name: str) -> str:
    row = next(row for row in await assay.collections() if row.name == name)
    private = ", private" if row.private else ""
    who = "every user" if row.open else ", ".join(map(clean, row.readers))
    read = f", read by {who} too" if who else ""
    return f"{clean(row.name)}: {counted(row.documents, 'document')}{private}{read}"


def _told(origin: Origin) -> str:
    out = f", {len(origin.left_out)} taken out" if origin.left_out else ""
    given = counted(len(origin.documents), "document")
    return f"  {clean(origin.place)}  ({origin.kind}, {given}{out}, looked at {origin.synced_at})"
