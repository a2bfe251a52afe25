"""`report.json`, and the log as JSON lines, in a form that is safe to print on a terminal."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

from assay.core.events import Envelope
from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.report import build_report
from assay.core.view import RunView
from assay.export import ViewExporter

# JSON for terminals: control characters, and characters that reorder text, are written as escapes.

_UNPRINTABLE = regex(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c")


def escape_unprintable(json: bytes) -> bytes:
    """The same JSON with DEL, C1 and bidi controls as escapes of four digits (other controls always are)."""
    return _UNPRINTABLE.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), json)


SCHEMA_FILE = "schemas/assay.report-1.json"


def render(view: RunView, *, citations: CitationMode = "numbers") -> bytes:
    """The report as indented JSON with a final line end, the same bytes for the same log."""
    report = build_report(view, citations)
    data = msgspec.json.encode(report, order="deterministic")
    return escape_unprintable(msgspec.json.format(data, indent=2)) + b"\n"


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of every `report.json` of this release."""
    text = files("assay.export").joinpath(SCHEMA_FILE).read_bytes()
    return msgspec.json.decode(text, type=dict[str, Any])


EXPORTER = ViewExporter(".json", lambda view, citations: render(view, citations=citations))


# The log as JSON lines.


def event_line(envelope: Envelope) -> bytes:
    """One event as a line of JSON, with its line end."""
    return escape_unprintable(msgspec.json.encode(envelope)) + b"\n"
