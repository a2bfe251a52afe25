"""Model calls as metrics for Prometheus: tokens, seconds and money by model. Needs the extra `server`.

Names are those of OpenTelemetry's semantic conventions for generative AI, as Prometheus writes them. Labels are names
of models and services, and nothing of any run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

from assay.core.events import Envelope
from assay.core.ports import Fact, SpanKind, WatchedSpan
from assay.telemetry import names

MOST_MODELS = 100
"""Models with their own label; since runs may name any model, further ones share a label."""
OTHER = "_OTHER"
TOKENS = tuple(4.0**power for power in range(14))
SECONDS = tuple(0.01 * 2**power for power in range(14))
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
                buckets=TOKENS,
                registry=registry,
            )
            for fact in ("input_tokens", "output_tokens")
        }
        self.seconds = Histogram(
            "gen_ai_client_inference_duration_seconds",
            "Seconds of one model call; error_type says what ended it, empty for nothing.",
            (*_MODEL, "error_type"),
            buckets=SECONDS,
            registry=registry,
        )
        self.usd = Counter("assay_usage_usd", "US dollars which model calls cost.", _MODEL, registry=registry)

    def begin(
        self, kind: SpanKind, name: str, at: int, within: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Only model calls are counted."""
        return _Call(self, self._model_label(name), at) if kind == "model" else _NOTHING

    def heard(self, envelopes: Sequence[Envelope]) -> None:
        """Ignore events: the store knows the state of runs."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _model_label(self, model: str) -> str:
        if model not in self._models:
            if len(self._models) >= MOST_MODELS:
                return OTHER
            self._models.add(model)
        return model


class _Call:
    """A model call in progress."""

    def __init__(self, meters: Meters, model: str, began: int) -> None:
        self._meters, self._began = meters, began
        self._labels = (names.OPERATIONS["model"], names.provider(model), model)

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """Count its usage."""
        seconds = max(time.time_ns() - self._began, 0) / 1e9
        self._meters.seconds.labels(*self._labels, error).observe(seconds)
        for fact, histogram in self._meters.tokens.items():
            if fact in facts:
                histogram.labels(*self._labels).observe(float(facts[fact]))
        if facts.get("usd"):
            self._meters.usd.labels(*self._labels).inc(float(facts["usd"]))


class _Nothing:
    """A span that is not counted."""

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """Do nothing."""


_NOTHING = _Nothing()
