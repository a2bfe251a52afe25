"""Numbers of clauses and items, which Word shows and its text does not hold."""

from __future__ import annotations

import io

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from assay.fetch.office.microsoft import DocxExtractor

CLAUSES = (("decimal", "%1.", "Heading1"), ("decimal", "%1.%2", "Heading2"), ("lowerLetter", "(%3)", ""))


def numbering(document: docx.document.Document, levels: tuple[tuple[str, str, str], ...], override: str = "") -> str:
    """Add a numbering with these levels: kind, text and style; return its key."""
    part = document.part.numbering_part.element
    key = str(900 + len(part))
    made = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        + (f'<w:pStyle w:val="{style}"/>' if style else "")
        + f'<w:lvlText w:val="{text}"/></w:lvl>'
        for depth, (kind, text, style) in enumerate(levels)
    )
    part.insert(0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{key}">{made}</w:abstractNum>'))
    refer(document, key, key, override)
    return key


def refer(document: docx.document.Document, key: str, abstract: str, override: str = "") -> None:
    number = f'<w:num {nsdecls("w")} w:numId="{key}"><w:abstractNumId w:val="{abstract}"/>{override}</w:num>'
    document.part.numbering_part.element.append(parse_xml(number))


def numbered(key: str, depth: int | None = None) -> object:
    level = "" if depth is None else f'<w:ilvl w:val="{depth}"/>'
    return parse_xml(f'<w:numPr {nsdecls("w")}>{level}<w:numId w:val="{key}"/></w:numPr>')


def read(document: docx.document.Document) -> str:
    packed = io.BytesIO()
    document.save(packed)
    (found,) = DocxExtractor().extract(packed.getvalue(), "a.docx")
    return found.text


def test_clauses_have_the_numbers_of_their_styles_and_levels():
    document = docx.Document()
    key = numbering(document, CLAUSES)
    for name in ("Heading 1", "Heading 2"):
        document.styles[name].element.get_or_add_pPr().append(numbered(key))
    for text, style in (
        *(("Parties", "Heading 1"), ("Term", "Heading 1"), ("Start", "Heading 2"), ("Termination", "Heading 2")),
        *(("by notice", "Normal"), ("", "Heading 2"), ("at once", "Normal"), ("Notices", "Heading 1")),
        ("Letters", "Heading 2"),
    ):
        paragraph = document.add_paragraph(text, style=style)
        if style == "Normal":
            paragraph._p.get_or_add_pPr().append(numbered(key, 2))
    unnumbered = document.add_paragraph("Annex", style="Heading 1")
    unnumbered._p.get_or_add_pPr().append(numbered("0"))
    assert read(document).split("\n\n") == [
        "# 1. Parties",
        "# 2. Term",
        "## 2.1 Start",
        "## 2.2 Termination",
        "    - (a) by notice\n    - (a) at once",  # an empty clause, 2.3, is between them
        "# 3. Notices",
        "## 3.1 Letters",
        "# Annex\n",
    ]


def test_a_list_goes_on_in_another_numbering_unless_that_says_where_it_begins():
    document = docx.Document()
    key = numbering(document, (("upperRoman", "Article %1", ""),))
    refer(document, "1001", key)
    refer(document, "1002", key, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride>')
    for number in (key, key, "1001", "1002", "1002"):
        document.add_paragraph("text")._p.get_or_add_pPr().append(numbered(number, 0))
    assert read(document).splitlines() == [f"- Article {number} text" for number in ("I", "II", "III", "IX", "X")]


def test_bullets_have_no_number_and_cells_have_theirs():
    document = docx.Document()
    document.add_paragraph("one", style="List Bullet")
    key = numbering(document, (("decimalZero", "%1", ""),))
    grid = document.add_table(3, 2)
    for row, name in enumerate(("Port", "Harwich", "Goole")):
        grid.cell(row, 1).text = name
        if row:
            grid.cell(row, 0).paragraphs[0]._p.get_or_add_pPr().append(numbered(key, 0))
    grid.cell(0, 0).text = "No."
    assert read(document) == "- one\n\n| No.: 01 | Port: Harwich |\n| No.: 02 | Port: Goole |\n"


def test_a_deleted_clause_is_not_counted():
    document = docx.Document()
    key = numbering(document, (("decimal", "%1.", ""),))
    for text in ("one", "", "two"):
        paragraph = document.add_paragraph(text)._p
        paragraph.get_or_add_pPr().append(numbered(key, 0))
        if not text:
            deleted = f'<w:del {nsdecls("w")} w:id="1" w:author="A"><w:r><w:delText>gone</w:delText></w:r></w:del>'
            paragraph.append(parse_xml(deleted))
            mark = parse_xml(f'<w:rPr {nsdecls("w")}><w:del w:id="2" w:author="A"/></w:rPr>')
            paragraph.get_or_add_pPr().append(mark)
    assert read(document) == "- 1. one\n- 2. two\n"
