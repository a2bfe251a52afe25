"""The native API, `/api/v1`: everything the library can do, as typed routes."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from assay.server.api import (
    admin,
    collections,
    documents,
    events,
    jobs,
    reports,
    run_control,
    runs,
    schedules,
    system,
    users,
    webhooks,
)
from assay.server.backend import Backend, RouteGroup
from assay.server.wire import Endpoint

PREFIX = "/api/v1"

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.routes.endpoints,
    *run_control.routes.endpoints,
    *events.routes.endpoints,
    *reports.routes.endpoints,
    *runs.thread_routes.endpoints,
    *schedules.routes.endpoints,
    *jobs.routes.endpoints,
    *documents.routes.endpoints,
    *collections.routes.endpoints,
    *documents.check_routes.endpoints,
    *system.routes.endpoints,
    *users.routes.endpoints,
    *webhooks.routes.endpoints,
    *admin.routes.endpoints,
    *reports.share_routes.endpoints,
    *reports.public_routes.endpoints,
    *schedules.public.endpoints,
)


def routes(_backend: Backend) -> Sequence[BaseRoute]:
    """The routes, for the application."""
    return [each.route() for each in ENDPOINTS]


PART = RouteGroup(prefix=PREFIX, routes=routes, needs="route")
