"""Settings over HTTP, for admins: read them, and write the server's file. Secrets are never returned."""

from __future__ import annotations

import asyncio

import msgspec

from assay import settings
from assay.core.errors import ConfigError
from assay.server.api.run_requests import RequestBody
from assay.server.problems import Fault, refusal
from assay.server.wire import Endpoints, RouteCall
from assay.services import configuration

routes = Endpoints("system")


class SettingShown(msgspec.Struct, frozen=True, kw_only=True):
    """A setting; the value of a secret is `***` if it is set.

    `value` is the one in use, `next` the one after a restart.
    """

    name: str
    value: str
    next: str
    default: str
    origin: settings.Origin
    description: str
    secret: bool


class SettingsShown(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. `restart` says that some have changed and apply after a restart.

    Runs that have begun are not affected by changes.
    """

    settings: tuple[SettingShown, ...]
    restart: bool


class SettingsWanted(RequestBody, frozen=True, kw_only=True):
    """New values of settings, by dotted name; null restores the default. All are written, or none."""

    settings: dict[str, str | int | float | bool | list[str] | None]


class KeyWanted(RequestBody, frozen=True, kw_only=True):
    """A provider's key. It is never shown again."""

    key: str


@routes.get("/settings", scope="admin")
async def list_settings(call: RouteCall) -> SettingsShown:
    """List the settings, their origin and their meaning. Secrets are never returned."""
    return await asyncio.to_thread(_settings_shown, call.backend.settings)


@routes.patch("/settings", scope="admin")
async def change_settings(call: RouteCall, body: SettingsWanted) -> SettingsShown:
    """Write settings to the file, as `assay config set` does; the environment overrides it. They apply after a restart.

    Settings that give access to files or programs of the machine can only be set on it: home, database, blobs,
    log.file, notify, web.chromium, embedder.model, server.folders, server.host, server.port.
    """
    try:
        await asyncio.to_thread(configuration.change, body.settings)
    except ConfigError as error:
        raise refusal("invalid", str(error), errors=(Fault(pointer="/settings", detail=str(error)),)) from error
    return await asyncio.to_thread(_settings_shown, call.backend.settings)


@routes.put("/settings/keys/{provider}", scope="admin", status=204)
async def set_key(call: RouteCall, provider: str, body: KeyWanted) -> None:
    """Store the key of a provider; it applies after a restart. No answer shows it again."""
    try:
        await asyncio.to_thread(configuration.set_key, provider, body.key)
    except ConfigError as error:
        raise refusal("invalid", str(error), errors=(Fault(pointer="/key", detail=str(error)),)) from error


@routes.delete("/settings/keys/{provider}", scope="admin", status=204)
async def remove_key(call: RouteCall, provider: str) -> None:
    """Delete the key of a provider, from the next start on; one in the environment stays."""
    await asyncio.to_thread(configuration.remove_key, provider)


def _settings_shown(used: settings.Settings) -> SettingsShown:
    """The settings in use, and those in the file and the environment now."""
    stored = settings.load(**_command_line_settings(used))
    now = {each.name: each for each in configuration.described(stored)}
    shown = tuple(
        SettingShown(
            name=each.name,
            value=each.value,
            next=now[each.name].value,
            default=each.default,
            origin=each.origin,
            description=each.description,
            secret=each.secret,
        )
        for each in configuration.described(used)
    )
    return SettingsShown(settings=shown, restart=stored.model_dump() != used.model_dump())


def _command_line_settings(used: settings.Settings) -> dict[str, object]:
    """What the command line sets, and will set again at the next start: the home."""
    return {"home": used.home}
