"""The log as JSON lines."""

from __future__ import annotations

import msgspec

from assay.core.events import Envelope
from assay.export.printable import printable


def line(envelope: Envelope) -> bytes:
    """One event as a line of JSON, line end included."""
    return printable(msgspec.json.encode(envelope)) + b"\n"
