"""A cluster simulated, event by event: `python -m bench cluster_sim [--plots docs/images]`.

Workers with slots take runs out of one queue; claims are made one after the other under one lock, and a worker's
claims, renewals and commits go through its one writer. Commits which tell other processes take their turn at the
server, one at a time, as PostgreSQL's do. The constants were measured with one worker (`bench/cluster_measure.py`);
what was measured with others checks the simulation, and then it goes where no machine here can.
"""

from __future__ import annotations

import argparse
import bisect
import math
import random
import statistics
from collections import deque
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import simpy
from cluster_measure import Constants, Measured
from cluster_model import Profile, calibration, constants, load
from cluster_plots import lines, write_svg

POLL = 0.25
"""Seconds between two looks of a worker which has a slot free while anything is in the queue."""
REST = 5.0
"""The same while there is nothing."""
LEASE, RENEWAL = 4.0, 0.25
"""Seconds which a lease lasts, and between two renewals."""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds: `overhead` of a run beside its calls and commits; `turn` until its slot takes the next.

    `claims` are by how many runs are queued, `notify` (of a commit which tells others) by how many listen.

    `polls` and `herd` are what workers do today: look four times a second while runs are queued or executed, and all of
    them whenever one is queued or ends.
    """

    overhead: float
    turn: float
    commits: float
    claims: tuple[tuple[float, float], ...]
    notify: tuple[tuple[float, float], ...]
    polls: bool = True
    herd: bool = True


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster and its work: `batch` runs at the beginning, or `rate` runs a second for `seconds`.

    `queued` more wait all the time; a run has `commits` times those of the bench's.
    """

    workers: int
    slots: int
    calls: float
    delay: float
    batch: int = 0
    rate: float = 0.0
    seconds: float = 0.0
    queued: int = 0
    commits: float = 1.0
    spread: float = 0.0
    seed: int = 1


