"""Sets a paper as a Word document. It needs python-docx, so only `export.docx` imports it, on demand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from docx import Document
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.shared import Pt, RGBColor
from docx.table import _Cell
from docx.text.paragraph import Paragraph as WordParagraph
from docx.text.run import Run

from assay.export.formatted_text import (
    Code,
    FormattedBlock,
    Heading,
    Items,
    Line,
    Paragraph,
    Piece,
    Quote,
    Rule,
    Table,
    make_line,
)
from assay.export.paper import Paper, PaperSource

_MAX_PROPERTY_CHARS = 255  # the limit of python-docx and of Word's own dialog
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_LIST_DEPTH = 3  # the template has styles for this many levels
_MONOSPACE = "Courier New"
_LINK = "Hyperlink"


def write_docx(paper: Paper) -> bytes:
    """The bytes of a `.docx` file."""
    document = Document()
    _describe(document, paper)
    _style(document, paper.language)
    if paper.rtl:
        _set_right_to_left(document, paper.language)
    setter = _Setter(document)
    setter.paragraph(paper.title, "Title")
    for fact in paper.facts:
        setter.paragraph(fact, "Subtitle")
    setter.blocks(paper.body)
    setter.sources(paper.labels.sources, paper.sources)
    setter.bullets(paper.labels.to_check, paper.to_check)
    setter.bullets(paper.labels.limits, paper.limits)
    setter.bullets(paper.labels.legend, paper.legend)
    raw = io.BytesIO()
    document.save(raw)
    return _fix_times(raw.getvalue())


def _describe(document: WordDocument, paper: Paper) -> None:
    properties = document.core_properties
    properties.title = paper.title.text[:_MAX_PROPERTY_CHARS]
    properties.author = properties.last_modified_by = "Assay"
    properties.comments, properties.language = "", paper.language
    properties.created = properties.modified = paper.made.replace(tzinfo=None)  # UTC, as the format requires
    properties.revision = 1


def _style(document: WordDocument, language: str) -> None:
    link = document.styles.add_style(_LINK, WD_STYLE_TYPE.CHARACTER)
    link.font.underline, link.font.color.rgb = True, RGBColor(0x1A, 0x4F, 0x8B)
    for spoken in document.styles.element.iter(qn("w:lang")):
        if language:
            spoken.set(qn("w:val"), language)
    footer = document.sections[0].footer.paragraphs[0]
    footer.alignment = 1
    footer._p.append(_element("w:fldSimple", instr="PAGE"))


def _set_right_to_left(document: WordDocument, language: str) -> None:
    """Set the pages, and everything without a direction of its own, from right to left."""
    for section in document.sections:
        section._sectPr.insert_element_before(_element("w:bidi"), "w:rtlGutter", "w:docGrid")
    for spoken in document.styles.element.iter(qn("w:lang")):
        spoken.set(qn("w:bidi"), language)


def _element(name: str, /, **attributes: str) -> BaseOxmlElement:
    element = OxmlElement(name)
    for key, value in attributes.items():
        element.set(qn(f"w:{key}"), value)
    return element


class _Setter:
    """Writes blocks at the end of a document."""

    def __init__(self, document: WordDocument) -> None:
        self._document = document
        self._bookmarks = 0

    def paragraph(self, line: Line, style: str = "Normal") -> WordParagraph:
        paragraph = self._document.add_paragraph(style=style)
        self._fill(paragraph, line)
        return paragraph

    def bullets(self, title: str, lines: Sequence[Line]) -> None:
        """A section with a list; nothing if the list is empty."""
        if lines:
            self.paragraph(make_line(title), "Heading 1")
        for line in lines:
            self.paragraph(line, "List Bullet")

    def sources(self, title: str, sources: Sequence[PaperSource]) -> None:
        """The list of sources: each is a bookmark that citations link to, followed by its quotes."""
        if sources:
            self.paragraph(make_line(title), "Heading 1")
        for source in sources:
            number = Piece(text=f"{source.number}. ", bold=True)
            entry = self.paragraph(Line(pieces=(number, *source.line.pieces), rtl=source.line.rtl))
            entry.paragraph_format.keep_with_next = bool(source.quotes)
            self._bookmark(entry, f"source-{source.number}")
            for quote in source.quotes:
                self.paragraph(quote, "Quote")

    def blocks(self, blocks: Sequence[FormattedBlock], depth: int = 0, style: str = "Normal") -> None:
        """Write these blocks, in lists `depth` deep; `style` is that of plain paragraphs."""
        for block in blocks:
            match block:
                case Heading():
                    self.paragraph(block.line, f"Heading {min(block.level, 9)}")
                case Paragraph():
                    self.paragraph(block.line, style)
                case Items():
                    self._items(block, depth + 1)
                case Quote():
                    self.blocks(block.blocks, depth, "Quote")
                case Code():
                    self._code(block.text)
                case Table():
                    self._table(block)
                case Rule():
                    self._rule()

    def _items(self, items: Items, depth: int) -> None:
        level = "" if depth == 1 else f" {min(depth, _LIST_DEPTH)}"
        kind = f"List {'Number' if items.ordered else 'Bullet'}{level}"
        number = self._add_numbering(kind, items.start) if items.ordered else None
        for item in items.items:
            first, rest = item[:1], item[1:]
            if first and isinstance(first[0], Paragraph):
                paragraph = self.paragraph(first[0].line, kind)
            else:
                paragraph, rest = self.paragraph(Line(), kind), item
            if number is not None:
                properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
                properties.get_or_add_numId().val = number
                properties.get_or_add_ilvl().val = 0
            self.blocks(rest, depth, f"List Continue{level}")

    def _add_numbering(self, style: str, start: int) -> int:
        """A numbering like that of `style`, starting at `start`."""
        numbering = self._document.part.numbering_part.element
        of_style = self._document.styles[style].element.pPr.numPr.numId.val
        new_numbering = numbering.add_num(numbering.num_having_numId(of_style).abstractNumId.val)
        new_numbering.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(new_numbering.numId)

    def _code(self, text: str) -> None:
        paragraph = self._document.add_paragraph(style="No Spacing")
        paragraph.paragraph_format.left_indent, paragraph.paragraph_format.space_after = Pt(12), Pt(8)
        _monospace(paragraph.add_run(text))

    def _table(self, table: Table) -> None:
        word_table = self._document.add_table(rows=len(table.rows), cols=max(map(len, table.rows)), style="Table Grid")
        if table.rows[0] and table.rows[0][0].rtl:
            word_table._tbl.tblPr.insert_element_before(
                _element("w:bidiVisual"), "w:tblW", "w:jc", "w:tblLayout", "w:tblLook"
            )
        for index, (row, cells) in enumerate(zip(word_table.rows, table.rows, strict=True)):
            if index == 0:
                row._tr.get_or_add_trPr().append(_element("w:tblHeader", val="true"))
            for cell, text in zip(row.cells, cells, strict=False):
                self._cell(cell, text, header=index == 0)
        self._document.add_paragraph(style="No Spacing")  # Word joins adjacent tables

    def _cell(self, cell: _Cell, line: Line, *, header: bool) -> None:
        paragraph = cell.paragraphs[0]
        self._fill(paragraph, line)
        for run in paragraph.runs if header else ():
            run.bold = True

    def _rule(self) -> None:
        borders = _element("w:pBdr")
        borders.append(_element("w:bottom", val="single", sz="6", space="1", color="auto"))
        self._document.add_paragraph()._p.get_or_add_pPr().append(borders)

    def _fill(self, paragraph: WordParagraph, line: Line) -> None:
        if line.rtl:
            paragraph._p.get_or_add_pPr().append(_element("w:bidi"))
        for piece in line.pieces:
            run = _run(paragraph, piece)
            if line.rtl:
                run.font.rtl = True
            self._link(paragraph, run, piece)

    def _link(self, paragraph: WordParagraph, run: Run, piece: Piece) -> None:
        """Put the run into a link to a source's bookmark, or to an address of the web."""
        if piece.cite:
            link = _element("w:hyperlink", anchor=f"source-{piece.cite}", history="1")
        elif piece.link:
            link = _element("w:hyperlink", history="1")
            relation_id = paragraph.part.relate_to(piece.link, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            link.set(qn("r:id"), relation_id)
        else:
            return
        run.style = _LINK
        run._r.addprevious(link)
        link.append(run._r)

    def _bookmark(self, paragraph: WordParagraph, name: str) -> None:
        self._bookmarks += 1
        start = _element("w:bookmarkStart", id=str(self._bookmarks), name=name)
        first = paragraph._p.findall(qn("w:r"))[0]
        first.addprevious(start)
        start.addnext(_element("w:bookmarkEnd", id=str(self._bookmarks)))


def _run(paragraph: WordParagraph, piece: Piece) -> Run:
    run = paragraph.add_run(piece.text)
    run.bold, run.italic, run.font.strike = piece.bold or None, piece.italic or None, piece.struck or None
    if piece.code:
        _monospace(run)
    return run


def _monospace(run: Run) -> None:
    run.font.name, run.font.size = _MONOSPACE, Pt(9)


def _fix_times(archive: bytes) -> bytes:
    """The same zip with fixed times; otherwise they would be the time of writing."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, _ZIP_TIME)
            member.create_system = 3  # Unix, instead of the system that writes
            new.writestr(member, old.read(name), zipfile.ZIP_DEFLATED)
    return output.getvalue()
