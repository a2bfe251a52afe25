"""Pages of stored PDFs as they are printed: their pictures, and where on them a passage stands."""

from __future__ import annotations

import asyncio

import msgspec

from assay.core.errors import ExtractError, UnknownName, UsageError
from assay.core.sources import Document, Extracted, PageAsked, PagePlaces
from assay.services.context import Context
from assay.services.shelves import PAGE_END, original

NARROWEST, WIDEST = 100, 2000
"""Dots a picture may be wide."""
HEAD = 1024
"""Bytes among which a PDF says that it is one."""


async def page_picture(context: Context, reference: str, number: int, width: int) -> bytes:
    """A page as a PNG; see `DocumentLibrary.page_picture`."""
    document, data = await _printed(context, reference)
    pages = (await asyncio.to_thread(context.reader.text, document)).count(PAGE_END) + 1
    if not 1 <= number <= pages:
        raise UnknownName("page", str(number), hint=f"in this document: it has {pages}")
    asked = PageAsked(number=number, width=min(max(width, NARROWEST), WIDEST))
    return (await _answer(context, document, data, asked)).body or b""


async def page_places(context: Context, reference: str, start: int, end: int) -> PagePlaces:
    """Where a passage is printed; see `DocumentLibrary.page_places`."""
    document, data = await _printed(context, reference)
    text = await asyncio.to_thread(context.reader.text, document)
    if not 0 <= start < end <= len(text):
        raise UsageError(f"the document has no bytes {start} to {end}: it has {len(text)}; name some within it")
    begin = text.rfind(PAGE_END, 0, start) + 1
    stop = text.find(PAGE_END, start)
    asked = PageAsked(
        number=text.count(PAGE_END, 0, start) + 1,
        passage=text[start : min(end, stop if stop >= 0 else end)].decode(errors="replace"),
        before=text[begin:start].decode(errors="replace"),
    )
    return msgspec.json.decode((await _answer(context, document, data, asked)).text, type=PagePlaces)


async def _printed(context: Context, reference: str) -> tuple[Document, bytes]:
    """A document which was read from a PDF, and that PDF."""
    document, data = await original(context, reference)
    if document.syntax != "pages" or b"%PDF-" not in data[:HEAD]:
        raise UsageError(
            f"{document.name or document.title!r} is no PDF, so no picture of it is there: read its text instead"
        )
    return document, data


async def _answer(context: Context, document: Document, data: bytes, asked: PageAsked) -> Extracted:
    pages = context.readers.of_printed_pages()

    def work() -> Extracted:
        return next(iter(pages.extract(data, msgspec.json.encode(asked).decode())))

    try:
        return await asyncio.to_thread(work)
    except ExtractError as error:
        name = document.name or document.title
        raise UsageError(f"page {asked.number} of {name!r} cannot be shown ({error}): read its text instead") from error
