"""Word documents and PowerPoint presentations."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from assay.core.errors import ExtractError
from assay.core.languages import detect_language
from assay.core.lazy import lazy_module, regex
from assay.core.sources import Extracted
from assay.fetch.fields import find_date, title_from_name
from assay.fetch.office.charts import RELATION, C, chart_rows, chart_title
from assay.fetch.office.notes import note_mark, write_form_with_notes, write_table_with_notes, write_with_notes
from assay.fetch.office.package import DAMAGED, open_checked, parse_xml, require_module
from assay.fetch.office.word_comments import WordComments, control_name, is_placeholder
from assay.fetch.office.word_numbers import W, WordNumbers
from assay.fetch.office.word_tables import WRAPPER_TAGS, head_styles, is_form, is_set, table_rows
from assay.fetch.text_form import FIELD_LINE, TextBuilder, clean, parse_number

if TYPE_CHECKING:
    from docx.document import Document
    from lxml import etree
    from pptx.presentation import Presentation
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
else:
    etree = lazy_module("lxml.etree")


FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
"""The duplicate of a text box for older programs."""
_NESTED = regex(r"List (?:Bullet|Number|Continue) ([2-9])")
"""The style of an item in a list within others."""
_TEXT_TAGS = frozenset((f"{W}t", "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"))
_SIGNS = {f"{W}{name}": " " for name in ("tab", "p")} | {f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_BOX = f"{W}txbxContent"
_UNSEEN_TAGS = frozenset((FALLBACK, f"{W}moveFrom", _BOX))
"""Text boxes are blocks of their own."""
_APART = (f"{W}tbl", _BOX, FALLBACK)
_HEADING = regex(r"heading ([1-9])$", re.IGNORECASE)
_NOTE_REFERENCES = {"footnotes": f"{W}footnoteReference", "endnotes": f"{W}endnoteReference"}
"""What refers to the notes of a part of this kind."""
MAX_STYLE_DEPTH = 10


class DocxExtractor:
    """One document: headings, paragraphs, list items, tables as rows with their headers; notes where they are met.

    Headings, clauses and items have the numbers that Word shows. Tracked changes are read as accepted. Comments stand
    below the block that refers to them. Charts are read as tables of their figures. Page headers and footers, pictures,
    and what a form shows where nothing was entered are omitted.
    """

    name = "docx/6"
    suffixes = (".docx",)
    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        require_module("docx", "python-docx")
        import docx  # noqa: PLC0415 - of the extra `office`
        from docx.opc.exceptions import OpcError  # noqa: PLC0415 - of the extra `office`

        with open_checked(data):
            try:
                document = docx.Document(io.BytesIO(data))
                builder = TextBuilder()
                _write_docx(document, builder)
            except (OpcError, KeyError, ValueError, AttributeError, etree.LxmlError) as error:
                raise ExtractError(DAMAGED) from error
        if not builder.text:
            raise ExtractError("it holds no text")
        yield _docx_document(document, builder.text, name, self.name)


def _docx_document(document: Document, text: str, name: str, extractor: str) -> Extracted:
    facts = document.core_properties
    title = clean(facts.title or "").strip()[:300] or _first_heading(text) or title_from_name(name)
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="markdown",
        title=title,
        author=_author_of(facts),
        published=find_date(text, title, name) or _created_on(facts),
        language=detect_language(text),
    )


def _first_heading(text: str) -> str:
    line = text.partition("\n")[0]
    return line.lstrip("# ") if line.startswith("#") else ""


def _write_docx(document: Document, builder: TextBuilder) -> None:
    marks = _Marks(document)
    levels = _Styles(document, marks)
    comments = WordComments(document, _docx_text)
    charts = dict(document.part.related_parts)
    for block in _blocks(document.element.body):
        if block.tag == f"{W}tbl":
            _write_table(block, marks, builder)
        else:
            levels.write(block, builder)
        comments.write(block, builder)
        for chart in block.iter(f"{C}chart"):
            if (part := charts.pop(str(chart.get(RELATION)), None)) is not None:  # a second place may name it too
                write_chart(part.blob, builder)


def _write_table(table: etree._Element, marks: _Marks, builder: TextBuilder) -> None:
    """Write a table, and below it those in its cells."""
    stack = [table]
    while stack:
        table = stack.pop()
        rows = table_rows(table, lambda cell: _docx_text(cell, marks))
        if is_form(table, rows, marks.head_styles):
            write_form_with_notes(rows, marks.texts, builder)
        else:
            write_table_with_notes(rows, marks.texts, builder)
        inner = [each for each in table.iter(f"{W}tbl") if next(each.iterancestors(*_APART), None) is table]
        stack += reversed(inner)


def write_chart(data: bytes, builder: TextBuilder) -> None:
    """Write the figures of a chart as a table below its title; nothing if it is damaged."""
    try:
        chart = parse_xml(data)
    except etree.XMLSyntaxError:
        return
    rows = chart_rows(chart)
    if rows:
        builder.paragraph(chart_title(chart))
        builder.table(rows)


class _Marks:
    """The numbers of a document's paragraphs; its footnotes and endnotes, numbered in the order of their parts."""

    def __init__(self, document: Document) -> None:
        numbers = WordNumbers(document)
        self.head_styles = head_styles(document.styles.element)
        self.numbers = {
            paragraph: number
            for paragraph in document.element.body.iter(f"{W}p")
            if not _is_left_out(paragraph) and (number := numbers.next_number(paragraph))
        }
        self.texts: dict[int, str] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        for relation in document.part.rels.values():
            kind = relation.reltype.rpartition("/")[2]
            if kind in _NOTE_REFERENCES and not relation.is_external:
                for note in parse_xml(relation.target_part.blob):
                    text = " ".join(_docx_text(note).split())
                    if text and note.get(f"{W}type") is None:  # the others are separator lines
                        self._numbers[_NOTE_REFERENCES[kind], str(note.get(f"{W}id"))] = len(self.texts)
                        self.texts[len(self.texts)] = text

    def mark(self, reference: etree._Element) -> str:
        """What stands for a reference; "" if its note is empty, or missing."""
        number = self._numbers.get((str(reference.tag), str(reference.get(f"{W}id"))))
        return "" if number is None else note_mark(number)


