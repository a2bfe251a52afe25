"""Taking questions apart: words, identifiers, header fields, parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.lexicon import stem
from assay.models.questions.question import analyze, is_comparison, question_parts, remove_phrase
from assay.models.questions.words import topic_keys


@pytest.mark.parametrize(
    "forms",
    [
        ("crash", "crashes", "crashed", "crashing"),
        ("create", "creates", "created", "creating"),
        ("supersede", "superseded", "supersedes", "superseding"),
        ("dependency", "dependencies"),
        ("author", "authors"),
        ("haus", "hauses"),
        ("автор", "авторы", "автора"),
        ("статус", "статуса"),
        ("المؤلف", "مؤلف"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@given(st.text(min_size=1, max_size=30))
def test_a_stem_is_never_empty(word: str) -> None:
    assert stem(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the status of PEP 6?", [("pep", "6")]),
        ("status of pep-0006", [("pep", "6")]),
        ("Does EIP-1559 need EIP 2718?", [("eip", "1559"), ("eip", "2718")]),
        ("SE-0274", [("se", "274")]),
        ("PEP number 8", [("pep", "8")]),
        ("PEP 572 的状态是什么？", [("pep", "572")]),
        ("What happened in 2001?", []),
        ("Python 3.7 features", []),
    ],
)
def test_identifiers(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(m.identifier.series, m.identifier.number) for m in analyze(text).mentions] == expected


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Who wrote PEP 8?", ("creator",)),
        ("When was PEP 8 created?", ("date",)),
        ("Who created PEP 8?", ("creator",)),
        ("Who wrote PEP 8 and when was it created?", ("creator", "date")),
        ("Was PEP 8 accepted or rejected?", ("status",)),
        ("Which PEP superseded PEP 291?", ("replaced",)),
        ("What was PEP 291 superseded by?", ("replaced",)),
        ("Which PEP replaced PEP 291?", ("replaced",)),
        ("Which PEP does PEP 387 replace?", ("replaces",)),
        ("What did PEP 387 supersede?", ("replaces",)),
        ("Which PEP was replaced by PEP 387?", ("replaces",)),
        ("Which EIPs does EIP-1559 require?", ("requires",)),
        ("Wer hat PEP 8 geschrieben?", ("creator",)),
        ("Wann wurde PEP 8 erstellt?", ("date",)),
        ("Каков статус PEP 8?", ("status",)),
        ("Кто написал PEP 8?", ("creator",)),
        ("PEP 8 的状态是什么？", ("status",)),
        ("PEP 8 の作成日はいつですか？", ("date",)),
        ("من هو مؤلف PEP 8؟", ("creator",)),
        ("How does PEP 8 treat long lines?", ()),
        ("Was “Post-Quantum Status of Authors” rejected?", ("status",)),
    ],
)
def test_fields_asked_for(text: str, concepts: tuple[str, ...]) -> None:
    assert analyze(text).concepts == concepts


def test_the_rest_is_what_must_be_found_in_text() -> None:
    assert analyze("Who wrote PEP 8?").other_terms == ()
    assert analyze("What does PEP 8 say about line length?").other_terms == (stem("line"), stem("length"))


def test_a_title_is_taken_out_whatever_stands_between_its_words() -> None:
    question = analyze("Who wrote Re-Use of Author Status, and when?")
    assert analyze(remove_phrase(question, ("re", "use", "of", "author", "status")).text).terms == ("wrote",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who wrote it?", ("Who wrote it?",)),
        ("Who wrote PEP 8 and when was it created?", ("Who wrote PEP 8", "when was it created?")),
        ("What is A? What is B?", ("What is A?", "What is B?")),
        ("Wer schrieb das Buch und wann erschien es?", ("Wer schrieb das Buch", "wann erschien es?")),
        ("Was gilt ab dem 1. März 2029?", ("Was gilt ab dem 1. März 2029?",)),
        ("Who won in 1990. Who lost?", ("Who won in 1990.", "Who lost?")),
        ("Is research and development taxed?", ("Is research and development taxed?",)),
    ],
)
def test_parts(text: str, expected: tuple[str, ...]) -> None:
    assert question_parts(text) == expected


@given(st.text(max_size=120))
def test_any_text_can_be_taken_apart(text: str) -> None:
    question = analyze(text)
    assert set(question.other_terms) <= set(question.terms)
    assert question_parts(text)
    assert question.terms == () or topic_keys(text)


def test_the_direction_is_read_around_a_title_too() -> None:
    for text in (
        "Which PEP was replaced by the PEP Packaging Council?",
        "Which PEP was replaced by “Packaging Council”?",
    ):
        assert remove_phrase(analyze(text), ("packaging", "council")).concepts == ("replaces",)


def test_comparing() -> None:
    assert is_comparison("Compare PEP 380 and PEP 492")
    assert is_comparison("PEP 380 和 PEP 492 有什么区别？")
    assert not is_comparison("How many authors has PEP 8?")


@pytest.mark.parametrize(
    ("text", "numbered", "rest"),
    [
        ("Compare the sqlite3 and dbm modules", [], ("sqlite3", "dbm", "modul")),
        ("What does base64 do?", [], ("base64",)),
        ("Who wrote PEP 8?", ["PEP 8"], ()),
        ("Who wrote pep-0008?", ["pep-0008"], ()),
        ("Who wrote rfc0791?", ["rfc0791"], ()),
    ],
)
def test_a_name_of_one_word_numbers_no_document_by_its_form(text: str, numbered: list[str], rest: tuple[str, ...]):
    question = analyze(text)
    assert [mention.text for mention in question.numbered_mentions] == numbered
    assert question.other_terms == rest
