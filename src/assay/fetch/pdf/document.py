"""A PDF as a document: its text, and what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

from assay.core.detection import detect
from assay.core.errors import ExtractError, NoLetters
from assay.core.sources import Extracted
from assay.fetch.fields import first_line, stem
from assay.fetch.pdf.lines import Pdf
from assay.fetch.pdf.paragraphs import PrintedLine, mended_page_ends, paragraphs, vocabulary
from assay.fetch.pdf.running_lines import without_running_lines
from assay.fetch.text_decoder import clean

PAGE_BREAK = "\f"
MOST_PAGES = 10_000
MOST_TEXT = 64 * 1024 * 1024
"""Code points taken from one document."""
NAMED = 3
SCANNED = "scanned? OCR is an extra: pip install 'assay[ocr]'"
SCANNED = "scanned? OCR is an extra: pip install 'assay[ocr]'"

_FILE_LIKE = re.compile(
    r"\.(?:docx?|pdf|tex|indd|qxd|ps|dvi|xlsx?|pptx?|odt|rtf|html?)$|^untitled|^[\W\d_]*$", re.IGNORECASE
)
_PROGRAM = re.compile(r"^Microsoft \w+ - ")
_DATE = re.compile(r"^(?:D:)?((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_SPACE = re.compile(r"\s+")


def read(data: bytes, name: str, extractor: str) -> Iterator[Extracted]:
    """The one document in `data`.

    Raises:
        ExtractError: encrypted, damaged, or without text; or, after the document, pages which could not be read.
    """
    with closing(Pdf(data)) as pdf:
        pages, bad = _pages(pdf)
        found = made_of(pdf, pages, name, extractor)
        if not found.text.strip():
            raise _empty(pdf, len(bad))
        yield found
    if bad:
        more = ", …" if len(bad) > NAMED else ""
        named = ", ".join(map(str, bad[:NAMED]))
        raise ExtractError(f"{len(bad)} of its {len(pages)} pages could not be read (page {named}{more})")


def _pages(pdf: Pdf) -> tuple[list[list[PrintedLine]], list[int]]:
    """The lines of each page, and the numbers of the pages which cannot be read, or are too many."""
    pages: list[list[PrintedLine]] = []
    bad: list[int] = []
    size = 0
    for number in range(1, pdf.pages + 1):
        lines: list[PrintedLine] = []
        try:
            if number > MOST_PAGES or size > MOST_TEXT:
                raise ExtractError("too long")
            lines = pdf.page(number)
        except ExtractError:
            bad.append(number)
        pages.append(lines)
        size += sum(len(line.text) for line in lines)
    return pages, bad


def _text(pages: list[list[PrintedLine]]) -> str:
    hyphens = any(line.hyphen for page in pages for line in page)
    words = vocabulary(line for page in pages for line in page) if hyphens else frozenset[str]()
    texts = (paragraphs(page, words) for page in (mended_page_ends(pages, words) if hyphens else pages))
    return PAGE_BREAK.join("\n\n".join(map(_one_line, text)) for text in texts)


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", clean(text)).strip()


def _empty(pdf: Pdf, bad: int) -> ExtractError:
    if bad == pdf.pages:
        return ExtractError("damaged: no page can be read")
    some = f"no text on its {pdf.pages} page{'' if pdf.pages == 1 else 's'}"
    return NoLetters(f"{some} ({SCANNED})") if pdf.shows_anything() else ExtractError(f"{some}, and no pictures either")


def made_of(pdf: Pdf, pages: list[list[PrintedLine]], name: str, extractor: str) -> Extracted:
    """The document which the lines of its pages make."""
    text = _text(without_running_lines(pages))
    facts = {key: _one_line(value.rstrip("\0"))[:300] for key, value in pdf.facts().items()}
    title = _PROGRAM.sub("", facts.get("Title", ""))
    author = facts.get("Author", "")
    made = _DATE.match(facts.get("CreationDate", ""))
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="pages",
        title=title if title and not _FILE_LIKE.search(title) else first_line(text) or stem(name),
        author=author if any(map(str.isalpha, author)) else "",
        published="-".join(made.groups()) if made else "",
        language=detect(text),
        metadata={"pages": str(pdf.pages)} | ({"encrypted": "yes"} if pdf.encrypted else {}),
    )