class Run(msgspec.Struct, kw_only=True):
    """One run: when it came, was taken up, and ended."""

    came: float
    began: float = math.nan
    ended: float = math.nan


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How it went. `lost` are leases which ran out while their worker waited to renew them."""

    runs: tuple[Run, ...]
    span: float
    duration: float
    wait: float
    throughput: float
    longest_write: float
    lost: int
    at_once: float
    claims: int


QUIET_CPU = 0.09
"""Seconds of a core which a run of the bench takes of its worker on a machine that is little used (docs/workers.md)."""


def costs(known: Constants, contention: float) -> Costs:
    """The constants of the engine on the machine as it was measured; what else a run takes is left of the first.

    `contention` is the machine's load by that of the first setting: the higher, the longer by the clock is what the
    processor does. What a run takes beside its calls, by what it takes of cores, says how much longer it was then.
    """
    of = calibration(known)
    notify = points(known.commits)
    left = max(of.duration - of.calls * of.delay - known.telling * notify[0][1], 0.0)
    waves = of.runs / of.workers / of.slots
    turn = max((of.span - waves * of.duration) / max(waves - 1, 1), 0.0)
    stretch = max(left / (of.cpu + of.server_cpu), 1.0) * contention
    return Costs(
        overhead=left * contention,
        turn=turn * contention,
        commits=known.telling,
        claims=tuple((at, took * stretch) for at, took in points(known.claims)),
        notify=notify,
    )


def quiet(known: Constants) -> Costs:
    """The same on machines with cores enough: a second of a core takes a second, and does what it does there."""
    of = calibration(known)
    part = min(QUIET_CPU / of.cpu, 1.0)
    (at, first), *more = points(known.commits)
    return Costs(
        overhead=(of.cpu + of.server_cpu) * part,
        turn=0.0,
        commits=known.telling,
        claims=tuple((at, took * part) for at, took in points(known.claims)),
        notify=((at, first), *((at, first + (took - first) * part) for at, took in more)),
    )


def points(measured: dict[str, float]) -> tuple[tuple[float, float], ...]:
    return tuple(sorted((float(at), value) for at, value in measured.items()))


def between(known: tuple[tuple[float, float], ...], at: float) -> float:
    """The value at a place, straight between what was measured, and straight on beyond it."""
    if len(known) == 1 or at <= known[0][0]:
        return known[0][1]
    place = min(bisect.bisect_left(known, (at, -math.inf)), len(known) - 1)
    (x0, y0), (x1, y1) = known[place - 1], known[place]
    return max(y0 + (y1 - y0) * (at - x0) / (x1 - x0), 0.0)


class Simulation:
    """One cluster at work."""

    def __init__(self, setting: Setting, cost: Costs) -> None:
        self.setting, self.cost = setting, cost
        self.env = simpy.Environment()
        self.queue: deque[Run] = deque()
        self.runs: list[Run] = []
        self.lock, self.bell = simpy.Resource(self.env, 1), simpy.Resource(self.env, 1)
        self.writers = [simpy.Resource(self.env, 1) for _ in range(setting.workers)]
        self.busy = [0] * setting.workers
        self.dice = random.Random(setting.seed)
        self.woken = [self.env.event() for _ in range(setting.workers)]
        self.commit_seconds = between(cost.notify, setting.workers)
        self.longest_write, self.lost, self.claims = 0.0, 0, 0
        self.done = 0

    def result(self) -> Result:
        """Simulate it to the end."""
        setting = self.setting
        for _ in range(setting.batch):
            self._come()
        if setting.rate:
            self.env.process(self._arrivals())
        for number in range(setting.workers):
            self.env.process(self._worker(number))
            self.env.process(self._renewals(number))
        if setting.batch and not setting.rate:
            while self.done < setting.batch:
                self.env.step()
        else:
            self.env.run(until=setting.seconds)
        return self._result()

    def _come(self) -> None:
        run = Run(came=self.env.now)
        self.runs.append(run)
        self.queue.append(run)
        self._tell()

    def _tell(self) -> None:
        """Workers which have a slot free look: all of them, or one."""
        workers = range(self.setting.workers)
        idle = [number for number in workers if self.busy[number] < self.setting.slots]
        for number in idle if self.cost.herd else idle and [self.dice.choice(idle)]:
            self._wake(number)

    def _wake(self, number: int) -> None:
        if not self.woken[number].triggered:
            self.woken[number].succeed()

    def _arrivals(self) -> Generator[Any, Any, None]:
        while True:
            yield self.env.timeout(self.dice.expovariate(self.setting.rate))
            self._come()

    def _worker(self, number: int) -> Generator[Any, Any, None]:
        """Takes up what it has slots for; looks again at news, and every so often."""
        yield self.env.timeout(self.dice.random() * POLL)  # they were not started in one moment
        while True:
            self.woken[number] = self.env.event()
            while self.busy[number] < self.setting.slots:
                run = yield from self._claim(number)
                if run is None:
                    break
                self.busy[number] += 1
                self.env.process(self._run(number, run))
            waits = POLL if self.cost.polls and len(self.runs) > self.done else REST
            if self.busy[number] < self.setting.slots:
                yield self.woken[number] | self.env.timeout(waits)
            else:
                yield self.woken[number]

    def _claim(self, number: int) -> Generator[Any, Any, Run | None]:
        """One look under the lock of claims, through the worker's writer."""
        with self.writers[number].request() as writer:
            yield writer
            began = self.env.now
            with self.lock.request() as lock:
                yield lock
                yield self.env.timeout(between(self.cost.claims, len(self.queue) + self.setting.queued))
                run = self.queue.popleft() if self.queue else None
                self.claims += 1
            self._wrote(began)
        if run is not None:
            run.began = self.env.now
        return run

    def _commit(self, number: int, *, tells: bool = True) -> Generator[Any, Any, None]:
        """A commit of a worker; one which tells others waits for its turn at the server."""
        asked = self.env.now
        with self.writers[number].request() as writer:
            yield writer
            if tells:
                with self.bell.request() as bell:
                    yield bell
                    yield self.env.timeout(self.commit_seconds)
            else:
                yield self.env.timeout(self.cost.notify[0][1])
        self._wrote(asked)

    def _wrote(self, asked: float) -> None:
        self.longest_write = max(self.longest_write, self.env.now - asked)

    def _renewals(self, number: int) -> Generator[Any, Any, None]:
        while True:
            yield self.env.timeout(RENEWAL)
            if not self.busy[number]:
                continue
            asked = self.env.now
            yield from self._commit(number, tells=False)
            if self.env.now - asked > LEASE - RENEWAL:
                self.lost += self.busy[number]

    def _run(self, number: int, run: Run) -> Generator[Any, Any, None]:
        """Calls, one after the other, with what the engine does in between; then the slot is free."""
        setting = self.setting
        calls = max(round(setting.calls), 1)
        share, kept = setting.calls / calls, self.cost.commits * setting.commits / calls
        owed = 0.0
        for _ in range(calls):
            delay = setting.delay * share
            if setting.spread:
                delay *= self.dice.lognormvariate(-(setting.spread**2) / 2, setting.spread)
            yield self.env.timeout(delay + self.cost.overhead / calls)
            owed += kept
            for _ in range(int(owed)):
                yield from self._commit(number)
            owed -= int(owed)
        run.ended = self.env.now
        self.done += 1
        yield self.env.timeout(self.cost.turn)
        self.busy[number] -= 1
        self._wake(number)
        if self.cost.herd:
            self._tell()  # who leaves the queue says so, to all

    def _result(self) -> Result:
        ended = [run for run in self.runs if not math.isnan(run.ended)]
        begun = [run for run in self.runs if not math.isnan(run.began)]
        start = min((run.began for run in begun), default=0.0)
        span = max((run.ended for run in ended), default=start) - start
        held = sum((run.ended if not math.isnan(run.ended) else self.env.now) - run.began for run in begun)
        return Result(
            runs=tuple(self.runs),
            span=span,
            duration=statistics.fmean(run.ended - run.began for run in ended) if ended else math.nan,
            wait=statistics.fmean(run.began - run.came for run in begun) if begun else math.nan,
            throughput=len(ended) / span if span else 0.0,
            longest_write=self.longest_write,
            lost=self.lost,
            at_once=held / self.env.now if self.env.now else 0.0,
            claims=self.claims,
        )


