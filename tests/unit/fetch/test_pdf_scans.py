"""Scanned PDFs: what reads them is an extra, and what was read says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from pdfs import column, pdf

from assay.core.errors import ExtractError, NoLetters
from assay.core.sources import READ_BY
from assay.fetch import workers
from assay.fetch.pdf import PdfExtractor, recognition
from assay.fetch.pdf.document import PAGE_BREAK
from assay.fetch.pdf.lines import Pdf
from assay.fetch.pdf.recognition import ScannedPdfExtractor

pytest.importorskip("rapidocr")
from PIL import Image

PAGES = (
    ("The lighthouse of Brest was built in 1863.", "Its lamp burned oil until 1921, and gas after-", "wards."),
    ("The keeper was paid four marks a week.", "He lived below the lamp.", "Nobody else did."),
    ("The tower is 38 metres high.", "Ships see it from 20 miles.", "It still stands."),
)
HEIGHT = 360
"""Of a page, in points."""

clean = Image.Image.copy


def worn(picture: Image.Image) -> Image.Image:
    """A page as an old scanner gives it: askew, grey, with grain."""
    grey = picture.convert("L").rotate(0.7, fillcolor=255, resample=Image.Resampling.BICUBIC)
    return Image.blend(grey, Image.effect_noise(grey.size, 60), 0.22)


def scanned(*scanners: Callable[[Image.Image], Image.Image]) -> bytes:
    """Pages of print as pictures: what a scanner makes of each. Low ones: of empty paper there is nothing to prove."""
    pages = range(len(scanners))
    lines = [[*column(*PAGES[at], top=HEIGHT - 72, step=20), (290, 40, str(at + 7))] for at in pages]
    printed = pdf(lines, height=HEIGHT)
    drawn = Pdf(printed)
    pictures = [scanners[at](Image.fromarray(drawn.picture(at + 1, 150, 2600)[0])) for at in pages]
    drawn.close()
    made = Path("scan.pdf")
    pictures[0].save(made, save_all=True, append_images=pictures[1:], resolution=150)
    return made.read_bytes()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def isolated() -> Iterator[Callable[[], object]]:
    made = workers.Workers(1)
    yield lambda: made.isolate(PdfExtractor())
    made.close()


def test_a_scan_is_read_page_by_page_in_a_worker(isolated: Callable[[], PdfExtractor]) -> None:
    """The last page is askew and has grain."""
    (document,) = isolated().extract(scanned(clean, clean, worn), "scan.pdf")
    pages = [" ".join(page.split()) for page in document.text.split(PAGE_BREAK)]
    assert pages[0].startswith("The lighthouse of Brest was built in 1863. Its lamp burned oil until 1921")
    assert pages[0].endswith("gas afterwards.")
    assert "four marks a week" in pages[1]
    assert "38 metres high" in pages[2]
    assert not any(page.endswith(number) for page, number in zip(pages[:2], "78", strict=True))
    assert document.extractor == "pdf-ocr/1"
    assert document.metadata["pages"] == "3"
    assert document.metadata[READ_BY].startswith("OCR (rapidocr ")


def test_without_the_extra_it_is_named(isolated: Callable[[], PdfExtractor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "reads_scans", lambda: False)
    with pytest.raises(
        NoLetters, match=r"no text on its 1 page \(scanned\? OCR is an extra: pip install 'assay\[ocr\]'"
    ):
        list(isolated().extract(scanned(clean), "scan.pdf"))


def sees(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """On each picture these lines are recognised; what really is, is tried above."""
    boxes = [[(10, at), (300, at), (300, at + 20), (10, at + 20)] for at in range(10, 10 + 30 * len(texts), 30)] or None
    found = SimpleNamespace(boxes=boxes, txts=texts, scores=[0.99] * len(texts))
    monkeypatch.setattr(recognition, "_recogniser", lambda: lambda _: found)


def test_pages_there_is_no_time_for_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    sees(monkeypatch, "The lighthouse of Brest was built in 1863.")
    monkeypatch.setattr(recognition, "MAX_PAGES", 1)
    documents = ScannedPdfExtractor().extract(scanned(clean, clean), "scan.pdf")
    assert "1863" in next(documents).text
    with pytest.raises(ExtractError, match="the last 1 of its 2 pages were not read"):
        next(documents)


def test_empty_pages_have_no_text_for_ocr_either(monkeypatch: pytest.MonkeyPatch) -> None:
    sees(monkeypatch)
    with pytest.raises(ExtractError, match="OCR found none either"):
        list(ScannedPdfExtractor().extract(pdf([[]]), "empty.pdf"))


def test_weights_which_are_missing_are_said_and_not_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import rapidocr

    monkeypatch.setattr(rapidocr, "__file__", str(tmp_path / "rapidocr" / "__init__.py"))
    with pytest.raises(ExtractError, match="has no weights"):
        list(ScannedPdfExtractor().extract(scanned(clean), "scan.pdf"))
