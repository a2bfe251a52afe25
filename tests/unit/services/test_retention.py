"""Retention: which runs a rule keeps, and which it must keep whatever it says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Assay
from assay.cli.main import main
from assay.core.ports import RunRow
from assay.services.retention import RetentionRules, rules_of, runs_beyond_rules
from assay.services.schedules import ScheduleBook
from assay.settings import Settings

NOW = datetime(2026, 5, 31, tzinfo=UTC)


def row(days: int, name: str) -> RunRow:
    at = (NOW - timedelta(days=days)).isoformat().replace("+00:00", "Z")
    return RunRow(
        run_id=name, question="?", status="completed", created_at=at, holder="", fence=1, active_seconds=1, last_seq=3
    )


def ages_left(rules: RetentionRules, ages: list[int], sizes: Mapping[str, int] | None = None) -> list[int]:
    rows = [row(days, str(place)) for place, days in enumerate(ages)]
    gone = {each.run_id for each in runs_beyond_rules(rows, rules, dict(sizes or {}), NOW)}
    return [days for place, days in enumerate(ages) if str(place) not in gone]


def test_each_rule_keeps_the_newest():
    ages = [0, 1, 5, 9]
    assert ages_left(RetentionRules(), ages) == ages
    assert ages_left(RetentionRules(age=timedelta(days=4)), ages) == [0, 1]
    assert ages_left(RetentionRules(runs=3), ages) == [0, 1, 5]
    assert ages_left(RetentionRules(size=10), ages, {"0": 4, "1": 4, "2": 4, "3": 1}) == [0, 1]
    assert ages_left(RetentionRules(age=timedelta(days=4), runs=1), ages) == [0]


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(0, 50), st.integers(0, 20))
def test_two_rules_keep_what_both_keep(ages: list[int], days: int, count: int):
    ages = sorted(ages)
    both = ages_left(RetentionRules(age=timedelta(days=days), runs=count), ages)
    assert both == [age for age in ages[:count] if age <= days]


def test_the_settings_say_nothing_unless_they_do():
    assert not rules_of(Settings()).any
    found = rules_of(Settings(retention={"days": 2, "runs": 5, "gb": 0.5}))
    assert found == RetentionRules(age=timedelta(days=2), runs=5, size=500_000_000)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "harbor.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")
    return tmp_path / "harbor.md"


async def test_what_others_need_is_kept(tmp_path: Path, note: Path):
    async with Assay(home=tmp_path / "home") as assay:
        runs = []
        for _ in range(4):
            run = assay.start("When was the harbor built?", sources=note, depth="light")
            await run.view()
            runs.append(run.run_id)
        unfinished = await assay.create("And when before?", continues=runs[0])
        book = ScheduleBook(tmp_path / "home")
        made = book.add("?", 60, None, {}, NOW)
        book.change(made.id, lambda old: msgspec.structs.replace(old, runs=(runs[1],)))
        would = await assay.prune(RetentionRules(runs=0), dry_run=True)
        assert [each.run_id for each in would.runs] == runs[2:]
        assert len(await assay.runs()) == 5
        done = await assay.prune(RetentionRules(runs=0))
        assert [each.run_id for each in done.runs] == runs[2:]
        assert {each.run_id for each in await assay.runs()} == {unfinished, *runs[:2]}
        big = await assay.prune(RetentionRules(size=1), dry_run=True)
        assert big.runs == ()


def test_a_run_s_end_goes_by_the_settings(
    tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    (tmp_path / "config.toml").write_text("[retention]\nruns = 1\n")
    for _ in range(2):
        assert main(["When was the harbor built?", "--in", str(note), "--depth", "light", "--yes"]) == 0
    assert "1 run deleted, as [retention] says" in capsys.readouterr().err
    assert main(["runs", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    (tmp_path / "config.toml").write_text("")
    assert main(["runs", "prune"]) == 2
    assert "name a rule" in capsys.readouterr().err
    assert main(["runs", "prune", "--keep", "0", "--dry-run"]) == 0
    assert "1 run would be deleted" in capsys.readouterr().err
