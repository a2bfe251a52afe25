"""Booleans, names in titles, units of labels, members of enums and rows as items: filled where said, else empty."""

from __future__ import annotations

import json
from typing import Any

import pytest
from filling import fill
from growth import WORST, exponent

QUESTION = "What of the Rotne Bridge?"


def shown(text: str, title: str = "Rotne Bridge") -> str:
    lines = [title, *text.split("\n")]
    passages = "\n".join(f"[S1001.{number}] {line}" for number, line in enumerate(lines))
    return f"## S1001 {title} <file:///a.md>\n{passages}"


def filled(
    text: str, name: str, schema: dict[str, Any], *, title: str = "Rotne Bridge", question: str = QUESTION
) -> Any:
    return fill(question, shown(text, title), json.dumps({"properties": {name: schema}}))["fields"][name]


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("Cyclists may use the eastern deck.", "open_to_cyclists", True),
        ("Open to cyclists: yes", "open_to_cyclists", True),
        ("Open to cyclists: no", "open_to_cyclists", False),
        ("The bridge is not open to cars.", "open_to_cars", False),
        ("Cars must not use the bridge.", "open_to_cars", False),
        ("Cyclists cannot use the eastern deck.", "open_to_cyclists", False),
        ("Dogs are prohibited.", "dogs_allowed", False),
        ("No dogs are allowed.", "dogs_allowed", False),
        ("Dogs are no longer allowed.", "dogs_allowed", False),
        ("Bicycles are carried in the last coach.", "bicycles_carried", True),
        ("The bridge isn't lit.", "lit", False),
        ("It is lit.", "is_lit", True),
        ("It contains no gluten.", "contains_gluten", False),
    ],
)
def test_a_boolean_is_what_a_sentence_or_a_line_says(text: str, name: str, value: bool) -> None:
    found = filled(text, name, {"type": "boolean"})
    assert (found["value"], found["passages"]) == (value, ["S1001.1"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Cyclists may cross if they dismount.", "open_to_cyclists"),
        ("Open to cars: no", "open_to_cyclists"),
        ("Apart from cyclists, the bridge is open to cars.", "open_to_cyclists"),
        ("The Lund Bridge is open to cyclists.", "open_to_cyclists"),
        ("The bridge is open to nobody but cyclists.", "open_to_cyclists"),
        ("The bridge was opened to cars in 1990.", "open_to_cars"),
        ("The bridge will be open to cars.", "open_to_cars"),
        ("It is hardly open to cars.", "open_to_cars"),
        ("The ferry is open to cars.", "open_to_cars"),
        ("The ferry, unlike the bridge, is open to cars.", "open_to_cars"),
        ("The old bridge is open to cars.", "open_to_cars"),
        ("It was wrongly assumed that the bridge is open to cars.", "open_to_cars"),
        ("It is a myth that cars are allowed.", "cars_allowed"),
        ("Bread contains gluten.", "contains_gluten"),
        ("It is not fully electrified.", "electrified"),
        ("Guide dogs are allowed.", "dogs_allowed"),
        ("Some dogs are allowed.", "dogs_allowed"),
        ("Dogs are allowed only on leads.", "dogs_allowed"),
        ("Dogs are not prohibited.", "dogs_allowed"),
        ("Dogs are allowed at no time.", "dogs_allowed"),
        ("Dogs were allowed until 1990.", "dogs_allowed"),
        ("It is said that dogs are allowed.", "dogs_allowed"),
        ("It is not true that dogs are allowed.", "dogs_allowed"),
        ("Are dogs allowed?", "dogs_allowed"),
        ("Dogs can bark.", "dogs_allowed"),
        ("Cars are allowed and dogs are not.", "dogs_allowed"),
        ("Plugins written for the 3.x series are no longer supported.", "plugins_supported"),
        ("The tower is lit.", "lit"),
    ],
)
def test_what_is_limited_or_said_of_something_else_leaves_a_boolean_empty(text: str, name: str) -> None:
    found = filled(text, name, {"type": "boolean"})
    assert found["value"] is None
    assert found["reason"]


