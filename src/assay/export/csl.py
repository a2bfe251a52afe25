"""The cited sources as CSL-JSON (`csl-data.json` 1.0.2), for Zotero, pandoc and every CSL processor."""

from __future__ import annotations

import msgspec

from assay.core.view import RunView
from assay.export import ViewExporter
from assay.export.json import escape_unprintable
from assay.export.references import BibliographyEntry, Day, Kind, Name, references


class CslDate(msgspec.Struct, frozen=True, rename={"date_parts": "date-parts"}):
    """A date-variable with a single date, as precise as it is known."""

    date_parts: tuple[Day]


class CslItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"container": "container-title"}):
    """An item; the schema defines the names of its fields."""

    id: str
    type: Kind
    title: str
    author: tuple[Name, ...] = ()
    container: str = ""
    publisher: str = ""
    issued: CslDate | None = None
    accessed: CslDate | None = None
    DOI: str = ""
    URL: str = ""
    note: str = ""


def render(view: RunView) -> bytes:
    """A JSON array with an item for each cited source, in the order of their numbers."""
    data = msgspec.json.encode([_item(reference) for reference in references(view)])
    return escape_unprintable(msgspec.json.format(data, indent=2)) + b"\n"


def _item(reference: BibliographyEntry) -> CslItem:
    where = f"{reference.note}; {reference.path}" if reference.path else reference.note
    return CslItem(
        id=reference.key,
        type=reference.kind,
        title=reference.title,
        author=reference.authors,
        container=reference.container,
        publisher=reference.publisher,
        issued=_date(reference.issued),
        accessed=_date(reference.accessed),
        DOI=reference.doi,
        URL=reference.url,
        note=where,
    )


def _date(day: Day) -> CslDate | None:
    return CslDate(date_parts=(day,)) if day else None


EXPORTER = ViewExporter(".csl.json", lambda view, _: render(view))
