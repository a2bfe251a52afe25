"""Screens of the user: login, appearance, conversations, tokens, models; for admins, keys and all settings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from assay.core.errors import AssayError, NotLoggedIn
from assay.core.translation import N_
from assay.export.html.article import render_plain
from assay.locale import LOCALES
from assay.plugins import names
from assay.server.api import automation, runs, system, users
from assay.server.gate import identity_of, set_cookie, set_session_cookie
from assay.server.page.forms import convert_texts, read_form
from assay.server.page.templates_environment import (
    DENSITIES,
    DENSITY,
    THEME,
    THEMES,
    fault_values,
    go_to,
    safe_path,
    screen,
)
from assay.server.page.words import LANGUAGE
from assay.server.problems import Problem, Refusal, refusal
from assay.server.wire import RouteCall
from assay.services.providers import ModelTrial
from assay.services.users import SESSION_SECONDS

KEYS = "keys."
DEFAULTS = {
    "model": N_("Model"),
    "depth": N_("Depth"),
    "strategy": N_("Strategy"),
    "length": N_("Length of reports"),
    "language": N_("Language of reports"),
    "search.web": N_("Search the web"),
}
LIMITS = {
    "limits.usd": N_("US dollars per run"),
    "limits.tokens": N_("Tokens per run"),
    "limits.time": N_("Time per run"),
    "limits.searches": N_("Searches per run"),
    "limits.agents": N_("Agents per run"),
    "limits.usd_per_day": N_("US dollars per day"),
    "limits.tokens_per_day": N_("Tokens per day"),
    "limits.user_runs_per_day": N_("Runs per user and day"),
    "limits.user_usd_per_day": N_("US dollars per user and day"),
    "limits.user_tokens_per_day": N_("Tokens per user and day"),
    "limits.user_runs_at_once": N_("Runs at once per user"),
}
EDITED = {name: group for group, names in (("defaults", DEFAULTS), ("limits", LIMITS)) for name in names}
"""The settings with a field of their own, by group."""
CHOICES = {
    "depth": ("auto", "light", "medium", "extended"),
    "length": ("short", "normal", "long"),
    "search.web": ("", "true", "false"),
}


async def make_token(call: RouteCall) -> Response:
    """Create a token for a program, and show its secret only this once."""
    form = await read_form(call.request, 10_000)
    fields: dict[str, Any] = {"name": form.text("name"), "scopes": form.texts("scope")}
    if days := form.text("days"):
        fields["days"] = days
    try:
        token = await users.make_token(call, convert_texts(fields, users.TokenWanted))
    except (Refusal, AssayError) as error:
        return await show_settings(call, fault=error)
    return await show_settings(call, secret=token.secret)


async def revoke_token(call: RouteCall, token: str) -> Response:
    """Revoke a token."""
    await users.revoke_token(call, token)
    return go_to("/settings")


async def set_key(call: RouteCall) -> Response:
    """Store the key of a provider; no page shows it again."""
    form = await read_form(call.request, 20_000)
    provider = form.text("provider")
    try:
        await system.set_key(call, provider, system.KeyWanted(key=form.text("key")))
    except (Refusal, AssayError) as error:
        return await show_settings(call, fault=error)
    call.set_subject(provider)
    return go_to("/settings")


async def remove_key(call: RouteCall, provider: str) -> Response:
    """Delete the key of a provider."""
    await system.remove_key(call, provider)
    return go_to("/settings")


async def change_password(call: RouteCall) -> Response:
    """Change the user's password; they log in again with it."""
    form = await read_form(call.request, 10_000)
    if form.text("new") != form.text("again"):
        return await show_settings(call, fault=refusal("invalid", N_("the two new passwords differ")))
    try:
        change = users.PasswordChange(old=form.text("old"), new=form.text("new"))
        await users.change_password(call, change)
    except (Refusal, AssayError) as error:
        return await show_settings(call, fault=error)
    return go_to("/login")


async def test_model(call: RouteCall) -> Response:
    """Ask a model for one word, and show the result."""
    form = await read_form(call.request, 10_000)
    try:
        trial = await system.test_model(call, system.ModelNamed(model=form.text("model")))
    except (Refusal, AssayError) as error:
        return await show_settings(call, fault=error)
    return await show_settings(call, trial=trial)


async def change_settings(call: RouteCall) -> Response:
    """Write the changed settings of the form to the file."""
    form = await read_form(call.request)
    values = {name: form.text(name) or None for name in form.fields if name in EDITED}
    if form.text("name"):
        values[form.text("name")] = form.text("value") or None
    try:
        before = {setting.name: setting.next for setting in (await system.list_settings(call)).settings}
        changed: dict[str, str | int | float | bool | list[str] | None]
        changed = {name: value for name, value in values.items() if (value or "") != before.get(name, "")}
        if changed:
            call.set_subject(", ".join(sorted(changed)))
            await system.change_settings(call, system.SettingsWanted(settings=changed))
    except (Refusal, AssayError) as error:
        return await show_settings(call, fault=error)
    return go_to("/settings")


async def add_webhook(call: RouteCall) -> Response:
    """Notify an address when runs end; its secret is shown only this once."""
    form = await read_form(call.request, 10_000)
    try:
        webhook = await automation.add_webhook(call, automation.WebhookWanted(url=form.text("url")))
    except (Refusal, AssayError) as error:
        return await show_settings(call, fault=error)
    return await show_settings(call, webhook_secret=webhook.secret)


async def remove_webhook(call: RouteCall, webhook: str) -> Response:
    """Stop notifying an address."""
    await automation.remove_webhook(call, webhook)
    return go_to("/settings")


