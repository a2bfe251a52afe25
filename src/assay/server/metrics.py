"""Metrics for Prometheus: requests, streams, runs, the queue, and model usage.

Names follow OpenTelemetry's semantic conventions, as Prometheus writes them. A label is a route's template, a status or
a model's name; never an id, a user or a question.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay import telemetry
from assay.core.events import Envelope
from assay.core.ports import Fact, RunStatus, SpanKind, WatchedSpan
from assay.core.ports.jobs import QueueDepth
from assay.server.streams import Tickets

# Model calls: tokens, seconds and money by model. Names are those of the conventions for generative AI.

MAX_MODELS = 100
"""Models with their own label; since runs may name any model, further ones share a label."""
OTHER = "_OTHER"
TOKEN_BUCKETS = tuple(4.0**power for power in range(14))
CALL_SECONDS_BUCKETS = tuple(0.01 * 2**power for power in range(14))
"""The bucket bounds that the conventions ask for."""

_MODEL = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")


class Meters:
    """Implements `core.ports.Watch`: counts the usage of this process's model calls."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._models: set[str] = set()
        self.tokens = {
            fact: Histogram(
                f"gen_ai_client_inference_operation_{fact}",
                f"{fact.replace('_', ' ').capitalize()} of one model call.",
                _MODEL,
                buckets=TOKEN_BUCKETS,
                registry=registry,
            )
            for fact in ("input_tokens", "output_tokens")
        }
        self.seconds = Histogram(
            "gen_ai_client_inference_duration_seconds",
            "Seconds of one model call; error_type says what ended it, empty for nothing.",
            (*_MODEL, "error_type"),
            buckets=CALL_SECONDS_BUCKETS,
            registry=registry,
        )
        self.usd = Counter("assay_usage_usd", "US dollars which model calls cost.", _MODEL, registry=registry)

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Only model calls are counted."""
        return _Call(self, self._model_label(name), started_at) if kind == "model" else _NOTHING

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        """Ignore events: the store knows the state of runs."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _model_label(self, model: str) -> str:
        if model not in self._models:
            if len(self._models) >= MAX_MODELS:
                return OTHER
            self._models.add(model)
        return model


class _Call:
    """A model call in progress."""

    def __init__(self, meters: Meters, model: str, began: int) -> None:
        self._meters, self._began = meters, began
        self._labels = (telemetry.OPERATIONS["model"], telemetry.provider(model), model)

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        seconds = max(time.time_ns() - self._began, 0) / 1e9
        self._meters.seconds.labels(*self._labels, error).observe(seconds)
        for fact, histogram in self._meters.tokens.items():
            if fact in facts:
                histogram.labels(*self._labels).observe(float(facts[fact]))
        if facts.get("usd"):
            self._meters.usd.labels(*self._labels).inc(float(facts["usd"]))


class _UncountedSpan:
    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """Do nothing."""


_NOTHING = _UncountedSpan()


# Requests, streams, runs, and the queue.

REQUEST_SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""The bucket bounds that the conventions ask for."""
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "QUERY"))


class Metrics:
    """The metrics of one server process; `meters` observes its runs."""

    def __init__(self, tickets: Tickets) -> None:
        self._registry = CollectorRegistry()
        self.meters = Meters(self._registry)
        self.requests = Histogram(
            "http_server_request_duration_seconds",
            "Seconds of one request, to the last byte of its answer.",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=REQUEST_SECONDS_BUCKETS,
            registry=self._registry,
        )
        self.active = Gauge(
            "http_server_active_requests",
            "Requests which are being answered.",
            ("http_request_method",),
            registry=self._registry,
        )
        self._runs = Gauge("assay_runs", "Stored runs, by how they stand.", ("status",), registry=self._registry)
        self._queue = Gauge("assay_queue_runs", "Runs in the queue, by state.", ("state",), registry=self._registry)
        self._store = Gauge("assay_store_up", "1 if the store answers, else 0.", registry=self._registry)
        streams = Gauge("assay_streams", "Streams of events which are open.", registry=self._registry)
        streams.set_function(lambda: tickets.total)
        build = Gauge("assay_build_info", "Which release runs.", ("version", "python"), registry=self._registry)
        build.labels(version("assay"), platform.python_version()).set(1)
        ProcessCollector(registry=self._registry)

    def record_store(self, figures: tuple[dict[RunStatus, int], QueueDepth] | None) -> None:
        """Record the state of the store: all its runs, whoever executes them. None: it does not answer."""
        self._store.set(figures is not None)
        if figures is None:
            self._runs.clear()
            self._queue.clear()
            return
        counts, depth = figures
        for status in get_args(RunStatus):
            self._runs.labels(status).set(counts.get(status, 0))
        for state in ("waiting", "executed", "parked"):
            self._queue.labels(state).set(getattr(depth, state))

    def render(self, accept: str) -> tuple[bytes, str]:
        """All metrics in a format that the scraper accepts, and its media type."""
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type


class MeasuredRequests:
    """Measures every request, including those refused before any route."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._templates: dict[int, str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        method = scope["method"] if scope["method"] in METHODS else OTHER

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._metrics.active.labels(method).track_inprogress():
            try:
                await self._app(scope, receive, note_status)
            finally:
                labels = (method, self._template(scope), str(status))
                self._metrics.requests.labels(*labels).observe(time.perf_counter() - began)

    def _template(self, scope: Scope) -> str:
        """The declared path of a request's route; empty if it reached none."""
        if self._templates is None:
            self._templates = route_templates(scope["app"].routes)
        return self._templates.get(id(scope.get("endpoint")), "")


def route_templates(routes: Iterable[BaseRoute]) -> dict[int, str]:
    """The declared paths of routes, by the identity of their endpoints."""
    return {id(route.endpoint): re.sub(r":\w+\}", "}", route.path) for route in routes if isinstance(route, Route)}
