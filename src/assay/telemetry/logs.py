"""Lines of a log, with structlog: what runs do, by name and number. Nothing ever goes to stdout.

Structlog is not configured globally, since the process may have its own configuration.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import structlog

from assay.core import events as e
from assay.core.errors import ConfigError
from assay.core.events import Envelope, Event
from assay.core.ports import Fact, SpanKind, WatchedSpan

MAX_VALUE_CHARS = 300
"""Code points of a value; a longer one is cut."""
HIDDEN = "***"
PACKAGE = logging.getLogger("assay")
"""What all loggers of the package pass their records to."""
LOUD: tuple[SpanKind, ...] = ("run", "phase", "lane")
"""Spans whose beginning is logged at `info`."""


# The facts of an event that a log line may contain: names, numbers and ids; never content.

Level = Literal["debug", "info", "warning", "error"]


class EventFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The log line of a kind of event: its level, its fields, and those only for debugging."""

    level: Level
    fields: tuple[str, ...] = ()
    debug_fields: tuple[str, ...] = ()


LINES: dict[str, EventFacts] = {
    e.RunResumed.kind: EventFacts(level="info", fields=("fence",)),
    e.RunWaiting.kind: EventFacts(level="info", fields=("topic",)),
    e.RunCompleted.kind: EventFacts(level="info", fields=("stop_reason", "verified")),
    e.RunFailed.kind: EventFacts(level="error", fields=("stop_reason",), debug_fields=("error",)),
    e.RunCancelled.kind: EventFacts(level="info"),
    e.RunExhausted.kind: EventFacts(level="warning", fields=("reason",)),
    e.BudgetLow.kind: EventFacts(level="warning", fields=("measure", "used", "limit")),
    e.ControlAccepted.kind: EventFacts(level="info", fields=("action", "id")),
    e.ControlApplied.kind: EventFacts(level="info", fields=("action", "id", "where")),
    e.ControlRejected.kind: EventFacts(level="warning", fields=("action", "id"), debug_fields=("why",)),
    e.StepRestarted.kind: EventFacts(level="info", fields=("attempt",)),
    e.StepDiverged.kind: EventFacts(level="warning"),
    e.AgentFailed.kind: EventFacts(level="warning", fields=("lane",), debug_fields=("error",)),
    e.ToolFailed.kind: EventFacts(level="warning", debug_fields=("tool", "reason")),
    e.SourceFailed.kind: EventFacts(level="info", debug_fields=("url", "reason")),
    e.Warned.kind: EventFacts(level="warning", debug_fields=("message",)),
}
"""The kinds of events that are logged; the others are spans, or not reported."""


def event_facts(envelope: Envelope, *, with_content: bool) -> dict[str, Fact]:
    """The fields of the log line for an event of these kinds; `with_content` adds those that repeat content."""
    event = e.decode(envelope)
    line = LINES[envelope.type]
    facts: dict[str, Fact] = {"run_id": envelope.run_id, "path": "/".join(envelope.path), "seq": envelope.seq}
    for name in (*line.fields, *(line.debug_fields if with_content else ())):
        value = _field_fact(event, name)
        if value != "":
            facts[name] = value
    return facts


def _field_fact(event: Event | None, name: str) -> Fact:
    value = getattr(event, name, "")
    return value if isinstance(value, str | int | float | bool) else str(value)


# The log itself.


class LogFile:
    """A file that lines are appended to; processes may share it. Once it is moved, a new one takes its place."""

    def __init__(self, path: Path) -> None:
        """Open or make it.

        Raises:
            OSError: it cannot be opened.
        """
        self.path = path
        self._lock = threading.Lock()
        self._is_torn = False
        self._handle = self._open()

    def _open(self) -> int:
        # private to its owner: it may contain users' names
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, line: str) -> None:
        """Append a line in one piece, so that those of several processes do not mix.

        Raises:
            OSError: it cannot be written, or only in part.
        """
        with self._lock:
            if self._is_moved():
                old_handle = self._handle
                self._handle = self._open()
                os.close(old_handle)
            start = "\n" if self._is_torn else ""
            data = f"{start}{line}\n".encode(errors="replace")
            count = os.write(self._handle, data)
            self._is_torn = count < len(data)
        if self._is_torn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _is_moved(self) -> bool:
        try:
            return not os.path.samestat(os.stat(self.path), os.fstat(self._handle))
        except FileNotFoundError:
            return True

    def close(self) -> None:
        os.close(self._handle)


