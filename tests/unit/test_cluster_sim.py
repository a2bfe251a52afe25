"""The simulation of a cluster: it loses no run, keeps Little's law, and more workers are never slower."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import sampled, scaled

pytest.importorskip("simpy")
pytest.importorskip("psycopg")

import cluster_plots
import cluster_sim
import simpy
from cluster_cores import Cores
from cluster_events import Costs, Setting, between, simulate
from cluster_model import DAY, constants, load
from cluster_sim import grouped, locked

ROOT = Path(__file__).parents[2]
COSTS = Costs(
    work=0.2,
    served=0.1,
    turn=0.1,
    commits=12,
    claims=((10, 0.004), (1_000, 0.006), (10_000, 0.03)),
    notify=((0, 0.002), (100, 0.004)),
)


@given(
    workers=st.integers(1, 6),
    slots=st.integers(1, 5),
    batch=st.integers(1, 40),
    calls=st.integers(1, 6),
    seed=st.integers(0, 9),
)
@settings(max_examples=scaled(20))
def test_every_run_ends_once_and_none_is_taken_before_it_came(
    workers: int, slots: int, batch: int, calls: int, seed: int
) -> None:
    wanted = Setting(workers=workers, slots=slots, calls=calls, delay=0.5, batch=batch, seed=seed, spread=0.3)
    result = simulate(wanted, COSTS)
    assert len(result.runs) == batch
    for run in result.runs:
        assert run.came <= run.began < run.ended
    moments = sorted([(run.began, 1) for run in result.runs] + [(run.ended, -1) for run in result.runs])
    at_once = most = 0
    for _, change in moments:
        at_once += change
        most = max(most, at_once)
    assert most <= workers * slots
    assert at_once == 0
    waves = math.ceil(batch / (workers * slots))
    assert result.span >= result.duration * waves / 2


@pytest.mark.parametrize("seed", sampled([1, 2, 3], 3))
def test_littles_law_holds(seed: int) -> None:
    """Runs in execution, on the mean, are those that come in a second times the seconds one takes."""
    wanted = Setting(workers=8, slots=8, calls=4, delay=1.0, rate=4.0, seconds=200, seed=seed, spread=0.5)
    result = simulate(wanted, COSTS)
    begun = [run for run in result.runs if not math.isnan(run.began)]
    assert result.at_once == pytest.approx(len(begun) / 200 * result.duration, rel=0.06)
    assert len(begun) == pytest.approx(4.0 * 200, rel=0.12)


def test_more_workers_are_never_slower_until_the_lock_is_full() -> None:
    spans = [
        simulate(Setting(workers=workers, slots=4, calls=5, delay=1.0, batch=64), COSTS).span
        for workers in (1, 2, 4, 8, 16)
    ]
    assert spans == sorted(spans, reverse=True)
    assert spans[0] / spans[2] == pytest.approx(4, rel=0.15)


def test_looks_under_the_lock_lose_leases_which_looks_without_it_keep() -> None:
    slow = msgspec.structs.replace(COSTS, claims=((0, 0.004), (10, 0.05)), looks=0.001)
    wanted = cluster_sim.fleet(150, seconds=10, queued=10)
    before, today = simulate(wanted, locked(slow)), simulate(wanted, slow)
    assert before.looks == 0
    assert before.claims > today.claims
    assert before.lost > 2 * today.lost


def test_news_in_groups_mend_commits_which_wait_for_each_other() -> None:
    slow = msgspec.structs.replace(COSTS, looks=0.001, notify=((0, 0.002), (150, 0.2)))
    wanted = cluster_sim.fleet(150, seconds=20)
    today, then = simulate(wanted, slow), simulate(wanted, grouped(slow))
    assert today.longest_write > 1
    assert then.longest_write < 0.5


def test_cores_are_shared_evenly_with_others_and_nobody_uses_two() -> None:
    """With two cores and one other, two who want a second each have two thirds of a core; then one has a whole one."""
    env = simpy.Environment()
    cores, ended = Cores(env, cores=2, others=1), {}

    def want(name: str, begin: float, seconds: float) -> Iterator[simpy.Event]:
        yield env.timeout(begin)
        yield cores.use(seconds)
        ended[name] = env.now

    for name, begin, seconds in (("a", 0, 1), ("b", 0, 2), ("late", 10, 1)):
        env.process(want(name, begin, seconds))
    env.run()
    assert ended == {"a": pytest.approx(1.5), "b": pytest.approx(2.5), "late": pytest.approx(11)}


def test_what_waits_for_a_writer_is_one_transaction_and_a_loop_does_one_thing_at_a_time() -> None:
    wanted = Setting(workers=1, slots=4, calls=1, delay=1.0, batch=4)
    free = msgspec.structs.replace(COSTS, work=0.0, served=0.0, turn=0.0, commits=1, claims=((0, 0.0),))
    written = simulate(wanted, msgspec.structs.replace(free, notify=((0, 0.2),)))
    ends = [run.ended - 1.0 - run.began for run in written.runs]
    assert max(ends) < 0.2 * 3.1  # the transaction before, perhaps with a renewal, and theirs: not four
    worked = simulate(wanted, msgspec.structs.replace(free, work=0.5, notify=((0, 0.0),)))
    ends = sorted(run.ended for run in worked.runs)
    assert [later - sooner for sooner, later in itertools.pairwise(ends)] == pytest.approx([0.5] * 3)


def test_between_what_was_measured_lies_a_straight_line() -> None:
    known = ((10.0, 1.0), (20.0, 3.0))
    assert [between(known, at) for at in (0, 10, 15, 20, 30)] == [1.0, 1.0, 2.0, 3.0, 5.0]
    assert between(((5.0, 2.0),), 99) == 2.0


def test_the_load_of_a_day_grows_with_its_runs() -> None:
    known = constants()
    one, ten = (load(known, cluster_sim.RESEARCH, runs, 8) for runs in (100_000, 1_000_000))
    assert one.runs_a_second == pytest.approx(100_000 / DAY * 2)
    assert ten.bytes_a_day == pytest.approx(10 * one.bytes_a_day)
    assert ten.workers == pytest.approx(10 * one.workers)
    assert one.runs_at_once == pytest.approx(one.runs_a_second * cluster_sim.RESEARCH.seconds)


def test_the_simulation_stands_beside_all_that_was_measured() -> None:
    """What it is calibrated on it must reproduce; docs/scale.md says how far off it is on the others."""
    first, *others = cluster_sim.checked(constants())
    assert first[1].span == pytest.approx(first[0].span, rel=0.1)
    assert {measured.workers for measured, _ in others} >= {2, 4}
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for measured, result in (first, *others):
        text = f"{result.span / measured.span - 1:+.0%}".replace("-", "[-−]").replace("+", r"\+")
        row = rf"\| {measured.workers} \| {measured.slots} \| {measured.delay} [^\n]*{text} "
        assert re.search(row, page), f"docs/scale.md lacks {row}"


def test_a_plot_is_a_picture_with_every_line() -> None:
    series = {"one": [(1.0, 0.01), (10.0, 0.1)], "two <&>": [(1.0, 1.0), (1_000.0, 2.0)]}
    drawn = ElementTree.fromstring(cluster_plots.lines(series, "workers", "seconds", limit=4.0))
    found = {each.text for each in drawn.iter() if each.tag.endswith("text")}
    assert {"one", "two <&>", "workers", "seconds", "1000"} <= found
    assert sum(each.tag.endswith("circle") for each in drawn.iter()) == 4
