"""Observability: lines of a log, and spans for OpenTelemetry. Runs report to both through `core.ports.Watch`.

Here are the names of spans and attributes; neither logs nor spans are imported unless they are used.
"""

from __future__ import annotations

from assay.core.ports import SpanKind

SCOPE = "assay"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
ERROR = "error.type"
OPERATIONS: dict[SpanKind, str] = {"lane": "invoke_agent", "model": "chat", "tool": "execute_tool"}
"""The operations in the conventions. A span's name is its operation and the called thing."""
NAME_ATTRIBUTES: dict[SpanKind, str] = {
    "phase": "assay.phase",
    "lane": "gen_ai.agent.name",
    "model": "gen_ai.request.model",
    "tool": "gen_ai.tool.name",
}
"""The attribute with the name of the called thing."""
ATTRIBUTES = {
    "run_id": "assay.run.id",
    "path": "assay.path",
    "lane": "assay.lane",
    "strategy": "assay.strategy",
    "fence": "assay.fence",
    "user": "assay.user",
    "labels": "assay.labels",
    "thread": "gen_ai.conversation.id",
    "role": "assay.role",
    "task": "assay.task",
    "attempt": "assay.attempt",
    "max_tokens": "gen_ai.request.max_tokens",
    "stop": "gen_ai.response.finish_reasons",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_write.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
    "usd": "assay.usage.usd",
}
"""The attribute for each fact; facts without an entry are not reported."""

LIST_ATTRIBUTES = frozenset(("gen_ai.response.finish_reasons",))
"""Attributes that hold a list."""


def span_name(kind: SpanKind, name: str) -> str:
    """`chat openai:gpt-5`, `execute_tool search`, `invoke_agent agent-2`, `phase write`, `assay.run`."""
    if kind == "run":
        return "assay.run"
    return f"{OPERATIONS.get(kind, kind)} {name}"


def provider(model: str) -> str:
    """The provider of a model: the part of its name before the colon."""
    return model.partition(":")[0]
