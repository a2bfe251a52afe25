"""Fields of the entries of a reference: in nested lists, below headings, and in small tables."""

from __future__ import annotations

import pytest
from extractive_asking import answered
from selectolax.lexbor import LexborHTMLParser

from assay.fetch.html_markdown import to_markdown


def fields(*pairs: tuple[str, str]) -> str:
    return "<dl>" + "".join(f"<dt>{key}</dt><dd>{value}</dd>" for key, value in pairs) + "</dl>"


def nested(name: str, purpose: str, *pairs: tuple[str, str]) -> str:
    return f"<dt><code>{name}</code></dt><dd><p>{purpose}</p>{fields(*pairs)}</dd>"


NESTED = (
    "<h1>Kiln</h1><p>The kiln reads its settings from the card when it is switched on, and keeps the others.</p><dl>",
    nested(
        "soak-time",
        "How long the top temperature is held before the kiln cools.",
        ("Unit", "minutes"),
        ("Default value", "25"),
        ("If missing", "Cooling begins at once."),
    ),
    nested(
        "ramp-rate",
        "How fast the chamber is heated up.",
        ("Unit", "degrees"),
        ("Default value", "25"),
        ("If missing", "It is heated at full power."),
    ),
    nested("page-port", "The port on which the page with the curve is served.", ("Default value", "8085")),
    "</dl>",
)
HEADED = (
    "<h1>4. The file of the relay</h1><p>What is not set has a default value, told here for each option.</p>",
    *(
        f"<h2>4.{at}. {name}</h2>"
        + fields(
            ("Purpose:", purpose),
            ("Default value:", value),
            ("If not set:", unset),
            ("Remarks:", f"<tt>{name}</tt> is read at the start, and its default may change."),
        )
        for at, (name, purpose, value, unset) in enumerate(
            (
                ("bind-host", "The address on which the relay waits.", "localhost:2525", "It waits on port 2525."),
                ("idle-timeout", "How long a line may be silent.", "180", "A value of 60 seconds is used."),
                ("queue-threads", "How many messages are sent at once.", "180", "One is sent after the other."),
            ),
            1,
        )
    ),
)
TABLED = (
    "<h1>Pump</h1><p>Each parameter has a table of its kind and its default, and says what it is for.</p>",
    *(
        f"<h2>{name}</h2><table><tr><th>kind</th><th>default</th></tr><tr><td>{kind}</td><td>{value}</td></tr></table>"
        f"<p>{told}</p>"
        for name, kind, value, told in (
            ("StartDelay", "seconds", "12", "The time between power on and the first stroke of the pump."),
            ("MaxStrokes", "number", "400", "The strokes after which the pump rests for a minute."),
        )
    ),
)


@pytest.mark.parametrize(
    ("page", "question", "expected"),
    [
        (NESTED, "What is the default value of soak-time?", "`soak-time`: Default value 25"),
        (NESTED, "What is the default value of ramp-rate?", "`ramp-rate`: Default value 25"),
        (NESTED, "What is the unit of ramp-rate?", "`ramp-rate`: Unit degrees"),
        (NESTED, "What happens if soak-time is missing?", "`soak-time`: If missing Cooling begins at once."),
        (HEADED, "What is the default of bind-host?", "bind-host: Default value: localhost:2525"),
        (HEADED, "What is the default value of queue-threads?", "queue-threads: Default value: 180"),
        (
            HEADED,
            "What is used if idle-timeout is not set?",
            "idle-timeout: If not set: A value of 60 seconds is used.",
        ),
        (TABLED, "What is the default of MaxStrokes?", "MaxStrokes: kind: number; default: 400"),
        (TABLED, "What is the default of StartDelay?", "StartDelay: kind: seconds; default: 12"),
    ],
)
def test_a_value_is_that_of_the_entry_a_question_names(page: tuple[str, ...], question: str, expected: str) -> None:
    assert first(page, question) == expected


def test_what_is_said_of_an_entry_leads_to_its_values() -> None:
    assert "`page-port`: Default value 8085 [" in answer(
        NESTED, "Which port serves the page with the curve by default?"
    )


