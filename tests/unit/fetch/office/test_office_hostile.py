"""Documents made to harm, and those which cannot be read: a reason each, nothing else."""

from __future__ import annotations

import io
import zipfile

import pytest
from hostile_files import packed
from hypothesis import given, settings
from hypothesis import strategies as st
from office_files import TABLE, book, changed, ebook, open_sheet, open_text, slides, word
from sampling import scaled

from assay.core.errors import ExtractError
from assay.core.ports import Extractor
from assay.fetch.office import package
from assay.fetch.office.microsoft import DocxExtractor, PptxExtractor
from assay.fetch.office.open_formats import EpubExtractor, OdtExtractor
from assay.fetch.office.xlsx import OdsExtractor, XlsExtractor, XlsxExtractor
from assay.fetch.workers import Workers

FILES: list[tuple[Extractor, bytes, str]] = [
    (DocxExtractor(), word(), "word/document.xml"),
    (PptxExtractor(), slides(), "ppt/slides/slide1.xml"),
    (XlsxExtractor(), book({"S": TABLE}), "xl/worksheets/sheet1.xml"),
    (OdtExtractor(), open_text(), "content.xml"),
    (OdsExtractor(), open_sheet(), "content.xml"),
    (EpubExtractor(), ebook(), "OEBPS/book.opf"),
]
LAUGHS = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><l>&b;</l>'
FILE = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY f SYSTEM "file:///etc/passwd">]><l>&f;</l>'
each_file = pytest.mark.parametrize(("extractor", "data", "part"), FILES, ids=[each.name for each, _, _ in FILES])


@each_file
@pytest.mark.parametrize("text", [LAUGHS, FILE])
def test_entities_are_refused(extractor: Extractor, data: bytes, part: str, text: str):
    with pytest.raises(ExtractError, match="entities"):
        list(extractor.extract(changed(data, {part: text}), "x"))


@each_file
def test_what_unpacks_to_too_much_is_refused(extractor: Extractor, data: bytes, part: str):
    bomb = changed(data, {"bomb.bin": b"\0" * (package.RATIO_FROM + 1)})
    assert len(bomb) < package.RATIO_FROM / package.MAX_RATIO
    with pytest.raises(ExtractError, match="unpacks to more"):
        list(extractor.extract(bomb, "x"))


@each_file
def test_macros_and_what_else_is_packed_with_it_change_nothing(extractor: Extractor, data: bytes, part: str):
    more = changed(data, {"word/vbaProject.bin": b"Sub AutoOpen()", "../../outside.txt": "x"})
    assert [each.text for each in extractor.extract(more, "x")] == [each.text for each in extractor.extract(data, "x")]


@each_file
def test_locked_damaged_and_foreign_files_have_a_reason(extractor: Extractor, data: bytes, part: str):
    for bad in (package.OLE + b"\0" * 600, data[: len(data) // 2], packed({"a.txt": "no document"}), b"plain text"):
        with pytest.raises(ExtractError) as caught:
            list(extractor.extract(bad, "x"))
        assert str(caught.value)


@each_file
@settings(max_examples=scaled(8), deadline=None)
@given(at=st.floats(0, 1), junk=st.binary(min_size=1, max_size=40))
def test_a_damaged_part_gives_text_or_a_reason(extractor: Extractor, data: bytes, part: str, at: float, junk: bytes):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        whole = archive.read(part)
    place = int(at * len(whole))
    bad = changed(data, {part: whole[:place] + junk + whole[place + len(junk) :]})
    try:
        found = list(extractor.extract(bad, "x"))
    except ExtractError:
        return
    assert all(each.text for each in found)


def test_a_sheet_which_repeats_itself_without_end_costs_itself_alone():
    cell = '<table:table-cell table:number-columns-repeated="16000"><text:p>x</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>'
    content = (
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="S">{row}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    workers = Workers(1, seconds=10, memory=600 * 1024 * 1024)
    try:
        isolated = workers.isolate(OdsExtractor())
        with pytest.raises(ExtractError):
            list(isolated.extract(changed(open_sheet(), {"content.xml": content}), "bomb.ods"))
        assert [each.title for each in isolated.extract(open_sheet(), "fine.ods")] == ["fine.ods"]
    finally:
        workers.close()


def test_the_warning_names_the_extra():
    with pytest.raises(ExtractError, match=r"pip install 'assay\[office\]'"):
        package.require_module("no_such_module_at_all", "python-none")


def test_an_old_workbook_is_opened_as_one():
    with pytest.raises(ExtractError, match="damaged"):
        list(XlsExtractor().extract(package.OLE + b"\0" * 600, "x.xls"))
