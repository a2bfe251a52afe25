"""Export formats: functions of a run's view."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.core.view import RunView


class ViewExporter(msgspec.Struct, frozen=True):
    """A format that needs nothing but the view of a run; `write` makes the bytes of a file."""

    suffix: str
    write: Callable[[RunView, CitationMode], bytes]

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """Render the report of a run, as far as it is written."""
        return self.write(record.view, citations)
