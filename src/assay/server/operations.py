"""Routes for operators: whether the server lives, whether it can work, which release it is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Literal

import msgspec
from starlette.responses import Response

from assay.server import api
from assay.server.backend import RouteGroup
from assay.server.gate import METRICS
from assay.server.openapi import STYLE, OpenApi, events_schema, openapi_document, render_page
from assay.server.problems import refusal
from assay.server.wire import JSON, Endpoint, Endpoints, RouteCall

routes_of = Endpoints("operation", prefix="")

LLMS = """\
# Assay

> Deep research you can check: questions over documents and the web, answered by reports whose every claim is verified
> against the passage it cites.

With users, send a token: `Authorization: Bearer assay_…`. A run is begun by `POST /api/v1/runs` with
`{"question": "…"}`, watched at its `events_url`, and read at `/api/v1/runs/{run}/report`. Errors say what to do.

## Interfaces

- [OpenAPI](/openapi.json): the HTTP API with all its types; [3.1](/openapi-3.1.json) for generators
- [Events](/events.schema.json): the JSON Schema of what happens in a run
- `/mcp`: a server of the Model Context Protocol over streamable HTTP
- `/v1`: Responses and Chat Completions as OpenAI has them; `GET /v1/models` lists depths and collections

## Routes

"""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the server; `why` says what prevents it from working."""

    status: Literal["ok", "not ready"] = "ok"
    why: str = ""


class Release(msgspec.Struct, frozen=True):
    """The release of Assay that serves."""

    version: str


class ProtectedResource(msgspec.Struct, frozen=True, kw_only=True):
    """The issuer of access tokens for this server, and how to present them (RFC 9728)."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...]
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Assay"


@routes_of.get("/.well-known/oauth-protected-resource", scope="")
async def protected_resource(call: RouteCall) -> ProtectedResource:
    """Name the provider whose access tokens are accepted, if any; MCP clients begin here."""
    oidc = call.backend.oidc
    if oidc is None or not oidc.settings.audience or not call.request.app.state.login:
        raise refusal("not-found", "this server accepts no provider's access tokens (setting server.oidc.audience)")
    return ProtectedResource(
        resource=oidc.settings.audience,
        authorization_servers=(oidc.settings.issuer,),
        scopes_supported=oidc.settings.scopes,
    )


@routes_of.get("/.well-known/oauth-protected-resource/mcp", scope="")
async def protected_mcp(call: RouteCall) -> ProtectedResource:
    """The same, at the path where clients of `/mcp` look for it."""
    return await protected_resource(call)


@routes_of.get("/livez", scope="")
async def livez(call: RouteCall) -> Health:
    """Report that the process answers."""
    return Health()


@routes_of.get("/healthz", scope="")
async def healthz(call: RouteCall) -> Health:
    """Report the same as `/livez`, under the name that older probes use."""
    return await livez(call)


@routes_of.get("/readyz", scope="")
async def readyz(call: RouteCall) -> Health:
    """Report whether the server can work: its store can be read, its worker works, and it is not stopping."""
    reason = await call.backend.not_ready_reason()
    call.status = 503 if reason else 200
    return Health(status="not ready" if reason else "ok", why=reason)


@routes_of.get(METRICS, scope="metrics", media=("text/plain", "application/openmetrics-text"))
async def metrics(call: RouteCall) -> Response:
    """Report metrics to Prometheus: requests, streams, runs, the queue, and model usage."""
    backend = call.backend
    backend.metrics.record_store(await backend.health.try_read(backend.assay.overview.counts()))
    content, media_type = backend.metrics.render(call.request.headers.get("accept", ""))
    return Response(content, headers={"Content-Type": media_type})


@routes_of.get("/version", scope="")
async def release(call: RouteCall) -> Release:
    """Report the release of Assay."""
    return Release(version("assay"))


@routes_of.get("/openapi.json", scope="", media=(JSON,))
async def openapi(call: RouteCall) -> Response:
    """Describe the API in OpenAPI 3.2."""
    return Response(_schema_document("3.2.0"), media_type=JSON)


@routes_of.get("/openapi-3.1.json", scope="", media=(JSON,))
async def openapi_for_generators(call: RouteCall) -> Response:
    """Describe the API in OpenAPI 3.1, for generators that do not support 3.2 yet."""
    return Response(_schema_document("3.1.1"), media_type=JSON)


@routes_of.get("/events.schema.json", scope="", media=("application/schema+json",))
async def events_described(call: RouteCall) -> Response:
    """Describe the events of runs in a JSON Schema."""
    return Response(_encoded_events_schema(), media_type="application/schema+json")


@routes_of.get("/llms.txt", scope="", media=("text/plain",))
async def language_models(call: RouteCall) -> Response:
    """Tell language models what this server offers and where, in the format of llmstxt.org."""
    return Response(_llms_text(), media_type="text/plain")


@routes_of.get("/docs", scope="", media=("text/html",))
async def docs(call: RouteCall) -> Response:
    """Describe the API on a page that needs no network."""
    return Response(render_page(openapi_document(endpoints())), media_type="text/html")


@routes_of.get("/docs.css", scope="", media=("text/css",))
async def docs_style(call: RouteCall) -> Response:
    """The style of that page."""
    return Response(STYLE, media_type="text/css")


@cache
def _schema_document(edition: OpenApi) -> bytes:
    return msgspec.json.encode(openapi_document(endpoints(), edition))


@cache
def _encoded_events_schema() -> bytes:
    return msgspec.json.encode(events_schema())


@cache
def _llms_text() -> str:
    lines = [
        f"- {endpoint.method} {endpoint.path}: {endpoint.docstring_parts[0]}"
        for endpoint in endpoints()
        if endpoint.path.startswith("/api/")
    ]
    return LLMS + "\n".join(lines) + "\n"


def endpoints() -> tuple[Endpoint, ...]:
    """All typed routes of the server."""
    return (*routes_of.endpoints, *api.ENDPOINTS)


PART = RouteGroup(
    prefix=METRICS, routes=lambda _: [endpoint.route() for endpoint in routes_of.endpoints], needs="route"
)
"""The rights for the gate: all routes but this one are open to anybody."""
