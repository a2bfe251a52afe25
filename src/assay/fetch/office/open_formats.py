"""OpenDocument texts and presentations, and e-books (EPUB 2 and 3): ZIP files with XML of an open standard."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assay.core.document_dates import iso_date
from assay.core.errors import ExtractError
from assay.core.languages import detect_language
from assay.core.lazy import lazy_module
from assay.core.sources import Extracted
from assay.fetch.fields import find_date, title_from_name
from assay.fetch.html_markdown import to_markdown
from assay.fetch.office.notes import note_mark, write_form_with_notes, write_table_with_notes, write_with_notes
from assay.fetch.office.open_numbers import OpenNumbers
from assay.fetch.office.package import DAMAGED, open_checked, parse_part
from assay.fetch.office.word_comments import comment_line
from assay.fetch.office.word_tables import has_labels
from assay.fetch.text_form import TextBuilder, clean, decode, parse_number

if TYPE_CHECKING:
    from lxml import etree
    from selectolax import lexbor
else:
    etree, lexbor = lazy_module("lxml.etree"), lazy_module("selectolax.lexbor")


URN = "{urn:oasis:names:tc:opendocument:xmlns:"
TEXT, TABLE, DRAW, OFFICE = f"{URN}text:1.0}}", f"{URN}table:1.0}}", f"{URN}drawing:1.0}}", f"{URN}office:1.0}}"
PRESENTATION = f"{URN}presentation:1.0}}"
META = f"{URN}meta:1.0}}"
DC = "{http://purl.org/dc/elements/1.1/}"
"""Facts of a document, in both kinds of files."""
OMITTED_TAGS = frozenset((f"{TEXT}tracked-changes", f"{OFFICE}annotation", f"{OFFICE}forms", f"{TEXT}sequence-decls"))
_BOX = f"{DRAW}text-box"
MAX_REPEATS = 100
"""The most cells or spaces that one element may repeat; more are for layout."""


class OdtExtractor:
    """One document: headings, paragraphs, items, tables as rows with their headers; for a presentation, its slides.

    Headings and items have their numbers. Tracked changes are read as accepted, comments stand below the block they are
    in, and pictures are omitted.
    """

    name = "odt/5"
    suffixes: tuple[str, ...] = (".odt",)
    media_type = "application/vnd.oasis.opendocument.text"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        with open_checked(data) as archive:
            builder = TextBuilder()
            content = parse_part(archive, "content.xml")
            styles = [parse_part(archive, "styles.xml")] if "styles.xml" in archive.namelist() else []
            body = content.find(f"{OFFICE}body")
            if body is not None:
                _write_odt(body, OpenNumbers([*styles, content], body).numbers, builder)
            facts = parse_part(archive, "meta.xml") if "meta.xml" in archive.namelist() else None
        if not builder.text:
            raise ExtractError("it holds no text")
        heading = builder.text.partition("\n")[0]
        title = (
            _fact(facts, f"{DC}title")
            or (heading.lstrip("# ") if heading.startswith("#") else "")
            or title_from_name(name)
        )
        created = iso_date(_fact(facts, f"{META}creation-date") or _fact(facts, f"{DC}date"))
        yield Extracted(
            text=builder.text,
            extractor=self.name,
            syntax="markdown",
            title=title,
            author=_fact(facts, f"{META}initial-creator") or _fact(facts, f"{DC}creator"),
            published=find_date(builder.text, title, name) or created,
            language=detect_language(builder.text),
        )


def _fact(facts: etree._Element | None, tag: str) -> str:
    node = None if facts is None else next(facts.iter(tag), None)
    return "" if node is None else clean(node.text or "").strip()[:300]


def _write_odt(body: etree._Element, numbers: Mapping[etree._Element, str], builder: TextBuilder) -> None:
    """Write the blocks below `body` with their numbers, without recursion: files may nest arbitrarily deep."""
    slides = 0
    notes: dict[int, str] = {}
    stack: list[tuple[etree._Element, int]] = [(body, -1)]
    while stack:
        node, deep = stack.pop()
        if node.tag in OMITTED_TAGS or node.get(f"{TEXT}display") == "none":
            continue
        if node.tag in (f"{TEXT}h", f"{TEXT}p"):
            text = _text(node, notes)
            numbered = f"{numbers[node]} {text}" if node in numbers and text.strip() else text
            write_with_notes(numbered, notes, _writer(node, deep, builder), builder)
        elif node.tag == f"{TABLE}table":
            rows = _odt_rows(node, notes)
            is_form = all(len(row) == 2 for row in rows) and has_labels(rows) and not _has_head(node)
            (write_form_with_notes if is_form else write_table_with_notes)(rows, notes, builder)
        else:
            if node.tag == f"{DRAW}page":
                slides += 1
                builder.heading(f"Slide {slides}", 2)
            if node.tag == f"{PRESENTATION}notes":
                builder.heading("Notes", 3)
            deeper = deep + 1 if node.tag == f"{TEXT}list" else deep
            stack.extend((child, deeper) for child in reversed(node) if isinstance(child.tag, str))
        if node.tag in (f"{TEXT}h", f"{TEXT}p", f"{TABLE}table"):
            _write_comments(node, builder)
            stack.extend((box, -1) for box in reversed(list(node.iter(_BOX))) if _is_outermost(box, node))


def _write_comments(block: etree._Element, builder: TextBuilder) -> None:
    """Write the comments in a block, without those in its text boxes, which are blocks themselves."""
    for comment in block.iter(f"{OFFICE}annotation"):
        if next(comment.iterancestors(_BOX, block.tag), None) is not block:
            continue
        author, date = (comment.findtext(f"{DC}{name}") or "" for name in ("creator", "date"))
        text = " ".join(" ".join(_text(part, {}) for part in comment.iter(f"{TEXT}p")).split())
        if text:
            builder.paragraph(comment_line(text, author, date))


def _has_head(table: etree._Element) -> bool:
    """True if the first row is repeated on every page, or has other styles of paragraphs than the second."""
    if next(table.iter(f"{TABLE}table-header-rows"), None) is not None:
        return True
    first, second = islice(table.iter(f"{TABLE}table-row"), 2)
    styles = ([text.get(f"{TEXT}style-name") for text in row.iter(f"{TEXT}p")] for row in (first, second))
    return next(styles) != next(styles)


def _writer(node: etree._Element, deep: int, builder: TextBuilder) -> Callable[[str], None]:
    """How a heading, or a paragraph `deep` lists deep, is written."""
    if node.tag == f"{TEXT}h":
        return partial(builder.heading, level=parse_number(str(node.get(f"{TEXT}outline-level", "1")), 1))
    return partial(builder.item, level=deep) if deep >= 0 else builder.paragraph


def _is_outermost(inner: etree._Element, above: etree._Element) -> bool:
    """True if no element of the same tag is between `inner` and `above`."""
    return next(inner.iterancestors(inner.tag, above.tag), above) is above


def _text(above: etree._Element, notes: dict[int, str]) -> str:
    """The text of an element that a reader sees, without text boxes: spaces and breaks are elements of their own.

    Its notes are added to `notes`, and marked.
    """
    parts: list[str] = []
    walk = etree.iterwalk(above, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            parts.append((node.tail or "") if node is not above else "")
        elif node.tag in OMITTED_TAGS or node.tag == _BOX:
            walk.skip_subtree()
        elif node.tag == f"{TEXT}note":
            walk.skip_subtree()
            body = node.find(f"{TEXT}note-body")
            text = " ".join(_text(body, notes).split()) if body is not None else ""
            if text:
                parts.append(note_mark(len(notes)))
                notes[len(notes)] = text
        elif isinstance(node.tag, str):
            space = node.tag in (f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break", f"{TEXT}p")
            parts.append(" " * space + (node.text or ""))
    return "".join(parts)


def _odt_rows(table: etree._Element, notes: dict[int, str]) -> list[list[str]]:
    """The table's cells, including those of header rows. A cell over several rows is in all of them."""
    rows: list[list[str]] = []
    lines = [row for row in table.iter(f"{TABLE}table-row") if next(row.iterancestors(table.tag), table) is table]
    spans: dict[int, tuple[int, str]] = {}
    for line in lines:
        row: list[str] = []
        for cell in line:
            if cell.tag not in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
                continue
            left, text = spans.pop(len(row), (0, ""))
            if not left or cell.tag == f"{TABLE}table-cell":
                left, text = _count(cell, f"{TABLE}number-rows-spanned"), _text(cell, notes)
            if left > 1:
                spans[len(row)] = (left - 1, text)
            row += [text] * _count(cell, f"{TABLE}number-columns-repeated")
        rows += [row] * _count(line, f"{TABLE}number-rows-repeated")
    return rows


