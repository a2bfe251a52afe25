"""More words for a question: which are taken, what they count, and when a search uses them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_of import fill

from assay.core.ports import Query
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.search.local.local_ranks import feedback_words
from assay.search.local.words import (
    FEEDBACK_COMMON,
    FEEDBACK_LEAST,
    FEEDBACK_RARE,
    FEEDBACK_SHARE,
    FEEDBACK_WORDS,
)
from assay.store.memory import memory_store

TERMS = st.lists(
    st.sampled_from([f"term{number}" for number in range(40)] + ["of", "1969", "once", "every"]), max_size=30
)


class Counts(msgspec.Struct, frozen=True):
    """A hundred documents, each term in ten of them."""

    num_docs: int = 100

    def doc_freq(self, field_name: str, field_value: str) -> int:
        """How many have it."""
        assert field_name == "body"
        return {"once": FEEDBACK_RARE - 1, "every": int(FEEDBACK_COMMON * 100) + 1}.get(field_value, 10)


@given(st.lists(st.tuples(st.floats(0.01, 50), TERMS), max_size=6), st.integers(1, 12), st.sets(st.sampled_from("abc")))
def test_what_is_taken(found: list[tuple[float, list[str]]], asked: int, leave: set[str]) -> None:
    leave |= {"term1", "term2"}
    more = feedback_words(found, asked, leave, Counts())
    assert len(more) <= FEEDBACK_WORDS
    assert not more.keys() & (leave | {"of", "1969", "once", "every"})
    assert more.keys() <= {term for _, terms in found for term in terms}
    assert all(weight > 0 for weight in more.values())
    if more:
        assert sum(more.values()) / (sum(more.values()) + asked) == pytest.approx(FEEDBACK_SHARE)


def test_better_documents_count_more() -> None:
    more = feedback_words([(4.0, ["keel"]), (1.0, ["sail"])], 1, (), Counts())
    assert more["keel"] == pytest.approx(4 * more["sail"])


def found(texts: dict[str, str], text: str) -> list[str]:
    """The names of what is found, best first."""
    store = memory_store()
    fill(store, texts)
    search = LocalSearch(None, store.library, DocumentReader(store.blobs).spans)
    return [hit.document.name for hit in search.search_blocking(Query(text=text, limit=100))]


def ships(count: int) -> dict[str, str]:
    """Five pages on the anchors of ships, then `count` of which one, as long as the others, has words of theirs."""
    best = {f"best-{each}.md": f"Anchor {each}, anchor, anchor: an iron fluke holds the ship." for each in range(5)}
    rest = {f"rest-{each}.md": f"Anchor of a news programme {each} on the evening channel." for each in range(count)}
    related = {"related.md": "Anchor of a fluke made in iron for the evening ship."}
    others = {f"other-{each}.md": f"Nothing of the kind is said on page {each}, of bread." for each in range(60)}
    return best | rest | related | others


def test_what_is_like_the_best_comes_before_what_is_not() -> None:
    names = found(ships(FEEDBACK_LEAST), "anchor")
    assert {*names[:5]} == {f"best-{each}.md" for each in range(5)}
    assert names[5] == "related.md"


def test_only_what_has_a_word_of_the_question_is_found() -> None:
    texts = ships(FEEDBACK_LEAST) | {"without.md": "An iron fluke holds the ship."}
    assert "without.md" not in found(texts, "anchor")


def test_few_documents_keep_their_order() -> None:
    names = found(ships(6), "anchor")
    assert names[-1] == "related.md"
    assert len(names) < FEEDBACK_LEAST


def test_a_document_which_is_named_stays_first() -> None:
    texts = ships(FEEDBACK_LEAST) | {"news.md": "# Anchor\n\nOf the evening news."}
    assert found(texts, "anchor")[0] == "news.md"


def test_a_word_said_twice_counts_twice() -> None:
    texts = {"one.md": "The keel is here.", "two.md": "The sail is here.", "three.md": "A page.", "four.md": "Bread."}
    assert found(texts, "sail, keel, sail")[0] == "two.md"
    assert found(texts, "sail, keel, keel")[0] == "one.md"
