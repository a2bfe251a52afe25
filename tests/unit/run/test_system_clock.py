"""The time of this machine, as events carry it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from assay.run.process import SystemClock, iso_timestamp


def test_it_is_now_in_utc_with_milliseconds() -> None:
    before = datetime.now(UTC).timestamp()
    found = SystemClock().now()
    after = datetime.now(UTC).timestamp()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found)
    assert before - 0.001 <= datetime.fromisoformat(found).timestamp() <= after


@given(st.lists(st.integers(0, 4_000_000_000_000), min_size=1, max_size=6))
def test_each_time_is_its_own_whatever_was_asked_before(milliseconds: list[int]) -> None:
    """Also where the machine's clock is set back, or stands still."""
    for each in milliseconds:
        expected = datetime.fromtimestamp(each // 1000, UTC).replace(microsecond=each % 1000 * 1000)
        assert iso_timestamp(each * 1_000_000) == expected.isoformat(timespec="milliseconds").replace("+00:00", "Z")
