"""A PDF as a document: its text, and what it says about itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import dropwhile, pairwise, takewhile
from statistics import median

import msgspec

from assay.core.errors import ExtractError, NoLetters
from assay.core.languages import detect_language
from assay.core.lazy import regex
from assay.core.sources import Extracted
from assay.core.web_addresses import DOI, find_doi
from assay.fetch.fields import find_date, first_line, title_from_name
from assay.fetch.pdf.lines import Pdf
from assay.fetch.pdf.paragraphs import PrintedLine, join_lines, join_split_words, paragraphs, vocabulary
from assay.fetch.text_form import clean

# Lines that belong to the paper and not to the text: page numbers, running heads and feet.

EDGE_ROWS = 2
"""Rows at the top and at the foot of a page, each, that may be running ones."""
SAME_PLACE = 3.0
"""The most points by which the bases of one running line differ."""
SAME_ROW = 0.4
LEAST_PAGES = 3
SET_APART = 1.4
"""A running line is further from the text than this many usual line distances."""
LEAST_LETTERS = 3
MAX_RUNNING_CHARS = 160
NEXT_PAGES, MIN_NEXT_SHARE = 2, 0.7
"""A chapter's head recurs on the next page or the one after, unless figures fill a page."""
MIN_KNOWN_SHARE = 0.5
"""A head says nothing new if at least this share of its words occurs in the text."""
_NUMBER = regex(r"\d{1,5}")
_ROMAN = regex(r"(?<!\w)[ivxlc]{1,7}(?!\w)", re.IGNORECASE)
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORD = regex(r"[^\W\d_]+")
_SAID = regex(r"\w+")
YEAR_DIGITS = 4


class EdgeRow(msgspec.Struct, frozen=True):
    """Lines beside each other near an edge of page `page` (from 0); `apart`: they are set off from the text."""

    page: int
    edge: str
    base: float
    text: str
    lines: tuple[int, ...]
    apart: bool


