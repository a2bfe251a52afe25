"""`assay users list`."""

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
from assay.core.ports.users import Credential, UserRow


@click.command("list")
@options.json_output
@options.common
def command(as_json: bool, home: Path | None) -> None:
    """List the users and their tokens. Passwords and secrets are stored nowhere, and shown nowhere.

    \b
        assay users list
        assay users list --json
    """
    found = asyncio.run(_found(home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode([_told(*each) for each in found])).decode())
        return
    rows = [
        (user.name, user.role, _day(user.created), ", ".join(f"{each.id} {each.name}".strip() for each in tokens))
        for user, tokens in found
    ]
    table(("name", "role", "since", "tokens"), rows)


async def _found(home: Path | None) -> list[tuple[UserRow, list[Credential]]]:
    async with opened(home) as assay:
        return [(user, await assay.users.tokens(user.name)) for user in await assay.users.all()]


def _told(user: UserRow, tokens: list[Credential]) -> dict[str, Any]:
    shown = [
        {
            "id": each.id,
            "name": each.name,
            "scopes": each.scopes,
            "used": _day(each.used),
            "expires": _day(each.expires),
        }
        for each in tokens
    ]
    return {"name": user.name, "role": user.role, "since": _day(user.created), "tokens": shown}


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else ""
