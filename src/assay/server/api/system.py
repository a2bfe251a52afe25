"""The server's models, formats and settings, problems with them, and changes by admins. Secrets are never returned."""

from __future__ import annotations

import asyncio

import msgspec

from assay import settings
from assay.app.doctor import Diagnosis, examine
from assay.core.brief import Role
from assay.core.errors import ConfigError
from assay.plugins import names
from assay.server.api.reports import formats, is_format_available
from assay.server.api.run_requests import RequestBody, body_error
from assay.server.wire import Endpoints, RouteCall, struct_from
from assay.services import configuration
from assay.services.providers import ModelTrial, Provider, providers, try_model

routes = Endpoints("system")


class ModelsWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The providers to ask what they offer; those on this machine are always asked."""

    providers: tuple[str, ...] = ()


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models of each role in the settings, and all providers."""

    roles: dict[Role, tuple[str, ...]]
    providers: tuple[Provider, ...]


class ModelNamed(RequestBody, frozen=True, kw_only=True):
    """A model, as settings name it: `PROVIDER:NAME`."""

    model: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The checks, in the order in which things depend on each other."""

    findings: tuple[Diagnosis, ...]


class Formats(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that has a name: formats of reports with their media types, strategies, searches.

    `available` are the formats that can be made now; the others need an extra which is not installed, and to ask for
    one is an error.
    """

    reports: dict[str, str]
    available: tuple[str, ...]
    strategies: tuple[str, ...]
    searches: tuple[str, ...]


@routes.get("/models")
async def list_models(call: RouteCall, query: ModelsWanted) -> Models:
    """List which models can be used, and what the others need."""
    settings = call.backend.settings
    return Models(roles=settings.roles(), providers=tuple(await providers(settings, query.providers)))


@routes.post("/models/test", scope="admin")
async def test_model(call: RouteCall, body: ModelNamed) -> ModelTrial:
    """Ask a model for one word: whether it answers, how fast, and at what cost."""
    call.set_subject(body.model)
    return await try_model(call.backend.settings, body.model)


@routes.get("/doctor", scope="admin")
async def show_findings(call: RouteCall) -> Findings:
    """Look for what prevents Assay from working; changes nothing."""
    return Findings(findings=tuple(await examine(call.assay.home)))


@routes.get("/formats")
async def list_formats(call: RouteCall) -> Formats:
    """List the installed formats of reports, strategies and search providers."""
    media_types = formats()
    available = await asyncio.to_thread(lambda: [name for name in media_types if is_format_available(name)])
    return Formats(
        reports={name.removeprefix("."): media for name, media in media_types.items()},
        available=tuple(name.removeprefix(".") for name in available),
        strategies=tuple(names("strategies")),
        searches=tuple(names("searches")),
    )


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
        await asyncio.to_thread(configuration.change_settings, body.settings)
    except ConfigError as error:
        raise body_error("/settings", str(error)) from error
    return await asyncio.to_thread(_settings_shown, call.backend.settings)


@routes.put("/settings/keys/{provider}", scope="admin", status=204)
async def set_key(call: RouteCall, provider: str, body: KeyWanted) -> None:
    """Store the key of a provider; it applies after a restart. No answer shows it again."""
    try:
        await asyncio.to_thread(configuration.set_key, provider, body.key)
    except ConfigError as error:
        raise body_error("/key", str(error)) from error


@routes.delete("/settings/keys/{provider}", scope="admin", status=204)
async def remove_key(call: RouteCall, provider: str) -> None:
    """Delete the key of a provider, from the next start on; one in the environment stays."""
    await asyncio.to_thread(configuration.remove_key, provider)


def _settings_shown(active_settings: settings.Settings) -> SettingsShown:
    """The settings in use, and those in the file and the environment now."""
    stored_settings = settings.load(home=active_settings.home)  # which the command line sets at each start
    stored_values = {setting.name: setting for setting in configuration.all_settings(stored_settings)}
    shown_settings = tuple(
        struct_from(SettingShown, setting, next=stored_values[setting.name].value)
        for setting in configuration.all_settings(active_settings)
    )
    return SettingsShown(settings=shown_settings, restart=stored_settings != active_settings)
