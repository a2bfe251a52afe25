"""The ledger's rules: numbering by lane, what a lane sees, what ids stand for."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import FOUND_BY, FOUND_DATE, SNIPPET, Document, PassageSpan, sha256
from assay.evidence.ledger import LANE_SOURCES, DocumentPassages, Ledger


def document(name: str) -> Document:
    return Document(
        sha256=sha256(name.encode()),
        snapshot_sha256=sha256(b"raw" + name.encode()),
        extractor="text/1",
        url=f"file:///{name}",
        title=name.title(),
        name=name,
        media_type="text/plain",
        syntax="plain",
        size=100,
        fetched_at="2026-01-01T00:00:00.000Z",
        metadata={"lang": "en"},
    )


def showing(name: str, *texts: str, first: int = 0) -> DocumentPassages:
    spans = (
        PassageSpan(first + place, 10 * place, 10 * place + len(text.encode()), text)
        for place, text in enumerate(texts)
    )
    return DocumentPassages(document=document(name), spans=tuple(spans))


def put(
    ledger: Ledger, lane: int, *shown: DocumentPassages, queries: tuple[str, ...] = (), pages: tuple[str, ...] = ()
) -> None:
    ledger.apply(ledger.register(lane, shown, queries, pages).rows)


def test_sources_are_numbered_in_the_order_shown_and_met_again_not_numbered_again() -> None:
    ledger = Ledger()
    first = ledger.register(2, [showing("a", "one"), showing("b", "two"), showing("a", "one", "three")])
    assert [source.id for source in first.sources] == ["S2001", "S2002"]
    assert first.reused == ("S2001",)
    assert [passage.id for passage in first.passages] == ["S2001.0", "S2002.0", "S2001.1"]
    ledger.apply(first.rows)
    again = ledger.register(2, [showing("b", "two"), showing("c", "x")])
    assert [source.id for source in again.sources] == ["S2003"]
    assert again.reused == ("S2002",)
    assert [passage.id for passage in again.passages] == ["S2003.0"]


def test_registering_changes_nothing_until_it_is_applied() -> None:
    ledger = Ledger()
    once = ledger.register(1, [showing("a", "one")], ["q"], ["p"])
    assert ledger.register(1, [showing("a", "one")], ["q"], ["p"]) == once
    assert ledger.source("S1001") is None
    ledger.apply(once.rows)
    assert ledger.source("S1001") == once.sources[0]
    assert ledger.passage("S1001.0") == once.passages[0]


def test_a_passage_has_its_text_its_hash_and_its_document() -> None:
    ledger = Ledger()
    put(ledger, 1, showing("a", "grün"))
    passage = ledger.passage("S1001.0")
    assert passage is not None
    assert passage.text_sha256 == sha256("grün".encode())
    assert passage.document_sha256 == document("a").sha256
    assert ledger.document("S1001") == document("a")
    source = ledger.source("S1001")
    assert source is not None
    assert source.metadata == {"lang": "en"}


def test_ids_resolve_or_are_dropped_and_are_never_mapped_to_something_else() -> None:
    ledger = Ledger()
    put(ledger, 1, showing("a", "one", "two"))
    found = ledger.resolve(["S1001.1", "S1001", "S1001.7", "S1.1", "S1001.1"])
    assert [passage.id for passage in found.passages] == ["S1001.1"]
    assert [source.id for source in found.sources] == ["S1001"]
    assert found.dropped == ("S1001.7", "S1.1")


def test_a_view_sees_its_lanes_only() -> None:
    ledger = Ledger()
    put(ledger, 1, showing("a", "tide"), queries=("moon",), pages=("A",))
    put(ledger, 2, showing("b", "tide"), queries=("wind",))
    view = ledger.seeing([2])
    assert view.source("S1001") is None
    assert view.resolve(["S1001.0"]).dropped == ("S1001.0",)
    assert [passage.id for passage in view.recall("tide")] == ["S2001.0"]
    assert (view.queries(), view.pages(), view.count()) == (("wind",), (), 1)
    assert (ledger.queries(), ledger.pages(), ledger.count()) == (("moon", "wind"), ("A",), 2)
    assert (ledger.queries(since=2), ledger.queries(since=3)) == (("wind",), ())


def test_a_view_grows_with_its_ledger() -> None:
    ledger = Ledger()
    view = ledger.seeing([1])
    put(ledger, 1, showing("a", "tide"))
    assert view.count() == 1


def test_recall_ranks_rare_words_first_and_shows_a_passage_once() -> None:
    ledger = Ledger()
    put(ledger, 1, showing("a", "the tide turns", "the tide and the moon", "the wind"))
    put(ledger, 2, showing("a", "the tide turns"))
    assert [passage.id for passage in ledger.recall("moon tide")] == ["S1001.1", "S1001.0"]
    assert ledger.recall("volcano") == []
    assert len(ledger.recall("the", limit=2)) == 2


def test_what_is_recalled_can_be_shown_to_another_lane() -> None:
    ledger = Ledger()
    put(ledger, 1, showing("a", "tide", "moon", first=4), showing("b", "tide"))
    excerpts = ledger.excerpts(ledger.recall("tide moon"))
    put(ledger, 3, *excerpts)
    blocks = ledger.blocks(3, excerpts)
    assert {block.source.id: [each.text for each in block.passages] for block in blocks} == {
        "S3001": ["moon", "tide"],
        "S3002": ["tide"],
    }
    assert ledger.passage("S3001.4") is not None


def test_a_lane_with_all_its_numbers_used_skips_what_comes_after() -> None:
    ledger = Ledger()
    put(ledger, 1, *(showing(f"d{number}", "x") for number in range(LANE_SOURCES)))
    more = ledger.register(1, [showing("d0", "x", "y"), showing("new", "x")])
    assert (more.sources, more.skipped) == ((), 1)
    assert [passage.id for passage in more.passages] == ["S1001.1"]


def test_rows_are_plain_data_and_unique() -> None:
    ledger = Ledger()
    added = ledger.register(1, [showing("a", "one"), showing("a", "one")], ["q", "q"], ["p"])
    keys = [(row.kind, row.id) for row in added.rows]
    assert len(keys) == len(set(keys)) == 4
    again = msgspec.json.decode(msgspec.json.encode(added), type=type(added))
    copy = Ledger()
    copy.apply(again.rows)
    assert copy.passage("S1001.0") == added.passages[0]
    assert copy.queries() == ("q",)


def test_the_cache_keeps_the_first_answer() -> None:
    ledger = Ledger()
    ledger.cache_answer("search {}", b"1")
    ledger.seeing([4]).cache_answer("search {}", b"2")
    assert ledger.cached_answer("search {}") == b"1"
    assert ledger.cached_answer("open {}") is None


TURNS = st.lists(st.tuples(st.integers(0, 3), st.lists(st.sampled_from("abcd"), max_size=4)), max_size=12)


@given(TURNS)
def test_a_lane_gets_the_same_ids_however_lanes_interleave(turns: list[tuple[int, list[str]]]) -> None:
    """And rows applied again, as a replay does, change nothing."""
    straight, shuffled = Ledger(), Ledger()
    given_ids: dict[int, list[tuple[str, ...]]] = {}
    for lane, names in turns:
        shown = [showing(name, "x", "y") for name in names]
        rows = straight.register(lane, shown).rows
        straight.apply(rows)
        straight.apply(rows)
        given_ids.setdefault(lane, []).append(tuple(block.source.id for block in straight.blocks(lane, shown)))
    order = sorted({lane for lane, _ in turns}, reverse=True)
    for lane in order:
        ids = []
        for names in (names for other, names in turns if other == lane):
            shown = [showing(name, "x", "y") for name in names]
            shuffled.apply(shuffled.register(lane, shown).rows)
            ids.append(tuple(block.source.id for block in shuffled.blocks(lane, shown)))
        assert ids == given_ids[lane]


@pytest.mark.parametrize("lane", [0, 1, 12])
def test_ids_carry_their_lane(lane: int) -> None:
    ledger = Ledger()
    put(ledger, lane, showing("a", "x"))
    assert ledger.seeing([lane]).source(f"S{lane * 1000 + 1}") is not None


def test_everything_comes_by_lane_whichever_lane_was_first() -> None:
    early, late = Ledger(), Ledger()
    put(early, 1, showing("a", "one"), showing("b", "two"))
    put(early, 2, showing("a", "one"))
    put(late, 2, showing("a", "one"))
    put(late, 1, showing("a", "one"), showing("b", "two"))
    for ledger in (early, late):
        passages, sources = ledger.passages_and_sources()
        assert list(passages) == ["S1001.0", "S1002.0", "S2001.0"]
        assert list(sources) == ["S1001", "S1002", "S2001"]


def found(url: str, published: str, *, page: bool = False) -> DocumentPassages:
    """A hit of a search, or the page that was opened there."""
    shown = showing(f"{url} {published} {page}", "one")
    met = msgspec.structs.replace(
        shown.document,
        url=url,
        media_type="text/html" if page else SNIPPET,
        published=published,
        metadata={} if page else {"provider": "searxng"},
    )
    return msgspec.structs.replace(shown, document=met)


def test_a_page_without_a_date_has_that_of_the_search_apart_from_its_own() -> None:
    ledger = Ledger()
    put(ledger, 2, found("https://port.example/a?utm_source=x", "2024-03-01"), found("https://port.example/b", ""))
    put(ledger, 3, found("https://port.example/c", "2023"))
    dated = {FOUND_DATE: "2024-03-01", FOUND_BY: "searxng"}
    pages = [
        ("https://port.example/a", "", dated),
        ("https://port.example/a", "2019-01-02", {}),
        ("https://port.example/b", "", {}),
        ("https://port.example/c", "", {}),  # another lane found it: what a lane knows does not depend on others
    ]
    for url, published, metadata in pages:
        (source,) = ledger.register(2, [found(url, published, page=True)]).sources
        assert (source.published, source.metadata) == (published, metadata)
    place = "https://port.example/d"
    _, page = ledger.register(4, [found(place, "2022"), found(place, "", page=True)]).sources
    assert page.metadata[FOUND_DATE] == "2022"


def test_a_file_that_claims_to_be_dated_by_a_search_is_not_believed() -> None:
    page = found("https://port.example/a", "", page=True)
    claims = {FOUND_DATE: "1999-01-01", FOUND_BY: "brave", "author": "Ada"}
    claiming = msgspec.structs.replace(page, document=msgspec.structs.replace(page.document, metadata=claims))
    (source,) = Ledger().register(2, [claiming]).sources
    assert source.metadata == {FOUND_DATE: "", FOUND_BY: "", "author": "Ada"}
