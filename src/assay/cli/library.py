"""How commands get at the library: nothing but `assay.Assay`."""

from __future__ import annotations

from pathlib import Path

from assay import Assay, settings
from assay.app.assay import DEFAULT
from assay.core.errors import UnknownName

HOW_TO_ADD = "the library is empty: add documents with `assay docs add PATH`, or name them with `--in PATH`"


def opened(home: Path | None, configured: settings.Settings | None = None) -> Assay:
    """Assay over the home the command names, or the settings do; an async context manager.

    Raises:
        ConfigError: the settings cannot be read.
    """
    configured = configured or settings.load()
    return Assay(configured, home=home or configured.home)


async def check_collection(assay: Assay, collection: str) -> None:
    """Make sure that there is such a collection; the default one always is.

    Raises:
        UnknownName: it holds no document.
    """
    if collection != DEFAULT and not await assay.documents(collection):
        raise UnknownName("collection", collection, hint=f"(assay docs add PATH --collection {collection} makes it)")
