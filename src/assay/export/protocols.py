"""What an export format is."""

from __future__ import annotations

from typing import Protocol

from assay.core.markers import CitationMode
from assay.core.view import RunView


class Exporter(Protocol):
    """A format; its entry point in the group `assay.exporters` is named by its suffix."""

    @property
    def suffix(self) -> str:
        """The end of the file names it writes, in lower case (".md")."""
        ...

    def render(self, view: RunView, citations: CitationMode = "numbers") -> bytes:
        """The report of a run, as far as it is written, as the bytes of a file."""
        ...