def _blocks(above: etree._Element) -> Iterator[etree._Element]:
    """Paragraphs and tables in order, including those inside content controls; text boxes after their paragraphs."""
    stack = [above]
    while stack:
        node = stack.pop()
        if node is above or node.tag in WRAPPER_TAGS:
            stack.extend(reversed(node) if not is_placeholder(node) else ())
        elif node.tag in (f"{W}p", f"{W}tbl"):
            yield node
            boxes = [box for box in node.iter(_BOX) if next(box.iterancestors(FALLBACK, _BOX), None) is None]
            stack.extend(child for box in reversed(boxes) for child in reversed(box))


class _Styles:
    """Maps a document's styles to the kinds of its paragraphs."""

    def __init__(self, document: Document, marks: _Marks) -> None:
        self._marks = marks
        self._styles = {style.style_id: style for style in document.styles}

    def write(self, paragraph: etree._Element, builder: TextBuilder) -> None:
        text = _docx_text(paragraph, self._marks)
        if text.strip() == self._marks.numbers.get(paragraph):
            return
        names = self._names(paragraph)
        heading = next((match for match in map(_HEADING.fullmatch, names) if match), None)
        numbering = paragraph.find(f"{W}pPr/{W}numPr")
        if heading or "Title" in names:
            write: Callable[[str], None] = partial(builder.heading, level=int(heading[1]) if heading else 1)
        elif numbering is not None or any(name.startswith("List") for name in names):
            deep = None if numbering is None else numbering.find(f"{W}ilvl")
            nested = next((match for match in map(_NESTED.fullmatch, names) if match), None)
            by_style = int(nested[1]) - 1 if nested else 0
            write = partial(builder.item, level=by_style if deep is None else parse_number(str(deep.get(f"{W}val")), 0))
        else:
            write = builder.paragraph
            name = control_name(paragraph)
            text = f"{name}: {text.strip()}" if name and text.strip() else text
        lines = [line.strip() for line in text.strip().split("\n")]
        are_fields = len(lines) > 1 and write == builder.paragraph and all(map(FIELD_LINE.fullmatch, lines))
        for part in lines if are_fields else [text]:
            write_with_notes(part, self._marks.texts, write, builder)

    def _names(self, paragraph: etree._Element) -> list[str]:
        """The paragraph's style and those it is based on."""
        style_node = paragraph.find(f"{W}pPr/{W}pStyle")
        style = self._styles.get(str(style_node.get(f"{W}val"))) if style_node is not None else None
        names: list[str] = []
        while style is not None and len(names) < MAX_STYLE_DEPTH:
            names.append(style.name or "")
            style = getattr(style, "base_style", None)
        return names


def _docx_text(above: etree._Element, marks: _Marks | None = None) -> str:
    """The text in an element as a reader sees it: tracked changes accepted, without hidden text, text boxes apart."""
    parts: list[str] = []
    walk = etree.iterwalk(above, events=("start",))
    for _, node in walk:
        is_left_out = (node.tag == f"{W}tbl" and above.tag == f"{W}tc") or is_placeholder(node)
        if is_left_out or node.tag in _UNSEEN_TAGS or (node.tag == f"{W}r" and is_set(node, "vanish")):
            walk.skip_subtree()
        elif node.tag in _TEXT_TAGS:
            parts.append(node.text or "")
        elif node.tag in _NOTE_REFERENCES.values():
            parts.append("" if marks is None else marks.mark(node))
        else:
            parts.append(_SIGNS.get(str(node.tag), ""))
            if marks is not None and node in marks.numbers:
                parts.append(f"{marks.numbers[node]} ")
    return "".join(parts)


