"""Names of stored things, offered to a shell at a press of Tab: nothing here may fail or write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from assay import Assay, settings
from assay.app.layout import is_made
from assay.cli.library import opened
from assay.cli.progress import counted, shorten
from assay.cli.shell_words import any_path
from assay.cli.terminal import clean
from assay.core.errors import AssayError
from assay.core.ports import CollectionRow, ThreadRow

R = TypeVar("R")
_OFFERED = 100
_LONGEST = 60


def run_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`last` and the latest runs, each with its question."""
    rows = _stored(ctx, lambda assay: assay.runs(_OFFERED))
    items = [CompletionItem(row.run_id, help=shorten(clean(row.question), _LONGEST)) for row in rows]
    return [item for item in (*items, CompletionItem("last")) if rows and item.value.startswith(incomplete)]


def thread_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The threads with the latest runs, each with its title or first question."""
    rows = _stored(ctx, _threads)
    items = [CompletionItem(row.name, help=shorten(clean(row.title or row.question), _LONGEST)) for row in rows]
    return [item for item in items if item.value.startswith(incomplete)]


def collection_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The collections there are, each with the number of its documents."""
    return [
        CompletionItem(clean(row.name), help=counted(row.documents, "document"))
        for row in _collections(ctx)
        if row.name.startswith(incomplete)
    ]


def in_places(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, and collections behind an `@`."""
    if not incomplete.startswith("@"):
        return any_path(ctx, param, incomplete)
    wanted = incomplete.removeprefix("@")
    return [CompletionItem(f"@{clean(row.name)}") for row in _collections(ctx) if row.name.startswith(wanted)]


def _collections(ctx: click.Context) -> Sequence[CollectionRow]:
    return _stored(ctx, lambda assay: assay.collections())


async def _threads(assay: Assay) -> Sequence[ThreadRow]:
    return (await assay.threads()).threads


def _stored(ctx: click.Context, read: Callable[[Assay], Awaitable[Sequence[R]]]) -> Sequence[R]:
    """What is read of the home which the command names; nothing where there is none, or it cannot be read."""
    try:
        configured = settings.load()
        home: Path = ctx.params.get("home") or configured.home
        made = configured.database is not None or is_made(home.expanduser())
        return asyncio.run(_read(home, read)) if made else ()
    except (AssayError, OSError):
        return ()


async def _read(home: Path, read: Callable[[Assay], Awaitable[Sequence[R]]]) -> Sequence[R]:
    async with opened(home) as assay:
        return await read(assay)
