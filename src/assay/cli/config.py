"""`assay config`."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from assay import settings
from assay.cli.completion import setting_names
from assay.cli.options import json_output
from assay.cli.terminal import first_word, may_ask, say, table, write
from assay.core.errors import ConfigError, UnknownName
from assay.core.later import later

if TYPE_CHECKING:
    from assay.services import configuration
    from assay.settings import file as settings_file
else:
    configuration = later("assay.services.configuration")
    settings_file = later("assay.settings.file")


@click.command("list")
@json_output
def list_settings(as_json: bool) -> None:
    """List every setting: its value, where the value comes from, its default and its meaning.

    \b
        assay config list
        assay config list --json
    """
    known = settings.describe(settings.load())
    if as_json:
        write(msgspec.json.format(msgspec.json.encode([asdict(setting) for setting in known])).decode())
        return
    table(
        ("setting", "value", "from", "default", "meaning"),
        [(each.name, each.value, each.origin, each.default, each.description) for each in known],
    )


@click.command("get")
@click.argument("name", shell_complete=setting_names)
def get_setting(name: str) -> None:
    """Print the value of the setting NAME. Keys are never shown: `***` means that one is set.

    \b
        assay config get model
        assay config get limits.tokens
    """
    known = {setting.name: setting for setting in settings.describe(settings.load())}
    if name not in known:
        raise UnknownName("setting", name, known)
    write(known[name].value)


@click.command("set")
@click.argument("name", shell_complete=setting_names)
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Set NAME to VALUE in the settings file. The rest of the file stays as it is, including comments.

    \b
        assay config set model ollama:qwen3
        assay config set limits.tokens 200000
    """
    say(f"{name} is set in {settings_file.write(name, configuration.checked(name, value))}")


BEGUN = "# Settings of Assay. `assay config list` names all of them, with their defaults.\n"
"""What an editor shows if there is no file yet."""


@click.command("edit")
def edit_settings() -> None:
    """Open the settings file in your editor ($VISUAL or $EDITOR), and save it if every setting is valid.

    You edit a draft. If a setting is invalid, Assay says why and lets you edit again. Until the draft is valid, the
    file stays as it is, and the draft is kept.

    \b
        assay config edit
        EDITOR=nano assay config edit
        assay config path
    """
    before = settings_file.contents()
    draft = Path(tempfile.mkstemp(prefix="assay-config-", suffix=".toml")[1])
    draft.write_text(before or BEGUN, encoding="utf-8")
    first_word.erase()
    while True:
        click.edit(filename=str(draft))
        try:
            text = draft.read_text(encoding="utf-8")
            if text == (before or BEGUN):
                say("nothing was changed")
                break
            settings_file.check(draft)
            say(f"saved in {settings_file.replace(before, text)}")
            break
        except (ConfigError, UnicodeDecodeError) as error:
            if not may_ask():
                raise ConfigError(f"{error}; nothing was saved, correct your draft: {draft}") from error
            say(f"{error}")
            if not click.confirm("Edit it again?", default=True, err=True):
                raise ConfigError(f"nothing was saved; your draft is kept, to correct it by hand: {draft}") from error
    draft.unlink()


@click.command("path")
def show_path() -> None:
    """Print the path of the settings file, whether or not it exists.

    \b
        assay config path
        assay config path | xargs cat
    """
    write(str(settings.config_path()))