def test_what_is_both_said_and_denied_is_empty_with_that_reason() -> None:
    found = filled("All dogs are allowed.\nIt is high.\nDogs are not allowed.", "dogs_allowed", {"type": "boolean"})
    assert (found["value"], found["reason"]) == (None, "the documents say both yes and no")


@pytest.mark.parametrize(
    ("name", "described"), [("name", ""), ("title", ""), ("product", "name of the product"), ("bridge", "")]
)
def test_a_name_that_only_the_title_says_is_read_there(name: str, described: str) -> None:
    found = filled("It was opened late.", name, {"type": "string", "description": described})
    assert found == {"value": "Rotne Bridge", "passages": ["S1001.0"]}


@pytest.mark.parametrize(
    ("name", "title", "question"),
    [
        ("designer", "Rotne Bridge", QUESTION),
        ("designer_name", "Rotne Bridge", QUESTION),
        ("name", "Notes on the Rotne Bridge", QUESTION),
        ("name", "Report", "What does the report say?"),
        ("name", "Lund Tunnel", QUESTION),
        ("name", "How the bridge was built", "How was the bridge built?"),
    ],
)
def test_a_title_that_is_no_name_of_what_is_asked_fills_nothing(name: str, title: str, question: str) -> None:
    assert filled("It is old.", name, {"type": "string"}, title=title, question=question)["value"] is None


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("The main span is 450 metres.", "main_span_m", "450"),
        ("The main span is 450 metres.", "main_span_ft", "1476.4"),
        ("The main span is 450 metres.", "Main span ft", "1476.4"),
        ("The main span is 450 metres long.", "main span length (ft)", "1476.4"),
        ("The crossing takes 90 minutes.", "crossing_hours", "1.5"),
        ("The crossing takes 90 minutes.", "crossing_minutes", "90"),
        ("Crossing: 90 min", "crossing_hours", "1.5"),
        ("The lease runs for three years.", "lease_years", "3"),
        ("It is a lease with a three-year term.", "lease_term_years", "3"),
        ("The lease runs for three (3) years and costs 300 euros.", "lease_years", "3"),
        ("Lease: eighteen months", "lease_years", "1.5"),
        ("Lease: three", "lease_years", "3"),
        ("Main span: 450", "main_span_m", "450"),
        ("The main span weighs 450 tonnes.", "main_span_m", None),
        ("The main span has 450 bolts.", "main_span_m", None),
        ("Main span: 450 kg", "main_span_m", None),
    ],
)
def test_the_unit_of_a_label_chooses_and_converts_the_value(text: str, name: str, value: str | None) -> None:
    assert filled(text, name, {"type": "number"})["value"] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The hazard class is irritant.", "irritant"),
        ("The hazard class is not irritant.", None),
        ("The hazard class may be irritant or corrosive.", None),
        ("It is irritant to read.", None),
    ],
)
def test_a_member_of_an_enum_is_read_from_a_sentence_about_the_field(text: str, value: str | None) -> None:
    assert filled(text, "hazard_class", {"enum": ["irritant", "corrosive"]})["value"] == value


ROWS = """## S1001 Defects <file:///a.md>
[S1001.0] Defects
-- about | Ticket | Component | Took minutes |
[S1001.1] | Ticket | Component | Took minutes |
[S1001.2] | QP-1 | notes | 30 |
[S1001.3] | QP-2 | export | 90 |"""


def items(fields: dict[str, Any], evidence: str = ROWS, question: str = "What was mended?") -> list[Any]:
    schema = {"properties": {"fixes": {"type": "array", "items": {"type": "object", "properties": fields}}}}
    return fill(question, evidence, json.dumps(schema))["items"]  # type: ignore[no-any-return]


TEXT = {"type": "string"}


