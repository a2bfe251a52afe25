"""What every extractor keeps, ours and a user's alike: run over all that are installed with the project."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from office_files import book, ebook, open_sheet, open_slides, open_text, slides, word
from pdfs import column, pdf
from sampling import scaled

from assay.core.errors import ExtractError
from assay.core.ports import Extractor
from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.html import HtmlExtractor
from assay.fetch.mail import EmlExtractor, MboxExtractor
from assay.fetch.office.microsoft import DocxExtractor, PptxExtractor
from assay.fetch.office.open_formats import EpubExtractor, OdpExtractor, OdtExtractor
from assay.fetch.office.xlsx import OdsExtractor, XlsExtractor, XlsxExtractor
from assay.fetch.pdf import PdfExtractor
from assay.fetch.text import CodeExtractor, CsvExtractor, JsonLinesExtractor, MarkdownExtractor, TextExtractor

ALL: tuple[Extractor, ...] = (
    TextExtractor(),
    MarkdownExtractor(),
    HtmlExtractor(),
    JsonLinesExtractor(),
    CodeExtractor(),
    CsvExtractor(),
    PdfExtractor(),
    DocxExtractor(),
    PptxExtractor(),
    XlsxExtractor(),
    XlsExtractor(),
    OdtExtractor(),
    OdpExtractor(),
    OdsExtractor(),
    EpubExtractor(),
    EmlExtractor(),
    MboxExtractor(),
)
WORDS = ("Grüße", "книги", "图书馆", "図書館", "مكتبة", "\U0001f468\u200d\U0001f469", "e\u0301te\u0301", "plain")
TEXT = "\n\n".join(f"A paragraph about {word} which goes on for a while." for word in WORDS)


MESSAGE = f"From: a@example.org\nSubject: A title\nContent-Type: text/plain; charset=utf-8\n\n{TEXT}\n".encode()
PACKED: dict[str, Callable[[], bytes]] = {
    ".docx": lambda: word(TEXT.split("\n\n")),
    ".pptx": lambda: slides(1, TEXT.replace("\n\n", " ")),
    ".xlsx": lambda: book({"S": [["name", "text"], *(["x", part] for part in TEXT.split("\n\n"))]}),
    ".xls": lambda: book({"S": [["name", "text"], *(["x", part] for part in TEXT.split("\n\n"))]}),
    ".odt": lambda: open_text(TEXT),
    ".odp": lambda: open_slides(TEXT),
    ".ods": lambda: open_sheet([("name", "text"), *(("x", part) for part in TEXT.split("\n\n"))]),
    ".epub": lambda: ebook(TEXT),
    ".eml": lambda: MESSAGE,
    ".mbox": lambda: b"From someone\n" + MESSAGE,
}


def sample(extractor: Extractor) -> bytes:
    if ".jsonl" in extractor.suffixes:
        return json.dumps({"text": TEXT, "title": "A title"}).encode()
    if ".html" in extractor.suffixes:
        return f"<html><head><title>A title</title></head><body><p>{TEXT}</p></body></html>".encode()
    if ".csv" in extractor.suffixes:
        return b"name,text\n" + "".join(f'x,"{part}"\n' for part in TEXT.split("\n\n")).encode()
    if ".pdf" in extractor.suffixes:
        return pdf([column("A paragraph about plain words.", "", "And another one.")])
    made = PACKED.get(extractor.suffixes[0])
    return TEXT.encode() if made is None else made()


def read(extractor: Extractor, data: bytes) -> list[Extracted]:
    """What comes before an ExtractError; any other error is a bug."""
    found: list[Extracted] = []
    try:
        found.extend(extractor.extract(data, "sample"))
    except ExtractError:
        return found
    return found


@pytest.fixture(params=ALL, ids=lambda extractor: extractor.name)
def extractor(request: pytest.FixtureRequest) -> Extractor:
    found: Extractor = request.param
    return found


def test_names_and_suffixes(extractor: Extractor) -> None:
    name, _, version = extractor.name.partition("/")
    assert name
    assert version.isdigit()
    assert extractor.suffixes
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in extractor.suffixes)
    assert "/" in extractor.media_type
    assert isinstance(extractor.isolated, bool)


def test_no_two_claim_a_suffix() -> None:
    suffixes = [suffix for extractor in ALL for suffix in extractor.suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_every_word_comes_through(extractor: Extractor) -> None:
    (found,) = extractor.extract(sample(extractor), "sample")
    assert all(word in found.text for word in (WORDS if extractor.media_type != "application/pdf" else ("plain",)))
    assert found.extractor == extractor.name
    assert found.title


def test_the_same_bytes_give_the_same_text(extractor: Extractor) -> None:
    assert read(extractor, sample(extractor)) == read(extractor, sample(extractor))


def test_binary_is_refused(extractor: Extractor) -> None:
    with pytest.raises(ExtractError):
        list(extractor.extract(b"\x7fELF\x02\x01\0\0\0\0" * 50, "program"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=scaled(60))
@given(data=st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode(errors="replace")))
def test_any_bytes_are_text_or_refused(extractor: Extractor, data: bytes) -> None:
    for packed in (data, gzip.compress(data)):
        for found in read(extractor, packed):
            text = found.text.encode()
            assert b"\0" not in text
            for span in segment(found.text, found.syntax):
                assert text[span.start : span.end].decode() == span.text
            for value in (found.title, found.url, found.name, found.author, *found.metadata.values()):
                value.encode()
