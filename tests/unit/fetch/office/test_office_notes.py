"""Footnotes and endnotes stand where a reader meets them; text boxes apart; hidden and moved text as it is seen."""

from __future__ import annotations

import io

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from odf import draw, table, text
from odf.opendocument import OpenDocumentText

from assay.fetch.office.microsoft import DocxExtractor
from assay.fetch.office.open_formats import OdtExtractor

FEE = ("The fee is 40 euros.", "Members pay half.")
"""A sentence, and the one after it."""


def run(content: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{content}</w:t></w:r>'


def word_file(*blocks: str, **notes: str) -> bytes:
    """A Word document with this XML in its body, and this note in each of these parts."""
    document = docx.Document()
    for block in blocks:
        document.element.body.insert(len(document.element.body) - 1, parse_xml(block))
    for kind, note in notes.items():
        one = kind.removesuffix("s")
        xml = f"""<w:{kind} {nsdecls("w")}><w:{one} w:type="separator" w:id="0"><w:p>{run("---")}</w:p></w:{one}>
            <w:{one} w:id="2"><w:p>{run(note)}</w:p></w:{one}></w:{kind}>"""
        part = Part(PackURI(f"/word/{kind}.xml"), "application/xml", xml.encode(), document.part.package)
        document.part.relate_to(part, getattr(RELATIONSHIP_TYPE, kind.upper()))
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def word_text(*blocks: str, **notes: str) -> str:
    (found,) = DocxExtractor().extract(word_file(*blocks, **notes), "fees.docx")
    return found.text


FOOT = '<w:r><w:footnoteReference w:id="2"/></w:r>'
END = '<w:r><w:endnoteReference w:id="2"/></w:r>'


@pytest.mark.parametrize(("reference", "kind"), [(FOOT, "footnotes"), (END, "endnotes")])
@pytest.mark.parametrize("place", [8, len(FEE[0])])
def test_a_note_of_word_follows_the_sentence_that_refers_to_it(reference: str, kind: str, place: int):
    block = f"<w:p {nsdecls('w')}>{run(FEE[0][:place])}{reference}{run(FEE[0][place:] + ' ' + FEE[1])}</w:p>"
    assert word_text(block, **{kind: "Dogs are free"}) == f"{FEE[0]} Note: Dogs are free. {FEE[1]}\n"


def test_a_note_to_a_cell_or_a_heading_stands_below_and_says_to_what():
    cells = [["Boat", "Fee"], ["Yacht", "40"], ["Canoe", "5"]]
    rows = "".join(
        "<w:tr>"
        + "".join(f"<w:tc><w:p>{run(cell)}{FOOT if cell == '40' else ''}</w:p></w:tc>" for cell in row)
        + "</w:tr>"
        for row in cells
    )
    grid = f"<w:tbl {nsdecls('w')}><w:tblPr/><w:tblGrid/>{rows}</w:tbl>"
    line = f"<w:p {nsdecls('w')}>{run('Fee: 40 euros')}{FOOT}</w:p>"
    assert word_text(grid, line, footnotes="For a night.") == (
        "| Boat: Yacht | Fee: 40 |\n| Boat: Canoe | Fee: 5 |\n\nNote on “40”: For a night.\n\n"
        "Fee: 40 euros\n\nNote on “Fee: 40 euros”: For a night.\n"
    )


def test_a_note_to_nothing_stands_in_its_place():
    assert word_text(f"<w:p {nsdecls('w')}>{FOOT}</w:p>", footnotes="Dogs are free.") == "Note: Dogs are free.\n"


def test_a_reference_without_its_note_leaves_no_mark():
    assert word_text(f"<w:p {nsdecls('w')}>{run(FEE[0])}{FOOT}</w:p>") == FEE[0] + "\n"


def open_file(made: OpenDocumentText) -> str:
    packed = io.BytesIO()
    made.save(packed)
    (found,) = OdtExtractor().extract(packed.getvalue(), "fees.odt")
    return found.text


def test_a_note_of_an_open_document_follows_its_sentence():
    made = OpenDocumentText()
    paragraph = text.P(text=FEE[0][:8])
    note = text.Note(noteclass="footnote")
    note.addElement(text.NoteCitation(text="1"))
    body = text.NoteBody()
    body.addElement(text.P(text="Dogs are free"))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(f"{FEE[0][8:]} {FEE[1]}")
    made.text.addElement(paragraph)
    assert open_file(made) == f"{FEE[0]} Note: Dogs are free. {FEE[1]}\n"


def test_a_text_box_does_not_cut_the_sentence_it_is_fixed_to():
    box = f"""<w:r {nsdecls("w")}><w:pict><v:textbox xmlns:v="urn:schemas-microsoft-com:vml"><w:txbxContent>
        <w:p>{run("Mind the step.")}</w:p></w:txbxContent></v:textbox></w:pict></w:r>"""
    block = f"<w:p {nsdecls('w')}>{run(FEE[0][:8])}{box}{run(FEE[0][8:])}</w:p>"
    assert word_text(block) == f"{FEE[0]}\n\nMind the step.\n"

    made = OpenDocumentText()
    paragraph, frame, inner = text.P(text=FEE[0][:8]), draw.Frame(), draw.TextBox()
    inner.addElement(text.P(text="Mind the step."))
    frame.addElement(inner)
    paragraph.addElement(frame)
    paragraph.addText(FEE[0][8:])
    made.text.addElement(paragraph)
    assert open_file(made) == f"{FEE[0]}\n\nMind the step.\n"


def test_moved_text_is_read_once_and_hidden_text_never():
    block = f"""<w:p {nsdecls("w")}><w:moveFrom w:id="1" w:author="a">{run("Moved. ")}</w:moveFrom>{run("Kept.")}
        <w:moveTo w:id="2" w:author="a">{run(" Moved.")}</w:moveTo>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden.</w:t></w:r>
        <w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t xml:space="preserve"> Shown.</w:t></w:r></w:p>"""
    assert word_text(block) == "Kept. Moved. Shown.\n"


def test_a_cell_of_an_open_table_is_in_all_its_rows_and_a_table_in_a_cell_is_no_part_of_the_outer_one():
    made = OpenDocumentText()
    grid = table.Table()
    for cells in (("Year", "Port"), ("1843", "Harwich"), (None, "Goole")):
        row = table.TableRow()
        for content in cells:
            cell = table.TableCell(numberrowsspanned=2) if content == "1843" else table.TableCell()
            if content is None:
                cell = table.CoveredTableCell()
            else:
                cell.addElement(text.P(text=content))
            if content == "Goole":
                inner, inner_row, inner_cell = table.Table(), table.TableRow(), table.TableCell()
                inner_cell.addElement(text.P(text="on the Ouse"))
                inner_row.addElement(inner_cell)
                inner.addElement(inner_row)
                cell.addElement(inner)
            row.addElement(cell)
        grid.addElement(row)
    made.text.addElement(grid)
    assert open_file(made) == "| Year: 1843 | Port: Harwich |\n| Year: 1843 | Port: Goole on the Ouse |\n"


def test_an_item_is_as_deep_as_its_style_says():
    document = docx.Document()
    for content, style in (("outer", "List Bullet"), ("inner", "List Bullet 2"), ("innermost", "List Number 3")):
        document.add_paragraph(content, style=style)
    packed = io.BytesIO()
    document.save(packed)
    (found,) = DocxExtractor().extract(packed.getvalue(), "a.docx")
    assert found.text == "- outer\n  - inner\n    - 1. innermost\n"
