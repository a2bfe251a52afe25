"""The names of spans, attributes and log fields, and the facts of an event that a log line may contain."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core import events as e
from assay.core.events import Envelope, Event
from assay.core.ports import Fact, SpanKind

SCOPE = "assay"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
ERROR = "error.type"
OPERATIONS: dict[SpanKind, str] = {"lane": "invoke_agent", "model": "chat", "tool": "execute_tool"}
"""The operations in the conventions. A span's name is its operation and the called thing."""
NAMED: dict[SpanKind, str] = {
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

LISTS = frozenset(("gen_ai.response.finish_reasons",))
"""Attributes that hold a list."""


def span_name(kind: SpanKind, name: str) -> str:
    """`chat openai:gpt-5`, `execute_tool search`, `invoke_agent agent-2`, `phase write`, `assay.run`."""
    if kind == "run":
        return "assay.run"
    return f"{OPERATIONS.get(kind, kind)} {name}"


def provider(model: str) -> str:
    """The provider of a model: the part of its name before the colon."""
    return model.partition(":")[0]


# The facts of an event that a log line may contain: names, numbers and ids; never content.

Level = Literal["debug", "info", "warning", "error"]


class EventFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The log line of a kind of event: its level, its fields, and those only for debugging."""

    level: Level
    fields: tuple[str, ...] = ()
    quoting: tuple[str, ...] = ()


LINES: dict[str, EventFacts] = {
    e.RunResumed.kind: EventFacts(level="info", fields=("fence",)),
    e.RunWaiting.kind: EventFacts(level="info", fields=("topic",)),
    e.RunCompleted.kind: EventFacts(level="info", fields=("stop_reason", "verified")),
    e.RunFailed.kind: EventFacts(level="error", fields=("stop_reason",), quoting=("error",)),
    e.RunCancelled.kind: EventFacts(level="info"),
    e.RunExhausted.kind: EventFacts(level="warning", fields=("reason",)),
    e.BudgetLow.kind: EventFacts(level="warning", fields=("measure", "used", "limit")),
    e.ControlAccepted.kind: EventFacts(level="info", fields=("action", "id")),
    e.ControlApplied.kind: EventFacts(level="info", fields=("action", "id", "where")),
    e.ControlRejected.kind: EventFacts(level="warning", fields=("action", "id"), quoting=("why",)),
    e.StepRestarted.kind: EventFacts(level="info", fields=("attempt",)),
    e.StepDiverged.kind: EventFacts(level="warning"),
    e.AgentFailed.kind: EventFacts(level="warning", fields=("lane",), quoting=("error",)),
    e.ToolFailed.kind: EventFacts(level="warning", quoting=("tool", "reason")),
    e.SourceFailed.kind: EventFacts(level="info", quoting=("url", "reason")),
    e.Warned.kind: EventFacts(level="warning", quoting=("message",)),
}
"""The kinds of events that are logged; the others are spans, or not reported."""


def facts_of(envelope: Envelope, *, quoting: bool) -> dict[str, Fact]:
    """The fields of the log line for an event of these kinds; `quoting` adds those that repeat content."""
    event = e.decode(envelope)
    line = LINES[envelope.type]
    facts: dict[str, Fact] = {"run_id": envelope.run_id, "path": "/".join(envelope.path), "seq": envelope.seq}
    for name in (*line.fields, *(line.quoting if quoting else ())):
        value = _plain(event, name)
        if value != "":
            facts[name] = value
    return facts


def _plain(event: Event | None, name: str) -> Fact:
    value = getattr(event, name, "")
    return value if isinstance(value, str | int | float | bool) else str(value)
