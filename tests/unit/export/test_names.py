"""Authors as documents state them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.clean import HARMFUL
from assay.export.references import Name, read_name, read_names

PERSONS = [
    ("Guido van Rossum <guido@python.org>", ["van Rossum, Guido"]),
    ("guido@python.org (Guido van Rossum)", ["van Rossum, Guido"]),
    ("Barry Warsaw, Jeremy Hylton, David Goodger", ["Warsaw, Barry", "Hylton, Jeremy", "Goodger, David"]),
    ("Martin Becze <mb@ethereum.org>, Hudson Jameson <hudson@ethereum.org>, et al.", ["Becze, Martin", "Jameson, Hudson"]),  # noqa: E501
    ("Vitalik Buterin (@vbuterin)", ["Buterin, Vitalik"]),
    ("[Doug Gregor](https://github.com/DougGregor)", ["Gregor, Doug"]),
    ("Rossum, Guido van", ["Rossum, Guido van"]),
    ("Smith, John and Doe, Jane", ["Smith, John", "Doe, Jane"]),
    ("Doe, Jane; Müller, Jürgen", ["Doe, Jane", "Müller, Jürgen"]),
    ("Smith, J., Doe, A. B.", ["Smith, J.", "Doe, A. B."]),
    ("A. Einstein, B. Podolsky, and N. Rosen", ["Einstein, A.", "Podolsky, B.", "Rosen, N."]),
    ("by Ada Lovelace & Charles Babbage", ["Lovelace, Ada", "Babbage, Charles"]),
    ("Martin Luther King Jr.", ["King, Martin Luther, Jr."]),
    ("King, Martin Luther, Jr.", ["King, Martin Luther, Jr."]),
    ("Łukasz Langa", ["Langa, Łukasz"]),
    ("Ben Finney, Guido Van Rossum", ["Finney, Ben", "Van Rossum, Guido"]),
    ("Jean-Luc O'Neill", ["O'Neill, Jean-Luc"]),
    ("Лев Толстой", ["Толстой, Лев"]),
    ("Ludwig van Beethoven", ["van Beethoven, Ludwig"]),
]  # fmt: skip
WHOLE = [
    "Python Software Foundation", "Food and Drug Administration", "OWASP", "NASA JPL", "王小明", "madonna",
    "guido@python.org", "The Rust Project Developers", "van de Kamp", "X Æ A-12",
    "Department of Energy, Office of Science 2",
]  # fmt: skip


@pytest.mark.parametrize(("stated", "names"), PERSONS)
def test_persons(stated: str, names: list[str]) -> None:
    found = read_names(stated)
    assert [name.sort_name for name in found] == names
    assert not any(name.literal for name in found)


@pytest.mark.parametrize("stated", WHOLE[:-1])
def test_what_is_no_plain_name_of_a_person_stays_whole(stated: str) -> None:
    assert read_names(stated) == (Name(literal=stated),)


def test_persons_beside_an_organisation() -> None:
    assert [name.sort_name for name in read_names("World Health Organization, Jane Doe")] == [
        "World Health Organization",
        "Doe, Jane",
    ]
    assert read_names("World Health Organization, Jane Doe")[0].literal


@pytest.mark.parametrize("stated", ["", "  ", "et al.", ",;", "-"])
def test_nobody(stated: str) -> None:
    assert read_names(stated) == ()


def test_a_name_is_said_in_its_order() -> None:
    assert read_name("King, Martin Luther, Jr.").full == "Martin Luther King, Jr."
    assert read_name("OWASP").full == "OWASP"


SIGNS = st.lists(
    st.sampled_from([*"aB,;&()<>@[]. \n\r\u2028\x1b\u202e", " and ", "Jr.", "van ", "et al.", "x@y.z", "ER  - ", "Doe"])
).map("".join)


@given(st.text(max_size=80) | SIGNS)
def test_any_text_gives_names_of_one_line(stated: str) -> None:
    for name in read_names(stated):
        assert bool(name.literal) != bool(name.family)
        text = f"{name.family}{name.given}{name.suffix}{name.literal}"
        assert text.strip() == text
        assert text.splitlines() == [text]
        assert not HARMFUL.search(text)


@given(
    st.lists(st.sampled_from(["Ada Lovelace", "Guido van Rossum", "Jane Doe", "Jürgen Müller"]), min_size=1, max_size=9)
)
def test_a_list_of_names_is_those_names(names: list[str]) -> None:
    ways = (
        ", ".join(names),
        "; ".join(names),
        " and ".join(names),
        " and ".join((", ".join(names[:-1]), names[-1])).removeprefix(" and "),
    )
    for stated in ways:
        assert [name.full for name in read_names(stated)] == names
    inverted = "; ".join(read_name(name).sort_name for name in names)
    assert [name.full for name in read_names(inverted)] == names