def test_items_are_the_rows_of_the_table_with_these_columns() -> None:
    found = items({"ticket": TEXT, "part": TEXT | {"description": "component"}, "took_hours": {"type": "number"}})
    values = [[each["value"] for each in item["fields"].values()] for item in found]
    assert values == [["QP-1", "notes", "0.5"], ["QP-2", "export", "1.5"]]
    assert [item["fields"]["ticket"]["passages"] for item in found] == [["S1001.2"], ["S1001.3"]]


def test_a_table_with_other_columns_or_two_alike_make_no_items() -> None:
    assert items({"ticket": TEXT, "author": TEXT, "age": TEXT}) == []
    twice = ROWS + "\n" + ROWS.replace("S1001", "S1002").replace("QP", "RR")
    assert items({"ticket": TEXT, "component": TEXT}, twice) == []


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("Write to post@rotne.example before you come.", "email", "post@rotne.example"),
        ("Write to post@rotne.example before you come.", "e_mail", "post@rotne.example"),
        ("The toll office: toll@rotne.example.\nThe press: press@rotne.example.", "press_email", "press@rotne.example"),
        ("Look at https://rotne.example/visit, or call.", "website", "https://rotne.example/visit"),
        ("The survey is doi:10.9999/rb.2019(3), Abstract. It is long.", "doi", "10.9999/rb.2019(3)"),
        ("The survey is in the Abstract of volume 3.", "doi", None),
        ("The toll office: toll@rotne.example.\nThe press: press@rotne.example.", "email", None),
        ("Write to post@rotne.example before you come.", "press_email", None),
        ("Write to post@rotne.example before you come.", "website", None),
        ("The mail coach crossed the bridge daily.", "email", None),
    ],
)
def test_an_address_is_read_if_only_one_can_be_meant(text: str, name: str, value: str | None) -> None:
    assert filled(text, name, {"type": "string"})["value"] == value


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
WHEN = STRING | {"description": "when the bridge opened"}


@pytest.mark.parametrize(
    ("text", "name", "schema", "value"),
    [
        ("The bridge will open in September 2025.", "opens", WHEN, "September 2025"),
        ("The bridge opened on 3 May 1921.", "opened", WHEN, "3 May 1921"),
        ("Ann Lee succeeded him as keeper on 1 April 2023.", "keeper", STRING, None),
        ("The keeper is Ann Lee, since May 2023.", "keeper", STRING, "Ann Lee"),
        ("The keeper is Theresa May.", "keeper", STRING, "Theresa May"),
        ("There were three accidents in 2023.", "accidents_2023", INTEGER, "3"),
        ("There were 12 accidents in 2023.", "accidents_2023", INTEGER, "12"),
        ("Some accidents happened in 2023.\nThe insurer paid 800 pounds in 2023.", "accidents_2023", INTEGER, None),
        ("The bridge opened in 1921.", "year_opened", INTEGER, "1921"),
    ],
)  # fmt: skip
def test_a_time_fills_only_a_field_that_asks_for_one(text: str, name: str, schema: dict[str, Any], value: Any) -> None:
    assert filled(text, name, schema)["value"] == value


def test_a_year_of_the_question_is_no_number() -> None:
    found = filled("Some accidents happened in 2023.", "accidents", INTEGER, question="How was 2023 at Rotne Bridge?")
    assert found["value"] is None


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("The year was marked by storms.", "year_end", None),
        ("The end of the works is due.", "year_end", None),
        ("An example of Lund is a lease of the lamp.", "party", None),
        ("The party rents the deck, which Lund Council owns.", "party", None),
        ("The deck is let by Lund Council (the Landlord) to Ann Lee (the Tenant).", "landlord", "Lund Council"),
        ("The deck is let by Lund Council (the Landlord) to Ann Lee (the Tenant).", "tenant", "Ann Lee"),
        ("Ann Lee (tenant), Bob Ray and Cleo Dan came.", "tenant", "Ann Lee"),
        ("Bob Ray visited the keeper in Oslo.", "keeper", None),
        ("Its keeper at the time, after Ann Lee, is not known.", "keeper", None),
        ("The keeper and Ann Lee came.", "keeper", None),
        ("The keeper is not Ann Lee.", "keeper", None),
        ("Ann Lee has run the bridge as keeper since then.", "keeper", "Ann Lee"),
        ("Bob Ray chose Ann Lee as keeper.", "keeper", "Ann Lee"),
        ("Bob Ray chose her as keeper.", "keeper", None),
        ("Bob Ray, the keeper, came.", "keeper", "Bob Ray"),
        ("The keeper of the bridge is Bob Ray.", "keeper", "Bob Ray"),
        ("It was painted by Bob Ray.", "painted_by", "Bob Ray"),
        ("Keepers were changed during the storm.", "keeper", None),
        ("The colour is dark red.", "colour", "dark red"),
    ],
)
def test_a_text_is_filled_if_the_sentence_links_it_with_the_whole_field(
    text: str, name: str, value: str | None
) -> None:
    assert filled(text, name, STRING)["value"] == value


