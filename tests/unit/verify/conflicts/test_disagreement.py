"""Whether two statements give different values of one thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import Conflict
from assay.core.sources import Passage, Source, sha256
from assay.verify.conflicts.detection import find_conflicts

Facts = dict[str, str]


def source(id: str, *, title: str = "", published: str = "", url: str = "") -> Source:
    return Source(
        id=id,
        document_sha256=sha256(id.encode()),
        snapshot_sha256="",
        url=url or f"file:///{id}",
        title=title,
        media_type="text/plain",
        fetched_at="",
        published=published,
    )


def passage(source: str, text: str, *, ordinal: int = 1, heading: tuple[str, ...] = ()) -> Passage:
    data = text.encode()
    return Passage(
        id=f"{source}.{ordinal}",
        source=source,
        document_sha256=sha256(source.encode()),
        start=ordinal * 1000,
        end=ordinal * 1000 + len(data),
        text=text,
        text_sha256=sha256(data),
        heading=heading,
    )


def between(one: str, other: str, *, first: Facts | None = None, second: Facts | None = None) -> tuple[Conflict, ...]:
    """The conflicts between two sources, of which the first is cited."""
    passages = [passage("S1001", one), passage("S2001", other)]
    sources = [source("S1001", **(first or {})), source("S2001", **(second or {}))]
    held = {each.id: each for each in passages}
    return find_conflicts(held, {each.id: each for each in sources}, {"S1001.1"}, {})


DISAGREE = [
    ("The Eiffel Tower is 330 metres tall.", "The Eiffel Tower is 324 metres tall.", ("330 metres", "324 metres")),
    ("Brest had 139,600 inhabitants in 2020.", "In 2020 Brest had 142,722 inhabitants.", ("139,600", "142,722")),
    ("The bridge over the Elorn was opened in 1930.", "The bridge over the Elorn was opened in 1932.", None),
    ("The harbour of Brest employs 400 people.", "The harbour of Brest employs 900 people.", ("400", "900")),
    ("Adult humans have 206 bones in the body.", "Adult humans have 216 bones in the body.", ("206", "216")),
    ("Revenue of Acme rose by 12 percent in 2021.", "In 2021 the revenue of Acme rose by 15 percent.", None),
    ("Acme reported revenue of $3.4 billion in 2021.", "Acme reported a revenue of $4.3 billion in 2021.", None),
    ("Ada Lovelace was born on 10 December 1815.", "Ada Lovelace was born on 12 December 1815.", None),
    ("The Elorn bridge is 4 km long at low tide.", "The Elorn bridge is 5 miles long at low tide.", None),
    ("Acme has about 5,000 employees in Brest.", "Acme has 50,000 employees in Brest.", ("5,000", "50,000")),
    ("Acme sold over 40 lamps in Brest.", "Acme sold over 4,000 lamps in Brest.", None),
    ("The Brest road is about 300 km long.", "The Brest road is about 18 miles long.", None),
    (
        "A pig has 38 chromosomes in a cell of the body.",
        "A pig has 46 chromosomes in a cell of the body.",
        ("38", "46"),
    ),
    (
        "The conductivity of Acme glass is 0.42 mS/cm when dry.",
        "The conductivity of Acme glass is 0.18 mS/cm when dry.",
        ("0.42 mS/cm", "0.18 mS/cm"),
    ),
    (
        "Acme glass of Brest weighs 5 kg/m² in all.",
        "Acme glass of Brest weighs 7 kg/m² in all.",
        ("5 kg/m²", "7 kg/m²"),
    ),
]

AGREE = [
    ("another period", "Brest had 139,600 inhabitants in 2020.", "Brest had 142,722 inhabitants in 1999."),
    ("a period on one side", "Brest had 139,600 inhabitants in 2020.", "Brest had 142,722 inhabitants."),
    ("another unit", "The Brest road is 300 km long in winter.", "The Brest road is 186 miles long in winter."),
    ("another unit of time", "The Brest ferry takes 90 minutes there.", "The Brest ferry takes 1.5 hours there."),
    ("rounding", "Acme has 5,000 employees in Brest.", "Acme has 5,123 employees in Brest."),
    ("a scale", "Acme sold 1.2 million lamps in Brest.", "Acme sold 1,234,567 lamps in Brest."),
    ("about", "Acme has about 5,000 employees in Brest.", "Acme has 6,123 employees in Brest."),
    ("at least", "Acme has at least 40 employees in Brest.", "Acme has 60 employees in Brest."),
    ("a range", "Acme has 10 to 20 employees in Brest.", "Acme has 35 employees in Brest."),
    ("a forecast", "Acme has 40 employees in Brest.", "Acme will have an estimated 60 employees in Brest."),
    ("perhaps", "Acme has 40 employees in Brest.", "Acme may have 60 employees in Brest."),
    ("another subject", "Acme has 40 employees in Brest.", "Acme has 60 employees in Rennes."),
    ("a part of a name", "Olav Mac Alba died on 14 May 1318.", "Iain Mac Alba died on 3 June 1346."),
    ("another thing counted", "Acme has 40 employees in Brest.", "Acme has 60 customers in Brest."),
    ("a share of it", "Acme has 40 employees in Brest.", "Acme has 60 former employees in Brest."),
    ("no subject", "The tower is 330 metres tall.", "The tower is 324 metres tall."),
    ("its own subject", "It takes two arguments and returns a list.", "It takes three arguments and returns a list."),
    ("a label", "Python 3 has five protocols in Brest.", "Python 2 has four protocols in Brest."),
    ("a reference", "See PEP 8 for all details of Python.", "See PEP 20 for all details of Python."),
    ("another of them", "Acme sold its second lamp in 40 days.", "Acme sold its third lamp in 60 days."),
    ("a number in a name", "The lamp Acme 3 burns for 40 days.", "The lamp Acme burns for 60 days."),
    ("a footnote", "Acme has its employees in Brest [4].", "Acme has its employees in Brest [40]."),
    ("percent and points", "Rates of Acme rose by 3 percent in Brest.", "Rates of Acme rose by 4 points in Brest."),
    ("about, twice", "Acme has about 5,000 employees in Brest.", "Acme has about 9,000 employees in Brest."),
    ("over, and more", "Acme sold over 40 lamps in Brest.", "Acme sold over 300 lamps in Brest."),
    ("a manual page", "The manual page of Acme is lamp(1) in Brest.", "The manual page of Acme is lamp(8) in Brest."),
    ("values in quotes", 'Acme takes "3" and "4" only in Brest.', 'Acme takes "5" only in Brest.'),
    ("two values", "Acme made 4 ships of 9 tons in Brest.", "Acme made 5 ships of 8 tons in Brest."),
]


@pytest.mark.parametrize(("one", "other", "values"), DISAGREE)
def test_different_values_of_one_thing(one: str, other: str, values: tuple[str, str] | None) -> None:
    [found] = between(one, other)
    assert len(found.sides) == 2
    assert found.passages == ("S1001.1", "S2001.1")
    if values:
        assert tuple(side.value for side in found.sides) == values
    assert all(side.value in text for side, text in zip(found.sides, (one, other), strict=True))


@pytest.mark.parametrize(("why", "one", "other"), AGREE, ids=[why for why, *_ in AGREE])
def test_no_conflict(why: str, one: str, other: str) -> None:
    assert between(one, other) == ()
    assert between(other, one) == ()


TALL = ("The Eiffel Tower is 330 metres tall.", "The Eiffel Tower is 324 metres tall.")


def test_dates_of_the_documents_are_told() -> None:
    [found] = between(*TALL, first={"published": "2022-03-15"}, second={"published": "2021"})
    assert [side.date for side in found.sides] == ["2022-03-15", "2021"]


def test_documents_of_other_years_speak_of_other_times() -> None:
    assert not between(*TALL, first={"published": "2022-03-15"}, second={"published": "2010"})
    assert not between(*TALL, first={"title": "Towers in 2022"}, second={"title": "Towers in 2010"})


def test_a_page_read_twice_is_one_document_over_time() -> None:
    page = "https://tower.example/height"
    assert not between(*TALL, first={"url": page}, second={"url": f"{page}?utm_source=x#top"})


def test_documents_with_one_title_have_one_subject() -> None:
    one, other = "It is 330 metres tall and painted red.", "It is 324 metres tall and painted red."
    assert between(one, other, first={"title": "Eiffel Tower"}, second={"title": "The Eiffel Tower"})
    assert not between(one, other, first={"title": "Eiffel Tower"}, second={"title": "Signal Tower"})


def found_among(texts: list[str], groups: dict[str, int], **facts: Facts) -> tuple[Conflict, ...]:
    names = [f"S{at}001" for at in range(1, len(texts) + 1)]
    held = {f"{name}.1": passage(name, text) for name, text in zip(names, texts, strict=True)}
    sources = {name: source(name, **facts.get(name, {})) for name in names}
    hashes = {sha256(name.encode()): groups.get(name, at + 100) for at, name in enumerate(names)}
    return find_conflicts(held, sources, held.keys(), hashes)


def test_near_copies_which_differ_in_a_figure_alone_disagree() -> None:
    copies = {"S1001": 0, "S2001": 0}
    assert found_among(list(TALL), copies)
    assert not found_among([TALL[0], "At 324 metres the Eiffel Tower is tall today."], copies)


def test_a_near_copy_of_another_date_is_a_later_version() -> None:
    dates = {"S1001": {"published": "2021-01-01"}, "S2001": {"published": "2021-06-01"}}
    assert not found_among(list(TALL), {"S1001": 0, "S2001": 0}, **dates)
    assert found_among(list(TALL), {}, **dates)


def test_three_sources_are_one_conflict_and_who_agrees_is_on_a_side() -> None:
    [found] = found_among([TALL[0], TALL[1], TALL[0], "The Eiffel Tower is 312 metres tall."], {})
    assert [side.value for side in found.sides] == ["330 metres", "324 metres", "312 metres", "330 metres"]


def test_only_what_touches_something_cited_is_told() -> None:
    held = {f"{name}.1": passage(name, text) for name, text in zip(("S1001", "S2001"), TALL, strict=True)}
    sources = {name: source(name) for name in ("S1001", "S2001")}
    assert find_conflicts(held, sources, set(), {}) == ()
    assert find_conflicts(held, sources, {"S2001.1"}, {})


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_order_of_sources_changes_nothing_and_equal_values_agree(one: int, other: int) -> None:
    texts = [f"The Eiffel Tower has {number:,} steps today." for number in (one, other)]
    first, second = between(*texts), between(*reversed(texts))
    assert bool(first) == bool(second)
    if one == other:
        assert not first
    elif first:
        assert {side.value for side in first[0].sides} == {f"{one:,}", f"{other:,}"}


@given(st.lists(st.text(max_size=60), min_size=2, max_size=4))
def test_any_text_is_read(texts: list[str]) -> None:
    found_among(texts, {})
