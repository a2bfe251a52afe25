"""Settings: models, tokens of one's own, and for who may see them keys of providers and all settings."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from assay.core.errors import AssayError
from assay.server.api import configuration, system, users
from assay.server.gate import who_of
from assay.server.page.forms import converted, read_form
from assay.server.page.templates_environment import go_to, screen
from assay.server.problems import Refusal, problem_of
from assay.server.wire import RouteCall

KEYS = "keys."


async def show_settings(call: RouteCall) -> Response:
    """Models, appearance, tokens, and for who may see them all settings."""
    return await _settings(call)


async def make_token(call: RouteCall) -> Response:
    """Make a token for a program, and show its secret this once."""
    form = await read_form(call.request, 10_000)
    given: dict[str, Any] = {"name": form.text("name"), "scopes": form.texts("scope")}
    if days := form.text("days"):
        given["days"] = days
    try:
        made = await users.make_token(call, converted(given, users.TokenWanted))
    except (Refusal, AssayError) as error:
        return await _settings(call, fault=error)
    return await _settings(call, secret=made.secret)


async def revoke_token(call: RouteCall, token: str) -> Response:
    """Make a token worthless."""
    await users.revoke_token(call, token)
    return go_to("/settings")


async def set_key(call: RouteCall) -> Response:
    """Store the key of a provider; no page shows it again."""
    form = await read_form(call.request, 20_000)
    provider = form.text("provider")
    try:
        await configuration.set_key(call, provider, configuration.KeyWanted(key=form.text("key")))
    except (Refusal, AssayError) as error:
        return await _settings(call, fault=error)
    call.about(provider)
    return go_to("/settings")


async def remove_key(call: RouteCall, provider: str) -> Response:
    """Forget the key of a provider."""
    await configuration.remove_key(call, provider)
    return go_to("/settings")


async def _settings(call: RouteCall, *, fault: Refusal | AssayError | None = None, secret: str = "") -> Response:
    problem = fault.problem if isinstance(fault, Refusal) else problem_of(fault) if fault else None
    who = who_of(call.request)
    admin = who is None or who.may("admin")
    every = await configuration.list_settings(call) if admin else None
    return screen(
        call,
        "settings.html",
        section="settings",
        status=problem.status if problem else 200,
        secret=bool(secret),
        models=await system.list_models(call, system.ModelsWanted()),
        admin=admin,
        settings=every.settings if every else (),
        restart=every is not None and every.restart,
        keys=[each for each in every.settings if each.name.startswith(KEYS)] if every else (),
        tokens=(await users.list_tokens(call)).tokens if who is not None else (),
        permissions=[each for each in who.permissions if each != "metrics"] if who else (),
        logged_in=who is not None,
        token=secret,
        fault=(problem.detail or problem.title) if problem else "",
    )