async def show_settings(
    call: RouteCall,
    *,
    fault: Refusal | AssayError | None = None,
    secret: str = "",
    webhook_secret: str = "",
    trial: ModelTrial | None = None,
) -> Response:
    """Models, appearance, tokens, and for admins all settings."""
    identity = identity_of(call.request)
    admin = identity is None or identity.may("admin")
    listed_settings = await system.list_settings(call) if admin else None
    return screen(
        call,
        "settings.html",
        section="settings",
        **fault_values(fault),
        secret=bool(secret or webhook_secret),
        models=await system.list_models(call, system.ModelsWanted()),
        admin=admin,
        settings=listed_settings.settings if listed_settings else (),
        restart=listed_settings is not None and listed_settings.restart,
        keys=[setting for setting in listed_settings.settings if setting.name.startswith(KEYS)]
        if listed_settings
        else (),
        tokens=(await users.list_tokens(call)).tokens if identity is not None else (),
        permissions=[permission for permission in identity.permissions if permission != "metrics"] if identity else (),
        logged_in=identity is not None,
        token=secret,
        webhook_secret=webhook_secret,
        webhooks=await _webhooks(call),
        trial=trial,
        edited=_editable_settings(listed_settings.settings) if listed_settings else (),
        may_log_in=identity is not None and identity.via == "session",
    )


async def _webhooks(call: RouteCall) -> tuple[automation.WebhookShown, ...] | None:
    """The user's webhooks; None if there can be none, since everything is in memory."""
    try:
        return (await automation.list_webhooks(call, automation.WhichWebhooks())).webhooks
    except (Refusal, AssayError):
        return None


class EditedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with a field: its label there, and the possible values if known."""

    setting: system.SettingShown
    label: str
    group: str
    choices: tuple[str, ...]


def _editable_settings(every: Iterable[system.SettingShown]) -> list[EditedSetting]:
    settings_by_name = {setting.name: setting for setting in every}
    return [
        EditedSetting(
            setting=settings_by_name[name],
            label=(DEFAULTS | LIMITS)[name],
            group=group,
            choices=_choices(name, settings_by_name[name].next),
        )
        for name, group in EDITED.items()
        if name in settings_by_name
    ]


def _choices(name: str, value: str) -> tuple[str, ...]:
    if name == "strategy":
        return names("strategies")
    choices = CHOICES.get(name, ())
    return choices if not choices or value in choices else (value, *choices)


YEAR = 365 * 86_400
MAX_THREADS = 20


async def show_login(call: RouteCall) -> Response:
    """The form for name and password, and the way to the provider."""
    return login_screen(call, safe_path(call.request.query_params.get("next", "/")))


def login_screen(call: RouteCall, path: str, *, name: str = "", fault: str = "", status: int = 200) -> Response:
    """The login, which leads to `path`; with a `fault` again."""
    provider = f"{users.BEGIN_PATH}?{urlencode({'back': path})}" if call.backend.oidc else ""
    return screen(call, "login.html", status=status, next=path, name=name, fault=fault, provider=provider)


def failed_login(request: Request, fault: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The login again, for a browser whose login at the provider failed."""
    path = safe_path(request.query_params.get("back", "/"))
    answer = login_screen(RouteCall(request), path, fault=fault.detail or fault.title, status=fault.status)
    answer.headers.update(headers or {})
    return answer


async def log_in(call: RouteCall) -> Response:
    """Begin a session, and return to the page that asked for the login."""
    form = await read_form(call.request, 10_000)
    name, path = form.text("name"), safe_path(form.text("next"))
    password = next(iter(form.fields.get("password", ())), "")
    call.set_login(await users.name_of_user(call, name))
    try:
        secret = await call.backend.assay.users.log_in(name, password)
    except NotLoggedIn as error:
        return login_screen(call, path, name=name, **fault_values(error))
    response = go_to(path)
    set_session_cookie(call.request, response, secret, int(SESSION_SECONDS))
    return response


async def log_out(call: RouteCall) -> Response:
    """End the session."""
    url = await users.end_session(call)
    response = screen(call, "logged_out.html", url=url) if url else go_to("/login")
    set_session_cookie(call.request, response, "", 0)
    return response


async def keep_theme(call: RouteCall) -> Response:
    """Store appearance and language of the pages in cookies."""
    form = await read_form(call.request, 10_000)
    response = go_to("/settings")
    for cookie, field, allowed in ((THEME, "theme", THEMES), (DENSITY, "density", DENSITIES)):
        if field in form.fields:
            text = form.text(field)
            set_cookie(call.request, response, cookie, text if text in allowed else allowed[0], YEAR)
    if "language" in form.fields:
        text = form.text("language")
        set_cookie(call.request, response, LANGUAGE, text if text in LOCALES else "", YEAR)
    return response


async def list_threads(call: RouteCall) -> Response:
    """The user's conversations, latest first."""
    query = call.request.query_params
    words, cursor = query.get("q", "").strip(), query.get("cursor", "")
    page = await runs.list_threads(call, runs.ThreadsWanted(q=words, cursor=cursor, limit=MAX_THREADS))
    return screen(call, "threads.html", section="runs", threads=page.threads, next=page.next, words=words)


async def show_thread(call: RouteCall, thread: str) -> Response:
    """A conversation."""
    conversation = await runs.show_thread(call, thread)

    def texts() -> list[str]:
        return [
            message.text if message.by == "user" else render_plain(message.text) for message in conversation.messages
        ]

    return screen(call, "thread.html", section="runs", thread=conversation, texts=await asyncio.to_thread(texts))