def simulate(setting: Setting, cost: Costs) -> Result:
    """One cluster, from the first run to the last."""
    return Simulation(setting, cost).result()


# What it tells.

RESEARCH = Profile(name="research", calls=27, seconds=120, tokens=160_000, pages=12, passages=600, scale=27 / 9)
"""A run of medium depth: calls and tokens as `python -m bench prompts` counts them; two minutes are assumed."""
DAYS = (10_000, 100_000, 1_000_000)
FLEETS = (4, 10, 20, 50, 100, 200, 400, 1_000)
SLOTS = 8
HORIZON = 60.0
"""Seconds which are simulated where runs come all the time."""


def checked(known: Constants) -> list[tuple[Measured, Result]]:
    """Every measured setting beside what the simulation says of it."""
    first = calibration(known)
    return [(each, simulate(alike(each), costs(known, each.load / first.load))) for each in known.settings]


def alike(measured: Measured) -> Setting:
    """The setting of a measurement."""
    return Setting(
        workers=measured.workers,
        slots=measured.slots,
        calls=measured.calls,
        delay=measured.delay,
        batch=measured.runs,
    )


def fleet(workers: int, *, load: float = 0.75, seconds: float = HORIZON, queued: int = 0) -> Setting:
    """Workers which are busy to a part of their slots, with runs of research that come all the time."""
    rate = load * workers * SLOTS / RESEARCH.seconds
    return Setting(
        workers=workers,
        slots=SLOTS,
        calls=RESEARCH.calls,
        delay=RESEARCH.seconds / RESEARCH.calls,
        rate=rate,
        seconds=seconds,
        queued=queued,
        commits=RESEARCH.scale,
        spread=0.5,
    )


def changed(cost: Costs, *, claims: bool = False, bell: bool = False) -> Costs:
    """The same engine with what docs/scale.md proposes: cheap `claims`, one worker told; `bell`: news in groups."""
    first = cost.claims[0][1]
    if claims:
        cost = msgspec.structs.replace(cost, polls=False, herd=False, claims=((0.0, first),))
    if bell:
        cost = msgspec.structs.replace(cost, notify=((0.0, cost.notify[0][1] / 20),))
    return cost


def main(plots: Path | None) -> None:
    """Print what was measured beside what is simulated, the load of a day, and where it breaks."""
    known = constants()
    found = checked(known)
    for measured, result in found:
        off = result.span / measured.span - 1
        print(
            f"{measured.workers} workers, {measured.slots} slots, {measured.delay} s a call: {measured.runs} runs in"
            f" {measured.span:.1f} s, simulated {result.span:.1f} ({off:+.0%}); a run {measured.duration:.1f} s,"
            f" simulated {result.duration:.1f} ({result.duration / measured.duration - 1:+.0%});"
            f" load {measured.load:.0f}"
        )
    for runs in DAYS:
        print(runs, load(known, RESEARCH, runs, SLOTS))
    ways = {"today": quiet(known), "claims": changed(quiet(known), claims=True)}
    ways["claims and news"] = changed(quiet(known), claims=True, bell=True)
    writes: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for name, cost in ways.items():
        for workers in FLEETS:
            result = simulate(fleet(workers), cost)
            writes[name].append((workers, max(result.longest_write, 0.001)))
            print(
                f"{name}: {workers} workers, {workers * SLOTS * 0.75 / RESEARCH.seconds:.2f} runs a second: start after"
                f" {result.wait:.2f} s, longest write {result.longest_write:.2f} s, leases lost {result.lost},"
                f" {result.claims / HORIZON:.0f} claims a second",
                flush=True,
            )
    if plots is not None:
        plots.mkdir(parents=True, exist_ok=True)
        write_svg(plots / "scale-writes.svg", lines(writes, "workers", "longest write of a worker, s", limit=LEASE))
        pairs = [(measured.span, result.span) for measured, result in found]
        write_svg(plots / "scale-check.svg", lines({"settings": pairs}, "measured s", "simulated s", diagonal=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plots", type=Path, help="folder to write SVG files to")
    main(parser.parse_args().plots)
