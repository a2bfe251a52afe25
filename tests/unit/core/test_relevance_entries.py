"""Questions that name an entry of a reference: what stands below its signature comes first, as it stands."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.named_things import of_entries

SAYS = ("Ring the harbour bell so many times.", "It is heard a mile away.", "The bell is rung at noon as well.")
OTHERS = ("See `port.ring()` for the bell of the port.", "Never use port.ring() at night.")


def statements(label: str = "", heading: str = "", title: str = "") -> list[QuotableStatement]:
    below = [
        QuotableStatement(text=text, place=place, label=label, heading=heading, title=title)
        for place, text in enumerate(SAYS, 2)
    ]
    return [*(QuotableStatement(text=text, place=place) for place, text in enumerate(OTHERS)), *below]


def order(question: str, found: list[QuotableStatement]) -> list[str]:
    ranked = judge(read_question(question, beside=" ".join(each.text for each in found)), found).ranked
    return [found[each.place].text for each in ranked]


@pytest.mark.parametrize(
    "label",
    [
        "port.ring(times, *, loud=False)",
        "@port.ring",
        "int ring(int times)",
        "class port.ring([times])",
        "port.ring (since 2)",
    ],
)
def test_the_first_sentences_below_a_signature_open_the_answer(label: str) -> None:
    name = "port.ring" if "port" in label else "ring"
    assert order(f"What does {name} do?", statements(label=label))[:3] == [*SAYS]


@pytest.mark.parametrize(
    "heading", ["Bells > port.ring(times)", "Static method: port.ring(times[, loud])", "`port.ring`"]
)
def test_so_do_those_below_such_a_heading(heading: str) -> None:
    found = order("What does port.ring do?", statements(heading=heading))
    assert [text for text in found if text in SAYS] == [*SAYS]
    assert found[0] == SAYS[0]


def test_so_do_those_at_the_beginning_of_the_page_with_this_name() -> None:
    found = statements(title="ring — Bells of a port — Manual 3.1")
    assert order("What is ring?", found)[0] == SAYS[0]


def test_the_kind_of_a_thing_is_no_part_of_its_name() -> None:
    assert order("What does the port.ring function do?", statements(label="port.ring(times)"))[0] == SAYS[0]


def test_of_an_entry_what_says_the_thing_asked_for_comes_first() -> None:
    found = statements(label="port.ring(times)")
    found.append(QuotableStatement(text="Returns the number of bells.", place=9, label="port.ring(times)"))
    assert order("What does port.ring return?", found)[0] == "Returns the number of bells."


def test_a_line_with_a_key_says_the_thing_asked_for_too_and_else_it_does_not_open_the_answer() -> None:
    found = statements(heading="port.ring")
    found.append(QuotableStatement(text="Default: `2` (twice).", place=9, heading="port.ring", kind="row"))
    assert order("What is the default of port.ring?", found)[0] == "Default: `2` (twice)."
    assert order("What does port.ring do?", found)[0] == SAYS[0]


def test_any_question_that_names_an_entry_is_answered_from_it_first() -> None:
    gains = of_entries(
        read_question("Why should port.ring be used with care at noon?"), statements(label="port.ring(n)")
    )
    assert gains[:2] == [0.0, 0.0]
    assert len(set(gains[2:])) == 1
    assert gains[2] > 0


@pytest.mark.parametrize(
    ("question", "label", "heading"),
    [
        ("What does the --ring option do?", "port.ring(times)", ""),
        ("What does port.ring do?", "port.ring_all(times)", ""),
        ("What does port.ring do?", "", "Ringing the port"),
        ("Who rang the bell?", "port.ring(times)", ""),
        ("?", "—", ""),
    ],
)
def test_what_is_no_entry_of_this_name_gains_nothing(question: str, label: str, heading: str) -> None:
    assert not any(of_entries(read_question(question), statements(label, heading)))


def test_an_option_is_known_by_its_hyphens() -> None:
    found = statements(heading="Options > --ring[=times]")
    assert order("What does the --ring option do?", found)[0] == SAYS[0]


def test_the_title_of_a_page_is_not_what_it_says() -> None:
    found = [
        QuotableStatement(text="ring — Bells", title="ring — Bells — Manual"),
        *statements(title="ring — Bells — Manual"),
    ]
    assert order("What is ring?", found)[0] == SAYS[0]
