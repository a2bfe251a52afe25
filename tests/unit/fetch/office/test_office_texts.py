"""Word, PowerPoint, OpenDocument and e-books: what of them becomes text, and where it says it stands."""

from __future__ import annotations

import datetime
import io

import docx
import pptx
import pytest
from docx.document import Document as DocxDocument
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from office_files import PARAGRAPH, ebook, open_slides, open_text, slides, word
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation

from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.office.microsoft import DocxExtractor, PptxExtractor
from assay.fetch.office.open_formats import EpubExtractor, OdpExtractor, OdtExtractor


def headings(document: Extracted) -> dict[str, tuple[str, ...]]:
    """The headings above each passage."""
    return {span.text: span.heading for span in segment(document.text, document.syntax)}


@pytest.mark.parametrize(("extractor", "data"), [(DocxExtractor(), word()), (OdtExtractor(), open_text())])
def test_a_text_keeps_its_headings_items_and_rows(extractor: DocxExtractor | OdtExtractor, data: bytes):
    (found,) = extractor.extract(data, "harbor")
    above = headings(found)
    assert found.title == "The Harbor report"
    assert next(path for text, path in above.items() if text.startswith(PARAGRAPH)) == ("Tides",)
    assert above["first item"] == ("Tides",)
    assert above["| Port: Goole | Depth: 7 m |"] == ("Tides",)
    assert above["Ships came in."] == ("Tides", "Ships")
    kinds = {span.text: span.kind for span in segment(found.text, found.syntax)}
    assert (kinds["first item"], kinds["| Port: Goole | Depth: 7 m |"]) == ("item", "row")


def test_of_slides_a_passage_says_on_which_it_stands():
    (found,) = PptxExtractor().extract(slides(), "talk.pptx")
    spans = segment(found.text, found.syntax)
    assert [span.heading for span in spans if span.text == PARAGRAPH] == [("Slide 1: Part 1",), ("Slide 2: Part 2",)]
    assert headings(found)["A note to part 2."] == ("Slide 2: Part 2", "Notes")
    assert headings(found)["| Port: Goole | Depth: 7 m |"][0] == "Slide 2: Part 2"
    assert (found.title, found.author, found.metadata["slides"]) == ("The Harbor talk", "Ada Byron", "2")


def test_what_an_empty_template_says_of_itself_is_not_said_of_a_document():
    """Both libraries write the author and the day of their own template into what is made with them."""
    written, shown = docx.Document(), pptx.Presentation()
    written.add_paragraph(PARAGRAPH)
    shown.slides.add_slide(shown.slide_layouts[5]).shapes.title.text = PARAGRAPH
    for made, extractor in ((written, DocxExtractor()), (shown, PptxExtractor())):
        (found,) = extractor.extract(saved(made), "plain")
        assert (found.author, found.published) == ("", "")
        made.core_properties.author, made.core_properties.created = "Ada Byron", datetime.datetime(2013, 12, 23, 9, 0)
        (found,) = extractor.extract(saved(made), "named")
        assert (found.author, found.published) == ("Ada Byron", "2013-12-23")


def saved(made: DocxDocument | Presentation) -> bytes:
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def test_slides_of_an_open_document():
    (found,) = OdpExtractor().extract(open_slides(), "talk.odp")
    spans = [span for span in segment(found.text, found.syntax) if span.kind == "paragraph"]
    assert [span.heading for span in spans] == [("Slide 1",), ("Slide 2",)]


def test_a_book_in_the_order_of_reading():
    (found,) = EpubExtractor().extract(ebook(), "harbor.epub")
    assert found.text.index(PARAGRAPH) < found.text.index("Ships came in.")
    assert headings(found)["Ships came in."] == ("Ships",)
    assert "Contents" not in found.text
    assert (found.title, found.author, found.language, found.published) == (
        "The Harbor book",
        "Ada Byron",
        "en",
        "1843-05-06",
    )


def word_file(*blocks: str) -> bytes:
    """A Word document with this XML in its body."""
    document = docx.Document()
    for block in blocks:
        document.element.body.insert(len(document.element.body) - 1, parse_xml(block))
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def test_tracked_changes_are_read_as_accepted():
    block = f"""<w:p {nsdecls("w")}><w:r><w:t xml:space="preserve">The tide </w:t></w:r>
        <w:del w:id="1" w:author="a"><w:r><w:delText>fell</w:delText></w:r></w:del>
        <w:ins w:id="2" w:author="a"><w:r><w:t>rose</w:t></w:r></w:ins></w:p>"""
    (found,) = DocxExtractor().extract(word_file(block), "a.docx")
    assert found.text == "The tide rose\n"


