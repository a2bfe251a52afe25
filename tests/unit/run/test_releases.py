"""Which release came first, and what becomes of a run of a newer one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from research import Sea, one_agent

from assay.core.errors import OtherRelease
from assay.models.script import Scripted
from assay.run.releases import is_newer, own_release

NUMBERS = st.lists(st.integers(0, 99), min_size=1, max_size=4).filter(any)


@pytest.mark.parametrize(
    ("release", "own", "newer"),
    [
        ("0.2.0", "0.1.9", True),
        ("0.10.0", "0.9.0", True),
        ("1.0", "1.0.0", False),
        ("1.0.0rc1", "1.0.0", False),
        ("1.0.0", "1.0.0rc1", True),
        ("1.0.0.dev3", "1.0.0", False),
        ("1.0.0+local", "1.0.0", False),
        ("", "0.1.0", False),
        ("the one of today", "0.1.0", False),
    ],
)
def test_releases_in_their_order(release: str, own: str, newer: bool) -> None:
    assert is_newer(release, own) is newer


@given(NUMBERS, NUMBERS)
def test_of_two_releases_at_most_one_is_newer(one: list[int], other: list[int]) -> None:
    first, second = (".".join(map(str, numbers)) for numbers in (one, other))
    assert not (is_newer(first, second) and is_newer(second, first))
    assert is_newer(f"{first}.1", first)
    assert not is_newer(first, first)


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_a_release_is_called_it_is_compared(one: str, other: str) -> None:
    assert not (is_newer(one, other) and is_newer(other, one))


async def test_a_run_of_a_newer_release_names_it_and_is_left_as_it_is() -> None:
    sea = Sea()
    handle = sea.start(Scripted(one_agent()), release="99.1.0")
    wanted = rf"started by assay 99\.1\.0, and assay {own_release()} cannot go on with it: that release is newer"
    with pytest.raises(OtherRelease, match=wanted):
        await handle.wait()
    row = await sea.journal.find(handle.run_id)
    assert (row.status, row.holder) == ("created", "")
    assert [each.type for each in await sea.journal.events(handle.run_id)] == ["run.created"]


async def test_an_ended_run_of_a_newer_release_can_be_read() -> None:
    sea = Sea()
    handle = sea.start(Scripted(one_agent()), release="0.0.1")
    await handle.wait()
    stored = sea.journal._runs[handle.run_id]  # type: ignore[attr-defined]
    stored.brief = stored.brief.replace(b'"0.0.1"', b'"99.1.0"')
    resumed = await sea.engine().resume(handle.run_id, lambda _: sea.world(Scripted([])))
    await resumed.wait()
