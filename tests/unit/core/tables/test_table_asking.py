"""Questions in words over tables, in several languages, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_rows import UMSATZ, table
from sampling import scaled

from assay.core.tables.answers import recompute
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.rows import Note, compare_with_row, note_line, read_notes
from assay.core.tables.table_questions import answer_question
from assay.core.tables.words import read_asking
from assay.locale import LOCALES, use_locale

RIVERS = table(
    "river;length (km);continent;discharge",
    "Nile;6650;Africa;2800",
    "Amazon;6400;South America;209000",
    "Danube;2850;Europe;7130",
    "Rhine;1233;Europe;2900",
    "Volga;3531;Europe;8060",
    title="rivers.csv",
)
STATES = table(
    "country;year;population (millions);capital;founded",
    "France;2019;67.2;Paris;0843-08-10",
    "France;2020;67.4;Paris;0843-08-10",
    "Germany;2019;83.1;Berlin;1871-01-18",
    "Germany;2020;83.2;Berlin;1871-01-18",
    "Spain;2020;47.4;Madrid;1479-01-20",
    title="countries.csv",
)
VILLES = table(
    "ville;habitants;altitude", "Lyon;522 250;173", "Nice;348 085;10", "Brest;139 456;34", title="villes.csv"
)
LISTED = table("pep;stage;year", "744;Draft;2024", "572;Final;2018")
OBRAS = table("obra;precio;autor", "Luz;120;Ana", "Mar;80;Ana", "Sol;200;Eva", title="obras.csv")
PLANETS = table(
    "planet;discovered;discoverer", "Uranus;1781;Herschel", "Neptune;1846;Galle", "Mars;;", title="planets.csv"
)
COSTS = table(
    "item;supplier;2023;2024", "Steel;Forth;1500;6900", "Land;Council;940;0", "Staff;;80;90", title="costs.csv"
)
ALL = (RIVERS, STATES, UMSATZ, VILLES, OBRAS, LISTED)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which river is the longest?", "Nile: length (km) 6650, the highest of 5 rows"),
        ("What is the shortest river in Europe?", "Rhine: length (km) 1233, the lowest of 3 rows (continent: Europe)"),
        ("Which river has the highest discharge?", "Amazon: discharge 209000, the highest of 5 rows"),
        ("How many rivers are in Europe?", "Number of rows: 3 (continent: Europe)"),
        ("How many rivers are longer than 3000 km?", "Number of rows: 3 (length (km): > 3000)"),
        ("What is the length of the Rhine?", "length (km) of Rhine: 1233"),
        ("What is the total length of the rivers?", "Sum of length (km) over 5 rows: 20664"),
        ("What is the average discharge?", "Average of discharge over 5 rows: 45978"),
        ("What was the population of France in 2020?", "population (millions) of France, 2020: 67.4"),
        ("Which country has the capital Madrid?", "country of Madrid: Spain"),
        ("How many countries are there?", "Number of different values of country in 5 rows: 3"),
        ("Wie hoch ist der Umsatz von Stuhl in Nord?", "Umsatz (EUR) of Stuhl, Nord: 1.200,50"),
        ("Wie hoch ist der gesamte Umsatz?", "Sum of Umsatz (EUR) over 4 rows: 5.500,75"),
        ("Welches Produkt hat den höchsten Umsatz?", "Tisch: Umsatz (EUR) 2.300,00, the highest of 4 rows"),
        ("Quelle ville a le plus d'habitants ?", "Lyon: habitants 522 250, the highest of 3 rows"),
        ("Quelle est la somme des habitants ?", "Sum of habitants over 3 rows: 1 009 791"),
        ("¿Cuál es el precio medio de Ana?", "Average of precio over 2 rows: 100 (autor: Ana)"),
        ("What is the stage of PEP 744?", "stage of pep 744: Draft"),
        ("¿Cuántas obras hay?", "Number of rows: 3"),
        ("¿Qué obra tiene el menor precio?", "Mar: precio 80, the lowest of 3 rows"),
        ("Who discovered Uranus?", "discoverer of Uranus: Herschel"),
        ("When was Neptune discovered?", "discovered of Neptune: 1846"),
    ],
)
def test_answers(question: str, expected: str) -> None:
    found = answer_question(question, (*ALL, PLANETS))
    assert found is not None
    assert [each.text for each in found.answers] == [expected]
    tables = (*ALL, PLANETS)
    assert recompute(expected, tables) == (True, expected) or compare_with_row(expected, tables) is not None


@pytest.mark.parametrize(
    "question",
    [
        "What was the population of Italy in 2020?",
        "What was the population of France in 2022?",
        "Which river is the widest?",
        "What is the second longest river?",
        "Which rivers are not in Europe?",
        "What share of rivers is in Europe?",
        "Why is the Nile long?",
        "How old is the Nile?",
        "How many people live in France?",
        "What is the average price of a loaf of bread in Berlin today?",
        "Wie hoch ist der Umsatz von Lampe in Nord?",
        "",
    ],
)
def test_what_no_table_answers(question: str) -> None:
    assert answer_question(question, ALL) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much mackerel was landed in 2023 in kg?", None),
        ("How much mackerel did the fleet land in 2023?", None),
        ("How much was spent on land in 2023?", "2023 of Land: 940"),
        ("What did the steel cost in 2024?", "2024 of Steel: 6900"),
        ("What did the steel cost in 2023 and 2024?", None),
    ],
)
def test_a_word_that_happens_to_name_a_row_is_not_the_subject(question: str, expected: str | None) -> None:
    found = answer_question(question, [COSTS])
    assert (found.answers[0].text if found else None) == expected


MOONS = table(
    "name;kind;of", "Luna;moon;Earth", "Io;moon;Jupiter", "Europa;moon;Jupiter", "Mars;planet;", title="moons.csv"
)
BODIES = table("Sun;kind", "Moon;satellite", "Jupiter;planet", "Saturn;planet", title="bodies.csv")
ORDERS = table("day;customer", "3 May;Lee", "4 May;Kim", "5 May;Lee", "6 May;Ross", title="orders.csv")


@pytest.mark.parametrize(
    ("question", "asked", "expected"),
    [
        ("How many moons does Jupiter have?", MOONS, "Number of rows: 2 (kind: moon; of: Jupiter)"),
        ("How many moons does Jupiter have?", BODIES, None),
        ("How many moons are there?", BODIES, None),
        ("How many planets are there?", BODIES, "Number of rows: 2 (kind: planet)"),
        ("How many orders are from Lee and Kim?", ORDERS, "Number of rows: 3 (customer: Lee / Kim)"),
        ("How many orders are from Lee, Kim or Ross?", ORDERS, "Number of rows: 4 (customer: Lee / Kim / Ross)"),
        ("How many orders did Lee send to Kim?", ORDERS, None),
        ("How many orders were late?", ORDERS, None),
        ("How many orders were counted?", ORDERS, "Number of rows: 4"),
        ("How many orders of timber are there?", ORDERS, None),
        ("How many of the current orders are there?", ORDERS, None),
        ("How many orders aren't from Lee?", ORDERS, None),
        ("How many orders aren’t from Lee?", ORDERS, None),
        ("How many customers were late?", ORDERS, None),
        ("How many customers are there?", ORDERS, "Number of different values of customer in 4 rows: 3"),
        ("How many gift orders are from Lee?", ORDERS, None),
        ("How many order entries are from Lee?", ORDERS, "Number of rows: 2 (customer: Lee)"),
    ],
)
def test_rows_are_counted_only_if_every_word_of_the_question_tells_which(
    question: str, asked: ReadTable, expected: str | None
) -> None:
    found = answer_question(question, [asked])
    assert (found.answers[0].text if found else None) == expected


def test_how_many_there_can_be_is_not_how_many_there_are() -> None:
    lines = (
        "Table 1: Rows of a batch",
        "| Field | Meaning |",
        "|---|---|",
        "| error | why it failed |",
        "| usd | cost |",
    )
    fields = read_tables([TablePiece(str(at), line) for at, line in enumerate(lines)], "batch.md")
    assert answer_question("How many rows can a batch have?", fields) is None
    found = answer_question("How many rows are in the batch?", fields)
    assert found is not None
    assert found.answers[0].text == "Number of rows: 2"


@pytest.mark.parametrize(
    ("title", "above", "counted"),
    [
        ("ponds.csv", "", True),
        ("Newts of the village ponds: a survey", "The survey lasted a year.", False),
        ("A survey of ponds", "Table 2: Results", False),
        ("A survey", "Table 2: Ponds", True),
        ("A survey", "Depth of the ponds in spring", False),
    ],
)
def test_rows_are_counted_as_what_they_are_called(title: str, above: str, counted: bool) -> None:
    lines = (*filter(None, [above]), "| Mixture | Depth |", "|---|---|", "| sand | 2 |", "| clay | 3 |")
    read = read_tables([TablePiece(str(at), line) for at, line in enumerate(lines)], title)
    found = answer_question("How many ponds were studied?", read)
    assert (found.answers[0].text if found else None) == ("Number of rows: 2" if counted else None)


def test_two_columns_which_fit_as_well_answer_nothing() -> None:
    birds = table("bird;bill length;bill depth", "Gentoo;47;15", "Adelie;39;18", title="birds.csv")
    assert answer_question("What is the average bill of the birds?", [birds]) is None
    found = answer_question("What is the average bill depth of the birds?", [birds])
    assert found is not None
    assert found.answers[0].value == "16.5"


def test_amounts_in_different_units_are_not_summed() -> None:
    roads = table("road;length", "A;12 km", "B;800 m", title="roads.csv")
    assert answer_question("What is the total length of the roads?", [roads]) is None


def test_ties_name_all() -> None:
    ports = table("port;depth", "Goole;7", "Hull;9", "Ayr;9", title="ports.csv")
    found = answer_question("Which port has the greatest depth?", [ports])
    assert found is not None
    assert found.answers[0].text == "Hull, Ayr: depth 9, the highest of 3 rows"


def test_every_row_used_is_cited_up_to_a_bound() -> None:
    many = table("name;size", *(f"n{number};{number}" for number in range(500)), title="many.csv")
    found = answer_question("Which name has the highest size?", [many])
    assert found is not None
    (message,) = found.answers
    assert (len(message.rows), len(message.cited_rows())) == (500, 200)
    assert message.cited_rows()[-1].text(0) == "n499"


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("Nile: length (km) 6650, the highest of 5 rows", True),
        ("Amazon: length (km) 6650, the highest of 5 rows", False),
        ("Nile: length (km) 6850, the highest of 5 rows", False),
        ("Nile: length (km) 6650, the highest of 6 rows", False),
        ("Sum of length (km) over 3 rows: 7614 (continent: Europe)", True),
        ("Sum of length (km) over 3 rows: 7614 (continent: Africa)", False),
        ("Number of rows: 3 (length (km): > 3000)", True),
        ("Number of rows: 4 (length (km): > 3000)", False),
    ],
)
def test_sentences_are_computed_again(sentence: str, same: bool) -> None:
    found = recompute(sentence, ALL)
    assert found is not None
    assert found[0] is same


def test_what_states_no_computation_is_not() -> None:
    assert recompute("The Nile is long.", ALL) is None
    assert recompute("Sum of weight over 3 rows: 7", ALL) is None
    assert compare_with_row("length (km) of Rhine: 1234", ALL) == (False, "1233")
    assert compare_with_row("length (km) of Elbe: 1233", ALL) is None
    assert compare_with_row("{head} of {subject}: {value}", ALL) is None


def test_words_of_operations() -> None:
    asked = read_asking("What is the average length of rivers with more than 3,000 visitors?")
    assert [way.operation for way in asked.operations] == ["mean"]
    assert [(limit.direction, str(limit.number)) for limit in asked.limits] == [(1, "3000")]
    assert read_asking("Welches ist der längste Fluss?").operations[0].measures[:1] == ("länge",)
    assert read_asking("Describe the rivers").operations[0].operation == "cell"


@given(st.lists(st.integers(-999, 999), min_size=1, max_size=30))
def test_extremes_sums_and_counts_are_those_of_the_rows(sizes: list[int]) -> None:
    things = table("thing;size", *(f"t{at};{size}" for at, size in enumerate(sizes)), title="things.csv")
    values = {}
    for operation in ("highest", "lowest", "total"):
        found = answer_question(f"What is the {operation} size?", [things])
        assert found is not None
        values[operation] = int(found.answers[0].value)
        assert recompute(found.answers[0].text, [things]) == (True, found.answers[0].text)
    assert values == {"highest": max(sizes), "lowest": min(sizes), "total": sum(sizes)}
    found = answer_question("How many things have a size of more than 0?", [things])
    assert (int(found.answers[0].value) if found else 0) == sum(size > 0 for size in sizes)


@settings(max_examples=scaled(80))
@given(st.text(max_size=60), st.text(max_size=60))
def test_no_question_and_no_sentence_fails(question: str, sentence: str) -> None:
    answer_question(question, ALL)
    recompute(sentence, ALL)
    compare_with_row(sentence, ALL)


@given(st.sets(st.integers(0, 5000), min_size=1, max_size=200))
def test_notes_are_read_as_they_were_told(ordinals: set[int]) -> None:
    note = Note("Sum of size: 7", tuple(sorted(ordinals)))
    assert read_notes(f"Something else.\n{note_line(note)}\n3 of the 9 rows are shown.") == (note,)


def test_other_lines_are_no_notes() -> None:
    assert read_notes("Computed from passages x: 7\nComputed from passages 3-: 7") == ()
    assert len(read_notes("Computed from passages 0-999999999: 7")[0].ordinals) == 1_000


@pytest.mark.parametrize("locale", LOCALES)
def test_what_is_said_in_any_language_is_computed_again(locale: str) -> None:
    with use_locale(locale):
        for question in ("Which river is the longest?", "How many rivers are in Europe?", "What is the total length?"):
            found = answer_question(question, [RIVERS])
            assert found is not None
            assert recompute(found.answers[0].text, ALL) == (True, found.answers[0].text)
        found = answer_question("What was the population of France in 2020?", ALL)
        assert found is not None
        assert compare_with_row(found.answers[0].text, ALL) == (True, "67.4")
