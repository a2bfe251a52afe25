"""What is said of single users' limits."""

from __future__ import annotations

import pytest

from assay.core.ports.users import UserRow

# What is in memory has no users.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)


async def test_what_is_said_last_holds_and_goes_with_the_user(stores) -> None:
    limits = stores.one.limits
    assert await limits.all() == {}
    await limits.set_limits("ana", {"runs_per_day": 3, "usd_per_day": None})
    await limits.set_limits("bob", {"usd_per_day": 1.5})
    await stores.two.limits.set_limits("ana", {"runs_per_day": 5})
    assert await limits.all() == {"ana": {"runs_per_day": 5}, "bob": {"usd_per_day": 1.5}}
    await limits.set_limits("ana", {})
    assert await limits.all() == {"bob": {"usd_per_day": 1.5}}
    await stores.one.users.add(UserRow(name="bob", role="member", password="", created=0.0))
    await stores.one.users.remove("bob")
    assert await stores.two.limits.all() == {}
