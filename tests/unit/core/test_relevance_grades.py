"""How far the sentences of a report answer a question, and what a run may be called for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.assurance import assess_claims, assurance_text
from assay.core.brief import Brief
from assay.core.claims import RELEVANT, Claim, Relevance, Summary, Verdict
from assay.core.messages import Rarity
from assay.core.relevance.grades import GRADE_NAMES, CitedSentence, differ_in_language, grade_features, grade_sentences
from assay.core.relevance.scores import weights
from assay.core.relevance.topic_question import read_question
from assay.core.view import RunView
from assay.core.view.model import Gate

ROCK = (
    "The lighthouse on Bell Rock was designed by Robert Stevenson.",
    "Gulls nest on Bell Rock in spring.",
    "Bread is baked from flour, water and yeast.",
)


def graded(question: str, *texts: str, rarity: Rarity | None = None) -> tuple[Relevance, ...]:
    return grade_sentences([question], [CitedSentence(text=text, cited_text=text) for text in texts], rarity)


def test_what_answers_what_is_on_the_matter_and_what_is_not() -> None:
    assert graded("Who designed the lighthouse on Bell Rock?", *ROCK) == ("answers", "related", "unrelated")


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "Wer entwarf die Brücke von Ulm?",
            "Die Brücke von Ulm wurde von Anna Berg entworfen.",
            "Brot wird aus Mehl gebacken.",
        ),
        ("Сколько длится прилив в Бресте?", "Прилив в Бресте длится шесть часов.", "Хлеб пекут из муки."),
        ("长江流入哪里？", "长江流入东海。", "面包是用面粉做的。"),
        ("أين يصب نهر النيل؟", "يصب نهر النيل في البحر المتوسط.", "يصنع الخبز من الدقيق."),
    ],
)
def test_in_every_language(question: str, answer: str, other: str) -> None:
    assert graded(question, answer, other) == ("answers", "unrelated")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How old is Anna van Berg?", "Anna van Berg attended the meeting."),
        ("What is the capital of France?", "France has many rivers."),
        ("Who is the mayor of Fresno?", "Fresno is crossed by State Route 99 and the Yosemite Freeway."),
        ("Which president visited Kenya in 2013?", "In July 2015 Obama visited Kenya as president."),
    ],
)
def test_what_says_something_else_of_what_is_named_does_not_answer(question: str, text: str) -> None:
    assert graded(question, text) == ("related",)


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        ("When was the keeper's house sold?", "The keeper's house stands beside it and was sold in 1988.", "answers"),
        ("Who bought the keeper's house?", "The keeper's house stands beside it and was sold in 1988.", "related"),
        ("Who built the lighthouse?", "The lighthouse of Marwick was built in 1871 by Ada Thorne.", "answers"),
        ("Why was its lamp replaced?", "The lighthouse of Marwick was built in 1871 by Ada Thorne.", "unrelated"),
        ("Why was the lamp of the lighthouse replaced?", "The lighthouse was built by Ada Thorne.", "related"),
    ],
)
def test_what_is_about_the_subject_alone_does_not_answer(question: str, text: str, word: Relevance) -> None:
    cited = CitedSentence(text=text, cited_text=text, title="The lighthouse of Marwick")
    assert grade_sentences([question], [cited]) == (word,)


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        ("Was sind einige der Ursachen für Waldbrand?", "Ursachen für Waldbrand sind Funken und Dürre.", "answers"),
        ("Wie hieß der Wärter im Jahr 1871?", "Der Wärter Ole Hansen kam im Jahr 1871.", "answers"),
        ("Womit wurde der Turm auf Marwick früher beleuchtet?", "Der Turm gefällt vielen Gästen.", "related"),
    ],
)
def test_where_every_noun_has_a_capital_half_of_what_is_asked_is_more_than_a_name(
    question: str, text: str, word: Relevance
) -> None:
    assert graded(question, text) == (word,)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the film Metropolis first shown?", "The film was first shown in 1925 in the town hall of Ulm."),
        ("Who opened the harbour of Brest first?", "The harbour was first opened by Ole Hansen."),
    ],
)
def test_without_anything_that_the_question_names_a_sentence_does_not_answer(question: str, text: str) -> None:
    other = CitedSentence(text="Metropolis is a film.", cited_text="Metropolis is a film.", title="Metropolis")
    assert (
        grade_sentences([question], [CitedSentence(text=text, cited_text=text, title="Notes"), other])[0] != "answers"
    )


def test_frequent_words_alone_do_not_answer() -> None:
    scope = Rarity(passages=5_000, holding={"year": 2_000, "new": 1_800, "pump": 4, "instal": 90})
    texts = ("It was a new year, and the new year had 365 days.", "The new pump was installed in the year 1925.")
    cited = [CitedSentence(text=text, cited_text=text) for text in texts]
    assert grade_sentences(["Which new year had a new pump?"], cited, scope) == ("related", "answers")


def test_a_header_field_answers_in_its_own_words() -> None:
    framed = CitedSentence(text="Author of PEP 6 (Bug Fix Releases): Aahz", cited_text="Author: Aahz", framed=True)
    assert grade_sentences(["What are the authors of PEP 6?"], [framed]) == ("answers",)
    assert grade_sentences(["Who wrote PEP 6?"], [framed]) == ("answers",)
    text = "Start Date of text/0012-ring-buffers.md: 2014-11-10"
    started = CitedSentence(text=text, cited_text="Start Date: 2014-11-10", title="ring-buffers", framed=True)
    assert grade_sentences(["On what date was RFC 12 started?"], [started]) == ("answers",)


def test_what_it_is_may_stand_in_the_passage_cited() -> None:
    bare = CitedSentence(text="It was lit in 1811.", cited_text="It was lit in 1811.")
    cited = CitedSentence(
        text="It was lit in 1811.", cited_text="Bell Rock has a lighthouse. It was lit in 1811.", title="Bell Rock"
    )
    question = read_question("When was the lighthouse on Bell Rock lit?")
    alone, beside = grade_features(question, [bare, cited])
    assert beside[GRADE_NAMES.index("reach")] > alone[GRADE_NAMES.index("reach")]


def test_a_measure_in_the_passage_is_no_measure_in_the_sentence() -> None:
    cited = "The new quay of Brest was opened in 1912. It is 450 metres long and cost 3.2 million francs."
    texts = ("The new quay of Brest was opened in 1912.", "It is 450 metres long and cost 3.2 million francs.")
    sentences = [CitedSentence(text=text, cited_text=cited, title="The new quay") for text in texts]
    assert grade_sentences(["How long is the new quay of Brest?"], sentences) == ("related", "answers")


def test_a_part_which_is_a_question_may_be_answered_alone() -> None:
    whole = "How heavy is the great bell of Ulm? Who designed the lighthouse on Bell Rock?"
    parts = ["How heavy is the great bell of Ulm?", "Who designed the lighthouse on Bell Rock?"]
    assert grade_sentences([whole, *parts], [CitedSentence(text=ROCK[0], cited_text=ROCK[0])]) == ("answers",)


def test_nothing_is_said_of_a_report_in_another_language() -> None:
    german = "Der Leuchtturm auf dem Felsen wurde von Robert Stevenson entworfen und ist aus Granit."
    assert differ_in_language("Who designed the lighthouse on the rock?", [german])
    assert graded("Who designed the lighthouse on the rock?", german) == ("",)
    assert grade_sentences([], [CitedSentence(text=german)]) == ("",)
    assert grade_sentences(["Who?"], []) == ()


def test_a_rare_word_counts_more_than_one_which_most_passages_hold() -> None:
    scope = Rarity(passages=5_000, holding={"bell": 4_000, "rock": 4_000, "lighthous": 4_000, "design": 3})
    vectors = [
        grade_features(read_question("Who designed the lighthouse on Bell Rock?"), [CitedSentence(text=ROCK[1])], each)[
            0
        ]
        for each in (None, scope)
    ]
    assert vectors[1][0] < vectors[0][0]


def test_the_bands_are_of_these_features_and_have_their_provenance() -> None:
    assert set(weights().answers.weights) == set(weights().related.weights) == set(GRADE_NAMES)
    assert "bench/relevance_training.py" in weights().provenance


TEXTS = st.lists(st.text("ab cdé中ا1.,?", max_size=30), max_size=5)


@given(st.text("ab cdé中ا1.,?", max_size=30), TEXTS)
def test_any_sentence_is_graded(question: str, texts: list[str]) -> None:
    found = graded(question, *texts)
    assert len(found) == len(texts)
    assert set(found) <= {"", *RELEVANT}
    assert found == graded(question, *texts)


# what a run may be called


def claims(*grades: tuple[Verdict, Relevance]) -> tuple[Claim, ...]:
    return tuple(
        Claim(id=f"c{at}", text="x", start=at, end=at + 1, verdict=verdict, relevance=relevance)
        for at, (verdict, relevance) in enumerate(grades, 1)
    )


def words(*grades: tuple[Verdict, Relevance], graded: bool = True, passed: bool = True, verify: bool = True) -> str:
    found = claims(*grades)
    return assurance_text(
        RunView(
            brief=Brief(question="Who?", date="2026-01-01", verify=verify),
            status="completed",
            claims=found,
            graded=graded,
            verified=passed and (not graded or assess_claims(found).is_sound),
            gate=Gate(summary=Summary(), passed=passed),
        )
    )


def test_verified_means_both_and_its_words_say_which_is_missing() -> None:
    assert words(("quoted", "answers"), ("supported", "related")).startswith("verified: every sentence is true")
    assert words(("quoted", "related")) == (
        "not verified: every sentence is true to its source, but none was found to answer the question"
    )
    assert words(("unsupported", "answers"), ("quoted", "answers")) == (
        "not verified: 1 sentence is not confirmed by its sources"
    )
    assert words(("partial", "related"), ("unchecked", "unrelated")) == (
        "not verified: 2 sentences are not confirmed by their sources, and none was found to answer the question"
    )
    assert "could not be told" in words(("quoted", ""))
    assert words() == "not verified: it states nothing that could be checked"
    assert words(("quoted", "answers"), passed=False) == "did not pass its final check"
    assert words(("unchecked", ""), verify=False) == "not verified: checking was switched off"


def test_of_an_older_run_its_gate_is_told() -> None:
    assert words(("unsupported", ""), graded=False) == "its citations and counts passed the final check"


@given(st.lists(st.tuples(st.sampled_from(["quoted", "supported", "partial"]), st.sampled_from(["", *RELEVANT]))))
def test_whole_is_when_all_hold_and_nothing_says_that_none_answers(grades: list[tuple[Verdict, Relevance]]) -> None:
    found = assess_claims(claims(*grades))
    held = all(verdict != "partial" for verdict, _ in grades)
    judged = [relevance for _, relevance in grades if relevance]
    assert found.is_sound == (bool(grades) and held and (not judged or "answers" in judged))


def test_a_line_with_a_key_answers_if_it_has_what_is_asked_of_its_title() -> None:
    lines = ("Weight (kg): 23", "Price: 99 EUR", "Introduced: 2019")
    sheet = [CitedSentence(text=line, cited_text=line, title="Osprey") for line in lines]
    assert grade_sentences(["How heavy is the Osprey?"], sheet)[0] == "answers"
    assert grade_sentences(["What does the Osprey cost?"], sheet)[1] == "answers"
    assert "answers" not in grade_sentences(["Who designed the Osprey?"], sheet)
