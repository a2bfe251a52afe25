"""Opens a context over a home, as in the settings, with observers of its runs: a log, a trace, both, or none."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec

from assay.app.layout import store_of
from assay.core.lazy import lazy_module
from assay.core.ports import Model, Watch
from assay.core.ports.models import Secret
from assay.services.context import Context
from assay.services.ports import Wiring
from assay.settings import Settings, tracing_patience, tracing_wanted
from assay.settings.sections import AgentSettings
from assay.store.presence import Presence

if TYPE_CHECKING:
    from assay.app import components
    from assay.services import configuration
    from assay.telemetry import watchdog
else:
    components = lazy_module("assay.app.components")
    configuration = lazy_module("assay.services.configuration")
    watchdog = lazy_module("assay.telemetry.watchdog")


SDK = "opentelemetry.sdk.trace"
DATABASES = ("postgresql://", "postgres://")


def _logs(settings: Settings) -> Watch | None:
    log = settings.log
    if log.file is None and not log.stderr:
        return None
    # Imported by name, and only here, so that it costs nothing without a log.
    logs = importlib.import_module("assay.telemetry.logs")
    watch: Watch = logs.open_logs(
        log.file, stderr=log.stderr, level=log.level, form=log.format, secrets=tuple(secrets_of(settings))
    )
    return watch


def _spans() -> Watch | None:
    """Spans, if the process traces already or OpenTelemetry's variables name a target; needs the extra."""
    is_tracing_wanted = tracing_wanted()
    if SDK not in sys.modules and not is_tracing_wanted:
        return None
    try:
        spans = importlib.import_module("assay.telemetry.spans")
    except ImportError:  # the variables are meant for other programs: the extra `otel` is not installed
        return None
    watch: Watch | None = spans.open_spans(tracing_patience(), wanted=is_tracing_wanted)
    return watch


def watch_loop(context: Context) -> None:
    """Report what blocks the running loop, if the settings say so."""
    milliseconds = context.settings.log.stalls
    if milliseconds is not None and "stalls" not in context.parts:
        loop_watchdog = watchdog.Watchdog(milliseconds / 1000, watchdog.log_stall)
        loop_watchdog.begin()
        context.parts["stalls"] = loop_watchdog
        context.ends.append(loop_watchdog.end)


def secrets_of(settings: msgspec.Struct) -> Iterator[str]:
    """Every key in the settings, to be hidden wherever it appears."""
    for name in settings.__struct_fields__:
        value = getattr(settings, name)
        for item in value.values() if isinstance(value, dict) else (value,):
            if isinstance(item, Secret):
                yield from _secret_parts(item.reveal())
            elif isinstance(item, msgspec.Struct):
                yield from secrets_of(item)


def _secret_parts(secret: str) -> Iterator[str]:
    """The parts of a secret to hide: for a database's address only the passwords, as written and decoded.

    A log with `***` instead of a whole address would not say which database could not be reached.
    """
    if not secret.startswith(DATABASES):
        yield secret
        return
    server_part, _, query = secret.partition("://")[2].partition("?")
    user = server_part.partition("/")[0].rpartition("@")[0]
    query_passwords = [
        value for name, _, value in (part.partition("=") for part in query.split("&")) if "password" in name
    ]
    passwords = [user.partition(":")[2], *query_passwords]
    yield from dict.fromkeys(form for password in passwords for form in (password, unquote(password)) if form)


def open_context(settings: Settings, home: Path | None, models: Mapping[str, Model] = {}) -> Context:
    """The context of a home. Its store is opened at once, so that problems with it are raised at once.

    Raises:
        StoreError: the store cannot be created, read or reached.
        ConfigError: a required library, or a tool that the settings name, is not installed; or the log's file cannot
            be written.
    """
    if settings.agents.tools != AgentSettings().tools:  # else there is nothing to load for it
        configuration.check_settings(settings)
    wiring: Wiring = components
    store = store_of(home, settings)
    context = Context(settings, home, store=store, wiring=wiring, presence=Presence(home), models=models)
    for watch in (_logs(settings), _spans()):
        if watch is not None:
            context.add_watch(watch)
    return context
