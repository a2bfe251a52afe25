"""The report as a Word document (Office Open XML), by python-docx.

Citations are links to bookmarks in the list of sources: python-docx writes no footnotes, and one number may occur in
many places, which Word footnotes do not allow.
"""

from __future__ import annotations

from assay.core.lazy import require_extra
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.export.paper import read_paper


class DocxExporter:
    """Writes `.docx` files; the same bytes for the same run and release of python-docx."""

    suffix = ".docx"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """The report with headings, lists, tables and links; its sources have their quotes.

        Raises:
            ConfigError: python-docx is not installed.
        """
        self.ready()
        from assay.export.word import write_docx  # noqa: PLC0415 - an optional extra

        return write_docx(read_paper(record.view, citations))

    def ready(self) -> None:
        """Raise ConfigError if python-docx is not installed."""
        require_extra("docx", "python-docx", "docx")


EXPORTER = DocxExporter()
