"""Scanned PDFs: recognises the text of page pictures with rapidocr and its included weights. The extra `ocr`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assay.core.errors import ExtractError
from assay.core.sources import READ_BY, Extracted
from assay.fetch.pdf import PACKAGE, SCAN_SECONDS
from assay.fetch.pdf.document import build_document
from assay.fetch.pdf.lines import Pdf
from assay.fetch.pdf.paragraphs import PrintedLine

MAX_PAGES = 500
MARGIN = 0.9
"""The share of its time after which it stops and keeps what it has."""
DOTS_PER_INCH = 150
"""Dots per inch: letters of 8 point print are 15 dots high, the size on which the weights were trained."""
MAX_SIDE_DOTS = 2600
"""The most dots on a page's longer side, whatever size the page claims."""
MIN_CONFIDENCE = 0.75
"""Lines with a lower confidence are left out."""


class ScannedPdfExtractor:
    """One document, like that of `PdfExtractor`; its metadata say that it was read by OCR."""

    name = "pdf-ocr/1"
    suffixes = (".pdf",)
    media_type = "application/pdf"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        until = time.monotonic() + MARGIN * SCAN_SECONDS
        with closing(Pdf(data)) as pdf:
            reader = _recogniser()
            pages: list[list[PrintedLine]] = []
            for number in range(1, min(pdf.pages, MAX_PAGES) + 1):
                if time.monotonic() > until:
                    break
                pages.append(_lines(reader, pdf, number))
            unread = pdf.pages - len(pages)
            pages += [[] for _ in range(unread)]
            document = build_document(pdf, pages, name, self.name)
            if not document.text.strip():
                page_count = f"{pdf.pages} page{'' if pdf.pages == 1 else 's'}"
                raise ExtractError(f"no text on its {page_count}, and OCR found none either")
            document.metadata[READ_BY] = f"OCR ({PACKAGE} {version(PACKAGE)})"
            yield document
        if unread:
            raise ExtractError(
                f"the last {unread} of its {pdf.pages} pages were not read: OCR stops after {MAX_PAGES} pages or "
                f"{SCAN_SECONDS / 60:g} minutes; split it"
            )


def _recogniser() -> Any:
    """Rapidocr with the weights in its package; it must never download others."""
    import rapidocr  # noqa: PLC0415 - an extra, and a second to import

    folder = Path(rapidocr.__file__).parent / "models"
    params: dict[str, Any] = {
        "Global.log_level": "critical",
        # Several documents are read concurrently, each in its own process.
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
    }
    for part in ("det", "rec", "cls"):
        weights = sorted(folder.glob(f"*_{part}_*.onnx"))
        if not weights:
            raise ExtractError(f"{PACKAGE} has no weights ({part}) in {folder}: install it anew")
        params[f"{part.title()}.model_path"] = str(weights[0])
    return rapidocr.RapidOCR(params=params)


def _lines(reader: Any, pdf: Pdf, number: int) -> list[PrintedLine]:
    """The lines in the picture of a page, in points, y upwards."""
    try:
        picture, scale = pdf.picture(number, DOTS_PER_INCH, MAX_SIDE_DOTS)
    except ExtractError:
        return []
    result = reader(picture)
    if result.boxes is None:
        return []
    height = picture.shape[0]
    return [
        _line(box, text.strip(), scale, height)
        for box, text, sure in zip(result.boxes, result.txts, result.scores, strict=True)
        if sure >= MIN_CONFIDENCE and text.strip()
    ]


def _line(box: Sequence[Sequence[float]], text: str, scale: float, height: int) -> PrintedLine:
    xs = [float(corner[0]) / scale for corner in box]
    ys = [(height - float(corner[1])) / scale for corner in box]
    hyphen = len(text) > 1 and text[-1] in "-\u2010\u00ad" and text[-2].isalpha()
    size = max(ys) - min(ys)
    return PrintedLine(
        text=text[:-1] if hyphen else text,
        left=min(xs),
        right=max(xs),
        base=min(ys) + 0.2 * size,
        size=size,
        hyphen=hyphen,
    )
