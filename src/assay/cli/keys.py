"""`assay keys`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from assay import settings
from assay.cli import options
from assay.cli.completion import key_holders
from assay.cli.terminal import first_word, say, table, write
from assay.core.later import later

if TYPE_CHECKING:
    from assay.services import configuration
    from assay.settings import file as settings_file
else:
    configuration = later("assay.services.configuration")
    settings_file = later("assay.settings.file")


@click.command("set")
@click.argument("provider", shell_complete=key_holders)
def set_key(provider: str) -> None:
    """Store the key of PROVIDER. Type it at the prompt, which does not show it, or pass it on stdin.

    A key is never read from the command line, where other users of this machine could see it.

    \b
        assay keys set openai
        assay keys set openai < key.txt
    """
    setting = configuration.setting_of(provider)
    if sys.stdin.isatty():
        first_word.erase()
        key = click.prompt(f"Key of {provider}", hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    if not key.strip():
        raise click.UsageError("no key was given")
    say(f"the key of {provider} is in {settings_file.write(setting, settings.parse(setting, key))}")


@click.command("list")
@options.json_output
@options.verbosity
def list_keys(as_json: bool) -> None:
    """List the providers that have a key, and where the key comes from. Keys are not shown.

    \b
        assay keys list
        assay keys list --json
    """
    held = [each for each in configuration.described(settings.load()) if each.secret]
    rows = [(each.name.removeprefix("keys."), each.origin if each.value else "") for each in held]
    if as_json:
        found = [{"provider": provider, "origin": origin or None} for provider, origin in rows]
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    table(("provider", "key from"), [(provider, origin or "none") for provider, origin in rows])


@click.command("rm")
@click.argument("provider", shell_complete=key_holders)
def remove_key(provider: str) -> None:
    """Delete the stored key of PROVIDER. A key in the environment stays.

    \b
        assay keys rm openai
        assay keys rm anthropic
    """
    held = settings_file.remove(configuration.stored_as(provider))
    say(f"the key of {provider} is forgotten" if held else f"there is no key of {provider} in the settings file")
