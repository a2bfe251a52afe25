"""What an export format is, and what some formats need."""

from __future__ import annotations

from importlib.util import find_spec

from assay.core.errors import ConfigError
from assay.core.ports.exporters import Exporter as Exporter
from assay.core.ports.exporters import Record as Record


def need(module: str, package: str, extra: str) -> None:
    """Nothing, when `module` can be imported; it is looked for and not loaded.

    Raises:
        ConfigError: it is not installed; the message says how to get it.
    """
    if find_spec(module) is None:
        raise ConfigError(f"this format needs {package}; install it with: pip install 'assay[{extra}]'")
