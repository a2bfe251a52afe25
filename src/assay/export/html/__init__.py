"""The report as one self-contained HTML page: it needs no network, no server, and no script for reading."""

from __future__ import annotations

from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.core.view import RunView
from assay.export.html.markup import gather
from assay.export.html.page import page
from assay.export.report_parts import spoken_in
from assay.locale import speaking


def render(view: RunView, *, citations: CitationMode = "numbers") -> str:
    """The report of a run as a page, the same text for the same view.

    All text is escaped; links lead to http and https only, and nothing is loaded (a content security policy says so).
    `citations`: `numbers` (and `footnotes`) and `markers` are links to the quotes, `links` show the source's title
    instead, `none` leaves the citations out of the text.
    """
    with speaking(spoken_in(view)):
        return page(gather(view, citations))


class HtmlExporter:
    """Writes `.html` files."""

    suffix = ".html"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """As `render` of this module, in UTF-8."""
        return render(record.view, citations=citations).encode()


EXPORTER = HtmlExporter()
