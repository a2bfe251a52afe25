"""The environment besides the settings: the terminal, the destination of traces, and needs of child
processes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import ConfigError

# Variables for the processes that read files: how to start, and nothing secret.

KEPT = frozenset(
    """
    PATH HOME LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT WINDIR
    LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH
    PYTHONHOME PYTHONPATH PYTHONUSERBASE PYTHONUTF8 PYTHONDONTWRITEBYTECODE
    """.split()
)
FAMILIES = ("LC_", "OPENBLAS_", "OMP_", "MKL_")
"""Locale, and how numerical libraries compute."""


def reader_environment() -> dict[str, str]:
    """The variables that a process needs to start and to compute as this one does."""
    return {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(FAMILIES)}


# Settings.

SECRETS = "ASSAY_SECRETS"
"""Names a folder of files that stand for variables, as Docker, Kubernetes and systemd hand over secrets."""


def environment() -> Mapping[str, str]:
    """The variables; a file in the folder of secrets stands for the variable it is called like, unless that is set.

    Raises:
        ConfigError: the folder or a file in it cannot be read.
    """
    folder = os.environ.get(SECRETS, "")
    if not folder:
        return os.environ
    return _secrets(Path(folder)) | {name: text for name, text in os.environ.items() if text}


def _secrets(folder: Path) -> dict[str, str]:
    try:
        files = [path for path in folder.iterdir() if path.is_file()]  # Kubernetes has folders of its own beside them
        return {path.name.upper(): path.read_text(encoding="utf-8", errors="replace").strip() for path in files}
    except OSError as error:
        failing_path = error.filename or folder
        raise ConfigError(
            f"{SECRETS}: {failing_path} cannot be read ({error.strerror}): check its name and permissions"
        ) from error


def variables(prefix: str) -> dict[str, str]:
    """The variables that begin with `prefix`, by the rest of their names in small letters; empty ones are left out.

    Raises:
        ConfigError: as `environment`.
    """
    start = prefix.lower()
    lowercase = ((name.lower(), text) for name, text in environment().items() if text)
    return {name.removeprefix(start): text for name, text in lowercase if name.startswith(start)}


# The terminal, and the destination of traces.

TRACING_SECONDS = 3.0
"""How long a collector that does not answer may delay the end of a process."""


@dataclass(frozen=True, slots=True)
class TerminalEnvironment:
    """The terminal according to the environment: colour allowed, questions allowed, on another machine."""

    color: bool
    interactive: bool
    remote: bool


def terminal_environment() -> TerminalEnvironment:
    """Colour unless `NO_COLOR` or a dumb terminal; questions unless `CI` or a dumb terminal; remote over SSH."""
    dumb = os.environ.get("TERM", "") == "dumb"
    ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return TerminalEnvironment(
        color=not dumb and not os.environ.get("NO_COLOR"),
        interactive=not dumb and not ci,
        remote=any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY")),
    )


def tracing_wanted() -> bool:
    """True if OpenTelemetry's variables name a destination for spans, and do not switch it off."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return os.environ.get("OTEL_TRACES_EXPORTER") == "otlp" or any(os.environ.get(name) for name in names)


def tracing_patience() -> float | None:
    """Seconds that a collector may take; None if OpenTelemetry's variable states them."""
    names = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
    return None if any(os.environ.get(name) for name in names) else TRACING_SECONDS
