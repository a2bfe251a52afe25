"""What a shell is offered for an argument. Nothing here may fail or write: it runs at a press of Tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from assay import plugins, settings
from assay.core.later import later

if TYPE_CHECKING:
    from assay.services import configuration
else:
    configuration = later("assay.services.configuration")


def setting_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The dotted names of settings."""
    return [CompletionItem(name) for name in settings.names() if name.startswith(incomplete)]


def strategies(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ways of research."""
    return [CompletionItem(name) for name in plugins.names("strategies") if name.startswith(incomplete)]


def providers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Providers of models."""
    return [CompletionItem(name) for name in plugins.names("models") if name.startswith(incomplete)]


def key_holders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Providers which may have a key."""
    return [CompletionItem(name) for name in configuration.key_holders() if name.startswith(incomplete)]


def any_path(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, by the shell itself."""
    return [CompletionItem(incomplete, type="file")]
