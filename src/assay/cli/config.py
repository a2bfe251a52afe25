"""`assay config` and `assay keys`: the settings file, the keys in it, and the keys that sign bundles."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import settings
from assay.cli import options
from assay.cli.completion import key_holders, setting_names
from assay.cli.options import json_output
from assay.cli.terminal import can_ask, first_word, print_list, say, write
from assay.core.errors import ConfigError, UnknownName
from assay.core.lazy import lazy_module

if TYPE_CHECKING:
    from assay.app import bundles
    from assay.services import configuration
    from assay.settings import file as settings_file
else:
    configuration = lazy_module("assay.services.configuration")
    settings_file = lazy_module("assay.settings.file")
    bundles = lazy_module("assay.app.bundles")


@click.command("list")
@json_output
def list_settings(as_json: bool) -> None:
    """List every setting: its value, where the value comes from, its default and its meaning.

    \b
        assay config list
        assay config list --json
    """
    descriptions = settings.describe(settings.load())
    rows = [
        (setting.name, setting.value, setting.origin, setting.default, setting.description) for setting in descriptions
    ]
    print_list(
        list(map(asdict, descriptions)), ("setting", "value", "from", "default", "meaning"), rows, as_json=as_json
    )


@click.command("get")
@click.argument("name", shell_complete=setting_names)
def get_setting(name: str) -> None:
    """Print the value of the setting NAME. Keys are never shown: `***` means that one is set.

    \b
        assay config get model
        assay config get limits.tokens
    """
    descriptions = {setting.name: setting for setting in settings.describe(settings.load())}
    if name not in descriptions:
        raise UnknownName("setting", name, descriptions)
    write(descriptions[name].value)


@click.command("set")
@click.argument("name", shell_complete=setting_names)
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Set NAME to VALUE in the settings file. The rest of the file stays as it is, including comments.

    \b
        assay config set model ollama:qwen3
        assay config set limits.tokens 200000
    """
    say(f"{name} is set in {settings_file.write(name, configuration.parse_setting(name, value))}")


@click.command("unset")
@click.argument("name", shell_complete=setting_names)
def unset_setting(name: str) -> None:
    """Remove NAME from the settings file, so that its default applies. The rest of the file stays as it is.

    \b
        assay config unset limits.tokens
        assay config unset model
    """
    was_set = configuration.unset(name)
    say(f"{name} is {'no longer' if was_set else 'not'} set in {settings.config_path()}")


FILE_HEADER = "# Settings of Assay. `assay config list` names all of them, with their defaults.\n"
"""The text an editor shows if there is no file yet."""


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
    draft.write_text(before or FILE_HEADER, encoding="utf-8")
    first_word.erase()
    while True:
        click.edit(filename=str(draft))
        try:
            text = draft.read_text(encoding="utf-8")
            if text == (before or FILE_HEADER):
                say("nothing was changed")
                break
            configuration.check_tools(settings_file.check_draft(draft).agents.tools)
            say(f"saved in {settings_file.replace(before, text)}")
            break
        except (ConfigError, UnknownName, UnicodeDecodeError) as error:
            if not can_ask():
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


# Providers' keys, keys that sign bundles, and keys whose signatures are trusted.


@click.command("set")
@click.argument("provider", shell_complete=key_holders)
def set_key(provider: str) -> None:
    """Store the key of PROVIDER. Type it at the prompt, which does not show it, or pass it on stdin.

    A key is never read from the command line, where other users of this machine could see it.

    \b
        assay keys set openai
        assay keys set openai < key.txt
    """
    setting = configuration.key_setting(provider)
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
@options.verbosity_options
def list_keys(as_json: bool) -> None:
    """List the providers that have a key, and where the key comes from. Keys are not shown.

    \b
        assay keys list
        assay keys list --json
    """
    key_settings = [setting for setting in configuration.all_settings(settings.load()) if setting.secret]
    rows = [(setting.name.removeprefix("keys."), setting.origin if setting.value else "") for setting in key_settings]
    fields = [{"provider": provider, "origin": origin or None} for provider, origin in rows]
    print_list(fields, ("provider", "key from"), [(name, origin or "none") for name, origin in rows], as_json=as_json)


@click.command("rm")
@click.argument("provider", shell_complete=key_holders)
def remove_key(provider: str) -> None:
    """Delete the stored key of PROVIDER. A key in the environment stays.

    \b
        assay keys rm openai
        assay keys rm anthropic
    """
    was_stored = settings_file.remove(configuration.stored_key_setting(provider))
    say(f"the key of {provider} is deleted" if was_stored else f"there is no key of {provider} in the settings file")


@click.command("create")
@click.option("--replace", is_flag=True, help="Replace the current key, which can then sign nothing more.")
def create_signing_key(replace: bool) -> None:
    """Create a key for signing bundles (Ed25519). The public half is printed; the secret half goes into the settings
    file.

    \b
        assay keys sign create
        assay runs export last -o report.zip --sign
        assay verify report.zip --signer RWQf6L…       # what others run, with the printed line
    """
    key, path = bundles.create_key(replace=replace)
    say(f"the secret key is in {path}, for you alone; this is the public one, for those who check your bundles:")
    write(str(key))


@click.command("show")
def show_signing_key() -> None:
    """Print the public half of your signing key, in the format of minisign.

    \b
        assay keys sign show
        assay keys sign show > assay.pub
    """
    write(str(bundles.own_key()))


@click.command("trust")
@click.argument("name")
@click.argument("key")
def trust_signer(name: str, key: str) -> None:
    """Trust bundles signed with KEY (a public key, or a file with one) as coming from NAME.

    \b
        assay keys sign trust ana ana.pub
        assay keys sign trust ana RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
    """
    public_key, path = bundles.trust(name, key)
    say(f"what key {public_key.name} signs is trusted as {name}'s ({path})")


@click.command("distrust")
@click.argument("name")
def distrust_signer(name: str) -> None:
    """Stop trusting the signatures of NAME.

    \b
        assay keys sign distrust ana
        assay keys sign distrust "Ana's laptop"
    """
    outcome = "is trusted no more" if bundles.distrust(name) else "was not trusted by the settings file"
    say(f"{name} {outcome}")


@click.command("list")
@options.json_output
@options.verbosity_options
def list_signers(as_json: bool) -> None:
    """List whose signatures you trust. Your own key is listed as `you`.

    \b
        assay keys sign list
        assay keys sign list --json
    """
    signers = bundles.signers()
    fields = [{"signer": name, "key": str(key), "key_id": key.name} for name, key in signers.items()]
    rows = [(name, str(key)) for name, key in signers.items()]
    print_list(fields, ("signer", "public key"), rows, as_json=as_json)
