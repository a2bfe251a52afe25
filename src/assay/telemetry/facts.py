"""Which facts of an event a log line may hold: names, numbers and ids, and never what was read, asked or written."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core import events as e
from assay.core.events import Envelope, Event
from assay.core.ports import Fact

Level = Literal["debug", "info", "warning", "error"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a kind of event: how important it is, its fields, and those only who debugs may see."""

    level: Level
    fields: tuple[str, ...] = ()
    quoting: tuple[str, ...] = ()


LINES: dict[str, Line] = {
    e.RunResumed.kind: Line(level="info", fields=("fence",)),
    e.RunWaiting.kind: Line(level="info", fields=("topic",)),
    e.RunCompleted.kind: Line(level="info", fields=("stop_reason", "verified")),
    e.RunFailed.kind: Line(level="error", fields=("stop_reason",), quoting=("error",)),
    e.RunCancelled.kind: Line(level="info"),
    e.RunExhausted.kind: Line(level="warning", fields=("reason",)),
    e.BudgetLow.kind: Line(level="warning", fields=("measure", "used", "limit")),
    e.ControlAccepted.kind: Line(level="info", fields=("action", "id")),
    e.ControlApplied.kind: Line(level="info", fields=("action", "id", "where")),
    e.ControlRejected.kind: Line(level="warning", fields=("action", "id"), quoting=("why",)),
    e.StepRestarted.kind: Line(level="info", fields=("attempt",)),
    e.StepDiverged.kind: Line(level="warning"),
    e.AgentFailed.kind: Line(level="warning", fields=("lane",), quoting=("error",)),
    e.ToolFailed.kind: Line(level="warning", quoting=("tool", "reason")),
    e.SourceFailed.kind: Line(level="info", quoting=("url", "reason")),
    e.Warned.kind: Line(level="warning", quoting=("message",)),
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
