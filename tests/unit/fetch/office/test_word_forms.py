"""Forms in texts of Word and OpenDocument, what is entered into their fields, and comments."""

from __future__ import annotations

import io

import docx
import odf.dc
import odf.office
import odf.style
import odf.table
import odf.text
import pytest
from docx.document import Document as DocxDocument
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given
from hypothesis import strategies as st
from odf.opendocument import OpenDocumentText

from assay.core.errors import ExtractError
from assay.fetch.office.microsoft import DocxExtractor
from assay.fetch.office.open_formats import OdtExtractor


def read(document: DocxDocument) -> list[str]:
    packed = io.BytesIO()
    document.save(packed)
    (found,) = DocxExtractor().extract(packed.getvalue(), "form.docx")
    return [line for line in found.text.splitlines() if line]


def with_block(block: str) -> DocxDocument:
    document = docx.Document()
    document.element.body.insert(0, parse_xml(block.replace(">", f" {nsdecls('w')}>", 1)))
    return document


# forms without marked labels

BERTH = [("Vessel", "Tern"), ("Owner", "Ida Aas"), ("Length", "14.6 m"), ("Remarks", "")]
PEOPLE = [("Name", "Role"), ("Ida", "cook"), ("Jon", "mate"), ("Per", "pilot")]


def table(rows: list[tuple[str, str]], style: str = "", head_fill: str = "") -> DocxDocument:
    document = docx.Document()
    written = document.add_table(rows=0, cols=2, style=style or None)
    for row in rows:
        for cell, text in zip(written.add_row().cells, row, strict=True):
            cell.text = text
    for cell in written.rows[0].cells if head_fill else ():
        cell._tc.get_or_add_tcPr().append(parse_xml(f'<w:shd {nsdecls("w")} w:fill="{head_fill}"/>'))
    return document


def test_a_table_of_labels_and_values_is_a_form() -> None:
    assert read(table(BERTH)) == ["Vessel: Tern", "Owner: Ida Aas", "Length: 14.6 m", "Remarks:"]
    assert read(table([("Name:", "Ida"), ("Role:", "cook"), ("Ship:", "Tern")]))[0] == "Name: Ida"


def test_a_long_value_stays_in_a_row() -> None:
    assert read(table([*BERTH, ("About", "word " * 80)]))[0] == "| Vessel | Tern |"


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (table(PEOPLE), "| Name: Ida | Role: cook |"),
        (table([("Port", "Depth"), ("Oster", "7 m"), ("Vik", "9 m")]), "| Port: Oster | Depth: 7 m |"),
        (table(BERTH, style="Light List"), "| Vessel: Owner | Tern: Ida Aas |"),
        (table(BERTH, head_fill="CCCCCC"), "| Vessel: Owner | Tern: Ida Aas |"),
        (table([("Year", "Ships"), ("1998", "none"), ("1999", "4")]), "| Year: 1998 | Ships: none |"),
    ],
)
def test_a_table_with_a_head_is_no_form(document: DocxDocument, line: str) -> None:
    assert line in read(document)


# content controls


def control(inside: str, name: str = "", properties: str = "") -> str:
    alias = f'<w:alias w:val="{name}"/>' if name else ""
    return f"<w:sdt><w:sdtPr>{alias}{properties}</w:sdtPr><w:sdtContent>{inside}</w:sdtContent></w:sdt>"


RUN = "<w:r><w:t>4410</w:t></w:r>"


def test_what_to_enter_is_not_what_was_entered() -> None:
    prompt = control("<w:r><w:t>Click here to enter text.</w:t></w:r>", properties="<w:showingPlcHdr/>")
    assert read(with_block(f'<w:p><w:r><w:t xml:space="preserve">Deputy: </w:t></w:r>{prompt}</w:p>')) == ["Deputy:"]
    with pytest.raises(ExtractError):
        read(
            with_block(
                f"<w:body>{control('<w:p><w:r><w:t>Enter</w:t></w:r></w:p>', properties='<w:showingPlcHdr/>')}</w:body>"
            )
        )


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (f"<w:p>{control(RUN, 'Cost centre')}</w:p>", "Cost centre: 4410"),
        (f"<w:p><w:r><w:t>Centre:</w:t></w:r>{control(RUN, 'Cost centre')}</w:p>", "Centre:4410"),
        (control(f"<w:p>{RUN}</w:p>", "Cost centre"), "Cost centre: 4410"),
        (control(f"<w:p>{RUN}</w:p><w:p>{RUN}</w:p>", "Cost centre"), "4410"),
    ],
)
def test_a_field_without_a_label_has_its_name(block: str, text: str) -> None:
    assert read(with_block(block))[0] == text


