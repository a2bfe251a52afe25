"""What some formats need and Assay does not bring by itself."""

from __future__ import annotations

from importlib.util import find_spec

from assay.core.errors import ConfigError


def need(module: str, package: str, extra: str) -> None:
    """Nothing, when `module` can be imported; it is looked for and not loaded.

    Raises:
        ConfigError: it is not installed; the message says how to get it.
    """
    if find_spec(module) is None:
        raise ConfigError(f"this format needs {package}; install it with: pip install 'assay[{extra}]'")
