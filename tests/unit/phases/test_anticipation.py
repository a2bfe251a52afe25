"""What is searched before a model has worded a query, and what of it nobody asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import events as e
from assay.core.sources import SNIPPET, Source
from assay.core.usage import Usage
from assay.phases.anticipation import MAX_NAMES, MAX_QUESTION_CHARS, name_queries, unused_usage

HERE = "https://a.example/tides"


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("How do the tides of Brest, Genoa and Lisbon compare?", ("Brest tides compare", "Genoa tides compare")),
        ("How big is New York City?", ("New York City big",)),
        ('Who wrote "The Harbor report" in Brest?', ("The Harbor report", "Brest wrote harbor report")),
        ("Кто построил мост в Париже?", ("Париже построил мост",)),
        ("what is a tide", ()),
        ("東京の人口は?", ()),
        ("", ()),
    ],
)
def test_what_a_question_names(question: str, queries: tuple[str, ...]):
    assert name_queries(question) == queries


@given(st.text(max_size=200))
def test_any_text_gives_few_short_queries_of_its_own_words(text: str):
    found = name_queries(text)
    assert len(found) <= MAX_NAMES
    assert all(query.strip() for query in found)
    assert len(set(found)) == len(found)


def test_a_long_question_is_not_read_to_its_end():
    assert name_queries("a " * MAX_QUESTION_CHARS + "Brest") == ()


def source(url: str, media_type: str = "text/html") -> e.SourceAdded:
    """A source a run met."""
    met = Source(
        id="S1001", document_sha256="0", snapshot_sha256="1", url=url, title="", media_type=media_type, fetched_at=""
    )
    return e.SourceAdded(source=met)


def counted(*events: e.Event, way: tuple[str, ...] = ()) -> tuple[int, int]:
    found = unused_usage(events, lambda source: way)
    assert found == Usage(searches=found.searches, pages=found.pages)
    return found.searches, found.pages


def test_what_was_begun_and_asked_for_is_not_counted():
    begun = e.SourceExpected(urls=(HERE, "https://b.example/"))
    asked = e.SearchExpected(query="tides", provider="p")
    assert counted(begun, asked) == (1, 2)
    assert counted(begun, asked, begun, asked) == (1, 2)
    assert counted(begun, source(HERE + "#top")) == (0, 1)
    assert counted(begun, source("https://c.example/", SNIPPET), source(HERE, SNIPPET)) == (0, 2)
    assert counted(begun, source("https://new.example/"), way=("https://b.example/",)) == (0, 1)
    assert counted(begun, e.SourceFailed(url=HERE, reason="gone")) == (0, 1)
    assert counted(asked, e.SearchPerformed(query="tides", provider="q", results=1)) == (1, 0)
    assert counted(asked, e.SearchPerformed(query="tides", provider="p", results=1)) == (0, 0)
