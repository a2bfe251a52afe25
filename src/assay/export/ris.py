"""The cited sources in RIS, which EndNote, Mendeley, Zotero and library catalogues read.

A record is lines of `TAG  - value`. A value is one line and cannot begin another, so text from a page can never end a
record or add a field.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.clean import one_line
from assay.core.view import RunView
from assay.export import ViewExporter
from assay.export.references import BibliographyEntry, Day, Kind, references

_TYPES: dict[Kind, str] = {
    "article-journal": "JOUR",
    "paper-conference": "CONF",
    "book": "BOOK",
    "chapter": "CHAP",
    "thesis": "THES",
    "report": "RPRT",
    "dataset": "DATA",
    "webpage": "ELEC",
    "document": "GEN",
}


def render(view: RunView) -> str:
    """One record for each cited source, in the order of their numbers; lines end with CR LF, as RIS requires."""
    return "\r\n".join(_record(reference) for reference in references(view))


def _record(reference: BibliographyEntry) -> str:
    return "".join(f"{tag}  - {one_line(value)}\r\n" for tag, value in _lines(reference) if value) + "ER  - \r\n"


def _lines(reference: BibliographyEntry) -> Iterator[tuple[str, str]]:
    yield "TY", _TYPES[reference.kind]
    yield "ID", reference.key
    yield "TI", reference.title
    for name in reference.authors:
        yield "AU", name.sort_name
    yield "T2", reference.container
    yield "PB", reference.publisher
    yield "PY", f"{reference.issued[0]:04d}" if reference.issued else ""
    yield "DA", _day(reference.issued)
    yield "DO", reference.doi
    yield "UR", reference.url.replace(";", "%3B")  # a semicolon separates two addresses
    yield "Y2", _day(reference.accessed)
    yield "N1", reference.note
    yield "N1", f"File: {reference.path}" if reference.path else ""


def _day(day: Day) -> str:
    """`YYYY/MM/DD/`, with unknown parts empty."""
    if not day:
        return ""
    year, month, of_month = (*(f"{part:02d}" for part in day), "", "")[:3]
    return f"{year.zfill(4)}/{month}/{of_month}/"


EXPORTER = ViewExporter(".ris", lambda view, _: render(view).encode())
