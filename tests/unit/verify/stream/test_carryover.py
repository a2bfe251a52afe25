"""Claims keep their ids and get their places when code changes the text they stand in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.report_sentences import claims
from assay.core.translation import record_statement
from assay.locale import use_locale
from assay.verify.proofreader import carry_ids, streamed_spans

STREAMED = (
    "It grinds 40 tons. [S1.1]\n\n## Not found\n\nIts owner in 1900 is unknown. [S1.2]\n\n"
    "## Age\n\nBuilt in 1741. [S1.3]"
)
FORMED = (
    "It grinds 40 tons. [S1.1]\n\n*As of 2020, the date of the newest source cited.*\n\n"
    "## Age\n\nBuilt in 1741. [S1.3]\n\n## Where sources disagree\n\nOne says 40 tons, one 41. [S1.1] [S1.4]\n\n"
    "## Not found\n\nIts owner in 1900 is unknown. [S1.2]"
)
SENTENCES = (
    "Aru has 4 mills. [S1.1]",
    "Aru has 4 mills. [S1.2]",
    "It is of 1741.",
    "- One of 9. [S2]",
    "## Age",
)
BLOCKS = st.lists(st.sampled_from(SENTENCES), max_size=8).map("\n\n".join)


def test_what_is_moved_keeps_its_id_and_what_is_new_gets_a_new_one() -> None:
    with use_locale(""):
        record_statement("As of 2020, the date of the newest source cited.", "date")
        before, now = claims(STREAMED), claims(FORMED)
        ids = carry_ids(before, now)
        assert [(ids[each.id], each.text) for each in now] == [
            ("c1", "It grinds 40 tons."),
            ("c3", "Built in 1741."),
            ("c4", "One says 40 tons, one 41."),
            ("c2", "Its owner in 1900 is unknown."),
        ]
        for id, (start, end) in streamed_spans(STREAMED, FORMED).items():
            assert FORMED[start:end] == next(each.text for each in now if ids[each.id] == id)


def test_another_citation_makes_another_claim() -> None:
    ids = carry_ids(claims("Aru has 4 mills. [S1.1]"), claims("Aru has 4 mills. [S1.2]"))
    assert ids == {"c1": "c2"}


def test_without_a_text_before_there_are_no_places() -> None:
    assert streamed_spans("", FORMED) == {}


@given(BLOCKS, BLOCKS)
def test_ids_are_different_and_only_what_is_the_same_has_the_same(one: str, two: str) -> None:
    before, now = claims(one), claims(two)
    ids = carry_ids(before, now)
    assert list(ids) == [each.id for each in now]
    assert len(set(ids.values())) == len(ids)
    found = {each.id: (each.text, [marker.ids for marker in each.markers]) for each in before}
    for each in now:
        if ids[each.id] in found:
            assert found[ids[each.id]] == (each.text, [marker.ids for marker in each.markers])


@given(BLOCKS)
def test_a_text_which_did_not_change_keeps_all(text: str) -> None:
    found = claims(text)
    assert carry_ids(found, found) == {each.id: each.id for each in found}
    assert streamed_spans(text, text) == {each.id: (each.start, each.end) for each in found}