def test_a_value_of_another_entry_is_no_answer() -> None:
    assert "180" not in answer(HEADED, "What is the default value of bind-host?")
    assert "400" not in answer(TABLED, "What is the default of MinStrokes?")


def variable(name: str, kind: str, value: str, told: str) -> str:
    return f"<h2>3.1. {name}</h2><p>Type: {kind}<br>Default: {value}</p><p>{told}</p>"


VARIABLES = (
    "<h1>Kiln</h1><p>Everything about the kiln that can be set is told here, one variable after the other.</p>",
    variable("soak_time", "number", "25", "This variable says for how many minutes the top temperature is held."),
    variable("ramp", "number", "3", "If set, the chamber is heated up in so many steps."),
    "<h2>3.2. Lamps</h2><p>The lamp beside the door blinks while the kiln is hot.</p>",
)


def test_a_sentence_that_does_not_say_what_it_is_about_has_the_name_of_its_entry() -> None:
    question = "For how many minutes is the top temperature held?"
    assert first(VARIABLES, question).startswith("soak_time: This variable says for how many minutes the top")
    assert first(VARIABLES, "What is the default of soak_time?") == "soak_time: Default: 25"
    assert first(VARIABLES, "In how many steps is the chamber heated up?").startswith("ramp: If set, the chamber is")
    assert first(VARIABLES, "When does the lamp beside the door blink?").startswith("The lamp beside the door blinks")


def test_a_question_for_a_number_has_the_value_of_the_entry_that_is_about_it() -> None:
    page = (*VARIABLES, variable("lamp_pause", "number", "9", "The pause between two blinks of the lamp, in seconds."))
    said = answer(page, "How long is the pause between two blinks of the lamp?")
    assert "lamp_pause: The pause between two blinks of the lamp, in seconds." in said
    assert "lamp_pause: Default: 9 [" in said
    assert "Default" not in answer(page, "Which pause is there between two blinks of the lamp?")


def test_a_term_is_set_off_from_its_description() -> None:
    page = ("<h1>Help</h1><p>These are the ways to ask about the kiln.</p>", fields(("Chat", "Ask in #kiln at noon.")))
    assert first(page, "Where can I ask about the kiln in a chat?") == "Chat: Ask in #kiln at noon."
    told = ("Chat", "Ask in #kiln at noon. Chat logs of the kiln are kept for a year.")
    assert (
        first((page[0], fields(told)), "How long are chat logs kept?") == "Chat logs of the kiln are kept for a year."
    )
    told = ("Mother Hen", "is what they call the oldest kiln.")
    assert first((page[0], fields(told)), "What do they call the oldest kiln?").startswith("Mother Hen is what they")
    told = ("wait_time (default: 9s)", "The time for which the kiln waits for the door before it cools.")
    page = (page[0], fields(told, ("lamp (default: no)", "The lamp blinks.")))
    expected = "wait_time (default: 9s): The time for which the kiln waits"
    assert first(page, "How long does the kiln wait for the door?").startswith(expected)


@pytest.mark.parametrize("name", ["Soak_Time", "<code>soak_time</code>", "soak_time"])
@pytest.mark.parametrize("written", ["soak_time", "<code>soak_time</code>", "<b>Soak_time</b>"])
def test_the_name_of_an_entry_is_not_said_twice(name: str, written: str) -> None:
    text = f"{written}: how many minutes the top temperature is held before the kiln cools."
    entry = (
        *VARIABLES[:1],
        f"<h2>{name}</h2><p>{text}</p><p>Default: 25</p>",
        variable("ramp", "number", "3", "Steps."),
    )
    for page in (entry, (*VARIABLES[:1], fields((name, text), ("ramp", "How many steps the kiln takes.")))):
        said = first(page, "How many minutes is the top temperature held before the kiln cools?")
        assert said.casefold().count("soak_time") == 1, said


def answer(page: tuple[str, ...], question: str) -> str:

    root = LexborHTMLParser("".join(page)).root
    assert root is not None
    return answered(question, "Manual", to_markdown(root))


def first(page: tuple[str, ...], question: str) -> str:
    return answer(page, question).partition(" [")[0]
