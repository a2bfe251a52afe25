"""Words looked for in every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.core.text import words
from assay.phases.survey.collection import _has, _may_have, _order

texts = st.text(alphabet=st.sampled_from("aAbBcßİſK'’s. -_１1漢字のﬁ\n"), max_size=40)


@given(texts, texts)
def test_a_text_that_has_a_phrase_is_never_passed_over(text: str, phrase: str) -> None:
    phrases = [tuple(words(phrase))] if words(phrase) else []
    if _has(text, phrases):
        assert _may_have(text.encode(), phrases)


def test_words_are_whole_words_next_to_each_other() -> None:
    assert _has("The Abstract-Base classes", [("abstract", "base")])
    assert not _has("An abstract, very base thing", [("abstract", "base")])
    assert not _has("abstractions", [("abstract",)])


def test_documents_come_in_the_order_of_their_numbers() -> None:
    named = [document(name, name) for name in ("pep-10.md", "pep-9.md", "a.md", "PEP-2.md", "10.md", "9.md")]
    assert [each.name for each in sorted(named, key=_order)] == [
        "a.md",
        "PEP-2.md",
        "pep-9.md",
        "pep-10.md",
        "9.md",
        "10.md",
    ]
