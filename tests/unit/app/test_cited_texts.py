"""A text checked against pages and files: what is fetched, what is not, and the limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay
from assay.app import verification
from assay.app.verification import VerificationSetup, verify_text
from assay.core.errors import FetchFailed, UsageError
from assay.core.ports import Library
from assay.core.sources import Document
from assay.core.web_addresses import ANYTHING, WebRules

TIDES = "# Tides at Brest\n\nThe tide at Brest rises seven metres.\n"
PAGE = "https://example.org/tides"


class Pages:
    """One page of the web, which has moved; anything else cannot be had."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.asked: list[str] = []

    async def read(self, url: str, rules: WebRules = ANYTHING, parts: int | None = None) -> tuple[Document, ...]:
        self.asked.append(url)
        if url != PAGE:
            raise FetchFailed("status: 404")
        return (self.document,)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kept.md"
    path.write_text(TIDES)
    return path


async def verified(assay: Assay, text: str, pages: Pages, documents: list[Document]) -> verification.VerifiedText:
    desk = VerificationSetup(library_of(assay), assay._context.reader, pages)
    return await verify_text(text, documents, desk, Path("/nowhere"))


def library_of(assay: Assay) -> Library:
    return assay._context.store.library


async def test_pages_which_are_cited_are_fetched_once_and_others_named(file: Path) -> None:
    text = (
        f"The tide at Brest rises seven metres ({PAGE}). The tide at Brest rises seven metres ({PAGE}?utm_source=x)."
        "\n\nShips left in 1999 (https://example.org/none). See [notes](notes.md).\n"
    )
    async with Assay() as assay:
        await assay.add(file)
        pages = Pages((await assay.documents())[0])
        found = await verified(assay, text, pages, [])
    assert pages.asked == [PAGE, "https://example.org/none"]
    assert [claim.verdict for claim in found.claims] == ["quoted", "quoted", "unchecked", "unchecked"]
    assert found.warnings == ("https://example.org/none: status: 404",)
    assert [reference.documents != () for reference in found.references] == [True, False, False]


async def test_what_was_given_is_not_fetched(file: Path) -> None:
    async with Assay() as assay:
        await assay.add(file)
        [document] = await assay.documents()
        pages = Pages(document)
        found = await verified(assay, f"The tide at Brest rises seven metres [t]({document.url}).", pages, [document])
    assert pages.asked == []
    assert len(found.references[0].documents) == 1


async def test_pages_have_a_limit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "MAX_PAGES", 2)
    async with Assay() as assay:
        await assay.add(file)
        pages = Pages((await assay.documents())[0])
        found = await verified(assay, "".join(f"It is {n} (https://example.org/{n}). " for n in range(5)), pages, [])
    assert len(pages.asked) == 2
    assert found.warnings[-1] == "only 2 pages were fetched"


async def test_without_documents_and_without_the_web_there_is_nothing_to_do() -> None:
    async with Assay() as assay:
        with pytest.raises(UsageError, match="nothing to check the text against"):
            await assay.verify("It is so [1].")


async def test_a_text_has_a_longest(file: Path) -> None:
    async with Assay() as assay:
        with pytest.raises(UsageError, match="characters"):
            await assay.verify("x" * (verification.MAX_TEXT_CHARS + 1), sources=file)
