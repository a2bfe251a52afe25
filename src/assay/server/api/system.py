"""The server's models, formats and settings, and problems with them."""

from __future__ import annotations

import msgspec

from assay.app.doctor import Diagnosis, examine
from assay.core.brief import Role
from assay.plugins import names
from assay.server.api.reports import formats
from assay.server.api.run_requests import RequestBody
from assay.server.wire import Endpoints, RouteCall
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
    """What was checked, in the order in which things depend on each other."""

    findings: tuple[Diagnosis, ...]


class Formats(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that has a name: formats of reports with their media types, strategies, searches, models."""

    reports: dict[str, str]
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
    call.about(body.model)
    return await try_model(call.backend.settings, body.model)


@routes.get("/doctor", scope="admin")
async def show_findings(call: RouteCall) -> Findings:
    """Look for what prevents Assay from working; changes nothing."""
    return Findings(findings=tuple(await examine(call.assay.home)))


@routes.get("/formats")
async def list_formats(call: RouteCall) -> Formats:
    """List the installed formats of reports, strategies and search providers."""
    return Formats(
        reports={name.removeprefix("."): media for name, media in formats().items()},
        strategies=tuple(names("strategies")),
        searches=tuple(names("searches")),
    )
