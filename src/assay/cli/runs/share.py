"""`assay runs share`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from assay import settings
from assay.app.shares import PATH
from assay.cli import options
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.ports.users import ShareRow


@click.command("share")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.option("--days", type=float, help="Days after which the link expires; without, it is good until it is revoked.")
@click.option("--url", "address", help="Address of the server, as readers reach it; without, as the settings have it.")
@click.option("--list", "listed", is_flag=True, help="List the links to the run in place of making one.")
@click.option("--revoke", metavar="LINK", help="Revoke the link of this id (--list shows them).")
@options.json_output
@options.common
def command(
    reference: str,
    days: float | None,
    address: str | None,
    listed: bool,
    revoke: str | None,
    as_json: bool,
    home: Path | None,
) -> None:
    """Make a link under which anybody may read the report of run ID from `assay serve`, without login.

    The link is printed once, and stored nowhere; of its secret only a hash is kept.

    \b
        assay runs share last
        assay runs share last --days 30
    """
    if revoke:
        asyncio.run(_revoke(reference, revoke, home))
        say(f"link {revoke} leads nowhere now")
    elif listed:
        _list(asyncio.run(_listed(reference, home)), as_json)
    else:
        made, secret = asyncio.run(_made(reference, days, home))
        url = (address or _address()).rstrip("/") + PATH + secret
        if as_json:
            write(msgspec.json.encode({**_told(made), "url": url}).decode())
            return
        write(url)
        say(f"whoever has this link may read the report; to end that: assay runs share {reference} --revoke {made.id}")


async def _made(reference: str, days: float | None, home: Path | None) -> tuple[ShareRow, str]:
    async with stored(home) as assay:
        return await assay.shares.make(reference, days)


async def _listed(reference: str, home: Path | None) -> list[ShareRow]:
    async with stored(home) as assay:
        return await assay.shares.of(reference)


async def _revoke(reference: str, id: str, home: Path | None) -> None:
    async with stored(home) as assay:
        await assay.shares.revoke(reference, id)


def _list(shares: list[ShareRow], as_json: bool) -> None:
    told = [_told(each) for each in shares]
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(told)).decode())
        return
    table(("link", "made", "expires"), [(each["id"], each["created"], each["expires"] or "never") for each in told])


def _told(share: ShareRow) -> dict[str, str]:
    return {"id": share.id, "created": _day(share.created), "expires": _day(share.expires)}


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else ""


def _address() -> str:
    """Where the server of this home is reached, as far as the settings say so."""
    server = settings.load().server
    return f"https://{server.hosts[0]}" if server.hosts else f"http://{server.host}:{server.port}"