def _is_left_out(paragraph: etree._Element) -> bool:
    """True if a paragraph is a duplicate for older programs, or is deleted as a whole: it is not counted."""
    is_marked = paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None
    return next(paragraph.iterancestors(FALLBACK), None) is not None or (
        is_marked and not _docx_text(paragraph).strip()
    )


MAX_GROUP_DEPTH = 8


class PptxExtractor:
    """One document: one section per slide, whose heading states its number, with text, tables, and then the notes.

    The headings of a passage thus name its slide. Charts are read as tables of their figures; pictures are omitted.
    """

    name = "pptx/4"
    suffixes = (".pptx",)
    media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        require_module("pptx", "python-pptx")
        import pptx  # noqa: PLC0415 - of the extra `office`
        from pptx.exc import PythonPptxError  # noqa: PLC0415 - of the extra `office`

        with open_checked(data):
            try:
                presentation = pptx.Presentation(io.BytesIO(data))
                builder = TextBuilder()
                has_text = [_write_slide(slide, number, builder) for number, slide in enumerate(presentation.slides, 1)]
            except (PythonPptxError, KeyError, ValueError, AttributeError, etree.LxmlError) as error:
                raise ExtractError(DAMAGED) from error
        if not any(has_text):
            raise ExtractError("no text on its slides")
        yield _pptx_document(presentation, builder.text, name, self.name)


def _pptx_document(presentation: Presentation, text: str, name: str, extractor: str) -> Extracted:
    facts = presentation.core_properties
    first = text.partition("\n")[0].partition(": ")[2]
    title = clean(facts.title or "").strip()[:300].removeprefix("PowerPoint Presentation") or first[:300]
    title = title or title_from_name(name)
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="markdown",
        title=title,
        author=_author_of(facts),
        published=find_date("", title, name) or _created_on(facts),
        language=detect_language(text),
        metadata={"slides": str(len(presentation.slides))},
    )


def _write_slide(slide: Slide, number: int, builder: TextBuilder) -> bool:
    """Write a slide; return whether it has any text."""
    before = len(builder.text)
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    builder.heading(f"Slide {number}: {heading}" if heading else f"Slide {number}", 2)
    bare = len(builder.text)
    for shape in _shapes(slide.shapes, 0):
        if title is None or shape.shape_id != title.shape_id:
            _write_shape(shape, builder)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = [
            paragraph.text for paragraph in slide.notes_slide.notes_text_frame.paragraphs if paragraph.text.strip()
        ]
        if notes:
            builder.heading("Notes", 3)
        for note in notes:
            builder.paragraph(note)
    return bool(heading) or len(builder.text) > max(bare, before)


def _shapes(shapes: Iterable[BaseShape], deep: int) -> Iterator[BaseShape]:
    """The shapes in order, including those in groups."""
    for shape in shapes:
        inner = getattr(shape, "shapes", None)
        if inner is not None and deep < MAX_GROUP_DEPTH:
            yield from _shapes(inner, deep + 1)
        else:
            yield shape


def _write_shape(shape: BaseShape, builder: TextBuilder) -> None:
    table = shape.table if getattr(shape, "has_table", False) else None  # type: ignore[attr-defined]
    if table is not None:
        builder.table([[cell.text for cell in row.cells] for row in table.rows])
    elif getattr(shape, "has_chart", False):
        write_chart(shape.chart.part.blob, builder)  # type: ignore[attr-defined]
    elif shape.has_text_frame:
        paragraphs = [item for item in shape.text_frame.paragraphs if item.text.strip()]  # type: ignore[attr-defined]
        for paragraph in paragraphs:
            if shape.is_placeholder and len(paragraphs) > 1:
                builder.item(paragraph.text, paragraph.level)
            else:
                builder.paragraph(paragraph.text)


# What a document says of itself, without what a program's empty template says in its place.

MAX_AUTHOR_CHARS = 300
PROGRAMS = frozenset(("apache poi", "openpyxl", "python-docx", "python-pptx", "un-named", "unknown"))
"""Authors, casefolded, that are programs or nobody."""
TEMPLATE_DATES = frozenset(("2013-01-27T09:14:16", "2013-12-23T23:15:00"))
"""When the empty templates of python-pptx and python-docx were made: documents made from them keep these times."""


class _CoreProperties(Protocol):
    """The properties that both libraries read."""

    @property
    def author(self) -> str: ...
    @property
    def created(self) -> datetime.datetime | None: ...


def _author_of(facts: _CoreProperties) -> str:
    """The author, empty if it is a program."""
    author = clean(facts.author or "").strip()[:MAX_AUTHOR_CHARS]
    return "" if author.casefold() in PROGRAMS else author


def _created_on(facts: _CoreProperties) -> str:
    """The day of its creation (ISO 8601), empty if it is unknown, invalid or that of a template."""
    try:
        created = facts.created
    except ValueError:
        return ""
    if created is None or created.replace(tzinfo=None).isoformat(timespec="seconds") in TEMPLATE_DATES:
        return ""
    return created.date().isoformat()
