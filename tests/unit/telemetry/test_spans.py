"""Spans of a run: the tree, the names, and what no span may hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from watching import PLANTED, SECRET, watched_run

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions
from opentelemetry.semconv.attributes import error_attributes

from assay import telemetry as names
from assay.services.context import WatchGroup
from assay.telemetry.spans import Spans, open_spans


async def spans(**changes: Any) -> Sequence[ReadableSpan]:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    await watched_run(WatchGroup([Spans(provider), Spans(TracerProvider())]), **changes)
    return kept.get_finished_spans()


def lineage(span: ReadableSpan, by_id: dict[int, ReadableSpan]) -> list[str]:
    """The names from the root to a span."""
    parent = by_id.get(span.parent.span_id) if span.parent else None
    return [*(lineage(parent, by_id) if parent else []), span.name]


async def test_the_tree_is_run_phase_lane_call() -> None:
    traced = await spans()
    by_id = {span.context.span_id: span for span in traced}
    trees = [lineage(span, by_id) for span in traced]
    phases = ["triage", "background", "plan", "research", "write", "verify"]
    assert sorted(tree[1] for tree in trees if len(tree) == 2) == sorted(f"phase {name}" for name in phases)
    assert ["assay.run"] in trees
    agent = ["assay.run", "phase research", "invoke_agent agent-1"]
    assert trees.count(agent) == 1
    assert [*agent, "execute_tool search"] in trees
    assert trees.count([*agent, "chat acme:large"]) == 3
    assert ["assay.run", "phase research", "chat acme:large"] in trees
    assert ["assay.run", "phase write", "chat acme:large"] in trees
    assert len({span.context.trace_id for span in traced}) == 1


async def test_a_call_says_what_the_conventions_ask() -> None:
    [*failed, done] = [span for span in await spans() if (span.attributes or {}).get("assay.task") == "write"]
    assert done.attributes is not None
    found = dict(done.attributes)
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.request.model"] == "acme:large"
    assert found["gen_ai.provider.name"] == "acme"
    assert found["gen_ai.response.finish_reasons"] == ("end",)
    assert isinstance(found["gen_ai.usage.output_tokens"], int)
    [first] = failed
    assert not first.status.is_ok
    assert (first.attributes or {})["error.type"] == "ModelError"


async def test_no_span_holds_text_or_keys() -> None:
    text = " ".join(span.to_json() for span in await spans())
    assert PLANTED not in text
    assert SECRET not in text


async def test_a_span_lasts_as_long_as_what_it_holds() -> None:
    traced = await spans()
    by_id = {span.context.span_id: span for span in traced}
    inner = [(span, by_id[span.parent.span_id]) for span in traced if span.parent]
    assert inner
    assert all((outer.start_time or 0) <= (span.start_time or 0) for span, outer in inner)
    assert all((span.end_time or 0) <= (outer.end_time or 0) for span, outer in inner)


RENAMED = ("gen_ai.usage.cache_write.input_tokens",)
"""Names of the conventions as they are developed, which the package does not have yet: there `cache_creation`."""


def test_names_are_those_of_the_conventions() -> None:
    """Every name which is not ours is one of theirs."""
    theirs = {value for name, value in vars(conventions).items() if name.startswith("GEN_AI")}
    theirs |= {error_attributes.ERROR_TYPE, *RENAMED}
    used = {*names.ATTRIBUTES.values(), *names.NAME_ATTRIBUTES.values(), names.OPERATION, names.PROVIDER, names.ERROR}
    assert {name for name in used if not name.startswith("assay.")} <= theirs
    known = {each.value for each in conventions.GenAiOperationNameValues}
    assert set(names.OPERATIONS.values()) <= known


async def test_the_span_of_a_run_says_whose_it_is() -> None:
    traced = await spans(user="ann", thread="tides", labels={"team": "sea", "case": "harbour wall"})
    (run,) = [span for span in traced if span.name == "assay.run"]
    assert run.attributes is not None
    assert run.attributes["assay.user"] == "ann"
    assert run.attributes["assay.labels"] == "case=harbour wall,team=sea"
    assert run.attributes[conventions.GEN_AI_CONVERSATION_ID] == "tides"
    others = " ".join(span.to_json() for span in traced if span is not run)
    assert not any(word in others for word in ('"ann"', "harbour wall"))


def test_where_a_library_has_loaded_the_sdk_and_nobody_traces_there_are_none() -> None:
    assert open_spans(3.0, wanted=False) is None
    asked = open_spans(3.0, wanted=True)
    assert asked is not None
    asked.close()
