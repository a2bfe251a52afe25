"""The page: Assay in a browser. HTML made from the same calls as the API, live by server-sent events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from starlette.responses import Response
from starlette.routing import Route

from assay.core.ports.users import Permission
from assay.server.backend import RouteGroup
from assay.server.page import (
    adminscreen,
    home,
    reportscreen,
    runscreen,
    settingscreen,
    shelfscreen,
    tablescreen,
    templates_environment,
)
from assay.server.page.settingscreen import failed_login
from assay.server.page.templates_environment import page_route, problem_page, wants_page

__all__ = ["FREE", "PART", "failed_login", "problem_page", "wants_page"]

Handler = Callable[..., Awaitable[Response]]


def _route(method: str, path: str, handler: Handler, needs: Permission | Literal[""] = "") -> Route:
    answer: Any = page_route(handler, needs)
    return Route(path, answer, methods=[method], name=f"{handler.__module__.rpartition('.')[2]}.{handler.__name__}")


FREE: tuple[Route, ...] = (
    templates_environment.ROUTE,
    _route("GET", "/login", settingscreen.show_login),
    _route("POST", "/login", settingscreen.log_in),
    _route("POST", "/logout", settingscreen.log_out),
    _route("POST", "/theme", settingscreen.keep_theme),
)
"""Routes that need no login and reveal nothing about a user."""

ROUTES: tuple[Route, ...] = (
    *FREE,
    _route("GET", "/", home.show_home),
    _route("POST", "/ask", home.ask),
    _route("POST", "/estimate", home.estimate),
    _route("GET", "/runs", runscreen.list_runs),
    _route("GET", "/runs/{run}", runscreen.show_run),
    _route("GET", "/runs/{run}/activity", runscreen.show_activity),
    _route("GET", "/runs/{run}/live", runscreen.live),
    _route("POST", "/runs/{run}/labels", runscreen.label),
    _route("POST", "/runs/{run}/steer", runscreen.steer),
    _route("POST", "/runs/{run}/finish", runscreen.finish),
    _route("POST", "/runs/{run}/pause", runscreen.pause),
    _route("POST", "/runs/{run}/cancel", runscreen.cancel),
    _route("POST", "/runs/{run}/agents/{lane:number}/cancel", runscreen.cancel_agent),
    _route("POST", "/runs/{run}/resume", runscreen.resume),
    _route("POST", "/runs/{run}/answers", runscreen.answer),
    _route("POST", "/runs/{run}/approve", runscreen.approve),
    _route("POST", "/runs/{run}/follow-up", runscreen.follow_up),
    _route("POST", "/runs/{run}/exclude", runscreen.exclude),
    _route("POST", "/runs/{run}/recheck", runscreen.recheck),
    _route("POST", "/runs/{run}/delete", runscreen.delete),
    _route("POST", "/runs/{run}/shares", reportscreen.make_share),
    _route("POST", "/runs/{run}/shares/{share}/revoke", reportscreen.revoke_share),
    _route("GET", "/threads", settingscreen.list_threads),
    _route("GET", "/threads/{thread}", settingscreen.show_thread),
    _route("GET", "/schedules", home.list_schedules),
    _route("POST", "/schedules", home.add_schedule),
    _route("POST", "/schedules/{schedule}/remove", home.remove_schedule),
    _route("POST", "/schedules/{schedule}/feed", home.make_feed),
    _route("POST", "/schedules/{schedule}/feed/close", home.close_feed),
    _route("GET", "/compare", reportscreen.compare),
    _route("GET", "/tables", tablescreen.list_tables),
    _route("GET", "/tables/{table:path}", tablescreen.show_table),
    _route("GET", "/library", shelfscreen.show_library),
    _route("POST", "/library", shelfscreen.make_collection),
    _route("POST", "/library/{collection:path}/documents", shelfscreen.upload),
    _route("POST", "/library/{collection:path}/places", shelfscreen.add_places),
    _route("POST", "/library/{collection:path}/sync", shelfscreen.sync),
    _route("POST", "/library/{collection:path}/readers", shelfscreen.share),
    _route("POST", "/library/{collection:path}/remove", shelfscreen.remove),
    _route("POST", "/library/{collection:path}/drop", shelfscreen.drop),
    _route("GET", "/library/{collection:path}", shelfscreen.show_collection),
    _route("GET", "/documents/{document}", shelfscreen.show_document),
    _route("GET", "/verify", reportscreen.show_verify),
    _route("POST", "/verify", reportscreen.verify),
    _route("GET", "/settings", settingscreen.show_settings),
    _route("POST", "/settings/tokens", settingscreen.make_token),
    _route("POST", "/settings/tokens/{token}/revoke", settingscreen.revoke_token),
    _route("POST", "/settings/password", settingscreen.change_password),
    _route("POST", "/settings/webhooks", settingscreen.add_webhook),
    _route("POST", "/settings/webhooks/{webhook}/remove", settingscreen.remove_webhook),
    _route("POST", "/settings/values", settingscreen.change_settings, "admin"),
    _route("POST", "/settings/models/test", settingscreen.test_model, "admin"),
    _route("POST", "/settings/keys", settingscreen.set_key, "admin"),
    _route("POST", "/settings/keys/{provider}/remove", settingscreen.remove_key, "admin"),
    _route("GET", "/admin", adminscreen.show_usage, "admin"),
    _route("GET", "/admin/users", adminscreen.list_users, "admin"),
    _route("POST", "/admin/users", adminscreen.add_user, "admin"),
    _route("POST", "/admin/users/{user}/role", adminscreen.change_user, "admin"),
    _route("POST", "/admin/users/{user}/remove", adminscreen.remove_user, "admin"),
    _route("GET", "/admin/runs", adminscreen.list_runs, "admin"),
    _route("GET", "/admin/health", adminscreen.show_health, "admin"),
    _route("GET", "/admin/audit", adminscreen.show_audit, "admin"),
)


PART = RouteGroup(prefix="/static", routes=lambda _: ROUTES)
"""Its routes begin everywhere; `problem_page` shows problems outside the other parts as pages."""
