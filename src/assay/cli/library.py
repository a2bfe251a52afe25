"""How commands get at the library: nothing but `assay.Assay`."""

from __future__ import annotations

from pathlib import Path

from assay import Assay, settings


def opened(home: Path | None, configured: settings.Settings | None = None) -> Assay:
    """Assay over the home the command names, or the settings do; an async context manager.

    Raises:
        ConfigError: the settings cannot be read.
    """
    configured = configured or settings.load()
    return Assay(configured, home=home or configured.home)