def remove_running_lines(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """The pages without their running lines. A head with words that occur nowhere else stays at its first place."""
    rows = [row for number, page in enumerate(pages) for row in _edge_rows(number, page)]
    found = _page_number_rows(rows, len(pages)) | _running_rows(rows, len(pages))
    gone: dict[int, set[int]] = defaultdict(set)
    for at in found:
        gone[rows[at].page].update(rows[at].lines)
    left = [[line for at, line in enumerate(page) if at not in gone[number]] for number, page in enumerate(pages)]
    for number, kept in _unique_running_lines([rows[at] for at in sorted(found)], left, pages):
        gone[number] -= set(kept)
    return [[line for at, line in enumerate(page) if at not in gone[number]] for number, page in enumerate(pages)]


def _edge_rows(number: int, page: Sequence[PrintedLine]) -> list[EdgeRow]:
    """The outermost rows of a page, the outer one of each edge first."""
    rows = _rows(page)
    bases = [median(page[at].base for at in row) for row in rows]
    steps = [above - below for above, below in pairwise(bases)]
    usual = median(steps) if steps else 0.0
    # On a page with few lines the same row is not both head and foot.
    most = min(EDGE_ROWS, len(rows) // 2)
    found = []
    for edge, order in (("top", range(most)), ("foot", range(len(rows) - 1, len(rows) - 1 - most, -1))):
        apart = False
        for at in reversed(order):
            inner = steps[at] if edge == "top" else steps[at - 1]
            apart = apart or inner > SET_APART * usual
            text = " ".join(page[line].text for line in sorted(rows[at], key=lambda line: page[line].left))
            if len(text) <= MAX_RUNNING_CHARS:
                found.append(EdgeRow(number, edge, bases[at], text, tuple(rows[at]), apart))
    return found


def _rows(page: Sequence[PrintedLine]) -> list[list[int]]:
    """The numbers of the lines on one level, from the top."""
    rows: list[list[int]] = []
    level = 0.0
    for at in sorted(range(len(page)), key=lambda at: -page[at].base):
        if rows and level - page[at].base < SAME_ROW * max(page[at].size, 1.0):
            rows[-1].append(at)
        else:
            rows.append([at])
            level = page[at].base
    return rows


def _page_number_rows(rows: Sequence[EdgeRow], all_pages: int) -> set[int]:
    """The rows with a number at one end that counts with the pages, at one place."""
    by_offset: dict[tuple[str, bool, int], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        for roman, value in _end_numbers(row.text):
            by_offset[row.edge, roman, value - row.page].append(at)
    found: set[int] = set()
    for numbered in by_offset.values():
        for places in _group_by_place(rows, numbered):
            pages = {rows[at].page for at in places}
            short = len(pages) == all_pages == LEAST_PAGES - 1 and all(not _WORD.search(rows[at].text) for at in places)
            if len(pages) >= LEAST_PAGES or short:
                found.update(places)
    return found


def _end_numbers(text: str) -> Iterable[tuple[bool, int]]:
    """The numbers that a row begins or ends with, in the form of page numbers; the result marks Roman ones."""
    numbers = list(_NUMBER.finditer(text))
    for match in {numbers[0], numbers[-1]} if numbers else ():
        if _is_outer(text, match):
            yield False, int(match[0])
    if " of " in text or " von " in text or " de " in text or "/" in text:  # page 3 of 12
        for match in numbers[-2:-1]:
            yield False, int(match[0])
    for match in _ROMAN.finditer(text):
        if _is_outer(text, match):
            yield True, _roman(match[0].lower())


def _is_outer(text: str, match: re.Match[str]) -> bool:
    before, behind = text[: match.start()], text[match.end() :]
    # 3.1 is the number of a section, and 1911a is not a number
    whole = not re.search(r"[\w.,:]$", before) and not re.match(r"[\w]|[.,:]\d", behind)
    return whole and (not any(map(str.isalnum, before)) or not any(map(str.isalnum, behind)) or _is_page_number(text))


def _is_page_number(text: str) -> bool:
    """True if a row is a page number with at most one word beside it."""
    return len(_WORD.findall(_ROMAN.sub("", text))) <= 1


def _roman(text: str) -> int:
    values = [_VALUES[letter] for letter in text]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def _running_rows(rows: Sequence[EdgeRow], pages: int) -> set[int]:
    """The rows with the same text at one place on many pages, set off from the text there."""
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        if sum(map(str.isalpha, row.text)) >= LEAST_LETTERS:
            alike[row.edge, _ROMAN.sub("#", _NUMBER.sub("#", row.text)).casefold()].append(at)
    found: set[int] = set()
    for same in alike.values():
        for places in _group_by_place(rows, same):
            on = {rows[at].page for at in places}
            texts = {rows[at].text for at in places}
            runs = _is_running_sequence([rows[at] for at in places]) or len(on) * 2 > pages
            if len(on) >= LEAST_PAGES and len(texts) == 1 and runs:
                found.update(places)
    return found


def _is_running_sequence(rows: Sequence[EdgeRow]) -> bool:
    """True if rows are set off from the text and occur on successive pages, or on successive left or right pages."""
    apart = sum(row.apart for row in rows)
    numbers = sorted({row.page for row in rows})
    near = sum(after - before <= NEXT_PAGES for before, after in pairwise(numbers))
    return apart * 2 > len(rows) and near >= MIN_NEXT_SHARE * (len(numbers) - 1)


def _group_by_place(rows: Sequence[EdgeRow], chosen: Sequence[int]) -> list[list[int]]:
    """The rows grouped by place."""
    groups: list[list[int]] = []
    for at in sorted(chosen, key=lambda at: rows[at].base):
        if groups and rows[at].base - rows[groups[-1][0]].base <= SAME_PLACE:
            groups[-1].append(at)
        else:
            groups.append([at])
    return groups


def _unique_running_lines(
    gone: Sequence[EdgeRow], left: Sequence[Sequence[PrintedLine]], pages: Sequence[Sequence[PrintedLine]]
) -> list[tuple[int, tuple[int, ...]]]:
    """For running lines with words that occur nowhere else: the first page of each, and its lines there."""
    body = {word for page in left for line in page for word in _words_of(line.text)}
    told: set[str] = set()
    first = []
    for row in gone:
        words = [word for word in _words_of(row.text) if not word.isdigit() or len(word) >= YEAR_DIGITS]
        if _is_page_number(row.text) or " ".join(words) in told:
            continue
        told.add(" ".join(words))
        if sum(word in body for word in words) < MIN_KNOWN_SHARE * len(words):
            first.append((row.page, tuple(at for at in row.lines if _WORD.search(pages[row.page][at].text))))
    return first


def _words_of(text: str) -> list[str]:
    return _SAID.findall(text.casefold())


PAGE_BREAK = "\f"
MOST_PAGES = 10_000
MOST_TEXT = 64 * 1024 * 1024
"""The most code points taken from one document."""
DOI_CHARS = 1_500
"""Code points at the top of a paper that may have its DOI. By hand."""
MAX_PAGES_NAMED = 3
SCANNED = "scanned? OCR is an extra: pip install 'assay[ocr]'"
MAX_LINES_TO_TITLE, MIN_TITLE_SIZE, SAME_SIZE, MAX_TITLE_CHARS = 8, 1.4, 0.95, 200
"""Lines above a title with itself, its size as a multiple of that of the text, how much smaller its other lines may be,
and its length. By hand.
"""
_FILE_LIKE = regex(
    r"\.(?:docx?|pdf|tex|indd|qxd|ps|dvi|xlsx?|pptx?|odt|rtf|html?)$|^untitled|^[\W\d_]*$", re.IGNORECASE
)
_PROGRAM = regex(r"^Microsoft \w+ - ")
_DATE = regex(r"^(?:D:)?((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_SPACE = regex(r"\s+")


def read(data: bytes, name: str, extractor: str) -> Iterator[Extracted]:
    """Return the one document in `data`.

    Raises:
        ExtractError: encrypted, damaged, or without text; or, after the document, pages could not be read.
    """
    with closing(Pdf(data)) as pdf:
        pages, bad = _pages(pdf)
        found = build_document(pdf, pages, name, extractor)
        if not found.text.strip():
            raise _no_text_error(pdf, len(bad))
        yield found
    if bad:
        more = ", …" if len(bad) > MAX_PAGES_NAMED else ""
        named = ", ".join(map(str, bad[:MAX_PAGES_NAMED]))
        raise ExtractError(f"{len(bad)} of its {len(pages)} pages could not be read (page {named}{more})")


def _pages(pdf: Pdf) -> tuple[list[list[PrintedLine]], list[int]]:
    """The lines of each page, and the numbers of the pages that cannot be read, or are too many."""
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
    texts = (paragraphs(page, words) for page in (join_split_words(pages, words) if hyphens else pages))
    return PAGE_BREAK.join("\n\n".join(map(_one_line, text)) for text in texts)


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", clean(text)).strip()


def _no_text_error(pdf: Pdf, bad: int) -> ExtractError:
    if bad == pdf.pages:
        return ExtractError("damaged: no page can be read")
    some = f"no text on its {pdf.pages} page{'' if pdf.pages == 1 else 's'}"
    return NoLetters(f"{some} ({SCANNED})") if pdf.shows_anything() else ExtractError(f"{some}, and no pictures either")


def _doi(text: str) -> dict[str, str]:
    """The DOI at the top of a paper, if there is only one: it may be that of another."""
    found = {find_doi(match[0], "") for match in DOI.finditer(text[:DOI_CHARS])}
    return {"doi": found.pop()} if len(found) == 1 else {}


def printed_title(page: Sequence[PrintedLine]) -> str:
    """The title of a document by its print: the lines in the largest font at the top of its first page, "" if unclear.

    They follow each other, have several words, and are clearly larger than the text.
    """
    top = page[:MAX_LINES_TO_TITLE]
    least = SAME_SIZE * max((line.size for line in top), default=0.0)
    if not top or least < MIN_TITLE_SIZE * median(line.size for line in page):
        return ""
    first, *more = takewhile(lambda line: line.size >= least, dropwhile(lambda line: line.size < least, page))
    title, hyphen = first.text, first.hyphen
    for line in more:
        title, hyphen = join_lines(title, line.text, hyphen), line.hyphen
    several = len(_WORD.findall(title)) > 1 and len(title) <= MAX_TITLE_CHARS
    return _one_line(title) if several and title[-1] not in ".,;:" else ""


def build_document(pdf: Pdf, pages: list[list[PrintedLine]], name: str, extractor: str) -> Extracted:
    """Build the document from the lines of its pages."""
    text = _text(remove_running_lines(pages))
    facts = {key: _one_line(value.rstrip("\0"))[:300] for key, value in pdf.facts().items()}
    title = _PROGRAM.sub("", facts.get("Title", ""))
    author = facts.get("Author", "")
    made = _DATE.match(facts.get("CreationDate", ""))
    if not title or _FILE_LIKE.search(title):
        title = printed_title(pages[0] if pages else ()) or first_line(text) or title_from_name(name)
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="pages",
        title=title,
        author=author if any(map(str.isalpha, author)) else "",
        published=find_date(text, title, name) or ("-".join(made.groups()) if made else ""),
        language=detect_language(text),
        metadata={"pages": str(pdf.pages)} | _doi(text) | ({"encrypted": "yes"} if pdf.encrypted else {}),
    )
