"""PDF: the text of its pages, by PDFium."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from assay.core.sources import Extracted

PACKAGE = "rapidocr"
SCAN_SECONDS = 600.0
"""The time limit for reading one scanned document."""


def reads_scans() -> bool:
    """True if scanned pages can be read: the extra `ocr` is installed."""
    return all(find_spec(module) is not None for module in (PACKAGE, "onnxruntime"))


class PdfExtractor:
    """One document: one line per paragraph, a blank line between paragraphs, a form feed between pages. Page numbers
    and running heads and feet are omitted.

    Title, author and date come from the document's information if it has any; else the title is the first line or the
    file's name. Scanned pages have no text, because nothing is recognised from pictures.
    """

    name = "pdf/7"
    suffixes = (".pdf",)
    media_type = "application/pdf"
    isolated = True
    scans = "assay.fetch.pdf.recognition:ScannedPdfExtractor"
    """The extractor for documents that raise `NoLetters`, if its libraries are installed."""

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        # The import takes a tenth of a second, and only a process that reads PDFs needs it.
        from assay.fetch.pdf.document import read  # noqa: PLC0415

        return read(data, name, self.name)
