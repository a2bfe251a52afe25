"""The searches of a run as a table, for people and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import msgspec

from assay.cli.tables import table
from assay.cli.terminal import clean, write
from assay.core.clean import inert
from assay.core.search_record import SearchRow, search_log
from assay.core.view import RunView

HEADS = ("query", "provider", "hits", "read", "cited", "excluded")


def write_search_log(view: RunView, *, as_csv: bool, as_json: bool) -> None:
    """Print the method of a run: what was asked of whom, and what became of what was found."""
    rows = search_log(view)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(rows)).decode())
    elif as_csv:
        write(as_text(rows).rstrip("\n"))
    else:
        table(HEADS, [_cells(row) for row in rows])


def as_text(rows: Iterable[SearchRow]) -> str:
    """CSV (RFC 4180, but with line feeds). A cell which a spreadsheet would take for a formula gets an apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(HEADS)
    for row in rows:
        writer.writerow([inert(clean(cell)) for cell in _cells(row)])
    return written.getvalue()


def _cells(row: SearchRow) -> Sequence[str]:
    excluded = "; ".join(f"{each.url} ({each.reason})" for each in row.excluded)
    counts = ("", "", "") if row.failed else (str(row.hits), str(row.read), str(row.cited))
    return (row.query, row.provider, *counts, f"no answer: {row.failed}" if row.failed else excluded)
