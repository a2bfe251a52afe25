"""Lines of a log, with structlog: what runs do, by name and number. Nothing ever goes to stdout.

Structlog is not configured globally, since the process may have its own configuration.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Literal, TextIO, cast

import msgspec
import structlog

from assay.core import events as e
from assay.core.errors import ConfigError
from assay.core.events import Envelope, Event
from assay.core.ports import Fact, SpanKind, WatchedSpan

LONGEST = 300
"""Code points of a value; a longer one is cut."""
HIDDEN = "***"
LOUD: tuple[SpanKind, ...] = ("run", "phase", "lane")
"""Spans whose beginning is logged at `info`."""


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


# The log itself.


class Sink:
    """The target of lines: a file, stderr, or both. A write error is reported once, and not retried."""

    def __init__(self, file: Path | None, *, stderr: bool) -> None:
        """Open the file to append to; processes may share it.

        Raises:
            ConfigError: it cannot be opened.
        """
        self._file: TextIO | None = None
        self._stderr = sys.stderr if stderr else None
        if file is not None:
            try:
                file.touch(0o600)  # private to its owner: it may contain users' names
                self._file = file.open("a", encoding="utf-8", buffering=1)
            except OSError as error:
                raise ConfigError(
                    f"log.file: {file} cannot be written ({error.strerror}): name another file, or none"
                ) from error

    def msg(self, line: str) -> None:
        """Write one line."""
        for stream in (self._file, self._stderr):
            if stream is not None:
                self._write(stream, line)

    debug = info = warning = error = msg

    def _write(self, stream: TextIO, line: str) -> None:
        try:
            stream.write(line + "\n")  # in one piece: lines of several processes do not mix
            stream.flush()
        except (OSError, ValueError) as error:  # a full disk, or a closed stderr
            if stream is self._file:
                self._file = None
                warnings.warn(f"the log {stream.name} is not written any more: {error}", stacklevel=2)
            else:
                self._stderr = None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Logs:
    """Implements `core.ports.Watch` as lines."""

    def __init__(
        self, sink: Sink, *, level: Level = "info", form: Literal["text", "json"] = "text", secrets: Iterable[str] = ()
    ) -> None:
        """`secrets` are hidden wherever they appear."""
        self._sink, self._quoting = sink, level == "debug"
        as_text = structlog.processors.LogfmtRenderer(bool_as_flag=False)
        renderer = structlog.processors.JSONRenderer() if form == "json" else as_text
        wanted = structlog.make_filtering_bound_logger(getattr(logging, level.upper()))
        self._logger = structlog.wrap_logger(
            sink,
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
                Cleaner(secrets),
                _ordered,
                renderer,
            ],
            wrapper_class=wanted,
        )

    def begin(
        self, kind: SpanKind, name: str, at: int, within: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Log the beginning of long spans."""
        known = {**facts, **({} if kind == "run" else {kind if kind != "lane" else "agent": name})}
        self.line("info" if kind in LOUD else "debug", f"{kind}.started", known)
        return _Open(self, kind, at, known)

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        """Log the events of reported kinds."""
        for envelope in envelopes:
            if envelope.type in LINES:
                self.line(LINES[envelope.type].level, envelope.type, facts_of(envelope, quoting=self._quoting))

    def line(self, level: Level, event: str, facts: Mapping[str, Fact]) -> None:
        """One line."""
        getattr(self._logger, level)(event, **facts)

    def close(self) -> None:
        """Close the file."""
        self._sink.close()


class _Open:
    """A span that is logged when it ends."""

    def __init__(self, logs: Logs, kind: SpanKind, began: int, facts: Mapping[str, Fact]) -> None:
        self._logs, self._kind, self._began, self._facts = logs, kind, began, facts

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """Log its duration, and the error if there is one."""
        known = {**self._facts, **facts, "seconds": round((time.time_ns() - self._began) / 1e9, 3)}
        if error:
            self._logs.line("warning", f"{self._kind}.stopped", {**known, "error": error})
        else:
            self._logs.line("info", "run.left" if self._kind == "run" else f"{self._kind}.finished", known)


class Cleaner:
    """A processor: values on one line, without control characters or secrets, and not too long."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    def __call__(self, _: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {name: self._clean(value) if isinstance(value, str) else value for name, value in line.items()}

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        shown = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * LONGEST]).split())
        return shown if len(shown) <= LONGEST else shown[:LONGEST] + "…"


FIRST = ("at", "level", "event", "run_id", "lane", "path")
ALWAYS = frozenset(("lane", "verified", "seconds"))
"""Fields that are logged even if they are empty."""


def _ordered(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the same fields first in every line; leave out zero counts."""
    names = dict.fromkeys((*FIRST, *line))
    return {name: line[name] for name in names if name in line and (line[name] or name in ALWAYS)}


def open_logs(file: Path | None, *, stderr: bool, level: str, form: str, secrets: Iterable[str]) -> Logs:
    """Open a log as in the settings.

    Raises:
        ConfigError: its file cannot be written.
    """
    sink = Sink(file, stderr=stderr)
    return Logs(sink, level=cast("Level", level), form="json" if form == "json" else "text", secrets=secrets)
