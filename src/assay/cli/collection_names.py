"""The names of collections, offered to a shell at a press of Tab: nothing here may fail or write."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from assay import settings
from assay.app.layout import is_made
from assay.cli.library import opened
from assay.cli.progress import counted
from assay.cli.shell_words import any_path
from assay.cli.terminal import clean
from assay.core.errors import AssayError
from assay.core.ports import CollectionRow


def collection_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The collections there are, each with the number of its documents."""
    return [
        CompletionItem(clean(row.name), help=counted(row.documents, "document"))
        for row in _known(ctx)
        if row.name.startswith(incomplete)
    ]


def in_places(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, and collections behind an `@`."""
    if not incomplete.startswith("@"):
        return any_path(ctx, param, incomplete)
    wanted = incomplete.removeprefix("@")
    return [CompletionItem(f"@{clean(row.name)}") for row in _known(ctx) if row.name.startswith(wanted)]


def _known(ctx: click.Context) -> list[CollectionRow]:
    try:
        configured = settings.load()
        home: Path = ctx.params.get("home") or configured.home
        made = configured.database is not None or is_made(home.expanduser())
        return asyncio.run(_rows(home)) if made else []
    except (AssayError, OSError):
        return []


async def _rows(home: Path) -> list[CollectionRow]:
    async with opened(home) as assay:
        return await assay.collections()