@pytest.mark.parametrize(
    ("text", "name", "described", "value"),
    [
        ("The keeper has paid a deposit of £1,725.", "deposit", "deposit in pounds", "1725"),
        ("The keeper has paid a deposit of 1,725 euros.", "deposit", "deposit in pounds", None),
        ("We counted 12 boats.", "sample_size", "number of shoots measured", None),
        ("Wind speed is measured up to 60 m/s.", "max_wind_speed", "highest wind speed in m/s", "60"),
        ("The toll is 45 euros on foot and 60 euros by car.", "car_toll", "toll by car in euros", None),
        ("It has 96 lamps, of which 11 are out.", "number_of_lamps", "", "96"),
        ("It takes 340 walkers and 62 carts.", "walkers", "", "340"),
        ("It takes 250 tonnes at a price of 310 euros a tonne.", "price_per_tonne", "price in euros", "310"),
        ("It is lit for 24 hours a week.", "hours_per_week", "", "24"),
        ("It has twenty-one lamps.", "number_of_lamps", "", "21"),
        ("It has fifteen hundred lamps.", "number_of_lamps", "", "1500"),
        ("Der Vorstand hat zwölf Mitglieder.", "mitglieder", "", "12"),
        ("Mitglieder: einundzwanzig", "mitglieder", "", "21"),
        ("Der Vertrag läuft drei Jahre.", "vertrag_jahre", "", "3"),
        ("Le conseil compte douze membres.", "membres", "", "12"),
        ("La sala tiene doscientas sillas.", "sillas", "", "200"),
        ("Die Lampe hat eine Birne.", "birne", "", None),
        ("One of the lamps is out.", "lamps", "", None),
        ("It has two and a half lamps.", "lamps", "", None),
        ("It has a hundred and ten lamps.", "lamps", "", None),
        ("Wind speed was 60 m/s at noon.", "max_wind_speed", "highest wind speed in m/s", None),
    ],
)
def test_a_number_is_filled_if_the_sentence_has_all_words_of_the_field(
    text: str, name: str, described: str, value: str | None
) -> None:
    assert filled(text, name, {"type": "number", "description": described})["value"] == value


def test_of_sentences_that_say_it_alike_the_first_counts() -> None:
    text, question = "The keeper is Zoe Lee.\nThe keeper is Ann Ray.", "Who mended the lamps of Oslo?"
    assert filled(text, "keeper", STRING, question=question)["value"] == "Zoe Lee"


def test_a_list_of_names_is_read_behind_its_field() -> None:
    names = {"type": "array", "items": STRING}
    assert filled("The keepers are Ann Lee, Bob Ray and Cleo Dan.", "keepers", names)["value"] == [
        "Ann Lee",
        "Bob Ray",
        "Cleo Dan",
    ]
    assert filled("The keepers are tired, and Ann Lee sleeps.", "keepers", names)["value"] is None


def test_a_long_line_of_capitals_is_read_for_names_in_little_time() -> None:
    def sentence(names: int) -> str:
        return f"The keepers are {'Ann ' * names}said it."

    names = {"type": "array", "items": STRING}
    assert exponent(lambda text: filled(text, "keepers", names), sentence, 5) < WORST
