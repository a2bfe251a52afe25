"""The native API, `/api/v1`: everything the library can do, as typed routes."""

from __future__ import annotations

from assay.server.api import (
    admin,
    automation,
    collections,
    documents,
    events,
    reports,
    run_control,
    runs,
    system,
    users,
)
from assay.server.backend import RouteGroup
from assay.server.wire import Endpoint

PREFIX = "/api/v1"

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.routes.endpoints,
    *run_control.routes.endpoints,
    *events.routes.endpoints,
    *reports.routes.endpoints,
    *runs.thread_routes.endpoints,
    *automation.schedule_routes.endpoints,
    *automation.job_routes.endpoints,
    *documents.routes.endpoints,
    *collections.routes.endpoints,
    *documents.check_routes.endpoints,
    *system.routes.endpoints,
    *users.routes.endpoints,
    *automation.webhook_routes.endpoints,
    *admin.routes.endpoints,
    *reports.share_routes.endpoints,
    *reports.public_routes.endpoints,
    *automation.feed_routes.endpoints,
)


PART = RouteGroup(prefix=PREFIX, routes=lambda _: [endpoint.route() for endpoint in ENDPOINTS], needs="route")
