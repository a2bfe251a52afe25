"""Where a text cites, and the text with markers in their place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.markers import parse_markers
from assay.core.report_sentences import claims
from assay.core.scanner import scan
from assay.verify.texts.marked_text import citation_spans, mark_citations
from assay.verify.texts.references import read_definitions

LIST = "\n\n## References\n\n1. One https://a.example/1\n2. Two https://a.example/2\n3. Three\n"


def labels(sentence: str) -> list[tuple[str, ...]]:
    text = sentence + LIST
    tokens = tuple(scan(text))
    return [place.labels or (place.url,) for place in citation_spans(text, read_definitions(text, tokens), tokens)]


@pytest.mark.parametrize(
    ("sentence", "cited"),
    [
        ("It rose [1].", [("1",)]),
        ("It rose [1][2].", [("1",), ("2",)]),
        ("It rose [1, 3].", [("1", "3")]),
        ("It rose [1-3].", [("1", "2", "3")]),
        ("It rose [[2]].", [("2",)]),
        ("It rose【1†L5-L9】.", [("1",)]),
        ("It rose<sup>1,2</sup>.", [("1", "2")]),
        ("It rose [^1].", [("1",)]),
        ("It rose [9].", [("9",)]),
        ("It [rose](https://b.example/x).", [("https://b.example/x",)]),
        ("It [rose](docs/a.md#part).", [("docs/a.md#part",)]),
        ("It rose <https://b.example/x>.", [("https://b.example/x",)]),
        ("It rose (https://b.example/x_(y)).", [("https://b.example/x_(y)",)]),
        ("In [2024] it rose.", []),
        ("`a[1]` is code, \\[1\\] is not cited.", []),
        ("![a picture](https://b.example/p.png)", []),
        ("- [x] done", []),
        ("[run](javascript:alert(1))", []),
    ],
)
def test_what_is_cited(sentence: str, cited: list[tuple[str, ...]]) -> None:
    assert labels(sentence) == cited


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It rose by 5 % [1].", "It rose by 5 %."),
        ("It [rose by 5 %](https://b.example).", "It rose by 5 %."),
        ("It rose by 5 % ([Reuters](https://b.example)).", "It rose by 5 %."),
        ("It rose by 5 % (source: [A](https://b.example); [B](https://c.example)).", "It rose by 5 %."),
        ("It rose by 5 %. [Reuters](https://b.example)", "It rose by 5 %."),
        ("It rose by 5 % [[1]](https://b.example).", "It rose by 5 %."),
        ("It rose by 5 % [the report][2].", "It rose by 5 % [the report]."),
    ],
)
def test_a_claim_is_without_what_it_cites(sentence: str, expected: str) -> None:
    [claim] = claims(mark_citations(sentence + LIST).text)
    assert claim.text == expected
    assert claim.markers


def test_a_place_in_the_marked_text_leads_back() -> None:
    text = "It [rose](https://b.example) by 5 % [1]. It fell by 3 % [2]." + LIST
    marked = mark_citations(text)
    spans = [text[marked.origin(each.start) : marked.origin(each.end)] for each in claims(marked.text)]
    assert [span.split()[0:2] for span in spans] == [["It", "[rose](https://b.example)"], ["It", "fell"]]


def test_own_markers_of_a_foreign_text_name_nothing() -> None:
    marked = mark_citations("It rose [S3.17].")
    assert [reference.is_defined for reference in marked.references] == [False]
    assert [marker.ids for marker in parse_markers(marked.text)] == [("S1",)]


def test_what_an_export_says_of_itself_is_left_out() -> None:
    text = "It rose [1].\n\n## Claims to check\n\n- unsupported (“It fell by 3 %.”)\n\n## Sources\n\n1. One\n"
    text += "\n## What the verdicts mean\n\n- **quoted**: Copied word for word from its source.\n"
    assert [claim.text for claim in claims(mark_citations(text).text)] == ["It rose."]


@given(st.text(alphabet="[]()^1S3.`\\<>!:hts/ \nab†【】", max_size=120))
def test_whatever_is_written_markers_stand_where_something_was_cited(text: str) -> None:
    marked = mark_citations(text)
    known = {reference.id for reference in marked.references}
    assert {id for marker in parse_markers(marked.text) for id in marker.ids} <= known
    points = [marked.origin(point) for point in range(len(marked.text) + 1)]
    assert points == sorted(points)
    assert points[-1] == len(text)
    ends = [(place.start, place.end) for place in marked.citations]
    assert all(left[1] <= right[0] for left, right in pairwise(ends))


def test_hostile_texts_take_no_longer_for_being_long() -> None:
    for text in ("[" * 50_000, "[1] " * 20_000, "(" * 50_000, "https://" + ")" * 50_000, "[1]:" * 20_000, " " * 50_000):
        mark_citations(text)
