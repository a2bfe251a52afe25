"""Schedules: how often, when due, and a file which several processes change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Assay, RunHandle
from assay.core.errors import StoreError, UnknownName, UsageError
from assay.core.view import RunView
from assay.services.schedule_runs import is_due, next_due, run_due
from assay.services.schedules import (
    Schedule,
    ScheduleBook,
    absolute_sources,
    format_interval,
    format_time,
    parse_interval,
    stored_options,
)
from assay.settings import Settings, load

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30m", 1800),
        ("12h", 43_200),
        ("7d", 604_800),
        ("2w", 1_209_600),
        (" Weekly ", 604_800),
        ("daily", 86_400),
        ("hourly", 3600),
        ("day", 86_400),
    ],
)
def test_how_often(text: str, seconds: int):
    assert parse_interval(text) == seconds
    assert parse_interval(format_interval(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "0d", "-1d", "1.5h", "monthly", "9999999w", "7d7d", "٧d"])
def test_what_is_no_time(text: str):
    with pytest.raises(UsageError, match="not an interval"):
        parse_interval(text)


@given(st.integers(60, 10**7), st.integers(0, 10**9))
def test_the_rhythm_goes_on_and_what_was_missed_is_not_made_up_for(every: int, late: int):
    schedule = Schedule(id="a", question="Why?", every=every, created_at=format_time(NOW), next_at=format_time(NOW))
    now = NOW + timedelta(seconds=late)
    due = datetime.fromisoformat(next_due(schedule, now))
    assert now < due <= now + timedelta(seconds=every)
    assert (due - NOW).total_seconds() % every == 0


@given(st.integers(60, 10**7), st.integers(0, 10**9))
def test_a_clock_that_was_set_back_stops_no_schedule_and_asks_nothing_twice(every: int, ahead: int):
    later = NOW + timedelta(seconds=ahead)
    schedule = Schedule(id="a", question="Why?", every=every, created_at=format_time(NOW), next_at=format_time(NOW))
    schedule = msgspec.structs.replace(schedule, next_at=next_due(schedule, later))  # asked while it was ahead
    if is_due(schedule, NOW):
        schedule = msgspec.structs.replace(schedule, next_at=next_due(schedule, NOW))
    assert not is_due(schedule, NOW)
    assert is_due(schedule, NOW + timedelta(seconds=2 * every))


def test_schedules_are_kept_found_changed_and_forgotten(tmp_path: Path):
    book = ScheduleBook(tmp_path / "home")
    assert book.all() == []
    made = book.add("What?", 60, ["a.md"], {"depth": "light"}, NOW)
    assert ScheduleBook(tmp_path / "home").all() == [made]
    assert book.find(made.id[:3]) == made
    changed = book.change(made.id, lambda old: msgspec.structs.replace(old, current="r1"))
    assert book.find(made.id) == changed
    book.remove(made.id)
    with pytest.raises(UnknownName):
        book.find(made.id)
    with pytest.raises(UnknownName):
        book.change(made.id, lambda old: old)


def test_processes_which_change_it_at_once_lose_nothing(tmp_path: Path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ScheduleBook(tmp_path).add(str(number), 60, None, {}, NOW), range(40)))
    assert sorted(int(each.question) for each in ScheduleBook(tmp_path).all()) == list(range(40))


def test_one_process_asks_at_a_time(tmp_path: Path):
    made = ScheduleBook(tmp_path).add("Why?", 60, None, {}, NOW)
    with ScheduleBook(tmp_path).claim(made.id) as first, ScheduleBook(tmp_path).claim(made.id) as second:
        assert (first, second) == (True, False)
    with ScheduleBook(tmp_path).claim(made.id) as again:
        assert again


def test_a_damaged_file_is_said_and_left_alone(tmp_path: Path):
    (tmp_path / "schedules.json").write_text("[{]")
    with pytest.raises(StoreError, match=r"schedules\.json"):
        ScheduleBook(tmp_path).add("Why?", 60, None, {}, NOW)
    assert (tmp_path / "schedules.json").read_text() == "[{]"


def test_options_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "t.md").write_text("# One\n# Two\n")
    kept = stored_options(
        "Why?", {"template": tmp_path / "t.md", "depth": None, "models": {"complex": ("extractive",)}}, Settings()
    )
    assert kept == {"template": "# One\n# Two", "models": {"complex": ["extractive"]}}
    with pytest.raises(UsageError):
        stored_options("Why?", {"depth": "abyssal"}, Settings())  # type: ignore[typeddict-item]
    with pytest.raises(UsageError):
        stored_options("Why?", {"template": tmp_path / "none.md"}, Settings())
    monkeypatch.chdir(tmp_path)
    assert absolute_sources(["docs/*.md", "https://x.org/"]) == ("https://x.org/", str(tmp_path / "docs/*.md"))


def test_each_has_his_own(tmp_path: Path):
    local, ana, every = ScheduleBook(tmp_path), ScheduleBook(tmp_path, "ana"), ScheduleBook(tmp_path, None)
    hers = ana.add("Hers?", 60, None, {}, NOW)
    mine = local.add("Mine?", 60, None, {}, NOW)
    assert (hers.owner, mine.owner) == ("ana", "")
    assert [each.id for each in local.all()] == [mine.id]
    assert [each.id for each in ana.all()] == [hers.id]
    assert [each.id for each in every.all()] == [hers.id, mine.id]
    with pytest.raises(UnknownName) as raised:
        local.find(hers.id)
    assert hers.id not in str(raised.value).partition("named")[2].partition("there is")[2]
    with pytest.raises(UnknownName):
        local.change(hers.id, lambda old: old)
    local.remove(hers.id)
    assert [each.id for each in every.owned_by("ana").all()] == [hers.id]
    every.remove(hers.id)
    assert every.all() == [mine]


async def test_what_is_due_is_asked_as_its_owner(tmp_path: Path):
    (tmp_path / "tides.md").write_text("The tide at Brest rises seven metres.")
    home, every = tmp_path / "home", ScheduleBook(tmp_path / "home", None)
    sources = absolute_sources([str(tmp_path / "tides.md")])
    for owner in ("ana", ""):
        every.owned_by(owner).add("How far does the tide rise?", 60, sources, {"depth": "light"}, NOW)
    async with Assay(load(search={"offline": True}), home=home) as assay:

        async def quietly(_: Schedule, run: RunHandle) -> RunView:
            return await run.view()

        asked = [each async for each in run_due(assay, every, lambda: NOW, quietly)]
        assert [(each.schedule.owner, each.error) for each in asked] == [("ana", ""), ("", "")]
        assert [row.owner for row in await assay.owned_by("ana").runs()] == ["ana"]
        assert [row.owner for row in await assay.runs()] == [""]
