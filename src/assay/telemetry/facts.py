"""Which facts of an event a log line may hold: names, numbers and ids, and never what was read, asked or written."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core import events as e
from assay.core.events import Envelope, Event
from assay.core.ports import Fact

Level = Literal["debug", "info", "warning", "error"]


class EventFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a kind of event: how important it is, its fields, and those only who debugs may see."""

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
"""The kinds of events which are lines; the others are told as stretches of work, or not at all."""


def facts_of(envelope: Envelope, *, quoting: bool) -> dict[str, Fact]:
    """What a line holds of an event of one of these kinds; with `quoting` also what repeats words of others."""
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
