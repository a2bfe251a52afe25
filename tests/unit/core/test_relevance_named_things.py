"""What a question names: definitions, entries of a reference, and names that are nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import Rarity
from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.features import Features
from assay.core.relevance.named_things import definition_gains, entry_gains, is_defined_by, is_row_on_subject
from assay.core.relevance.topic_question import keys

# What a question asks the meaning of: the statement that defines it comes first.


def gains(question: str, *texts: str, heading: str = "", label: str = "") -> list[float]:
    statements = [
        QuotableStatement(text=text, position=place, heading=heading, label=label) for place, text in enumerate(texts)
    ]
    return definition_gains(read_question(question, document_text=" ".join(texts)), statements)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is a sponsor?", "A sponsor is a member who uploads packages for somebody else."),
        ("What is a sponsor?", "A: Sponsors are members who upload packages for others."),
        ("What are sponsors?", "A sponsor (of a package) is somebody who uploads it."),
        ("What is a sponsor?", "sponsor: a member who uploads packages"),
        ("What does RHS mean?", "RHS = the right-hand side of a command"),
        ("What does sed stand for?", '"sed" stands for stream editor.'),
        ("What is a pool in Holmake?", "A pool is a number of jobs that may run at once."),
        ("Who is Carl Dorn?", "Carl Dorn, born in Oslo, is a painter."),
        ("Was ist ein Bürge?", "Ein Bürge ist ein Mitglied, das für andere Pakete hochlädt."),
        ("Qu'est-ce qu'un parrain ?", "Un parrain est un membre qui signe les paquets des autres."),
        ("¿Qué es un padrino?", "Un padrino es un miembro que firma los paquetes de otros."),
    ],
)
def test_a_definition(question: str, text: str) -> None:
    assert gains(question, text)[0] > 0


@pytest.mark.parametrize(
    ("text", "is_definition"),
    [
        ("term: sponsor | meaning: Somebody who uploads a package for another.", True),
        ("| sponsor | Somebody who uploads a package for another. |", True),
        ("older term: sponsor | term: guarantor", False),
        ("role: sponsor | telephone: 0 36 99 12", False),
        ("role: sponsor | name: Ann Lee | task: uploads packages for others", False),
    ],
)
def test_a_row_of_a_glossary_is_a_definition(text: str, *, is_definition: bool) -> None:
    row = QuotableStatement(text=text, position=0, kind="row")
    assert (definition_gains(read_question("What is a sponsor?"), [row])[0] > 0) is is_definition


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is a sponsor?", "A sponsor may upload a package for somebody else."),
        ("What is a sponsor?", "Many sponsors read the list."),
        ("What is a sponsor?", "Sponsors are asked to sign what they upload."),
        ("What is a sponsor?", "These sponsors (who are thought to be gone) were found to be members."),
        ("What is a sponsor?", "The list of sponsors is a page of the archive."),
        ("How long is a sponsor a member?", "A sponsor is a member for two years."),
        ("Where is the sponsor?", "A sponsor is a member who signs."),
    ],
)
def test_no_definition_or_none_asked_for(question: str, text: str) -> None:
    assert gains(question, text) == [0.0]


def test_the_definition_opens_the_answer() -> None:
    texts = (
        "A sponsor may upload a package for somebody else.",
        "You need a sponsor for your first upload.",
        "A sponsor is a member who uploads packages on behalf of others.",
    )
    statements = [QuotableStatement(text=text, position=place) for place, text in enumerate(texts)]
    for question, first in (("What is a sponsor?", 2), ("For what do I need a sponsor?", 1)):
        assert judge(read_question(question, document_text=" ".join(texts)), statements).ranked[0].index == first


def test_what_describes_a_term_defines_it() -> None:
    assert gains("What is ballast?", "Heavy stuff that keeps a ship upright.", label="ballast")[0] > 0
    assert gains("What is a keel?", "Heavy stuff that keeps a ship upright.", label="ballast") == [0.0]


def test_a_name_is_asked_for_alone() -> None:
    assert is_defined_by(read_question("What is ballast?"), "Ballast")
    assert not is_defined_by(read_question("What is the price of ballast?"), "Ballast")


@given(st.text("What is a sponsor:=,.?()- é中", max_size=40), st.text("a sponsor is:=,.?()- é中", max_size=40))
def test_any_text_may_be_compared(question: str, text: str) -> None:
    assert len(gains(f"What is {question}", text)) == 1


# Questions that name an entry of a reference: what stands below its signature comes first, as it stands.

SAYS = ("Ring the harbour bell so many times.", "It is heard a mile away.", "The bell is rung at noon as well.")
OTHERS = ("See `port.ring()` for the bell of the port.", "Never use port.ring() at night.")


def statements(label: str = "", heading: str = "", title: str = "") -> list[QuotableStatement]:
    below = [
        QuotableStatement(text=text, position=place, label=label, heading=heading, title=title)
        for place, text in enumerate(SAYS, 2)
    ]
    return [*(QuotableStatement(text=text, position=place) for place, text in enumerate(OTHERS)), *below]


def order(question: str, found: list[QuotableStatement]) -> list[str]:
    ranked = judge(read_question(question, document_text=" ".join(each.text for each in found)), found).ranked
    return [found[each.index].text for each in ranked]


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


def test_of_an_entry_what_says_the_thing_asked_for_comes_first() -> None:
    found = statements(label="port.ring(times)")
    found.append(QuotableStatement(text="Returns the number of bells.", position=9, label="port.ring(times)"))
    assert order("What does port.ring return?", found)[0] == "Returns the number of bells."


def test_a_line_with_a_key_says_the_thing_asked_for_too_and_else_it_does_not_open_the_answer() -> None:
    found = statements(heading="port.ring")
    found.append(QuotableStatement(text="Default: `2` (twice).", position=9, heading="port.ring", kind="row"))
    assert order("What is the default of port.ring?", found)[0] == "Default: `2` (twice)."
    assert order("What does port.ring do?", found)[0] == SAYS[0]


def test_any_question_that_names_an_entry_is_answered_from_it_first() -> None:
    gains = entry_gains(
        read_question("Why should port.ring be used with care at noon?"), statements(label="port.ring(n)")
    )
    assert gains[:2] == [0.0, 0.0]
    assert len(set(gains[2:])) == 1
    assert gains[2] > 0


@pytest.mark.parametrize(
    ("question", "label", "heading"),
    [
        ("What does port.ring do?", "port.ring_all(times)", ""),
        ("What does port.ring do?", "", "Ringing the port"),
        ("Who rang the bell?", "port.ring(times)", ""),
        ("?", "—", ""),
    ],
)
def test_what_is_no_entry_of_this_name_gains_nothing(question: str, label: str, heading: str) -> None:
    assert not any(entry_gains(read_question(question), statements(label, heading)))


def test_an_option_is_known_by_its_hyphens() -> None:
    found = statements(heading="Options > --ring[=times]")
    assert order("What does the --ring option do?", found)[0] == SAYS[0]


# A name of the question that is nowhere in the documents: nothing answers.


def may_answer(question: str, *texts: str, scope: str = "", passages: int = 40, address: str = "") -> bool:
    """Whether something may answer; `scope` is the text of the other passages of a library."""
    statements = [QuotableStatement(text=text, position=3 * at, address=address) for at, text in enumerate(texts)]
    read = read_question(question, document_text=" ".join(texts))
    held = set(keys(" ".join((*texts, scope)), read.analysis))
    rarity = Rarity(passages=passages, holding={key: int(key in held) for key in keys(question, read.analysis)})
    return judge(read, statements, rarity if passages else None).chance > 0


FOUNDED = "The museum was founded by Ada Kern in 1931."


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who founded the museum?", True),
        ("Who founded the museum in Oslo?", False),
        ("Who founded Oslo's museum?", False),
        ("Who founded the museum of Ada Kern?", True),
        ("Who founded the museum of Ada Kerns?", True),
        ("Who founded the museum of Mrs. Kern?", True),
        ("Who founded the museum of Mrs. Lund?", False),
    ],
)
def test_a_name_that_no_passage_of_the_library_has(question: str, answers: bool) -> None:
    assert may_answer(question, FOUNDED) == answers


def test_of_a_few_sentences_alone_a_name_may_be_the_subject() -> None:
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, passages=0)
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, passages=3)


def test_a_name_in_another_passage_or_in_the_address_is_there() -> None:
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, scope="The harbour of Oslo is old.")
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, address="https://oslo.example/museum")


def test_initials_are_the_name() -> None:
    carried = "The Hollow Valley Railway carried 184,000 passengers in all."
    assert may_answer("How many passengers did the HVR carry?", carried)
    assert not may_answer("How many passengers did the XYR carry?", carried)
    tested = "The boilers are tested every ten years by the NRSO."
    assert may_answer("Who tested the boilers for the National Rail Safety Office?", tested, scope="safety rail office")


@pytest.mark.parametrize(
    ("question", "line", "answers"),
    [
        ("Are dogs allowed beside the lake?", "From: Ida Galloway <ida@port.example>", False),
        ("Are dogs allowed beside the lake?", "Dogs: on a lead", True),
        ("Who owns the lake?", "Owner: Ida Galloway", True),
        ("Which of them has a landing stage?", "Beside it: a landing stage", True),
        ("Which of them has a landing stage?", "Island: none", False),
    ],
)
def test_a_line_with_a_key_answers_by_its_key_or_by_the_very_word_in_its_value(
    question: str, line: str, answers: bool
) -> None:
    row = QuotableStatement(text=line, kind="row")
    assert is_row_on_subject(Features(read_question(question, document_text=line), [row]), 0) is answers
