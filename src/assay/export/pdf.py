"""The report as a PDF, set by typst from a fixed template.

No part of a report enters the template's source: the template gets it as JSON, and treats it as plain text. Times are
the run's, so the same run gives the same bytes with the same release of typst and the same fonts.
"""

from __future__ import annotations

import unicodedata
from importlib.resources import files

import msgspec

from assay.core.errors import StoreError
from assay.core.lazy import require_extra
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.export.paper import Paper, read_paper

TEMPLATE = "report.typ"
_FIRST_RARE = "\u0530"  # typst includes fonts with Latin, Greek and Cyrillic letters
_MAX_RARE_SIGNS = 2_000


def render(paper: Paper) -> bytes:
    """The bytes of a PDF.

    Raises:
        ConfigError: typst is not installed.
        StoreError: typst cannot set this report; the message is its own.
    """
    require_extra("typst", "typst", "pdf")
    import typst  # noqa: PLC0415 - an optional extra

    template = files("assay.export").joinpath(TEMPLATE).read_bytes()
    try:
        pdf: bytes = typst.compile(template, format="pdf", sys_inputs=_inputs(paper))
    except typst.TypstError as error:
        raise StoreError(f"typst cannot set this report ({error.message}): export it as .html or .docx") from error
    return pdf


def _inputs(paper: Paper) -> dict[str, str]:
    """The input of the template: the paper, its time in parts, and the characters that fonts may lack."""
    data = msgspec.json.encode(paper).decode()
    rare = sorted({sign for sign in data if sign >= _FIRST_RARE and unicodedata.category(sign)[0] in "LNS"})
    return {"paper": data, "made": f"{paper.made:%Y %m %d %H %M %S}", "signs": "\n".join(rare[:_MAX_RARE_SIGNS])}


class PdfExporter:
    """Writes `.pdf` files."""

    suffix = ".pdf"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """The report with an outline and page numbers; every citation links to its source and quotes.

        Raises:
            ConfigError: typst is not installed.
            StoreError: typst cannot set this report.
        """
        return render(read_paper(record.view, citations))

    def ready(self) -> None:
        """Raise ConfigError if typst is not installed."""
        require_extra("typst", "typst", "pdf")


EXPORTER = PdfExporter()
