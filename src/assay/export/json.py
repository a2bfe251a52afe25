"""`report.json`: the report as data, schema `assay.report/1`."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

from assay.core.markers import CitationMode
from assay.core.report import build_report
from assay.core.view import RunView
from assay.export.printable import printable
from assay.export.protocols import Record

SCHEMA_FILE = "schemas/assay.report-1.json"


def render(view: RunView, *, citations: CitationMode = "numbers") -> bytes:
    """The report as indented JSON with a line end, the same bytes for the same log."""
    report = build_report(view, citations)
    data = msgspec.json.encode(report, order="deterministic")
    return printable(msgspec.json.format(data, indent=2)) + b"\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) which every `report.json` of this release satisfies."""
    text = files("assay.export").joinpath(SCHEMA_FILE).read_bytes()
    return msgspec.json.decode(text, type=dict[str, Any])


class JsonExporter:
    """Writes `.json` files."""

    suffix = ".json"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """As `render` of this module."""
        return render(record.view, citations=citations)


EXPORTER = JsonExporter()
