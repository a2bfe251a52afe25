"""Questions in words over tables, in several languages, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.tables.answers import recompute
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.rows import Note, compare_with_row, note_line, read_notes
from assay.core.tables.table_questions import answer_question
from assay.core.tables.words import read_asking
from assay.locale import LOCALES, use_locale


def table(title: str, head: str, *rows: str, language: str = "") -> ReadTable:
    names = head.split(";")
    cells = (zip(names, row.split(";"), strict=True) for row in rows)
    lines = (" | ".join(f"{name}: {cell}" for name, cell in row if cell) for row in cells)
    (found,) = read_tables([TablePiece(str(at), line) for at, line in enumerate(lines)], title, language)
    return found


RIVERS = table(
    "rivers.csv",
    "river;length (km);continent;discharge",
    "Nile;6650;Africa;2800",
    "Amazon;6400;South America;209000",
    "Danube;2850;Europe;7130",
    "Rhine;1233;Europe;2900",
    "Volga;3531;Europe;8060",
)
STATES = table(
    "countries.csv",
    "country;year;population (millions);capital;founded",
    "France;2019;67.2;Paris;0843-08-10",
    "France;2020;67.4;Paris;0843-08-10",
    "Germany;2019;83.1;Berlin;1871-01-18",
    "Germany;2020;83.2;Berlin;1871-01-18",
    "Spain;2020;47.4;Madrid;1479-01-20",
)
UMSATZ = table(
    "umsatz.csv",
    "Produkt;Region;Umsatz (EUR)",
    "Stuhl;Nord;1.200,50",
    "Tisch;Nord;2.300,00",
    "Stuhl;Süd;900,25",
    "Tisch;Süd;1.100,00",
    "Summe;;5.500,75",
    language="de",
)
VILLES = table("villes.csv", "ville;habitants;altitude", "Lyon;522 250;173", "Nice;348 085;10", "Brest;139 456;34")
LISTED = table("list.csv", "pep;stage;year", "744;Draft;2024", "572;Final;2018")
OBRAS = table("obras.csv", "obra;precio;autor", "Luz;120;Ana", "Mar;80;Ana", "Sol;200;Eva")
PLANETS = table("planets.csv", "planet;discovered;discoverer", "Uranus;1781;Herschel", "Neptune;1846;Galle", "Mars;;")
COSTS = table("costs.csv", "item;supplier;2023;2024", "Steel;Forth;1500;6900", "Land;Council;940;0", "Staff;;80;90")
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


MOONS = table("moons.csv", "name;kind;of", "Luna;moon;Earth", "Io;moon;Jupiter", "Europa;moon;Jupiter", "Mars;planet;")
BODIES = table("bodies.csv", "Sun;kind", "Moon;satellite", "Jupiter;planet", "Saturn;planet")
ORDERS = table("orders.csv", "day;customer", "3 May;Lee", "4 May;Kim", "5 May;Lee", "6 May;Ross")


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
    birds = table("birds.csv", "bird;bill length;bill depth", "Gentoo;47;15", "Adelie;39;18")
    assert answer_question("What is the average bill of the birds?", [birds]) is None
    found = answer_question("What is the average bill depth of the birds?", [birds])
    assert found is not None
    assert found.answers[0].value == "16.5"


def test_amounts_in_different_units_are_not_summed() -> None:
    roads = table("roads.csv", "road;length", "A;12 km", "B;800 m")
    assert answer_question("What is the total length of the roads?", [roads]) is None


def test_ties_name_all() -> None:
    ports = table("ports.csv", "port;depth", "Goole;7", "Hull;9", "Ayr;9")
    found = answer_question("Which port has the greatest depth?", [ports])
    assert found is not None
    assert found.answers[0].text == "Hull, Ayr: depth 9, the highest of 3 rows"


def test_every_row_used_is_cited_up_to_a_bound() -> None:
    many = table("many.csv", "name;size", *(f"n{number};{number}" for number in range(500)))
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
    things = table("things.csv", "thing;size", *(f"t{at};{size}" for at, size in enumerate(sizes)))
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


DELIVERIES = table(
    "deliveries.csv",
    "day;supplier;goods;amount",
    "2024-01-08;Mercer;paper;412.50",
    "2024-01-11;Dentalux;gloves;980.00",
    "2024-01-22;Orbis;masks;1310.00",
    "2024-01-29;Dentalux;gloves;1020.00",
    "2024-02-05;Mercer;soap;388.00",
    "2024-02-26;Mercer;soap;291.60",
)
VERKAUF = table(
    "verkauf.csv",
    "Produkt;Tag;Betrag (EUR)",
    "Stuhl;02.10.2023;1200",
    "Tisch;05.10.2023;2300",
    "Tisch;09.10.2023;1100",
    language="de",
)
EINNAHMEN = table(
    "einnahmen.csv",
    "Produkt;Tag;EUR",
    "Stuhl;02.10.2023;1200,00",
    "Tisch;05.10.2023;2300,50",
    "Tisch;09.10.2023;1100,00",
    language="de",
)
QUALITY = table(
    "water.csv",
    "date;beach;bacteria;temperature",
    "2024-05-06;North;22;11.5",
    "2024-05-06;Mill;61;12.0",
    "2024-05-20;North;85;13.1",
    "2024-05-20;Mill;58;14.0",
)


def test_money_is_in_no_column_of_other_figures():
    catches = table("catches.csv", "day;boat;boxes", "2024-05-06;Ada;22", "2024-05-07;Mill;61", "2024-05-08;Ada;85")
    assert answer_question("Which boat gets the most?", [catches]) is not None
    assert answer_question("Which boat gets the most money?", [catches]) is None
    assert answer_question("How much money did Ada get?", [catches]) is None


@pytest.mark.parametrize(
    ("question", "asked", "said"),
    [
        (
            "Which supplier gets the most?",
            DELIVERIES,
            "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
        ),
        (
            "Which supplier got the least?",
            DELIVERIES,
            "Mercer: sum of amount 1092.1, the lowest of 3 groups by supplier",
        ),
        (
            "Which supplier gets the most money from us?",
            DELIVERIES,
            "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
        ),
        (
            "Für welches Produkt wurde am meisten Geld gezahlt?",
            EINNAHMEN,
            "Tisch: sum of EUR 3400,5, the highest of 2 groups by Produkt",
        ),
        (
            "How much money did Dentalux get from us?",
            DELIVERIES,
            "Sum of amount over 2 rows: 2000 (supplier: Dentalux)",
        ),
        ("Which supplier delivers most often?", DELIVERIES, "Mercer: 3 rows, the most of 3 groups by supplier"),
        (
            "Which goods have the highest average amount?",
            DELIVERIES,
            "masks: average of amount 1310, the highest of 4 groups by goods",
        ),
        ("Which goods have the highest amount?", DELIVERIES, "masks: amount 1310.00, the highest of 6 rows"),
        (
            "Für welches Produkt wurde am meisten gezahlt?",
            VERKAUF,
            "Tisch: sum of Betrag (EUR) 3400, the highest of 2 groups by Produkt",
        ),
        ("How much did we pay for masks?", DELIVERIES, "amount of masks: 1310.00"),
        ("How much did we spend on gloves?", DELIVERIES, "Sum of amount over 2 rows: 2000 (goods: gloves)"),
        (
            "Welche Region hat am meisten Umsatz?",
            UMSATZ,
            "Nord: sum of Umsatz (EUR) 3.500,5, the highest of 2 groups by Region",
        ),
        (
            "Which beach has the most bacteria on average?",
            QUALITY,
            "Mill: average of bacteria 59.5, the highest of 2 groups by beach",
        ),
        ("Which beach has the most bacteria?", QUALITY, "North: bacteria 85, the highest of 4 rows"),
    ],
)
def test_an_extreme_of_groups(question: str, asked: ReadTable, said: str) -> None:
    with use_locale("en"):
        found = answer_question(question, [asked])
        assert found is not None
        assert [each.text for each in found.answers] == [said]
        assert recompute(said, [asked]) == (True, said) or found.computation.operation == "cell"


@pytest.mark.parametrize(
    "question",
    ["Which supplier is the most modern?", "How much do gloves weigh?", "Which supplier has the most staff?"],
)
def test_an_amount_is_only_what_is_paid(question: str) -> None:
    assert answer_question(question, [DELIVERIES]) is None


def test_a_wrong_group_is_told() -> None:
    said = "Mercer: sum of amount 2000, the highest of 3 groups by supplier"
    assert recompute(said, [DELIVERIES]) == (
        False,
        "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
    )


def test_a_column_is_no_answer_without_a_row_that_the_question_names() -> None:
    trial = table("trial.csv", "season;sand;sand with 5 per cent lime", "2022;61;68", "2023;60;69", "2024;53;61")
    assert answer_question("How much was iron reduced by 5 per cent lime?", [trial]) is None
    assert answer_question("How wide is sand with 5 per cent lime?", [trial]) is None
