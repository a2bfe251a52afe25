"""The protocol of an export format, and a check of its optional dependency."""

from __future__ import annotations

from importlib.util import find_spec

from assay.core.errors import ConfigError
from assay.core.ports.exporters import Exporter as Exporter
from assay.core.ports.exporters import Record as Record


def need(module: str, package: str, extra: str) -> None:
    """Make sure that `module` can be imported, without loading it.

    Raises:
        ConfigError: it is not installed; the message says how to get it.
    """
    if find_spec(module) is None:
        raise ConfigError(f"this format needs {package}; install it with: pip install 'assay[{extra}]'")
