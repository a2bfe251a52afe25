"""Changelogs, indexes and licences answer only who asks for them."""

from __future__ import annotations

import pytest

from assay.core.relevance.document_parts import in_back_matter
from assay.core.relevance.topic_question import QuotableStatement


def losses(question: str, **place: str) -> list[float]:
    return in_back_matter(question, [QuotableStatement(text="It rings."), QuotableStatement(text="It rings.", **place)])


PLACES = [
    ({"title": "Change Log — Bells"}, "When was the bell added?"),
    ({"title": "Bells", "address": "file:///doc/changes.html"}, "What is new in bells?"),
    ({"heading": "Bells > Version 1.4.2 (2016-08-28) New features:"}, "What did version 1.4 change?"),
    ({"heading": "3.0.1 (2019-05-02)"}, "What was fixed?"),
    ({"title": "Stichwortverzeichnis"}, "Wo ist das Verzeichnis?"),
    ({"title": "Index"}, "What does the index hold?"),
    ({"title": "GNU Free Documentation License"}, "Under which license may I copy it?"),
]


@pytest.mark.parametrize(("place", "asking"), PLACES)
def test_it_is_behind_all_others_unless_it_is_asked_for(place: dict[str, str], asking: str) -> None:
    assert losses("What does the bell do?", **place)[0] == 0.0
    assert losses("What does the bell do?", **place)[1] > 0.0
    assert losses(asking, **place) == [0.0, 0.0]


@pytest.mark.parametrize(
    "place",
    [
        {"title": "Bells"},
        {"heading": "2.1.4. Double bells"},
        {"title": "Changes of the tide"},
        {"address": "https://example.org/index.html"},
        {"title": "Glossary"},
    ],
)
def test_other_places_lose_nothing(place: dict[str, str]) -> None:
    assert losses("What does the bell do?", **place) == [0.0, 0.0]


def test_where_nothing_else_was_found_it_loses_nothing() -> None:
    each = QuotableStatement(text="Ring the bell twice.", title="Changelog")
    assert in_back_matter("What does the bell do?", [each]) == [0.0]
