"""Quotations: found word for word and traced to their place, or not found."""

from __future__ import annotations

import pytest
from evidence_of import passage
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.rules.quotes import find_quotations

TEXT = "The *committee* said “it is  not\nready” and left. Ａ ﬁne café, 10² metres; don't ask."

FOUND = [
    ('It said "it is not ready".', "it is  not\nready"),
    ("It said “it is not ready.”", "it is  not\nready"),
    ("It said „it is not ready“.", "it is  not\nready"),
    ("It said «it is not ready».", "it is  not\nready"),
    ("It said 「it is not ready」.", "it is  not\nready"),
    ('"The committee said" so', "The *committee* said"),
    ('"The **committee** said" so', "The *committee* said"),
    ('A "fine cafe\u0301" there', "ﬁne café"),
    ('"A fine"', "Ａ ﬁne"),
    ('"It is not ready," it said.', "it is  not\nready"),
    ('"don’t ask"', "don't ask"),
    ('"10² metres"', "10² metres"),
]


@pytest.mark.parametrize(("claim", "there"), FOUND)
def test_found_and_traced(claim: str, there: str) -> None:
    [quote] = find_quotations(claim, [passage("S1.1", TEXT)])
    [(id, start, end)] = quote.spans
    assert (id, TEXT[start:end]) == ("S1.1", there)


NOT_FOUND = [
    'It said "it is ready".',
    'It said "It is not ready".',
    'It said "it is not  read".',
    '"ot ready"',
    '"10 2 metres"',
    '"102 metres"',
    '"don ask"',
    '"ready and lift"',
]


@pytest.mark.parametrize("claim", NOT_FOUND)
def test_not_found(claim: str) -> None:
    [quote] = find_quotations(claim, [passage("S1.1", TEXT)])
    assert not quote.is_found


@pytest.mark.parametrize(
    "claim",
    ["nothing quoted", "it's the '90s and don't", 'a 5" disk and a 3" disk', 'code `print("x y z")` here', '"…"'],
)
def test_no_quotation(claim: str) -> None:
    assert find_quotations(claim, [passage("S1.1", TEXT)]) == ()


def test_parts_left_out_must_follow_one_another() -> None:
    [quote] = find_quotations('"The committee ... it is not [yet] ready … left"', [passage("S1.1", TEXT)])
    assert [TEXT[start:end] for _, start, end in quote.spans] == ["The *committee", "it is  not", "ready", "left"]
    [quote] = find_quotations('"it is not ... The committee"', [passage("S1.1", TEXT)])
    assert not quote.is_found


def test_one_passage_must_hold_all_of_it_and_any_may() -> None:
    one, two = passage("S1.1", "It is not"), passage("S1.2", "ready at all")
    assert not find_quotations('"It is not ready"', [one, two])[0].is_found
    assert find_quotations('"ready at all"', [one, two])[0].spans == (("S1.2", 0, 12),)


def test_a_title_may_be_quoted() -> None:
    assert find_quotations('"Bug Fix Releases" is old', [passage("S1.1", "x")], ["PEP 6 – Bug Fix Releases"])[
        0
    ].is_found


@given(st.text(max_size=30), st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_a_quotation_of_the_text_is_traced_to_itself(before: str, after: str, quoted: str) -> None:
    text = f"{before} {quoted} {after}"
    for quote in find_quotations(f"It says “{quoted}”.", [passage("S1.1", text)]):
        for _, start, end in quote.spans:
            assert 0 <= start < end <= len(text)
