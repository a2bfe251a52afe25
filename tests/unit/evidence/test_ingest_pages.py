from __future__ import annotations

from assay.core.sources import Fetched
from assay.evidence.ingest import IngestPart, Units
from assay.fetch.html import HtmlExtractor
from assay.store.memory import MemoryLibrary


def test_a_page_is_read_in_the_encoding_that_its_server_states() -> None:
    body = "<html><body><p>Zażółć gęślą jaźń</p></body></html>".encode("iso-8859-2")
    page = Fetched(
        url="http://a.example/",
        final_url="http://a.example/",
        media_type="text/html",
        headers={"content-type": "text/html; charset=ISO-8859-2"},
        body=body,
        fetched_at="2026-01-01T00:00:00+00:00",
    )
    part = next(iter(Units(MemoryLibrary(), [HtmlExtractor()], (), 1_000_000).of_page(page)))
    assert isinstance(part, IngestPart)
    assert next(part.documents).text == "Zażółć gęślą jaźń\n"
    assert part.data == body