def test_rows_and_cells_in_controls_are_read() -> None:
    cell = "<w:tc><w:tcPr/><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    head = f"<w:tr>{cell.format('Port')}{cell.format('Depth')}</w:tr>"
    row = f"<w:tr>{control(cell.format('Oster'))}{cell.format('7 m')}</w:tr>"
    block = f"<w:tbl><w:tblPr/>{head}{control(row)}{row.replace('Oster', 'Vik')}</w:tbl>"
    assert read(with_block(block)) == ["| Port: Oster | Depth: 7 m |", "| Port: Vik | Depth: 7 m |"]


# comments


def test_comments_stand_below_what_they_are_on() -> None:
    document = docx.Document()
    first = document.add_paragraph("The roof costs 84,000. It leaks.").runs
    comment = document.add_comment(first, text="The roofer said 91,500.", author="Hanne Lund")
    comment._comment_elm.set(qn("w:date"), "2026-01-05T10:00:00Z")
    document.add_paragraph("It is done in May.")
    cell = document.add_table(rows=1, cols=1).cell(0, 0)
    cell.text = "Total"
    unsigned = document.add_comment(cell.paragraphs[0].runs, text="Of what?", author="")
    del unsigned._comment_elm.attrib[qn("w:date")]
    assert read(document) == [
        "The roof costs 84,000. It leaks.",
        "Comment by Hanne Lund (2026-01-05) on “The roof costs 84,000…”: The roofer said 91,500.",
        "It is done in May.",
        "Total",
        "Comment on “Total”: Of what?",
    ]


MARKS = [f'<w:{mark} w:id="{key}"/>' for mark in ("commentRangeStart", "commentRangeEnd") for key in (0, 1, 7)]
MARKS += [f'<w:r><w:commentReference w:id="{key}"/></w:r>' for key in (0, 1, 7)]
MARKS += ["<w:r><w:t>word </w:t></w:r>", "</w:p><w:p>", "<w:ins><w:r><w:t>new </w:t></w:r></w:ins>"]


@given(st.lists(st.sampled_from(MARKS), max_size=25))
def test_a_comment_is_written_once_wherever_it_is_marked(marks: list[str]) -> None:
    document = docx.Document()
    for author in ("Ann", "Bo"):
        document.add_comment(document.add_paragraph("x").runs, text="Said.", author=author)
    for paragraph in list(document.paragraphs):
        paragraph._p.getparent().remove(paragraph._p)
    body = parse_xml(f"<w:body {nsdecls('w')}><w:p>{''.join(marks)}</w:p></w:body>")
    for paragraph in reversed(body):
        document.element.body.insert(0, paragraph)
    try:
        lines = read(document)
    except ExtractError:
        lines = []
    referred = {key for key in (0, 1) if f'commentReference w:id="{key}"' in "".join(marks)}
    assert sum(line.startswith("Comment by") for line in lines) == len(referred)
    text = " ".join(line for line in lines if not line.startswith("Comment by"))
    assert text.split().count("word") == sum("word" in mark for mark in marks)


# OpenDocument


def open_form(rows: list[tuple[str, str]], head_style: str = "") -> bytes:
    """A text with a table and a paragraph, both with a comment."""
    made = OpenDocumentText()
    heading = odf.style.Style(name="Head", family="paragraph")
    made.styles.addElement(heading)
    written = odf.table.Table()
    for number, row in enumerate(rows):
        line = odf.table.TableRow()
        for text in row:
            cell = odf.table.TableCell()
            style = {"stylename": heading} if head_style and not number else {}
            cell.addElement(odf.text.P(text=text, **style))
            line.addElement(cell)
        written.addElement(line)
    made.text.addElement(written)
    paragraph = odf.text.P(text="It is done in May.")
    comment = odf.office.Annotation()
    comment.addElement(odf.dc.Creator(text="Ole Brandt"))
    comment.addElement(odf.dc.Date(text="2026-02-03T09:00:00"))
    comment.addElement(odf.text.P(text="Not before"))
    comment.addElement(odf.text.P(text="October."))
    paragraph.addElement(comment)
    made.text.addElement(paragraph)
    packed = io.BytesIO()
    made.save(packed)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("rows", "head", "lines"),
    [
        (BERTH, "", ["Vessel: Tern", "Owner: Ida Aas", "Length: 14.6 m", "Remarks:"]),
        (
            BERTH,
            "Head",
            ["| Vessel: Owner | Tern: Ida Aas |", "| Vessel: Length | Tern: 14.6 m |", "| Vessel: Remarks |"],
        ),
        (PEOPLE[:2], "", ["| Name: Ida | Role: cook |"]),
    ],
)
def test_forms_and_comments_of_open_texts(rows: list[tuple[str, str]], head: str, lines: list[str]) -> None:
    (found,) = OdtExtractor().extract(open_form(rows, head), "form.odt")
    assert [line for line in found.text.splitlines() if line] == [
        *lines,
        "It is done in May.",
        "Comment by Ole Brandt (2026-02-03): Not before October.",
    ]
