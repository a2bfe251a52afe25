"""`assay keys set`."""

from __future__ import annotations

import sys

import click

from assay import settings
from assay.app.configuration import setting_of
from assay.cli.shell_words import key_holders
from assay.cli.terminal import first_word, say
from assay.settings.file import write


@click.command("set")
@click.argument("provider", shell_complete=key_holders)
def command(provider: str) -> None:
    """Store the key of PROVIDER: typed unseen, or read from stdin (assay keys set openai < file).

    It is never taken from the command line, which other users of this machine can see.

    \b
        assay keys set openai
        assay keys set openai < key.txt
    """
    setting = setting_of(provider)
    if sys.stdin.isatty():
        first_word.erase()
        key = click.prompt(f"Key of {provider}", hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    if not key.strip():
        raise click.UsageError("no key was given")
    say(f"the key of {provider} is in {write(setting, settings.parse(setting, key))}")