def _count(node: etree._Element, attribute: str) -> int:
    """How often or far a cell or row goes on, by an attribute."""
    value = str(node.get(attribute, "1"))
    number = parse_number(value, 1)
    return number if number <= MAX_REPEATS else 1


class OdpExtractor(OdtExtractor):
    """One section per slide; its heading states the slide's number."""

    name = "odp/3"
    suffixes = (".odp",)
    media_type = "application/vnd.oasis.opendocument.presentation"


CONTAINER = "META-INF/container.xml"
OPF = "{http://www.idpf.org/2007/opf}"
PAGE_TYPES = ("application/xhtml+xml", "text/html")
MAX_CHAPTERS = 5_000
ENCRYPTION_PART = "META-INF/encryption.xml"
FONT_ENCRYPTION = b"http://www.idpf.org/2008/embedding"
"""The method with which books that anybody may read scramble their fonts."""


class EpubExtractor:
    """One document: the chapters in reading order, each under its own headings.

    The table of contents is omitted if the book marks it.
    """

    name = "epub/3"
    suffixes = (".epub",)
    media_type = "application/epub+zip"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        with open_checked(data) as archive:
            package_path = _book_place(archive)
            package = parse_part(archive, package_path)
            builder = TextBuilder()
            for chapter in _chapters(package, posixpath.dirname(package_path)):
                _write_chapter(archive, chapter, builder)
            is_protected = ENCRYPTION_PART in archive.namelist() and FONT_ENCRYPTION not in archive.read(
                ENCRYPTION_PART
            )
        if not builder.text:
            raise ExtractError("its text is protected (DRM)" if is_protected else "it holds no text")
        yield Extracted(
            text=builder.text,
            extractor=self.name,
            syntax="markdown",
            title=_fact(package, f"{DC}title") or title_from_name(name),
            author=_fact(package, f"{DC}creator"),
            published=iso_date(_fact(package, f"{DC}date")),
            language=_fact(package, f"{DC}language")[:2].lower() or detect_language(builder.text),
            metadata={key: value for key in ("identifier", "publisher") if (value := _fact(package, f"{DC}{key}"))},
        )


def _book_place(archive: zipfile.ZipFile) -> str:
    """The name of the part that lists the book's contents."""
    for root in parse_part(archive, CONTAINER).iter("{*}rootfile"):
        return unquote(str(root.get("full-path", "")))
    raise ExtractError(DAMAGED)


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """The parts in reading order."""
    items = {str(item.get("id")): item for item in package.iter(f"{OPF}item")}
    for reference in list(package.iter(f"{OPF}itemref"))[:MAX_CHAPTERS]:
        item = items.get(str(reference.get("idref")))
        if item is None or item.get("media-type") not in PAGE_TYPES or "nav" in str(item.get("properties", "")).split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href", "")))))


def _write_chapter(archive: zipfile.ZipFile, chapter: str, builder: TextBuilder) -> None:
    try:
        page = decode(archive.read(chapter))
    except KeyError:  # the book names a chapter that it lacks: the others are read
        return
    body = lexbor.LexborHTMLParser(page).body
    if body is not None:
        builder.block(clean(to_markdown(body)))
