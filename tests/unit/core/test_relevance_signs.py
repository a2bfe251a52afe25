"""Signs that a statement says what a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.signs import MEASURES, has_number, is_question, stated_times, tells_who, verb_keys

# Who did what is asked: the verb in any form, and which statements say who did it.


def statements(*texts: str) -> list[QuotableStatement]:
    return [QuotableStatement(text=text, position=place, title="The Spire") for place, text in enumerate(texts)]


def ordered(question: str, *texts: str) -> list[str]:
    return [
        texts[each.index]
        for each in judge(read_question(question, document_text=" ".join(texts)), statements(*texts)).ranked
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Who writes all these programs?",
        "谁写了这些程序？",
        "Et pourquoi pas ?",
        "[2019-03-02 18:40] Imre: who?",
        "02/10/2021, 07:15 - Ada van Holm: is it paid?",
        "Imre Sand: when?",
    ],
)
def test_a_question_answers_nothing(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "She asked: who writes them?",
        "His last words were “Why not?”",
        "It is not known who writes them.",
        "At 18:40 Imre asked: who?",
    ],
)
def test_what_tells_of_a_question_may_answer(text: str) -> None:
    assert not is_question(text)


def test_the_question_of_a_faq_is_left_out() -> None:
    texts = ("Who writes the programs?", "The programs are written by volunteers.")
    assert ordered("Who writes the programs?", *texts) == [texts[1]]


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("Who wrote the novel?", "A novel written by Carl Dorn.", True),
        ("Who sang the song?", "The song is sung by Eva Holm.", True),
        ("When did the war begin?", "The war began in 1890.", True),
        ("When was the bridge opened?", "The bridge was painted in 1890.", False),
        ("Who wrote the novel?", "The novel was sold by Carl Dorn.", False),
        ("What is written there?", "She wrote a novel.", False),
    ],
)
def test_the_verb_in_another_form_counts_as_said(question: str, text: str, held: bool) -> None:
    assert bool(verb_keys(read_question(question, document_text=text), text)) == held


@pytest.mark.parametrize(
    ("question", "text", "tells"),
    [
        ("Who wrote the tool?", "The tool runs on Unix and Windows.", False),
        ("Who wrote the tool?", "The writer of the tool is not known.", True),
        ("Who wrote the tool?", "It is the work of Carl Dorn.", True),
        ("Who wrote the tool?", "The tool is made by volunteers.", True),
        ("Who is the mayor?", "The mayor is tall.", True),
        ("Wer schrieb das Buch?", "Das Buch ist grün.", True),
        ("What does the tool do?", "It builds.", True),
    ],
)
def test_who_did_it_needs_the_verb_a_doer_or_a_full_name(question: str, text: str, tells: bool) -> None:
    assert tells_who(read_question(question, document_text=text), [text]) == tells


WROTE = "Who wrote the manual of the tool?"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Please write a test of the manual first.", False),
        ("The manual is shown by default, or by using -m.", False),
        ("TERMINAL EXTENSIONS and the manual of the tool", False),
        ("If you change the tool, write a manual.", False),
        ("He wrote the manual in 1990.", True),
        ("The manual was written by friends.", True),
        ("The manual is the work of Anna Berg.", True),
    ],
)
def test_a_request_or_a_heading_names_nobody(text: str, told: bool) -> None:
    assert tells_who(read_question(WROTE, document_text=text), [text]) is told


# Signs of what a question asks for: a time between two years, a price.


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Lena Holm led the society from April 2013 until April 2015.", [(2013, 2015)]),
        ("Carl Dorn (1999–2003) and Eva Berg (2003-2010)", [(1999, 2003), (2003, 2010)]),
        ("from 3 May 2001 to 4 June 2004", [(2001, 2004)]),
        ("von März 1990 bis zum 3. April 1995", [(1990, 1995)]),
        ("с 1990 по 1995 год", [(1990, 1995)]),
        ("1990年到1995年", [(1990, 1995)]),
        ("depuis mars 1990 jusqu'en 1999", [(1990, 1999)]),
        ("born in 1950, died in 2020", []),
        ("In 1950 it moved. In 2020 it closed.", []),
        ("Pages 2010-1990", []),
        ("rose from 1500 to 1600.5", []),
    ],
)
def test_times_are_bounded_by_two_years(text: str, times: list[tuple[int, int]]) -> None:
    assert stated_times(text) == times


def best(question: str, *texts: str) -> str:
    statements = [QuotableStatement(text=text, position=place) for place, text in enumerate(texts)]
    return texts[judge(read_question(question, document_text=" ".join(texts)), statements).ranked[0].index]


def test_a_year_within_a_time_is_that_time() -> None:
    held = (
        "Carl Dorn led the society from April 2001 until April 2013.",
        "Lena Holm led the society from April 2013 until April 2017.",
        "The society met in Oslo in 2015.",
    )
    assert best("Who led the society in 2015?", *held) == held[1]
    assert best("Where did the society meet in 2015?", *held) == held[2]


def test_the_place_asked_about_need_not_be_in_the_statement() -> None:
    texts = (
        "A mark locks the password.",
        "/etc/shadow- is the backup of /etc/shadow.",
        "A shadow is dark.",
    )
    assert best("How do I lock the password in /etc/shadow?", *texts) == texts[0]


def test_what_states_the_superlative_is_first() -> None:
    texts = ("The oldest bridge of the town is the Anna Bridge.", "Berta Bridge is the longest in the town.")
    assert best("Which is the longest bridge of the town?", *texts) == texts[1]


@pytest.mark.parametrize(
    "question",
    [
        "How much did the first meeting cost?",
        "What does it cost to widen the drain?",
        "What would it cost if a visitor comes late?",
        "Wie viel hat der Bau gekostet?",
        "Combien a coûté le pont ?",
    ],
)
def test_a_price_is_asked_for(question: str) -> None:
    assert read_question(question).measure == "money"


@pytest.mark.parametrize(
    "question",
    [
        "How much did the cost of living rise?",
        "What did it cost the town in standing?",
        "Сколько людей стоит в очереди?",
    ],
)
def test_no_price_is_asked_for(question: str) -> None:
    assert read_question(question).measure == ""


@given(st.text("abW12-–/._?090 ", max_size=40), st.lists(st.text("ab12-–/._?090 ", max_size=40), max_size=3))
def test_any_text_has_signs(question: str, texts: list[str]) -> None:
    assert has_number(question) in (True, False)
    assert all(first < last for text in texts for first, last in stated_times(text))


LONG = [f"The ferry number {number} to Borkum is blue." for number in range(9)]


@pytest.mark.parametrize(
    ("question", "texts", "answers"),
    [
        ("How does the ferry reach Raspberry Pi?", LONG, False),
        ("How does the ferry reach Borkum?", LONG, True),
        ("How does the ferry of Borkum Pi go?", LONG, True),
        ("How does the ferry reach Borkum?", ["The blue ferry reaches the island."], True),
    ],
)
def test_nothing_answers_if_a_name_is_nowhere(question: str, texts: list[str], answers: bool) -> None:
    statements = [QuotableStatement(text=text, position=place) for place, text in enumerate(texts)]
    assert (judge(read_question(question, document_text=" ".join(texts)), statements).chance > 0) == answers


def test_where_nouns_have_capitals_no_word_is_known_as_a_name() -> None:
    assert read_question("Wie viele Einwohner hat die Stadt München heute?").name_keys == ()
    assert read_question("How fast does it run on an Apple M2?").name_keys == (frozenset(("appl", "m2")),)


@pytest.mark.parametrize(
    "text",
    [
        "Entry is free.",
        "Entry is free for children.",
        "Children get in for free.",
        "It is sent free of charge.",
        "There is free entry on Sundays.",
        "No royalty is required.",
        "You don't have to pay us.",
        "It costs 5 euros.",
        "It costs US$59.95.",
        "Das kostet 5 Mark.",
        "Der Eintritt ist kostenlos.",
        "It costs two francs.",
        "Photocopy: 15p",
    ],
)
def test_a_price(text: str) -> None:
    assert MEASURES["money"].search(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is free software.",
        "You are free to copy it.",
        "The disk has free space.",
        "A sugar-free drink is sold in Europe.",
        "Francis lives in San Francisco, in France.",
        "The library ends with a question mark.",
        "The film is shown in 1080p.",
        "The script reads $HOLM_BIN.",
        "Рубежи страны.",
    ],
)
def test_no_price(text: str) -> None:
    assert not MEASURES["money"].search(text)


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("It lasts 3 seconds.", True),
        ("A 60-second pause.", True),
        ("Es dauert einen Tag.", True),
        ("Cela prend deux jours.", True),
        ("It is ten feet long.", True),
        ("The second edition has a footnote.", False),
        ("The tag of a journal.", False),
        ("A milestone.", False),
        ("Это часть и часто.", False),
    ],
)
def test_signs_of_an_extent_are_whole_words(text: str, extent: bool) -> None:
    assert bool(MEASURES["extent"].search(text)) == extent


def test_free_software_has_no_price() -> None:
    texts = ("The program is free software.", "The program runs on Unix.")
    statements = [QuotableStatement(text=text, position=place) for place, text in enumerate(texts)]
    assert not judge(read_question("How much does the program cost?"), statements).is_answered()
    assert best("How much does the program cost?", *texts, "The program is free of charge.") not in texts


@pytest.mark.parametrize("text", ["Neither Mercury nor Venus has one.", "Both have one.", "Three have one.", "3 have."])
def test_a_number(text: str) -> None:
    assert has_number(text)


@pytest.mark.parametrize(
    ("question", "texts", "first"),
    [
        (
            "How many planets have no moons?",
            ("Earth has one moon.", "Neither Mercury nor Venus has a moon.", "Mars has two moons."),
            1,
        ),
        (
            "How many planets have no moons?",
            ("Earth has one moon.", "Two planets, Mercury and Venus, have no moons.", "Mars has two moons."),
            1,
        ),
        (
            "How many planets have moons?",
            ("Of the planets six have moons.", "Neither Mercury nor Venus has a moon."),
            0,
        ),
    ],
)
def test_who_has_none_is_counted(question: str, texts: tuple[str, ...], first: int) -> None:
    statements = [QuotableStatement(text=text, position=at, title="Planets") for at, text in enumerate(texts)]
    judgement = judge(read_question(question, document_text=" ".join(texts)), statements)
    assert judgement.is_answered()
    assert texts[judgement.ranked[0].index] == texts[first]


@pytest.mark.parametrize(
    ("question", "light"),
    [
        ("How long does a refund take?", {"take"}),
        ("How much does entry cost?", {"cost"}),
        ("Wie lange dauert die Reise?", {"dauert"}),
        ("Who may take a refund?", set()),
        ("How much did the cost of living rise?", set()),
    ],
)
def test_a_verb_that_only_asks_for_a_measure_is_light(question: str, light: set[str]) -> None:
    assert read_question(question).light == light


def test_an_answer_need_not_have_a_light_verb() -> None:
    texts = ("Refunds are paid within 14 days.", "You may take a refund.", "Goods are sent by post.")
    assert best("How long does a refund take?", *texts) == texts[0]
