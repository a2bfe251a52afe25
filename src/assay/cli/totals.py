"""Verdicts and relevance counted, in a line."""

from __future__ import annotations

from assay.cli.progress import counted
from assay.core.claims import RELEVANT, VERDICTS, Summary


def summed(summary: Summary) -> str:
    """The counts in one line: `3 claims: 2 quoted, 1 unsupported; 1 answering the question, 2 related`."""
    counts = ((verdict, getattr(summary, verdict)) for verdict in VERDICTS)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    return f"{counted(summary.claims, 'claim')}{': ' if said else ''}{said}{answering(summary)}"


def answering(summary: Summary) -> str:
    """`; 2 answer the question, 1 related`: how far the claims answer it, nothing where that was not judged."""
    found = ((name, getattr(summary, name)) for name in RELEVANT)
    said = ", ".join(f"{count} {_ANSWERING[name]}" for name, count in found if count)
    return f"; {said}" if said else ""


_ANSWERING = {"answers": "answering the question", "related": "related", "unrelated": "not related"}
