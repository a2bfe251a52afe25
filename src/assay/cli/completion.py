"""Completion in shells: the script, and the suggestions for Tab, which may neither fail nor write anything."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import CompletionItem, get_completion_class

from assay.cli.terminal import clean, write
from assay.core.errors import AssayError, UsageError
from assay.core.lazy import lazy_module

if TYPE_CHECKING:
    from assay import Assay, plugins, settings
    from assay.app import layout
    from assay.cli import library
    from assay.core import milestones
    from assay.core.ports import CollectionRow, ThreadRow
    from assay.services import configuration
else:
    plugins = lazy_module("assay.plugins")
    settings = lazy_module("assay.settings")
    layout = lazy_module("assay.app.layout")
    library = lazy_module("assay.cli.library")
    milestones = lazy_module("assay.core.milestones")
    configuration = lazy_module("assay.services.configuration")


def setting_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The dotted names of settings."""
    return [CompletionItem(name) for name in settings.names() if name.startswith(incomplete)]


def strategies(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ways of research."""
    return [CompletionItem(name) for name in plugins.names("strategies") if name.startswith(incomplete)]


def key_holders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Providers that can have a key."""
    return [CompletionItem(name) for name in configuration.key_holders() if name.startswith(incomplete)]


def any_path(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, completed by the shell itself."""
    return [CompletionItem(incomplete, type="file")]


R = TypeVar("R")
_OFFERED = 100
_MAX_HELP_CHARS = 60


def run_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`last` and the latest runs, each with its question."""
    rows = _read_or_empty(ctx, lambda assay: assay.runs(_OFFERED))
    items = [CompletionItem(row.run_id, help=milestones.shorten(clean(row.question), _MAX_HELP_CHARS)) for row in rows]
    return [item for item in (*items, CompletionItem("last")) if rows and item.value.startswith(incomplete)]


def thread_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The threads with the latest runs, each with its title or first question."""
    rows = _read_or_empty(ctx, _threads)
    items = [
        CompletionItem(row.name, help=milestones.shorten(clean(row.title or row.question), _MAX_HELP_CHARS))
        for row in rows
    ]
    return [item for item in items if item.value.startswith(incomplete)]


def collection_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """All collections, each with the number of its documents."""
    return [
        CompletionItem(clean(row.name), help=milestones.pluralize(row.documents, "document"))
        for row in _collections(ctx)
        if row.name.startswith(incomplete)
    ]


def input_places(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, and collections after an `@`."""
    if not incomplete.startswith("@"):
        return any_path(ctx, param, incomplete)
    prefix = incomplete.removeprefix("@")
    return [CompletionItem(f"@{clean(row.name)}") for row in _collections(ctx) if row.name.startswith(prefix)]


def _collections(ctx: click.Context) -> Sequence[CollectionRow]:
    return _read_or_empty(ctx, lambda assay: assay.collections())


async def _threads(assay: Assay) -> Sequence[ThreadRow]:
    return (await assay.threads()).threads


def _read_or_empty(ctx: click.Context, read: Callable[[Assay], Awaitable[Sequence[R]]]) -> Sequence[R]:
    """The result of `read` for the home that the command names; empty if there is none, or it cannot be read."""
    try:
        config = settings.load()
        home: Path = ctx.params.get("home") or config.home
        has_library = config.database is not None or layout.has_database(home.expanduser())
        return asyncio.run(_read(home, read)) if has_library else ()
    except (AssayError, OSError):
        return ()


async def _read(home: Path, read: Callable[[Assay], Awaitable[Sequence[R]]]) -> Sequence[R]:
    async with library.open_assay(home) as assay:
        return await read(assay)


SHELLS = ("bash", "zsh", "fish")


HELP = """Print the completion script for SHELL: commands, options and run ids.

\b
bash  echo 'eval "$(assay completion bash)"' >> ~/.bashrc
zsh   echo 'eval "$(assay completion zsh)"' >> ~/.zshrc
fish  assay completion fish > ~/.config/fish/completions/assay.fish

\b
    assay completion bash
    assay completion fish > ~/.config/fish/completions/assay.fish
"""


@click.command("completion", help=HELP)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script of click for this shell."""
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise UsageError(f"no completion for {shell}: name bash, zsh or fish")
    cli = importlib.import_module("assay.cli.main").cli  # the table of commands imports this module by its name
    write(completion_class(cli, {}, "assay", "_ASSAY_COMPLETE").source())
