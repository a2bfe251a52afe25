"""Runs as OpenTelemetry spans: run, phase, lane, model call, tool call. Needs the extra `otel`.

Where the process has a tracer provider, spans go there. Else one is made, after OpenTelemetry's own variables
(OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, Status, StatusCode

from assay import telemetry
from assay.core.events import Envelope
from assay.core.ports import Fact, SpanKind, WatchedSpan

MAX_ATTRIBUTE_CHARS = 300
"""Code points of an attribute."""


class Spans:
    """Implements `core.ports.Watch` as spans."""

    def __init__(self, provider: trace.TracerProvider, *, owns_provider: bool = False) -> None:
        """`owns_provider`: the provider is ours, and shut down with us."""
        self._provider = provider if owns_provider else None
        self._tracer = provider.get_tracer(telemetry.SCOPE)

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """A span from that moment on, a child of the one it lies in; a run's is one of whatever the process is in."""
        parent = trace.set_span_in_context(parent_span.span) if isinstance(parent_span, _OpenSpan) else None
        of_kind = trace.SpanKind.CLIENT if kind == "model" else trace.SpanKind.INTERNAL
        span = self._tracer.start_span(telemetry.span_name(kind, name), parent, of_kind, start_time=started_at)
        span.set_attributes(_attributes(facts) | _span_attributes(kind, name))
        return _OpenSpan(span)

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        """Events are no spans: who wants them reads the run's log."""

    def close(self) -> None:
        """Send what waits."""
        if isinstance(self._provider, TracerProvider):
            self._provider.shutdown()


class _OpenSpan:
    """A span which was begun."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """With what is known at the end."""
        self.span.set_attributes(_attributes(facts))
        if error:
            self.span.set_attribute(telemetry.ERROR, error)
            self.span.set_status(Status(StatusCode.ERROR, error))
        self.span.end()


def _attributes(facts: Mapping[str, Fact]) -> dict[str, Fact | list[str]]:
    attributes: dict[str, Fact | list[str]] = {}
    for fact, value in facts.items():
        name = telemetry.ATTRIBUTES.get(fact)
        if name is not None:
            short = value[:MAX_ATTRIBUTE_CHARS] if isinstance(value, str) else value
            attributes[name] = [str(short)] if name in telemetry.LIST_ATTRIBUTES else short
    return attributes


def _span_attributes(kind: SpanKind, name: str) -> dict[str, Fact | list[str]]:
    attributes: dict[str, Fact | list[str]] = {}
    if kind in telemetry.OPERATIONS:
        attributes[telemetry.OPERATION] = telemetry.OPERATIONS[kind]
    if kind in telemetry.NAME_ATTRIBUTES:
        attributes[telemetry.NAME_ATTRIBUTES[kind]] = name
    if kind == "model":
        attributes[telemetry.PROVIDER] = telemetry.provider(name)
    return attributes


def _resource() -> Resource:
    """Who sends spans: as OpenTelemetry's variables have it, else by our name."""
    resource = Resource.create()
    nameless = str(resource.attributes[SERVICE_NAME]).startswith("unknown_service")
    return resource.merge(Resource({SERVICE_NAME: telemetry.SCOPE})) if nameless else resource


def open_spans(patience: float | None, *, wanted: bool) -> Spans | None:
    """Spans for the provider the process has, else for one which sends them as OpenTelemetry's variables say.

    Where these do not want any, None: a library may have loaded the SDK, and nobody traces. `patience` is how many
    seconds a collector may take, None: as the variables say.
    """
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        return Spans(provider)
    if not wanted:
        return None
    own_provider = TracerProvider(resource=_resource())
    own_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=patience)))
    return Spans(own_provider, owns_provider=True)
