"""`assay completion`."""

from __future__ import annotations

import importlib

import click
from click.shell_completion import get_completion_class

from assay.cli.terminal import write
from assay.core.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


HELP = """Print the script which makes SHELL complete commands, options and run ids.

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
    known = get_completion_class(shell)
    if known is None:
        raise UsageError(f"no completion for {shell}: name bash, zsh or fish")
    cli = importlib.import_module("assay.cli.main").cli  # the table of commands imports this module by its name
    write(known(cli, {}, "assay", "_ASSAY_COMPLETE").source())
