"""Showing a report in the browser of this machine."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

from assay import Assay, settings
from assay.cli.files import save
from assay.cli.terminal import say
from assay.core.markers import CitationMode


async def page(assay: Assay, reference: str, citations: CitationMode) -> Path:
    """A run's report as one HTML file, in a folder which only this user may read and the system clears in time.

    Raises:
        UnknownName: no such run.
        StoreError: it cannot be written.
    """
    view = await assay.view(reference)
    path = Path(tempfile.mkdtemp(prefix="assay-")) / f"{view.run_id}.html"
    save(path, await assay.export(view.run_id, ".html", citations))
    return path


def show(path: Path) -> None:
    """Open a page; where there is no browser, say so."""
    if not settings.surroundings().interactive or not webbrowser.open(path.as_uri()):
        say(f"no browser to open {path} in")
