"""What people did according to a statement, and the superlative it states: which statements come first for that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.grades import CitedSentence, grade
from assay.core.relevance.relations import asks, doers, of_other_things, says_other, tells_who, verb_keys
from assay.core.relevance.superlatives import extremes

SPIRE = "Who wrote the book on which the film The Spire is based?"


def other(question: str, text: str) -> bool:
    return says_other(read_question(question, beside=text), text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (SPIRE, "The Spire is a film of 1974 directed by Anna Berg."),
        (SPIRE, "The Spire was directed by the Danish painter Anna Berg in 1974."),
        (SPIRE, "Anna Berg directed the film The Spire in 1974."),
        ("Who built the old bridge of the town?", "The old bridge of the town was painted by Carl Dorn."),
        ("Wer schrieb das Buch zum Film?", "Der Film wurde von Anna Berg gedreht und ist lang."),
        ("Qui a écrit le livre dont le film est tiré ?", "Le film est une œuvre réalisée par Anna Berg en 1974."),
        ("¿Quién escribió el libro de la película?", "Es una película dirigida por Anna Berg en el año 1974."),
    ],
)
def test_somebody_who_did_something_else(question: str, text: str) -> None:
    assert other(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (SPIRE, "The film is based on the novel The Tower by Carl Dorn."),
        (SPIRE, "The Tower was written by Carl Dorn and filmed by Anna Berg."),
        (SPIRE, "The Tower, illustrated by Anna Berg, is the best known book of the writer Carl Dorn."),
        (SPIRE, "The Spire was shown in 1974."),
        ("Who directed The Spire?", "The Spire is a film of 1974 directed by Anna Berg."),
        ("Who is the author of The Tower?", "The Tower was written by Carl Dorn."),
        ("When was The Spire shown?", "The Spire is a film of 1974 directed by Anna Berg."),
        ("Who completed the bridge?", "The bridge was opened by March of that year."),
        ("Wer schrieb das Buch zum Film?", "Das Buch zum Film wurde von Carl Dorn geschrieben und ist lang."),
        ("Who sang the song of the sea?", "The song of the sea was sung by Eva Holm."),
    ],
)
def test_who_did_what_is_asked_or_says_nothing_of_it(question: str, text: str) -> None:
    assert not other(question, text)


def statements(*texts: str) -> list[QuotableStatement]:
    return [QuotableStatement(text=text, place=place, title="The Spire") for place, text in enumerate(texts)]


def ordered(question: str, *texts: str) -> list[str]:
    return [
        texts[each.place] for each in judge(read_question(question, beside=" ".join(texts)), statements(*texts)).ranked
    ]


def test_a_name_with_another_relation_is_left_out() -> None:
    texts = ("The Spire is a film of 1974 directed by Anna Berg.", "It is based on the novel The Tower by Carl Dorn.")
    assert ordered(SPIRE, *texts) == [texts[1]]
    assert ordered("Who directed the film The Spire?", *texts)[0] == texts[0]


def test_in_a_report_it_does_not_answer() -> None:
    texts = ("The film The Spire was directed by Anna Berg.", "The book The Spire was written by Carl Dorn.")
    cited = [CitedSentence(text=text, cited=text) for text in texts]
    assert grade(["Who wrote the book The Spire?"], cited) == ("related", "answers")


@pytest.mark.parametrize(
    ("question", "texts", "first"),
    [
        (
            "Which is the longest bridge of the town?",
            ("The oldest bridge of the town is the Anna Bridge.", "Berta Bridge is the longest in the town."),
            1,
        ),
        (
            "Which bridge is the longest?",
            ("The Anna Bridge is 300 metres long.", "The Berta Bridge is 450 metres long."),
            1,
        ),
        (
            "Welche Brücke ist die längste?",
            ("Die Annabrücke ist 1.300 Meter lang.", "Die Bertabrücke ist 450 Meter lang."),
            0,
        ),
        (
            "Quel est le pont le plus long ?",
            ("Le pont Anna est long de 300 mètres.", "Le pont Berta est long de 450 mètres."),
            1,
        ),
    ],
)
def test_what_states_the_superlative_or_has_the_extreme_number_is_first(
    question: str, texts: tuple[str, ...], first: int
) -> None:
    assert ordered(question, *texts)[0] == texts[first]


def test_numbers_in_two_units_are_converted_and_a_single_one_is_not_compared() -> None:
    question = read_question("Which bridge is the longest?")
    texts = ["The Anna Bridge is 300 metres long.", "The Berta Bridge is 1 km long."]
    assert ordered(question.text, *texts)[0] == texts[1]
    assert extremes(question, ["The Anna Bridge is 300 metres long."]) == [0.0]
    assert extremes(read_question("Where is the bridge?"), ["The Anna Bridge is the longest."]) == [0.0]
    tons = ["The bell weighs 3 tons.", "The anchor weighs 2000 kg."]
    assert extremes(read_question("Which is the heaviest?"), tons) == [0.0, 0.0]


TEXT = st.text("ab Whodirwtlngs.,?12é中", max_size=40)


@given(TEXT, st.lists(TEXT, max_size=4))
def test_any_text_may_be_compared(question: str, texts: list[str]) -> None:
    read = read_question(f"Who wrote {question}")
    assert len(extremes(read, texts)) == len(texts)
    assert all(says_other(read, text) in (True, False) for text in texts)


NOVEL = "Who wrote the novel on which the film is based?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (NOVEL, "The screenplay was written by Anna Berg after the novel of 1950."),
        ("Who built the old bridge of the town?", "The mill was built by Anna Berg beside the old bridge."),
        ("Wer schrieb den Roman?", "Das Drehbuch wurde von Anna Berg nach dem Roman geschrieben."),
        ("Qui a écrit le roman ?", "Le scénario a été écrit par Anna Berg d'après le roman."),
    ],
)
def test_what_was_done_to_another_thing(question: str, text: str) -> None:
    assert other(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (NOVEL, "The book was written by Carl Dorn."),
        (NOVEL, "The novel was written by Carl Dorn before the film."),
        (NOVEL, "The screenplay was written by Anna Berg, the novel by Carl Dorn."),
        (NOVEL, "The screenplay was written by Anna Berg, who also wrote the novel."),
        (NOVEL, "Based on the novel by Carl Dorn, the screenplay was written by Anna Berg."),
        ("Wer schrieb den Roman?", "Der Roman wurde von Carl Dorn nach dem Drehbuch geschrieben."),
        ("When was the novel written?", "The screenplay was written by Anna Berg after the novel of 1950."),
    ],
)
def test_what_was_done_to_it_by_any_word_for_it(question: str, text: str) -> None:
    assert not other(question, text)


@pytest.mark.parametrize("text", ["Who writes all these programs?", "谁写了这些程序？", "Et pourquoi pas ?"])
def test_a_question_answers_nothing(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text", ["She asked: who writes them?", "His last words were “Why not?”", "It is not known who writes them."]
)
def test_what_tells_of_a_question_may_answer(text: str) -> None:
    assert not asks(text)


def test_the_question_of_a_faq_is_left_out() -> None:
    texts = ("Who writes the programs?", "The programs are written by volunteers.")
    assert ordered("Who writes the programs?", *texts) == [texts[1]]


SHOP = ("The shop sells tea.", "It was opened in 2010 by a family from Hull.")
BRIDGE = ("The bridge crosses the river.", "In 1950 the bridge was painted green.")


def elsewhere(question: str) -> list[bool]:
    read = read_question(question, beside=" ".join((*SHOP, *BRIDGE)))
    documents = [{"shop", "open"}] * 2 + [{"bridg", "green"}] * 2
    known = [set(read.keys) & each for each in documents]
    return of_other_things(read, (*SHOP, *BRIDGE), known)


@pytest.mark.parametrize(
    ("question", "left_out"),
    [
        ("When was the bridge opened?", [1]),
        ("Who opened the bridge?", [1]),
        ("When was the shop opened?", []),
        ("When was the tower opened?", []),
        ("Is the bridge open?", []),
    ],
)
def test_the_verb_said_of_what_another_document_is_about(question: str, left_out: list[int]) -> None:
    assert [at for at, left in enumerate(elsewhere(question)) if left] == left_out


def test_what_another_document_says_of_its_own_thing_answers_nothing() -> None:
    statements = [
        *(QuotableStatement(text=text, source=0, place=at, title="The shop") for at, text in enumerate(SHOP)),
        *(QuotableStatement(text=text, source=1, place=at, title="The bridge") for at, text in enumerate(BRIDGE)),
    ]
    places = {each.place for each in judge(read_question("When was the bridge opened?"), statements).ranked}
    assert 1 not in places
    assert judge(read_question("When was the shop opened?"), statements).ranked[0].place == 1


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
    assert bool(verb_keys(read_question(question, beside=text), text)) == held


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
    assert tells_who(read_question(question, beside=text), [text]) == tells


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
    assert tells_who(read_question(WROTE, beside=text), [text]) is told


def test_who_did_it_comes_before_what_was_done() -> None:
    question = read_question("Who coined the word?")
    texts = ["The word was coined around 1975.", "The word was coined by Anna Berg.", "Anna Berg coined the word."]
    gains = doers(question, texts)
    assert gains[0] == 0.0
    assert gains[1] == gains[2] > 0.0
    assert doers(read_question("Where is the word?"), texts) == [0.0] * 3
