"""Settings over HTTP, for admins: looked at, and written to the file of the server. Secrets never come back."""

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
    """A setting; the value of a secret is `***` where it is set.

    `value` is what the server works with, `next` what it will work with when it is started again.
    """

    name: str
    value: str
    next: str
    default: str
    origin: settings.Origin
    description: str
    secret: bool


class SettingsShown(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. `restart` says that some were changed since the server was started, and count from the next start.

    A run which was begun is not touched by what changes.
    """

    settings: tuple[SettingShown, ...]
    restart: bool


class SettingsWanted(RequestBody, frozen=True, kw_only=True):
    """New values of settings, by their dotted names; null goes back to the default. All are written, or none."""

    settings: dict[str, str | int | float | bool | list[str] | None]


class KeyWanted(RequestBody, frozen=True, kw_only=True):
    """A provider's key. It is never shown again."""

    key: str


@routes.get("/settings", scope="admin")
async def list_settings(call: RouteCall) -> SettingsShown:
    """List the settings, where each comes from, and what it is for. Secrets never come back."""
    return await asyncio.to_thread(_shown, call.backend.settings)


@routes.patch("/settings", scope="admin")
async def change_settings(call: RouteCall, body: SettingsWanted) -> SettingsShown:
    """Write settings to the file, as `assay config set` does; the environment beats it. They count from the next start.

    What opens files or programs of the machine is set there alone: home, database, blobs, log.file, notify,
    web.chromium, embedder.model, server.folders, server.host, server.port.
    """
    try:
        await asyncio.to_thread(configuration.change, body.settings)
    except ConfigError as error:
        raise refusal("invalid", str(error), errors=(Fault(pointer="/settings", detail=str(error)),)) from error
    return await asyncio.to_thread(_shown, call.backend.settings)


@routes.put("/settings/keys/{provider}", scope="admin", status=204)
async def set_key(call: RouteCall, provider: str, body: KeyWanted) -> None:
    """Store the key of a provider; it counts from the next start. No answer shows it again."""
    try:
        await asyncio.to_thread(configuration.set_key, provider, body.key)
    except ConfigError as error:
        raise refusal("invalid", str(error), errors=(Fault(pointer="/key", detail=str(error)),)) from error


@routes.delete("/settings/keys/{provider}", scope="admin", status=204)
async def remove_key(call: RouteCall, provider: str) -> None:
    """Forget the key of a provider, from the next start on; one in the environment stays."""
    await asyncio.to_thread(configuration.remove_key, provider)


def _shown(used: settings.Settings) -> SettingsShown:
    """The settings as the server works with them, and as the file and the environment have them now."""
    stored = settings.load(**_given(used))
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


def _given(used: settings.Settings) -> dict[str, object]:
    """What a command line has said, and says again at the next start: the home."""
    return {"home": used.home}
