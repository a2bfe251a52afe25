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
MIN_RUNNING_PAGES = 3
SET_APART = 1.4
"""A running line is further from the text than this many usual line distances."""
MIN_RUNNING_LETTERS = 3
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
    running = _page_number_rows(rows, len(pages)) | _running_rows(rows, len(pages))
    removed_lines: dict[int, set[int]] = defaultdict(set)
    for index in running:
        removed_lines[rows[index].page].update(rows[index].lines)
    remaining = [
        [line for index, line in enumerate(page) if index not in removed_lines[number]]
        for number, page in enumerate(pages)
    ]
    for number, kept_lines in _unique_running_lines([rows[index] for index in sorted(running)], remaining, pages):
        removed_lines[number] -= set(kept_lines)
    return [
        [line for index, line in enumerate(page) if index not in removed_lines[number]]
        for number, page in enumerate(pages)
    ]


def _edge_rows(number: int, page: Sequence[PrintedLine]) -> list[EdgeRow]:
    """The outermost rows of a page, the outer one of each edge first."""
    rows = _rows(page)
    bases = [median(page[index].base for index in row) for row in rows]
    steps = [above - below for above, below in pairwise(bases)]
    usual = median(steps) if steps else 0.0
    # On a page with few lines the same row is not both head and foot.
    count = min(EDGE_ROWS, len(rows) // 2)
    edge_rows = []
    for edge, order in (("top", range(count)), ("foot", range(len(rows) - 1, len(rows) - 1 - count, -1))):
        apart = False
        for index in reversed(order):
            inner = steps[index] if edge == "top" else steps[index - 1]
            apart = apart or inner > SET_APART * usual
            text = " ".join(page[line].text for line in sorted(rows[index], key=lambda line: page[line].left))
            if len(text) <= MAX_RUNNING_CHARS:
                edge_rows.append(EdgeRow(number, edge, bases[index], text, tuple(rows[index]), apart))
    return edge_rows


def _rows(page: Sequence[PrintedLine]) -> list[list[int]]:
    """The numbers of the lines on one level, from the top."""
    rows: list[list[int]] = []
    level = 0.0
    for index in sorted(range(len(page)), key=lambda index: -page[index].base):
        if rows and level - page[index].base < SAME_ROW * max(page[index].size, 1.0):
            rows[-1].append(index)
        else:
            rows.append([index])
            level = page[index].base
    return rows


def _page_number_rows(rows: Sequence[EdgeRow], all_pages: int) -> set[int]:
    """The rows with a number at one end that counts with the pages, at one place."""
    by_offset: dict[tuple[str, bool, int], list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        for roman, value in _end_numbers(row.text):
            by_offset[row.edge, roman, value - row.page].append(index)
    row_indexes: set[int] = set()
    for candidates in by_offset.values():
        for group in _group_by_place(rows, candidates):
            pages = {rows[index].page for index in group}
            short = len(pages) == all_pages == MIN_RUNNING_PAGES - 1 and all(
                not _WORD.search(rows[index].text) for index in group
            )
            if len(pages) >= MIN_RUNNING_PAGES or short:
                row_indexes.update(group)
    return row_indexes


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
    before, after = text[: match.start()], text[match.end() :]
    # 3.1 is the number of a section, and 1911a is not a number
    is_separate = not re.search(r"[\w.,:]$", before) and not re.match(r"[\w]|[.,:]\d", after)
    return is_separate and (
        not any(map(str.isalnum, before)) or not any(map(str.isalnum, after)) or _is_page_number(text)
    )


def _is_page_number(text: str) -> bool:
    """True if a row is a page number with at most one word beside it."""
    return len(_WORD.findall(_ROMAN.sub("", text))) <= 1


def _roman(text: str) -> int:
    values = [_VALUES[letter] for letter in text]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def _running_rows(rows: Sequence[EdgeRow], pages: int) -> set[int]:
    """The rows with the same text at one place on many pages, set off from the text there."""
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        if sum(map(str.isalpha, row.text)) >= MIN_RUNNING_LETTERS:
            alike[row.edge, _ROMAN.sub("#", _NUMBER.sub("#", row.text)).casefold()].append(index)
    row_indexes: set[int] = set()
    for same in alike.values():
        for group in _group_by_place(rows, same):
            on = {rows[index].page for index in group}
            texts = {rows[index].text for index in group}
            runs = _is_running_sequence([rows[index] for index in group]) or len(on) * 2 > pages
            if len(on) >= MIN_RUNNING_PAGES and len(texts) == 1 and runs:
                row_indexes.update(group)
    return row_indexes


def _is_running_sequence(rows: Sequence[EdgeRow]) -> bool:
    """True if rows are set off from the text and occur on successive pages, or on successive left or right pages."""
    apart = sum(row.apart for row in rows)
    numbers = sorted({row.page for row in rows})
    near_count = sum(after - before <= NEXT_PAGES for before, after in pairwise(numbers))
    return apart * 2 > len(rows) and near_count >= MIN_NEXT_SHARE * (len(numbers) - 1)


def _group_by_place(rows: Sequence[EdgeRow], indexes: Sequence[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for index in sorted(indexes, key=lambda index: rows[index].base):
        if groups and rows[index].base - rows[groups[-1][0]].base <= SAME_PLACE:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _unique_running_lines(
    running_rows: Sequence[EdgeRow], remaining: Sequence[Sequence[PrintedLine]], pages: Sequence[Sequence[PrintedLine]]
) -> list[tuple[int, tuple[int, ...]]]:
    """For running lines with words that occur nowhere else: the first page of each, and its lines there."""
    body = {word for page in remaining for line in page for word in _words_of(line.text)}
    seen: set[str] = set()
    first = []
    for row in running_rows:
        words = [word for word in _words_of(row.text) if not word.isdigit() or len(word) >= YEAR_DIGITS]
        if _is_page_number(row.text) or " ".join(words) in seen:
            continue
        seen.add(" ".join(words))
        if sum(word in body for word in words) < MIN_KNOWN_SHARE * len(words):
            first.append((row.page, tuple(index for index in row.lines if _WORD.search(pages[row.page][index].text))))
    return first


def _words_of(text: str) -> list[str]:
    return _SAID.findall(text.casefold())


PAGE_BREAK = "\f"
MAX_PAGES = 10_000
MAX_TEXT_CHARS = 64 * 1024 * 1024
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
        document = build_document(pdf, pages, name, extractor)
        if not document.text.strip():
            raise _no_text_error(pdf, len(bad))
        yield document
    if bad:
        ellipsis = ", …" if len(bad) > MAX_PAGES_NAMED else ""
        page_numbers = ", ".join(map(str, bad[:MAX_PAGES_NAMED]))
        raise ExtractError(f"{len(bad)} of its {len(pages)} pages could not be read (page {page_numbers}{ellipsis})")


def _pages(pdf: Pdf) -> tuple[list[list[PrintedLine]], list[int]]:
    """The lines of each page, and the numbers of the pages that cannot be read, or are too many."""
    pages: list[list[PrintedLine]] = []
    bad: list[int] = []
    size = 0
    for number in range(1, pdf.pages + 1):
        lines: list[PrintedLine] = []
        try:
            if number > MAX_PAGES or size > MAX_TEXT_CHARS:
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
    reason = f"no text on its {pdf.pages} page{'' if pdf.pages == 1 else 's'}"
    return (
        NoLetters(f"{reason} ({SCANNED})")
        if pdf.shows_anything()
        else ExtractError(f"{reason}, and no pictures either")
    )


def _doi(text: str) -> dict[str, str]:
    """The DOI at the top of a paper, if there is only one: it may be that of another."""
    dois = {find_doi(match[0], "") for match in DOI.finditer(text[:DOI_CHARS])}
    return {"doi": dois.pop()} if len(dois) == 1 else {}


def printed_title(page: Sequence[PrintedLine]) -> str:
    """The title of a document by its print: the lines in the largest font at the top of its first page, "" if unclear.

    They follow each other, have several words, and are clearly larger than the text.
    """
    top = page[:MAX_LINES_TO_TITLE]
    min_size = SAME_SIZE * max((line.size for line in top), default=0.0)
    if not top or min_size < MIN_TITLE_SIZE * median(line.size for line in page):
        return ""
    first, *more = takewhile(lambda line: line.size >= min_size, dropwhile(lambda line: line.size < min_size, page))
    title, hyphen = first.text, first.hyphen
    for line in more:
        title, hyphen = join_lines(title, line.text, hyphen), line.hyphen
    is_phrase = len(_WORD.findall(title)) > 1 and len(title) <= MAX_TITLE_CHARS
    return _one_line(title) if is_phrase and title[-1] not in ".,;:" else ""


def build_document(pdf: Pdf, pages: list[list[PrintedLine]], name: str, extractor: str) -> Extracted:
    """Build the document from the lines of its pages."""
    text = _text(remove_running_lines(pages))
    facts = {key: _one_line(value.rstrip("\0"))[:300] for key, value in pdf.facts().items()}
    title = _PROGRAM.sub("", facts.get("Title", ""))
    author = facts.get("Author", "")
    created = _DATE.match(facts.get("CreationDate", ""))
    if not title or _FILE_LIKE.search(title):
        title = printed_title(pages[0] if pages else ()) or first_line(text) or title_from_name(name)
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="pages",
        title=title,
        author=author if any(map(str.isalpha, author)) else "",
        published=find_date(text, title, name) or ("-".join(created.groups()) if created else ""),
        language=detect_language(text),
        metadata={"pages": str(pdf.pages)} | _doi(text) | ({"encrypted": "yes"} if pdf.encrypted else {}),
    )
