"""E-books (EPUB 2 and 3)."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from assay.core.errors import ExtractError
from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import iso_date, stem
from assay.fetch.html_markdown import to_markdown
from assay.fetch.office.package import DAMAGED, unpacked, xml
from assay.fetch.text_form import TextBuilder, clean, decode

if TYPE_CHECKING:
    from lxml import etree

CONTAINER = "META-INF/container.xml"
BOOK = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
PAGES = ("application/xhtml+xml", "text/html")
MOST_CHAPTERS = 5_000
LOCKED = "META-INF/encryption.xml"
FONTS = b"http://www.idpf.org/2008/embedding"
"""The method with which books that anybody may read scramble their fonts."""


class EpubExtractor:
    """One document: the chapters in reading order, each under its own headings.

    The table of contents is omitted if the book marks it.
    """

    name = "epub/1"
    suffixes = (".epub",)
    media_type = "application/epub+zip"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document.

        Raises:
            ExtractError: protected, damaged, malicious, or without text.
        """
        with unpacked(data) as archive:
            place = _package(archive)
            package = xml(archive, place)
            writing = TextBuilder()
            for chapter in _chapters(package, posixpath.dirname(place)):
                _write(archive, chapter, writing)
            locked = LOCKED in archive.namelist() and FONTS not in archive.read(LOCKED)
        if not writing.text:
            raise ExtractError("its text is protected (DRM)" if locked else "it holds no text")
        yield Extracted(
            text=writing.text,
            extractor=self.name,
            syntax="markdown",
            title=_fact(package, "title") or stem(name),
            author=_fact(package, "creator"),
            published=iso_date(_fact(package, "date")),
            language=_fact(package, "language")[:2].lower() or detect(writing.text),
            metadata={key: value for key in ("identifier", "publisher") if (value := _fact(package, key))},
        )


def _package(archive: zipfile.ZipFile) -> str:
    """The name of the part that lists the book's contents."""
    for root in xml(archive, CONTAINER).iter("{*}rootfile"):
        return unquote(str(root.get("full-path", "")))
    raise ExtractError(DAMAGED)


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    """The parts in reading order."""
    items = {str(item.get("id")): item for item in package.iter(f"{BOOK}item")}
    for reference in list(package.iter(f"{BOOK}itemref"))[:MOST_CHAPTERS]:
        item = items.get(str(reference.get("idref")))
        if item is None or item.get("media-type") not in PAGES or "nav" in str(item.get("properties", "")).split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href", "")))))


def _write(archive: zipfile.ZipFile, chapter: str, writing: TextBuilder) -> None:
    try:
        page = decode(archive.read(chapter))
    except KeyError:  # the book names a chapter that it lacks: the others are read
        return
    body = LexborHTMLParser(page).body
    if body is not None:
        writing.block(clean(to_markdown(body)))


def _fact(package: etree._Element, tag: str) -> str:
    found = next(package.iter(f"{DC}{tag}"), None)
    return "" if found is None else clean(found.text or "").strip()[:300]
