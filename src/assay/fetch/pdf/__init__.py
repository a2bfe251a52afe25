"""PDF: the text of its pages, by PDFium."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from assay.core.sources import Extracted

PACKAGE = "rapidocr"
SCAN_SECONDS = 600.0
"""What reading one scanned document may take."""


def reads_scans() -> bool:
    """Whether scanned pages can be read here: the extra `ocr` is installed."""
    return all(find_spec(module) is not None for module in (PACKAGE, "onnxruntime"))


class PdfExtractor:
    """One document: a paragraph a line, a blank line between paragraphs, a form feed between pages.
    Page numbers and running heads and feet are left out.

    Title, author and date come from the document's information where it has any, else the title is the first line
    or the file's name. Scanned pages have no text; nothing is recognised from pictures.
    """

    name = "pdf/3"
    suffixes = (".pdf",)
    media_type = "application/pdf"
    isolated = True
    scans = "assay.fetch.pdf.recognition:ScannedPdfExtractor"
    """What reads a document which raises `NoLetters`, where its libraries are installed."""

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """One document.

        Raises:
            ExtractError: encrypted, damaged, or without text; or, after the document, pages which could not be read.
        """
        # A tenth of a second to import, and only the process which reads PDFs needs it.
        from assay.fetch.pdf.document import read  # noqa: PLC0415

        return read(data, name, self.name)
