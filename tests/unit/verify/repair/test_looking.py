"""What is looked for: the queries of a claim, and the passages which share most with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import PassageSpan
from assay.verify.repair.candidates import MAX_CLAIM_PASSAGES, PassageIndex, PickedPassage
from assay.verify.repair.remedies import TERMS, queries


def picked(number: int, text: str, heading: tuple[str, ...] = ()) -> PickedPassage:
    return PickedPassage("S1001", PassageSpan(ordinal=number, start=0, end=len(text), text=text, heading=heading))


PASSAGES = [
    picked(1, "The northern harbour employs 400 people."),
    picked(2, "The southern harbour employs 900 people."),
    picked(3, "Bread is baked from flour and water."),
    picked(4, "It employs 70.", ("Lighthouse of Aru",)),
]


def test_the_passage_with_most_of_the_rare_words_comes_first() -> None:
    index = PassageIndex(PASSAGES)
    assert [each.span.ordinal for each in index.best_passages("The southern harbour employs 900 people.")][:2] == [2, 1]
    assert [each.span.ordinal for each in index.best_passages("Bread is baked.")] == [3]
    assert index.best_passages("The lighthouse of Aru employs 70.")[0].span.ordinal == 4
    assert index.best_passages("Nobody wrote Rust.") == []
    assert PassageIndex([]).best_passages("Anything.") == []


def test_a_query_has_the_telling_words_and_a_long_claim_two() -> None:
    assert queries("The northern harbour of Brest employs 400 people.") == ["northern harbour Brest employs 400 people"]
    assert queries("It is so.") == []
    long = "The harbour master Jean Tanguy said that " + ", ".join(
        f"pier {at} was dug in {1700 + at}" for at in range(9)
    )
    assert len(queries(long)) == 2
    assert all(len(query.split()) <= 2 * TERMS for query in queries(long))


@given(st.lists(st.text(alphabet="ab c.7", max_size=30), max_size=12), st.text(alphabet="ab c.7", max_size=30))
def test_few_are_picked_each_once(texts: list[str], claim: str) -> None:
    found = PassageIndex(picked(at, text) for at, text in enumerate(texts)).best_passages(claim)
    assert len(found) <= MAX_CLAIM_PASSAGES
    assert len({each.span.ordinal for each in found}) == len(found)
    queries(claim)
