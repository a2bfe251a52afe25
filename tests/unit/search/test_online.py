"""What a web provider says of pages, as passages."""

from __future__ import annotations

import pytest

from assay.core.ports import Query
from assay.core.sources import SNIPPET
from assay.evidence.documents import DocumentReader
from assay.run.process import SystemClock
from assay.search.web.http import WebHit
from assay.search.web.online import OnlineSearch
from assay.store.memory import memory_store

URL = "https://example.org/harbor"


class Finding:
    """A provider which finds one page."""

    name = "finding"

    def __init__(self, hit: WebHit) -> None:
        self._hit = hit

    async def find(self, query: Query) -> list[WebHit]:
        return [self._hit]

    async def close(self) -> None:
        """There is nothing to let go of."""


@pytest.mark.parametrize(
    ("title", "snippet", "expected"),
    [
        ("Harbor", "It was built in 1843.", ["Harbor", "It was built in 1843."]),
        ("Harbor", "", ["Harbor"]),
        ("", f"See {URL} for more.", [f"See {URL} for more."]),
        ("", "", []),
    ],
)
async def test_the_address_of_a_page_alone_is_no_passage(title: str, snippet: str, expected: list[str]) -> None:
    store = memory_store()
    reader = DocumentReader(store.blobs)
    provider = Finding(WebHit(url=URL, title=title, snippet=snippet))
    search = OnlineSearch(provider, store.library, store.blobs, SystemClock(), reader.spans)
    (hit,) = await search.search(Query(text="harbor", limit=8))
    assert [span.text for span in hit.spans] == expected
    assert (hit.document.url, hit.document.media_type) == (URL, SNIPPET)


async def test_what_no_database_stores_is_taken_out() -> None:
    store = memory_store()
    reader = DocumentReader(store.blobs)
    provider = Finding(
        WebHit(url=f"{URL}\0", title="The\0 \x1b[31mharbor", snippet="Built\0 in 1843.", author="Ada\x07")
    )
    search = OnlineSearch(provider, store.library, store.blobs, SystemClock(), reader.spans)
    (hit,) = await search.search(Query(text="harbor", limit=8))
    assert [span.text for span in hit.spans] == ["The harbor", "Built in 1843."]
    assert (hit.document.url, hit.document.title, hit.document.author) == (URL, "The harbor", "Ada")