def test_content_controls_are_read():
    block = f"""<w:sdt {nsdecls("w")}><w:sdtContent><w:p><w:r><w:t>Inside a control.</w:t></w:r></w:p>
        </w:sdtContent></w:sdt>"""
    (found,) = DocxExtractor().extract(word_file(block), "a.docx")
    assert found.text == "Inside a control.\n"


def test_merged_cells_of_a_table():
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    cells = [("Year", "Port", "Depth"), ("1843", "Harwich", "12 m"), ("", "Goole", "7 m")]
    for row, texts in enumerate(cells):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    packed = io.BytesIO()
    document.save(packed)
    (found,) = DocxExtractor().extract(packed.getvalue(), "a.docx")
    assert "| Year: 1843 | Port: Goole | Depth: 7 m |" in found.text


def test_what_looks_like_a_sign_stays_text():
    (found,) = DocxExtractor().extract(word(["# no heading", "| no row |"]), "a.docx")
    kinds = [span.kind for span in segment(found.text, found.syntax) if "no " in span.text]
    assert kinds == ["paragraph", "paragraph"]


def test_a_table_in_a_cell_is_a_table_of_its_own():
    written = docx.Document()
    outer = written.add_table(rows=2, cols=2)
    for cell, words in zip(
        (each for row in outer.rows for each in row.cells), ("Part", "Tests", "Pump", ""), strict=True
    ):
        cell.text = words
    inner = outer.rows[1].cells[1].add_table(rows=3, cols=2)
    outer.rows[1].cells[0].text = "Pump"
    for row, words in zip(inner.rows, (("Fault", "Cases"), ("Leak", "14"), ("Noise", "3")), strict=True):
        row.cells[0].text, row.cells[1].text = words
    (found,) = DocxExtractor().extract(saved(written), "parts.docx")
    assert found.text.endswith("| Fault: Leak | Cases: 14 |\n| Fault: Noise | Cases: 3 |\n")
    assert found.text.count("Leak") == 1


def test_lines_with_a_name_and_a_value_are_paragraphs():
    written = docx.Document()
    written.add_paragraph("Date: 3 March 2025\nPlace: Community hall")
    written.add_paragraph("It was cold,\nPlace: unknown")
    (found,) = DocxExtractor().extract(saved(written), "minutes.docx")
    assert found.text == "Date: 3 March 2025\n\nPlace: Community hall\n\nIt was cold, Place: unknown\n"


def with_chart() -> tuple[bytes, bytes]:
    """A presentation with a chart, and a text with the same."""
    shown, written = pptx.Presentation(), docx.Document()
    slide = shown.slides.add_slide(shown.slide_layouts[5])
    slide.shapes.title.text = "Alarms"
    figures = CategoryChartData()
    figures.categories = ["May", "June"]
    figures.add_series("North", (41, 37.5))
    figures.add_series("South", (0.1 + 0.2, None))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 900_000, 900_000, figures).chart
    chart.chart_title.text_frame.text = "Alarms by region"
    part = Part(PackURI("/word/charts/chart1.xml"), "application/xml", chart.part.blob, written.part.package)
    number = written.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart")
    charts = "".join(f'<c:chart {nsdecls("c", "r")} r:id="{each}"/>' for each in (number, number, "missing"))
    drawing = f"<w:r {nsdecls('w')}><w:drawing>{charts}</w:drawing></w:r>"
    written.add_paragraph("Of the regions:")._p.append(parse_xml(drawing))
    return saved(shown), saved(written)


def test_charts_are_tables_of_their_figures():
    slides_file, text_file = with_chart()
    rows = "Alarms by region\n\n| column 1: May | North: 41 | South: 0.3 |\n| column 1: June | North: 37.5 |\n"
    (found,) = PptxExtractor().extract(slides_file, "alarms.pptx")
    assert (found.text, found.title) == (f"## Slide 1: Alarms\n\n{rows}", "Alarms")
    (found,) = DocxExtractor().extract(text_file, "alarms.docx")
    assert found.text == f"Of the regions:\n\n{rows}"


@pytest.mark.parametrize(
    ("bold", "line"), [("labels", "Start: 1 May 2025"), ("head", "| Firm: Start | Weber AG: 1 May 2025 |")]
)
def test_bold_labels_beside_their_values_are_no_head(bold: str, line: str):
    written = docx.Document()
    table = written.add_table(rows=0, cols=2)
    for label, value in (("Firm", "Weber AG"), ("Start", "1 May 2025"), ("Price", "84,000")):
        row = table.add_row()
        row.cells[0].paragraphs[0].add_run(label).bold = bold == "labels" or label == "Firm"
        row.cells[1].paragraphs[0].add_run(value).bold = bold == "head" and label == "Firm"
    (found,) = DocxExtractor().extract(saved(written), "form.docx")
    assert line in found.text
