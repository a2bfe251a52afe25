"""Verdicts counted, in a line."""

from __future__ import annotations

from assay.cli.progress import counted
from assay.core.claims import VERDICTS, Summary


def summed(summary: Summary) -> str:
    """The counts in one line: `3 claims: 2 quoted, 1 unsupported`."""
    counts = ((verdict, getattr(summary, verdict)) for verdict in VERDICTS)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    return f"{counted(summary.claims, 'claim')}{': ' if said else ''}{said}"
