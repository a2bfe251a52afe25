"""Pages in the place of what a search said of them: read once a run, whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import msgspec

from assay.core.errors import FetchFailed, ToolError
from assay.core.events import SourceExpected, SourceFailed
from assay.core.sources import SNIPPET, Document
from assay.core.urls import BadUrl, canonical, read
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages
from assay.run.run import Run
from assay.run.steps import StepContext

FIRST = 3
"""Of the results of a search, so many pages are read before anybody asks for them."""
PASSING = ("timeout", "unreachable")
"""Kinds of failures after which the next one who asks has a try too."""


def is_page(text: str, document: Document | None) -> bool:
    """Whether what was named is a page still to be read: a hit of a search, or an address nobody has met."""
    return document.media_type == SNIPPET if document is not None else _is_address(text)


async def page(run: Run, ledger: Ledger, step_context: StepContext, url: str) -> tuple[Document, ...]:
    """The documents of the page at `url`, to be called inside a step; a failure is an event.

    Raises:
        ToolError: it cannot be read, with the reason; or this run may not read the web.
    """
    if run.world.pages is None:
        raise ToolError(f"{url} was not read: this run may not read the web")
    key = _key(url)
    async with run.alone(key):
        known = ledger.answered(key)
        if known is not None:
            return msgspec.json.decode(known, type=tuple[Document, ...])
        if (before := ledger.answered(_failed(key))) is not None:
            raise ToolError(f"{url} could not be read ({before.decode()}).")
        try:
            documents = await run.begun(key) or await _read(run, ledger, url)
        except FetchFailed as failed:
            step_context.emit(SourceFailed(url=url, reason=failed.reason))
            if not failed.reason.startswith(PASSING):
                ledger.answer(_failed(key), failed.reason.encode())
            raise ToolError(f"{url} could not be read ({failed.reason}).") from failed
        return documents


async def expect(run: Run, ledger: Ledger, shown: Sequence[DocumentPassages]) -> None:
    """Begin to read the first pages a search found, before anybody opens them.

    Only where pages are not counted: what nobody opens in the end must not use up the run's limit.
    """
    pages, rules = run.world.pages, run.brief.scope.rules
    if pages is None or run.brief.budget.pages is not None:
        return
    found = [each.document.url for each in shown[:FIRST] if each.document.media_type == SNIPPET]
    urls = [url for url in found if not _is_known(ledger, url) and not rules.refuses(url)]
    if not urls:
        return

    async def begin(step_context: StepContext) -> tuple[str, ...]:
        begun = tuple(url for url in urls if run.begin(_key(url), partial(_read, run, ledger, url)))
        if begun:
            step_context.emit(SourceExpected(urls=begun))
        return begun

    await run.step("expect", begin, returns=tuple[str, ...], input=urls)


async def _read(run: Run, ledger: Ledger, url: str) -> tuple[Document, ...]:
    """The documents of a page, kept for the whole run under every address the page is known by now.

    Raises:
        FetchFailed: it cannot be had or read.
    """
    assert run.world.pages is not None
    documents = await run.world.pages.read(url, run.brief.scope.rules)
    for name in {_key(url), *map(_key, await asyncio.to_thread(_way, run, documents))}:
        ledger.answer(name, msgspec.json.encode(documents))
    return documents


def _way(run: Run, documents: Sequence[Document]) -> list[str]:
    """The addresses these documents are known by now: where the page was in the end, and each on the way there."""
    found = (run.world.library.snapshot(each.snapshot_sha256) for each in documents)
    return [url for snapshot in found if snapshot is not None for url in (snapshot.url, *snapshot.redirects)]


def _is_known(ledger: Ledger, url: str) -> bool:
    """Whether the page was read, or could not be."""
    key = _key(url)
    return ledger.answered(key) is not None or ledger.answered(_failed(key)) is not None


def _key(url: str) -> str:
    return f"page {canonical(url)}"


def _failed(key: str) -> str:
    """Under which it is kept that the page of a key cannot be read."""
    return f"failed {key}"


def _is_address(text: str) -> bool:
    try:
        read(text)
    except BadUrl:
        return False
    return True
