"""Pages in the place of what a search said of them: read once a run, whoever asks."""

from __future__ import annotations

import msgspec

from assay.core.errors import FetchFailed, ToolFailed
from assay.core.events import SourceFailed
from assay.core.sources import SNIPPET, Document
from assay.core.urls import BadUrl, canonical, read
from assay.evidence.ledger import Ledger
from assay.run.run import Run
from assay.run.steps import Scratch


def is_page(text: str, document: Document | None) -> bool:
    """Whether what was named is a page still to be read: a hit of a search, or an address nobody has met."""
    return document.media_type == SNIPPET if document is not None else _is_address(text)


async def page(run: Run, ledger: Ledger, scratch: Scratch, url: str) -> tuple[Document, ...]:
    """The documents of the page at `url`, to be called inside a step; a failure is an event.

    Raises:
        ToolFailed: it cannot be read, with the reason; or this run may not read the web.
    """
    if run.world.pages is None:
        raise ToolFailed(f"{url} was not read: this run may not read the web")
    key = f"page {canonical(url)}"
    async with run.alone(key):
        known = ledger.answered(key)
        if known is not None:
            return msgspec.json.decode(known, type=tuple[Document, ...])
        try:
            documents = await run.world.pages.read(url)
        except FetchFailed as failed:
            scratch.emit(SourceFailed(url=url, reason=failed.reason))
            raise ToolFailed(f"{url} could not be read ({failed.reason}).") from failed
        ledger.answer(key, msgspec.json.encode(documents))
        return documents


def _is_address(text: str) -> bool:
    try:
        read(text)
    except BadUrl:
        return False
    return True
