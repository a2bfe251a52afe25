"""Files of office programs, made by libraries which know them, and a few made by hand to do harm."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hostile_files import packed

TABLE = (("Port", "Depth"), ("Harwich", "12 m"), ("Goole", "7 m"))
"""What stands in the table of each of them."""
PARAGRAPH = "The tide of Grüße rose by 3 m in 1843."


def word(paragraphs: Iterable[str] = (PARAGRAPH,)) -> bytes:
    """Heading, paragraphs, two items, a table, a heading below."""
    import docx

    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "The Harbor report", "Ada Byron"
    document.add_heading("Tides", 1)
    for text in paragraphs:
        document.add_paragraph(text)
    document.add_paragraph("first item", style="List Bullet")
    document.add_paragraph("second item", style="List Bullet")
    table = document.add_table(rows=3, cols=2)
    for row, cells in enumerate(TABLE):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_heading("Ships", 2)
    document.add_paragraph("Ships came in.")
    return _saved(document.save)


def slides(count: int = 2, content: str = PARAGRAPH) -> bytes:
    """So many slides with title, two items and a note; a table on the last."""
    import pptx

    shown = pptx.Presentation()
    shown.core_properties.title, shown.core_properties.author = "The Harbor talk", "Ada Byron"
    slide = None
    for number in range(1, count + 1):
        slide = shown.slides.add_slide(shown.slide_layouts[1])
        slide.shapes.title.text = f"Part {number}"
        slide.placeholders[1].text = f"{content}\nIt fell again."
        slide.notes_slide.notes_text_frame.text = f"A note to part {number}."
    if slide is not None:
        table = slide.shapes.add_table(3, 2, 0, 0, 900_000, 900_000).table
        for row, cells in enumerate(TABLE):
            for column, text in enumerate(cells):
                table.cell(row, column).text = text
    return _saved(shown.save)


def book(
    sheets: Mapping[str, Sequence[Sequence[object]]],
    hidden: str = "",
    merged: Sequence[str] = (),
    finish: Callable[[Any], None] = lambda _: None,
) -> bytes:
    """A workbook of these sheets; in each these cells are merged ("A2:A4"), then `finish` changes it."""
    import openpyxl

    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        sheet.sheet_state = "hidden" if name == hidden else "visible"
        for row in rows:
            sheet.append(list(row))
        for cells in merged:
            sheet.merge_cells(cells)
        finish(sheet)
    return _saved(made.save)


def open_text(content: str = PARAGRAPH) -> bytes:
    """An OpenDocument text like `word`."""
    from odf import dc, text
    from odf.opendocument import OpenDocumentText

    made = OpenDocumentText()
    made.meta.addElement(dc.Title(text="The Harbor report"))
    made.text.addElement(text.H(outlinelevel=1, text="Tides"))
    paragraph = text.P(text=content)
    paragraph.addElement(text.S(c=2))
    paragraph.addText("It fell.")
    made.text.addElement(paragraph)
    items = text.List()
    for said_item in ("first item", "second item"):
        item = text.ListItem()
        item.addElement(text.P(text=said_item))
        items.addElement(item)
    made.text.addElement(items)
    made.text.addElement(_open_table())
    made.text.addElement(text.H(outlinelevel=2, text="Ships"))
    made.text.addElement(text.P(text="Ships came in."))
    return _saved(made.save)


def open_sheet(rows: Sequence[Sequence[str]] = TABLE) -> bytes:
    """An OpenDocument spreadsheet of one sheet."""
    from odf.opendocument import OpenDocumentSpreadsheet

    made = OpenDocumentSpreadsheet()
    made.spreadsheet.addElement(_open_table(rows))
    return _saved(made.save)


def open_slides(content: str = PARAGRAPH) -> bytes:
    """An OpenDocument presentation of two slides."""
    from odf import draw, style, text
    from odf.opendocument import OpenDocumentPresentation

    made = OpenDocumentPresentation()
    layout = style.PageLayout(name="L")
    made.automaticstyles.addElement(layout)
    master = style.MasterPage(name="M", pagelayoutname=layout)
    made.masterstyles.addElement(master)
    for number in (1, 2):
        page = draw.Page(masterpagename=master)
        frame, box = draw.Frame(width="10cm", height="3cm"), draw.TextBox()
        box.addElement(text.P(text=f"{content} On slide {number}."))
        frame.addElement(box)
        page.addElement(frame)
        made.presentation.addElement(page)
    return _saved(made.save)


def _open_table(rows: Sequence[Sequence[str]] = TABLE) -> object:
    from odf import table, text

    made = table.Table(name="Ports")
    for cells in rows:
        row = table.TableRow()
        for found in cells:
            cell = table.TableCell(valuetype="string")
            cell.addElement(text.P(text=found))
            row.addElement(cell)
        made.addElement(row)
    return made


PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Harbor book</dc:title>
<dc:creator>Ada Byron</dc:creator>
<dc:language>en-GB</dc:language><dc:date>1843-05-06</dc:date></metadata>
<manifest><item id="toc" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>
<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="toc"/><itemref idref="one"/><itemref idref="two"/><itemref idref="gone"/></spine></package>"""
CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def ebook(text: str = PARAGRAPH) -> bytes:
    """A book of two chapters, a table in the second, a table of contents, and a chapter which is not there."""
    table = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in TABLE)
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>t</title></head><body>{}</body></html>"
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": PACKAGE,
            "OEBPS/nav.xhtml": page.format("<nav><ol><li>Contents</li></ol></nav>"),
            "OEBPS/text/one a.xhtml": page.format(f"<h1>Tides</h1><p>{text}</p>"),
            "OEBPS/text/two.xhtml": page.format(f"<h1>Ships</h1><p>Ships came in.</p><table>{table}</table>"),
        }
    )


def changed(data: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """A document's archive with these parts in it, or in place of its own."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    return packed(old | dict(parts))


def _saved(save: object) -> bytes:
    packed = io.BytesIO()
    save(packed)  # type: ignore[operator]
    return packed.getvalue()
