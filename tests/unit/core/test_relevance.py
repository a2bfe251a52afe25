"""The scorer: which statements answer a question, in any language, and whether they do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, rank, read_question
from assay.core.relevance.features import FEATURE_NAMES, Features
from assay.core.relevance.relevance_constants import PREFILTER_STATEMENTS
from assay.core.relevance.scores import CHANCE_NAMES, weights
from assay.core.relevance.topic_question import near_keys

TOWER = (
    "The lighthouse on Bell Rock was designed by Robert Stevenson.",
    "It was first lit in 1811.",
    "Gulls nest on the rock in spring.",
    "The lighthouse was automated in 1988.",
)


def statements(*texts: str, source: int = 0) -> list[QuotableStatement]:
    return [QuotableStatement(text=text, source=source, position=place) for place, text in enumerate(texts)]


def best(question: str, *texts: str) -> str:
    return texts[judge(read_question(question, document_text=" ".join(texts)), statements(*texts)).ranked[0].index]


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        ("Who designed the lighthouse on Bell Rock?", TOWER, 0),
        ("When was the lighthouse automated?", TOWER, 3),
        ("Wer entwarf die Brücke?", ("Die Brücke ist lang.", "Die Brücke wurde von Anna Berg entworfen."), 1),
        ("Сколько длится прилив?", ("Прилив красив.", "Прилив длится шесть часов."), 1),
        ("长江流入哪里？", ("黄河很长。", "长江流入东海。"), 1),
        ("أين يصب نهر النيل؟", ("النيل طويل.", "يصب نهر النيل في البحر المتوسط."), 1),
        ("When was Frob 3.1 released?", ("Frob 3.12 was released in 2021.", "Frob 3.1 was released in 2009."), 1),
    ],
)
def test_the_statement_which_answers_is_the_best(question: str, texts: tuple[str, ...], expected: int) -> None:
    assert best(question, *texts) == texts[expected]


def test_what_stands_around_a_statement_counts() -> None:
    found = QuotableStatement(text="The default is 96 megabytes.", label="frob_buffers (integer)", position=1)
    other = QuotableStatement(text="The default is 40 peers.", label="frob_peers (integer)", position=2)
    assert judge(read_question("What is the default of frob_buffers?"), [other, found]).ranked[0].index == 1
    under = QuotableStatement(text="They are paid forty pounds.", heading="Keepers", position=1)
    away = QuotableStatement(text="They are paid thirty pounds.", heading="Pilots", position=9)
    assert judge(read_question("How much are keepers paid?"), [away, under]).ranked[0].index == 1


def test_what_answers_is_likelier_than_what_shares_a_word() -> None:
    answered = judge(read_question("Who designed the lighthouse on Bell Rock?"), statements(*TOWER))
    beside = judge(read_question("Which lighthouse keeper married a duchess of Parma?"), statements(*TOWER))
    assert answered.is_answered()
    assert not beside.is_answered()
    assert answered.chance > beside.chance


def test_what_lacks_the_measure_asked_for_is_no_answer_beside_what_has_it() -> None:
    texts = ("The new quay of Brest was opened in 1912.", "It is 450 metres long.")
    judged = judge(read_question("How long is it (new quay Brest)?"), statements(*texts))
    assert [texts[each.index] for each in judged.ranked] == ["It is 450 metres long."]


def test_a_number_without_a_unit_has_that_of_the_sentence_before() -> None:
    question, answer = read_question("What did the repair of the organ cost?"), "Of these 3,100 went to its repair."
    raised = judge(question, statements("For the organ the choir raised 9,400 euros.", answer))
    assert [each.index for each in raised.ranked] == [0, 1]
    assert not judge(question, statements("For the organ the choir sang in May.", answer)).is_answered()
    year = judge(question, statements("For the organ the choir raised 9,400 euros.", "In 2019 its repair began."))
    assert [each.index for each in year.ranked] == [0]


def test_a_heading_says_what_the_sentences_below_it_need_not() -> None:
    below = QuotableStatement(text="DH: Because frost is excluded.", heading="Why does the insurance not pay?")
    beside = QuotableStatement(text="The insurance is paid in March.", heading="Dates", position=9, source=1)
    judged = judge(read_question("Why does the insurance not pay for the pipe?"), [below, beside])
    assert judged.ranked[0].index == 0


def test_less_than_half_of_the_words_is_hardly_an_answer() -> None:
    question = read_question("When did the granary of Aldmoor burn down during the siege?")
    built, burnt = "The granary of Aldmoor was built in 1820.", "It burnt down in the siege."
    assert not judge(question, statements(built, "It stands empty.")).is_answered()
    assert judge(question, statements(built, burnt)).is_answered()
    assert judge(read_question("When was the granary of Aldmoor built?"), statements(built, burnt)).is_answered()


def test_a_further_sentence_has_words_of_the_question_or_what_it_asks_for() -> None:
    first = "Two bakers deliver rye bread to the old harbour of Fenwick on Sundays."
    few, name = "Sundays are quiet.", "On Sundays that is Mr Hanson."
    question = "Which bakers deliver rye bread to the old harbour of Fenwick on Sundays?"
    judged = judge(read_question(question), statements(first, few))
    assert [each.index for each in judged.top_statements] == [0]
    judged = judge(read_question(question.replace("Which bakers deliver", "Who delivers")), statements(first, name))
    assert [each.index for each in judged.top_statements] == [0, 1]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Quand les travaux ont-ils commencé ?", "Les travaux ont commencé.", {"traval", "commenc"}),
        ("What did Hal pay for his hives?", "Hal keeps bees.", {"hal", "pay", "hive"}),
        ("Wann kommen wir mit ihnen an?", "Wir kommen an.", {"komm"}),
    ],
)
def test_pronouns_and_auxiliaries_are_no_topic(question: str, text: str, expected: set[str]) -> None:
    assert set(read_question(question, document_text=text).keys) == expected


@pytest.mark.parametrize(
    ("question", "beside", "answer"),
    [
        ("How long is the scratch?", "The scratch was seen in May.", "It is 11 centimetres long."),
        ("How often does the tide turn?", "The tide rises 7 metres.", "It turns twice a day."),
        ("How often does the tide turn at Brest?", "The tide at Brest turned in 1912.", "The tide turns daily."),
        (
            "How frequently is the clock of the mill sampled?",
            "The mill has 3 clocks.",
            "The clock is sampled at 50 Hz.",
        ),
        ("Wie oft wird der Kessel geprüft?", "Der Kessel wiegt 40 Tonnen.", "Der Kessel wird alle zwei Jahre geprüft."),
        ("Wie häufig fährt die Fähre?", "Die Fähre hat 12 Plätze.", "Die Fähre fährt stündlich."),
        ("Как часто проверяют котёл?", "Котёл весит 40 тонн.", "Котёл проверяют каждый месяц."),
        ("À quelle fréquence passe le bac ?", "Le bac a 12 places.", "Le bac passe toutes les heures."),
        ("¿Con qué frecuencia sale el barco?", "El barco tiene 12 plazas.", "El barco sale cada mañana."),
        ("锅炉多久检查一次？", "锅炉重40吨。", "锅炉每两年检查。"),
        ("渡し船はどのくらいの頻度で出ますか？", "渡し船は12人乗りです。", "渡し船は毎朝出ます。"),
        ("Jak często pływa prom?", "Prom ma 12 miejsc.", "Prom pływa codziennie."),
    ],
)
def test_a_measure_asked_for_is_answered_by_one_not_by_any_number(question: str, beside: str, answer: str) -> None:
    judged = judge(read_question(question), statements(beside, answer))
    assert [(beside, answer)[each.index] for each in judged.ranked] == [answer]
    assert not judge(read_question(question), statements(beside)).is_answered()


def test_how_often_something_did_happen_is_a_count() -> None:
    assert judge(
        read_question("How often did Brest win the cup?"), statements("Brest won the cup in 5 years.")
    ).is_answered()


@pytest.mark.parametrize(
    "text", ["Since it carries most of the water, the Rhine names the delta.", "The Rhine is an old river."]
)
def test_small_words_are_no_measure(text: str) -> None:
    assert not judge(read_question("How long is the Rhine?"), statements(text)).is_answered()


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        ("Who led the army in 1758?", ("Contrecoeur led the army in 1754.",), 0),
        ("Who led the army in 1758?", ("Abercrombie led the army from 1756 to 1759.",), 1),
        ("Who led the army in 1758?", ("The year 1758 was hard.", "Abercrombie led the army until 1760."), 2),
        ("When did the army raised in 1758 go home?", ("The army went home in 1763.",), 1),
        ("Who led the army after 1758?", ("Abercrombie led the army in 1759.",), 1),
        ("Who led the army between 1750 and 1760?", ("Contrecoeur led the army in 1754.",), 1),
    ],
)
def test_what_is_of_another_year_answers_nothing(question: str, texts: tuple[str, ...], expected: int) -> None:
    assert len(judge(read_question(question), statements(*texts)).ranked) == expected


def test_a_row_is_about_its_own_subject() -> None:
    row = QuotableStatement(text="country: France | year: 2020 | population: 67.4", kind="row")
    assert not judge(read_question("What was the population of Italy in 2020?"), [row]).ranked
    assert judge(read_question("What was the population of France in 2020?"), [row]).ranked


def test_nothing_is_judged_where_there_is_nothing() -> None:
    judged = judge(read_question("Who?"), [])
    assert judged.ranked == judged.top_statements == ()
    assert not judged.is_answered()


def test_a_part_is_read_with_what_it_is_part_of() -> None:
    part = read_question("and when?", "Who founded Debian and when?")
    assert part.answer_kind == "date"
    assert {"found", "debian"} <= set(part.keys)


def test_the_weights_are_of_these_features() -> None:
    assert set(weights().statement) == set(FEATURE_NAMES)
    assert set(weights().chance) == set(CHANCE_NAMES)
    assert "XQuAD" in weights().provenance


TEXTS = st.lists(st.text("ab cdé中ا1.,?", max_size=30), max_size=6)


@given(st.text("ab cdé中ا1.,?", max_size=30), TEXTS)
def test_any_statements_are_judged(question: str, texts: list[str]) -> None:
    asked, found = read_question(question), statements(*texts)
    judged = judge(asked, found)
    places = [each.index for each in judged.ranked]
    assert len(set(places)) == len(places) <= len(texts)
    assert 0.0 <= judged.chance <= 1.0
    assert [each.score for each in judged.ranked] == sorted((each.score for each in judged.ranked), reverse=True)
    assert judge(asked, found) == judged
    assert set(judged.top_statements) <= set(judged.ranked)


@given(st.text("ab cd", max_size=20), TEXTS, st.integers(1, 4))
def test_only_what_has_a_word_of_the_question_is_ranked(question: str, texts: list[str], limit: int) -> None:
    asked = read_question(question)
    for place in rank(asked, statements(*texts), limit):
        own = Features(asked, statements(*texts)).vectors()[place][0]
        assert own > 0


@given(st.sets(st.text("abcdefg", min_size=1, max_size=9)))
def test_nearness_is_mutual(keys: set[str]) -> None:
    near = near_keys(keys, keys)
    assert all(one in near.get(other, ()) for one, others in near.items() for other in others)
    assert all(one not in others for one, others in near.items())


@pytest.mark.parametrize(
    ("one", "other"), [("own", "owner"), ("act", "actor"), ("edit", "editor"), ("publish", "public"), ("прав", "право")]
)
def test_words_derived_from_one_another_are_near(one: str, other: str) -> None:
    assert near_keys([one], [other]) == {one: {other}}
    assert near_keys([other], [one]) == {other: {one}}


@pytest.mark.parametrize(
    ("one", "other"), [("own", "down"), ("own", "ownership"), ("contract", "contain"), ("in", "ink")]
)
def test_words_which_share_a_few_letters_are_not(one: str, other: str) -> None:
    assert near_keys([one], [other]) == {}


def test_of_very_many_statements_the_same_are_ranked_first() -> None:
    asked = read_question("When was the lighthouse automated?", document_text=" ".join(TOWER))
    others = [f"Line {number} of the log" for number in range(PREFILTER_STATEMENTS)]
    assert rank(asked, statements(*TOWER, *others), 2) == rank(asked, statements(*TOWER), 2)
