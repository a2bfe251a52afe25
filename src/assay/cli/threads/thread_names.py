"""The names of threads, offered to a shell at a press of Tab: nothing here may fail or write."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from assay import settings
from assay.app.layout import is_made
from assay.cli.library import opened
from assay.cli.progress import shorten
from assay.cli.terminal import clean
from assay.core.errors import AssayError
from assay.core.ports import ThreadRow


def thread_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The threads with the latest runs, each with its title or first question."""
    try:
        configured = settings.load()
        home: Path = ctx.params.get("home") or configured.home
        made = configured.database is not None or is_made(home.expanduser())
        rows = asyncio.run(_threads(home)) if made else ()
    except (AssayError, OSError):
        return []
    items = [CompletionItem(row.name, help=shorten(clean(row.title or row.question), 60)) for row in rows]
    return [item for item in items if item.value.startswith(incomplete)]


async def _threads(home: Path) -> tuple[ThreadRow, ...]:
    async with opened(home) as assay:
        return (await assay.threads()).threads
