"""Records every request that changes something, and every login, before it is answered.

An entry has the operation and the names in its path, so a new route needs no code for it; a route sets `Call.about` if
its path does not name the subject. Bodies and queries are never recorded: they contain questions and secrets.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.ports.users import AuditEntry
from assay.server.audit import Auditor, origin
from assay.server.gate import identity_of
from assay.server.guards import SAFE
from assay.server.metrics import route_templates
from assay.server.wire import Endpoint

UNRECORDED = frozenset(("estimate_run", "verify_text", "create_run", "follow_up", "ask_run", "fork_run"))
"""Operations that change nothing, or start runs, which are recorded where they begin."""
OTHER_ACTIONS = {
    ("DELETE", "/v1/responses/{id}"): "delete_run",
    ("POST", "/v1/responses/{id}/cancel"): "cancel_run",
    ("POST", "/login"): "log_in",
    ("POST", "/logout"): "log_out",
    ("POST", "/runs/{run}/labels"): "label_run",
    ("POST", "/runs/{run}/steer"): "steer_run",
    ("POST", "/runs/{run}/finish"): "finish_run",
    ("POST", "/runs/{run}/pause"): "pause_run",
    ("POST", "/runs/{run}/cancel"): "cancel_run",
    ("POST", "/runs/{run}/agents/{lane}/cancel"): "cancel_agent",
    ("POST", "/runs/{run}/resume"): "resume_run",
    ("POST", "/runs/{run}/answers"): "answer_run",
    ("POST", "/runs/{run}/approve"): "approve_plan",
    ("POST", "/runs/{run}/recheck"): "verify_run",
    ("POST", "/runs/{run}/delete"): "delete_run",
    ("POST", "/runs/{run}/shares"): "share_run",
    ("POST", "/runs/{run}/shares/{share}/revoke"): "revoke_share",
    ("POST", "/admin/users"): "add_user",
    ("POST", "/admin/users/{user}/role"): "change_user",
    ("POST", "/admin/users/{user}/remove"): "remove_user",
    ("POST", "/schedules"): "add_schedule",
    ("POST", "/schedules/{schedule}/remove"): "remove_schedule",
    ("POST", "/schedules/{schedule}/feed"): "open_schedule_feed",
    ("POST", "/schedules/{schedule}/feed/close"): "close_schedule_feed",
    ("POST", "/settings/tokens"): "make_token",
    ("POST", "/settings/tokens/{token}/revoke"): "revoke_token",
    ("POST", "/settings/password"): "change_password",
    ("POST", "/settings/webhooks"): "add_webhook",
    ("POST", "/settings/webhooks/{webhook}/remove"): "remove_webhook",
    ("POST", "/settings/values"): "change_settings",
    ("POST", "/settings/models/test"): "test_model",
    ("POST", "/settings/keys"): "set_key",
    ("POST", "/settings/keys/{provider}/remove"): "remove_key",
    ("POST", "/library"): "mark_collection",
    ("POST", "/library/{collection}/documents"): "upload_documents",
    ("POST", "/library/{collection}/places"): "begin_addition",
    ("POST", "/library/{collection}/sync"): "begin_addition",
    ("POST", "/library/{collection}/readers"): "mark_collection",
    ("POST", "/library/{collection}/remove"): "remove_document",
    ("POST", "/library/{collection}/drop"): "drop_collection",
}
"""Actions of other protocols and the page, with the corresponding operation."""
UNRECORDED_PATHS = frozenset(("/ask", "/estimate", "/theme", "/verify", "/runs/{run}/follow-up", "/runs/{run}/exclude"))
"""Forms of the page that change nothing, or start runs, which are recorded where they begin."""
REFUSED = frozenset((401, 403, 429))
MAX_VALUE_CHARS = 200
ABOUT, LOGIN = "about", "login"
"""Set by routes in the state of their request (`Call.about`, `Call.login`)."""


class AuditMiddleware:
    """Records requests before their responses are sent."""

    def __init__(self, app: ASGIApp, auditor: Auditor) -> None:
        self._app, self._auditor = app, auditor
        self._templates: dict[int, str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = identity_of(HTTPConnection(scope))
        caller = (identity.via if identity else "none", (scope.get("client") or ("",))[0])

        async def record_status(message: Message) -> None:
            if message["type"] == "http.response.start" and (entry := self._entry(scope, message["status"], caller)):
                await self._auditor.store_entry(entry)
            await send(message)

        token = origin.set(caller)
        try:
            await self._app(scope, receive, record_status)
        finally:
            origin.reset(token)

    def _entry(self, scope: Scope, status: int, caller: tuple[str, str]) -> AuditEntry | None:
        state, (via, address) = scope.get("state", {}), caller
        login = state.get(LOGIN)
        action = self._action(scope) if login is not None or scope["method"] not in SAFE else ""
        if not action or (status >= 400 and status not in REFUSED):
            return None
        actor, subject = str(state.get("owner", "")), str(state.get(ABOUT, ""))
        if login is not None:
            actor, via = str(login), "login"
        return AuditEntry(
            actor=actor[:MAX_VALUE_CHARS],
            action=action,
            subject=(subject or "/".join(map(str, scope.get("path_params", {}).values())))[:MAX_VALUE_CHARS],
            via=via,
            address=address,
            status=status,
        )

    def _action(self, scope: Scope) -> str:
        """The operation of a request; empty if it is not recorded."""
        endpoint = scope.get("endpoint")
        api_endpoint = getattr(endpoint, "__self__", None)
        if isinstance(api_endpoint, Endpoint):
            return (
                "" if api_endpoint.name in UNRECORDED or api_endpoint.method != scope["method"] else api_endpoint.name
            )
        if self._templates is None:
            self._templates = route_templates(scope["app"].routes)
        return OTHER_ACTIONS.get((scope["method"], self._templates.get(id(endpoint), "")), "")
