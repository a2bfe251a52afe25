"""When a service wants to be asked again: seconds, milliseconds, dates, and nonsense."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.remote_services import retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 -0000"}, 90.0),
        ({"retry-after": "Sunday, 01-Mar-26 12:00:05 GMT"}, 5.0),
        ({"retry-after": "Fri, 01 Jan 2010 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 41 Mar 2026 12:01:30 GMT"}, None),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 +99999999"}, None),
        ({"retry-after": "x" * 1_000_000}, None),
    ],
)
def test_what_is_told(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW.isoformat()) == seconds


def test_a_date_is_counted_from_this_machines_clock_where_no_time_is_given() -> None:
    seconds = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)})
    assert seconds is not None
    assert 0 < seconds <= 60


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_told_is_an_error_or_no_time(milliseconds: str, seconds: str) -> None:
    wait = retry_after({"retry-after-ms": milliseconds, "retry-after": seconds}, NOW.isoformat())
    assert wait is None or (math.isfinite(wait) and wait >= 0)


@given(st.integers(min_value=0, max_value=10_000_000))
def test_seconds_and_the_same_date_agree(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    now = NOW.isoformat().replace("+00:00", "Z")
    assert retry_after({"retry-after": date}, now) == retry_after({"retry-after": str(seconds)}) == seconds