class Sink:
    """The target of lines: a file, stderr, or both. A file that fails loses lines, and is tried again at each."""

    def __init__(self, file: Path | None, *, stderr: bool) -> None:
        """Open the file.

        Raises:
            ConfigError: it cannot be opened.
        """
        self._stderr = sys.stderr if stderr else None
        self._is_failing = False
        try:
            self._file = LogFile(file) if file is not None else None
        except OSError as error:
            raise ConfigError(
                f"log.file: {file} cannot be written ({error.strerror}): name another file, or none"
            ) from error

    def msg(self, line: str) -> None:
        if self._file is not None:
            self._append(self._file, line)
        if self._stderr is not None:
            try:
                self._stderr.write(line + "\n")  # in one piece: lines of several processes do not mix
                self._stderr.flush()
            except (OSError, ValueError):  # it is closed
                self._stderr = None

    debug = info = warning = error = msg

    def _append(self, file: LogFile, line: str) -> None:
        try:
            file.write(line)
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                warnings.warn(f"the log {file.path} cannot be written: {error.strerror}", stacklevel=2)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class Logs:
    """Implements `core.ports.Watch` as lines."""

    def __init__(
        self, sink: Sink, *, level: Level = "info", form: Literal["text", "json"] = "text", secrets: Iterable[str] = ()
    ) -> None:
        """`secrets` are hidden wherever they appear."""
        self._sink, self._with_content = sink, level == "debug"
        self.messages = Messages(self)
        self.messages.setLevel(logging.WARNING)
        as_text = structlog.processors.LogfmtRenderer(bool_as_flag=False)
        renderer = structlog.processors.JSONRenderer() if form == "json" else as_text
        logger_class = structlog.make_filtering_bound_logger(getattr(logging, level.upper()))
        self._logger = structlog.wrap_logger(
            sink,
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
                Cleaner(secrets),
                _order_fields,
                renderer,
            ],
            wrapper_class=logger_class,
        )

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        """Log the beginning of long spans."""
        line_facts = {**facts, **({} if kind == "run" else {kind if kind != "lane" else "agent": name})}
        self.line("info" if kind in LOUD else "debug", f"{kind}.started", line_facts)
        return _LoggedSpan(self, kind, started_at, line_facts)

    def observe(self, envelopes: Sequence[Envelope]) -> None:
        """Log the events of reported kinds."""
        for envelope in envelopes:
            if envelope.type in LINES:
                self.line(
                    LINES[envelope.type].level, envelope.type, event_facts(envelope, with_content=self._with_content)
                )

    def line(self, level: Level, event: str, facts: Mapping[str, Fact]) -> None:
        getattr(self._logger, level)(event, **facts)

    def close(self) -> None:
        PACKAGE.removeHandler(self.messages)
        self._sink.close()


class Messages(logging.Handler):
    """Adds to a log what the package tells `logging`: failures of requests, webhooks, schedules, workers.

    They also go where they would go without it, which is stderr unless the program has set `logging` up.
    """

    def __init__(self, logs: Logs) -> None:
        super().__init__()
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        """Log it, with the type of the exception that it reports."""
        error = record.exc_info[0] if record.exc_info else None
        facts = {"logger": record.name, "message": record.getMessage(), "error": error.__name__ if error else ""}
        self._logs.line("error" if record.levelno >= logging.ERROR else "warning", "message", facts)
        if not logging.getLogger().handlers and logging.lastResort is not None:
            logging.lastResort.handle(record)


class _LoggedSpan:
    """A span that is logged when it ends."""

    def __init__(self, logs: Logs, kind: SpanKind, began: int, facts: Mapping[str, Fact]) -> None:
        self._logs, self._kind, self._began, self._facts = logs, kind, began, facts

    def end(self, facts: Mapping[str, Fact], error: str) -> None:
        """Log its duration, and the error if there is one."""
        line_facts = {**self._facts, **facts, "seconds": round((time.time_ns() - self._began) / 1e9, 3)}
        if error:
            self._logs.line("warning", f"{self._kind}.stopped", {**line_facts, "error": error})
        else:
            self._logs.line("info", "run.left" if self._kind == "run" else f"{self._kind}.finished", line_facts)


class Cleaner:
    """A processor: values on one line, without control characters or secrets, and not too long."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    def __call__(self, _: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {name: self._clean(value) if isinstance(value, str) else value for name, value in line.items()}

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        cleaned = " ".join("".join(char if char.isprintable() else " " for char in text[: 2 * MAX_VALUE_CHARS]).split())
        return cleaned if len(cleaned) <= MAX_VALUE_CHARS else cleaned[:MAX_VALUE_CHARS] + "…"


FIRST = ("at", "level", "event", "run_id", "lane", "path")
ALWAYS = frozenset(("lane", "verified", "seconds"))
"""Fields that are logged even if they are empty."""


def _order_fields(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the same fields first in every line; leave out zero counts."""
    names = dict.fromkeys((*FIRST, *line))
    return {name: line[name] for name in names if name in line and (line[name] or name in ALWAYS)}


def open_logs(file: Path | None, *, stderr: bool, level: str, form: str, secrets: Iterable[str]) -> Logs:
    """Open a log as in the settings.

    Raises:
        ConfigError: its file cannot be written.
    """
    sink = Sink(file, stderr=stderr)
    logs = Logs(sink, level=cast("Level", level), form="json" if form == "json" else "text", secrets=secrets)
    PACKAGE.addHandler(logs.messages)
    return logs
