"""Changes settings: they are checked, then written to the file, and apply to what is started afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from assay import plugins, settings
from assay.core.claims import CHECKS
from assay.core.errors import ConfigError, UnknownName
from assay.core.options import nest_values
from assay.services.providers import INTERNAL_PROVIDERS, KEY_NAMES, own_server_hint
from assay.settings import file

LOCAL_SETTINGS = frozenset(
    (
        *("home", "database", "blobs", "log.file", "notify", "web.chromium", "embedder.model"),
        *("server.folders", "server.host", "server.port"),
        *("signing.key", "signing.trusted"),
    )
)
"""Settings that give access to this machine's files and programs, or say whom it trusts; they can only be set on it."""

Value = str | int | float | bool | Sequence[str] | None


def parse_setting(name: str, text: str) -> object:
    """Parse `text` as a value for the setting `name`, one that what is installed can use.

    Raises:
        UnknownName: there is no such setting, strategy, tool or adapter; the message suggests the nearest.
        ConfigError: the setting does not accept this value, or is a table.
    """
    if name.startswith("keys."):
        key_setting(name.removeprefix("keys."))
    value = settings.parse(name, text)
    if name == "strategy":
        _check_installed("strategies", str(value))
    elif name == "checks_off":
        for check in value if isinstance(value, list) else []:
            _check_installed("checks", str(check), CHECKS)
    elif name == "agents.tools":
        check_tools(value if isinstance(value, list) else [])
    elif name == "model" or name.startswith("models."):
        for model in value if isinstance(value, list) else [value]:
            _check_installed("models", plugins.split(str(model))[0], tuple(settings.load().services))
    return value


def check_tools(names: Iterable[object]) -> None:
    """Check that tools are installed, ours or another package's.

    Raises:
        UnknownName: one is not; the message suggests the nearest.
    """
    for name in names:
        _check_installed("tools", str(name))


def check_settings(config: settings.Settings) -> None:
    """Check settings in what the reader of the file cannot: the tools they name are installed.

    Raises:
        ConfigError: one is not; the message names the setting, and the file or the environment.
    """
    tools = config.agents.tools
    try:
        check_tools(tools)
    except UnknownName as error:
        location = settings.location_text("agents.tools") if settings.load().agents.tools == tools else ""
        raise ConfigError(f"setting agents.tools: {error}{location}; name only tools that are installed") from error


def unset(name: str) -> bool:
    """Remove a setting from the file, so that its default applies; return whether it was there. Blocking.

    A name that is no setting is removed too: in the file it keeps the settings from being read.

    Raises:
        UnknownName: there is no such setting, and the file does not have it; the message suggests the nearest.
        ConfigError: it is a table, or the file cannot be read or written.
    """
    names = settings.names()
    was_set = file.remove(name)
    if not was_set and name not in names and not settings.OTHER_KEYS.fullmatch(name):
        raise UnknownName("setting", name, names)
    return was_set


def change_settings(changes: Mapping[str, Value]) -> Path:
    """Write settings from a remote user, all or none; None restores the default. Blocking.

    Raises:
        UnknownName: there is no such setting, strategy, tool or adapter; the message suggests the nearest.
        ConfigError: a setting does not accept its value, or can only be set on the machine.
    """
    values = {name: _parse_remote_value(name, value) for name, value in changes.items()}
    set_to = nest_values({name: value for name, value in values.items() if value is not None})
    settings.load(**set_to)  # each may be valid alone and not together
    return file.change(values)


def key_holders() -> tuple[str, ...]:
    """Who may have a key: known providers, and adapters of other packages."""
    ours = [name.removeprefix("keys.") for name in settings.names() if name.startswith("keys.")]
    groups: tuple[plugins.PluginGroup, ...] = ("searches", "models", "embedders")
    adapters = {
        name
        for group in groups
        for name in plugins.external_names(group)
        if settings.OTHER_KEYS.fullmatch(f"keys.{name}")
    }
    return (*ours, *sorted(adapters.difference(ours)))


def all_settings(config: settings.Settings) -> list[settings.Setting]:
    """Every setting, including keys for adapters of other packages."""
    return settings.describe(config, (*key_holders(), *settings.load().keys.others))


def key_setting(provider: str) -> str:
    """The setting with the key of `provider`.

    Raises:
        UnknownName: no such provider takes a key.
    """
    providers = key_holders()
    provider = KEY_NAMES.get(provider, provider)
    if provider not in providers:
        hint = f"(the key of a service of yours is services.{provider}.key in {settings.config_path()})"
        raise UnknownName("provider with a key", provider, providers, hint=hint)
    return f"keys.{provider}"


def set_key(provider: str, key: str) -> None:
    """Store the key of a provider. Blocking.

    Raises:
        UnknownName: no such provider takes a key.
        ConfigError: it cannot be a key, or cannot be stored; the message does not repeat it.
    """
    name = key_setting(provider)
    file.write(name, settings.parse(name, key))


def remove_key(provider: str) -> bool:
    """Delete the key of a provider from the file; return whether it was there. Blocking.

    Raises:
        UnknownName: no such provider takes a key.
    """
    return file.remove(stored_key_setting(provider))


def stored_key_setting(provider: str) -> str:
    """The setting of a key to delete, even for a package that is no longer installed.

    Raises:
        UnknownName: no such provider takes a key, and none is stored.
    """
    stored_keys = settings.load().keys.others
    return f"keys.{provider}" if provider in stored_keys else key_setting(provider)


def _parse_remote_value(name: str, value: Value) -> object:
    if name in LOCAL_SETTINGS:
        raise ConfigError(f"{name} can only be set on the server's machine: ask its administrator")
    if name.startswith("keys."):
        key_setting(name.removeprefix("keys."))
        raise ConfigError(f"{name} is a key: PUT /api/v1/settings/keys/{name.removeprefix('keys.')}")
    if value is None:
        if name not in settings.names():
            raise UnknownName("setting", name, settings.names())
        return None
    parsed = parse_setting(name, _text(value))
    if name == "model" or name.startswith("models."):
        models = parsed if isinstance(parsed, list) else [parsed]
        if any(plugins.split(str(model))[0] in INTERNAL_PROVIDERS for model in models):
            raise ConfigError(
                "a model that reads a file of the server can only be set on the server's machine: ask its administrator"
            )
    return parsed


def _text(value: str | int | float | bool | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _check_installed(group: plugins.PluginGroup, name: str, extra_names: tuple[str, ...] = ()) -> None:
    known_names = (*plugins.names(group), *extra_names)
    if name not in known_names:
        raise UnknownName(
            plugins.NOUNS[group], name, known_names, own_server_hint(name, known_names) if group == "models" else ""
        )
