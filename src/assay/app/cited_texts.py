"""Any text with citations, checked against documents: no run is made, and a model only asked where one is given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.app.claim_judge import Bench, Judgements
from assay.core.claims import Summary
from assay.core.errors import FetchFailed, UsageError
from assay.core.ports import Library, Pages
from assay.core.sources import Document, Passage
from assay.core.usage import Usage
from assay.core.web_addresses import BadUrl, read
from assay.evidence.documents import DocumentReader
from assay.verify.evidence_index import text_of
from assay.verify.texts.marked_text import MarkedText, mark
from assay.verify.texts.reference_match import Catalogue
from assay.verify.texts.text_check import CheckedClaim, DocumentAccess, Named, draft

__all__ = ["LONGEST", "CheckedClaim", "Desk", "Named", "VerifiedText", "verify_text"]

LONGEST = 4_000_000
"""Characters of a text; what is longer is no report."""
MOST_PAGES = 200
"""Pages fetched for one text."""


class VerifiedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text's claims with their verdicts, and what they were held against.

    `share` is that of the quoted and supported among the claims (1 without claims), `uncited` counts those which cite
    nothing and are neither. `documents` are the addresses of the documents given or fetched. `passages` are those the
    claims were held against: `S2.17` is passage 17 of what reference `S2` names; numbers beyond the references are of
    documents in which evidence was found. `warnings` say what could not be read. `model` judged what the rules do
    not decide, empty where none did; `usage` is what that took.
    """

    claims: tuple[CheckedClaim, ...]
    references: tuple[Named, ...]
    passages: tuple[Passage, ...]
    documents: tuple[str, ...]
    summary: Summary
    uncited: int
    share: float
    warnings: tuple[str, ...] = ()
    model: str = ""
    usage: Usage = Usage()


class Desk(msgspec.Struct, frozen=True):
    """Where documents are kept and read; `pages` fetches what a text cites and nobody gave, None leaves it."""

    library: Library
    reader: DocumentReader
    pages: Pages | None = None


async def verify_text(
    text: str,
    documents: Sequence[Document],
    desk: Desk,
    folder: Path,
    bench: Bench | None = None,
    find: bool | None = None,
) -> VerifiedText:
    """Check every claim of `text` against what it cites of `documents`.

    Args:
        text: Markdown, or plain text.
        documents: those it may cite; they are in the library of `desk`.
        desk: where they are read.
        folder: what paths in the text are relative to.
        bench: a judge for the claims of which only the weight of words has spoken.
        find: whether evidence is looked for in all documents where a claim cites nothing; None: where none cites.

    Raises:
        UsageError: the text is longer than `LONGEST`; a model which cannot judge.
        StoreError: a document's text is not there, or damaged.
    """
    if len(text) > LONGEST:
        raise UsageError(f"a text of more than {LONGEST:,} characters is too long for a report: name a smaller file")
    marked = await asyncio.to_thread(mark, text)
    catalogue = Catalogue(documents, str(await asyncio.to_thread(folder.resolve)))
    fetched, failed = await _fetch(marked, catalogue, desk.pages)
    searched = find or (find is None and not marked.references)
    shelf = DocumentAccess(
        find=catalogue.find,
        spans=desk.reader.spans,
        text_of=text_of(desk.library, desk.reader),
        everything=(*documents, *fetched) if searched else (),
    )
    checked = await asyncio.to_thread(draft, text, marked, shelf)
    judged = await bench.judge(checked.to_judge()) if bench else Judgements()
    found = await asyncio.to_thread(checked.told, judged.opinions)
    return VerifiedText(
        claims=found.claims,
        references=found.references,
        passages=found.passages,
        documents=tuple(document.url for document in (*documents, *fetched)),
        summary=found.summary,
        uncited=found.uncited,
        share=round(found.share, 4),
        warnings=tuple(failed),
        model=judged.model,
        usage=judged.usage,
    )


async def _fetch(marked: MarkedText, catalogue: Catalogue, pages: Pages | None) -> tuple[list[Document], list[str]]:
    """Fetch the pages which are cited and not among the documents, one after another; why others cannot be had."""
    fetched: list[Document] = []
    failed: list[str] = []
    wanted = [each.url for each in marked.references if _is_page(each.url) and not catalogue.find(each)]
    for url in dict.fromkeys(wanted if pages else ()):
        if len(fetched) + len(failed) == MOST_PAGES:
            failed.append(f"only {MOST_PAGES} pages were fetched")
            break
        try:
            documents = await pages.read(url) if pages else ()
        except FetchFailed as error:
            failed.append(f"{url}: {error.reason}")
            continue
        for document in documents:
            catalogue.add(document, url)  # it may have moved
        fetched.extend(documents)
    return fetched, failed


def _is_page(url: str) -> bool:
    try:
        return bool(read(url))
    except BadUrl:
        return False
