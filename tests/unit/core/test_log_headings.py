"""Headings of the entries of a log: versions and days."""

from __future__ import annotations

import pytest

from assay.core.log_headings import days_named, log_entry, version_above


@pytest.mark.parametrize(
    ("heading", "version"),
    [
        ("3.2.3 (2026-09-14)", "3.2.3"),
        ("[1.4.0] - 2026-01-05", "1.4.0"),
        ("v2.1", "2.1"),
        ("Version 3", "3"),
        ("Tiller 2.4 (5 May 2024)", "2.4"),
        ("Release 24.04 LTS", "24.04"),
        ("1.0.0-rc1", "1.0.0-rc1"),
        ("2.4 (yanked)", ""),
        ("Section 2.4", ""),
        ("3.2.1 Sensors", ""),
        ("2.4", ""),
        ("12 March 1887", ""),
        ("", ""),
    ],
)
def test_a_version_above(heading: str, version: str) -> None:
    assert version_above(heading) == version


@pytest.mark.parametrize(
    ("headings", "name"),
    [
        (["Changes", "1.4.0", "Fixed"], "1.4.0 > Fixed"),
        (["Diary", "Monday, 3 May"], "Monday, 3 May"),
        (["4. Januar 1911"], "4. Januar 1911"),
        (["3 May: The fire"], ""),
        (["May 2024"], ""),
        (["Changes", "Fixed"], ""),
        ([], ""),
    ],
)
def test_the_name_of_an_entry_reaches_from_its_version_or_day_down(headings: list[str], name: str) -> None:
    assert log_entry(headings) == name


def test_days_are_compared_as_far_as_they_are_stated() -> None:
    first, second = days_named("from May 3rd, 1999 to 4 January")
    assert (first, second) == ((1999, 5, 3), (0, 1, 4))
    assert next(days_named("2024-01-04")).may_equal(second)
    assert not first.may_equal(second)
    assert list(days_named("3.2.1 on Monday")) == []
