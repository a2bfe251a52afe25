"""A cluster at work, event by event: its workers, their queue and writers, the database's locks, and the cores of all.

Workers with slots take runs out of one queue, into which they come one after the other. A worker's loop does one thing
at a time, and its writer one transaction: what waits meanwhile is written together. Claims are made under one lock.
Commits which tell other processes take their turn at the server, one at a time, as PostgreSQL's do. Workers, server and
whoever else is on the machine share its cores, so that who holds a lock may have to wait for one.
"""

from __future__ import annotations

import bisect
import math
import random
import statistics
from collections import deque
from collections.abc import Generator
from typing import Any

import msgspec
import simpy
from cluster_cores import Cores

POLL = 0.25
"""Seconds between two looks of a worker which has a slot free while anything is in the queue."""
REST = 5.0
"""The same while there is nothing."""
LEASE, RENEWAL = 4.0, 0.25
"""Seconds which a lease lasts, and between two renewals."""
PAUSE, LONGEST_PAUSE = 0.02, 0.25
"""Seconds until a worker looks again which found the queue locked, doubled each time."""

Steps = Generator[Any, Any, None]
Points = tuple[tuple[float, float], ...]


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine takes, in seconds of a core unless they are by the clock.

    `work` of a run in its worker, and `served` at the server; `turn` until its slot takes the next; `queueing` of who
    stores and queues it; `claims` by how many runs are queued; `looks` into the queue without the lock (0: workers
    look only under it); `renewal` of a worker's leases; `hearing` in each worker of a commit which tells. `notify` is
    by the clock, by how many listen: a commit which tells others.

    All of it is done on `cores`, which `others` want all the time, too.
    """

    work: float
    served: float
    turn: float
    commits: float
    claims: Points
    notify: Points
    queueing: float = 0.0
    looks: float = 0.0
    renewal: float = 0.0
    hearing: float = 0.0
    cores: float = math.inf
    others: float = 0.0


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
    """How it went. `lost` are leases which ran out while their worker waited to renew them; of `looks`, some are
    `claims`, under the lock.
    """

    runs: tuple[Run, ...]
    span: float
    duration: float
    wait: float
    throughput: float
    longest_write: float
    lost: int
    at_once: float
    looks: int
    claims: int


class Job(msgspec.Struct, kw_only=True, eq=False):
    """What waits for a worker's writer: a commit with what it takes at the server, or a claim and what came of it.

    A claim is `refused` while another worker makes one.
    """

    done: simpy.Event
    claims: bool = False
    tells: bool = False
    served: float = 0.0
    run: Run | None = None
    refused: bool = False


class Worker:
    """One process: its loop, what waits for its writer, and its slots."""

    def __init__(self, env: simpy.Environment) -> None:
        self.loop = simpy.Resource(env, 1)
        self.jobs: list[Job] = []
        self.asked, self.woken = env.event(), env.event()
        self.busy = 0


class Simulation:
    """One cluster at work."""

    def __init__(self, setting: Setting, cost: Costs) -> None:
        self.setting, self.cost = setting, cost
        self.env = simpy.Environment()
        self.cores = Cores(self.env, cost.cores, cost.others)
        self.queue: deque[Run] = deque()
        self.runs: list[Run] = []
        self.lock, self.bell = simpy.Resource(self.env, 1), simpy.Resource(self.env, 1)
        self.workers = [Worker(self.env) for _ in range(setting.workers)]
        self.dice = random.Random(setting.seed)
        self.disk = between(cost.notify, 0)
        self.told_disk = between(cost.notify, setting.workers)
        self.longest_write, self.lost, self.looks, self.claims = 0.0, 0, 0, 0
        self.done = 0

    def result(self) -> Result:
        """Simulate it to the end."""
        setting = self.setting
        self.env.process(self._batch() if setting.batch else self._arrivals())
        for worker in self.workers:
            self.env.process(self._worker(worker))
            self.env.process(self._writer(worker))
            self.env.process(self._renewals(worker))
        if setting.batch:
            while self.done < setting.batch:
                self.env.step()
        else:
            self.env.run(until=setting.seconds)
        return self._result()

    # the queue

    def _batch(self) -> Steps:
        for _ in range(self.setting.batch):
            if self.cost.queueing:
                yield self.cores.use(self.cost.queueing)
            self._come()
        yield self.env.timeout(0)

    def _arrivals(self) -> Steps:
        while True:
            yield self.env.timeout(self.dice.expovariate(self.setting.rate))
            self._come()

    def _come(self) -> None:
        run = Run(came=self.env.now)
        self.runs.append(run)
        self.queue.append(run)
        self._tell()

    def _tell(self) -> None:
        """All workers which have a slot free look."""
        for worker in self.workers:
            if worker.busy < self.setting.slots:
                _ring(worker.woken)

    # a worker

    def _worker(self, worker: Worker) -> Steps:
        """Takes up what it has slots for; looks again at news, and every so often."""
        yield self.env.timeout(self.dice.random() * POLL)  # they were not started in one moment
        while True:
            worker.woken = self.env.event()
            while worker.busy < self.setting.slots:
                run = yield from self._claim(worker)
                if run is None:
                    break
                run.began = self.env.now
                worker.busy += 1
                self.env.process(self._run(worker, run))
            waits = POLL if len(self.runs) > self.done else REST
            if worker.busy < self.setting.slots:
                yield worker.woken | self.env.timeout(waits)
            else:
                yield worker.woken

    def _claim(self, worker: Worker) -> Generator[Any, Any, Run | None]:
        """Looks, and claims under the lock, through the worker's writer; who finds it locked looks again."""
        pause = PAUSE
        while True:
            if self.cost.looks:
                self.looks += 1
                yield self.cores.use(self.cost.looks)
                if not self.queue:
                    return None
            job = self._ask(worker, claims=True)
            yield job.done
            if not job.refused:
                return job.run
            yield self.env.timeout(pause * self.dice.uniform(0.5, 1.5))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _run(self, worker: Worker, run: Run) -> Steps:
        """Calls, one after the other, with what the engine does in between; then the slot is free."""
        setting, cost = self.setting, self.cost
        calls = max(round(setting.calls), 1)
        share, kept = setting.calls / calls, cost.commits * setting.commits / calls
        served = cost.served / max(cost.commits * setting.commits, 1)
        owed = 0.0
        for _ in range(calls):
            delay = setting.delay * share
            if setting.spread:
                delay *= self.dice.lognormvariate(-(setting.spread**2) / 2, setting.spread)
            yield self.env.timeout(delay)
            yield from self._work(worker, cost.work / calls)
            owed += kept
            for _ in range(int(owed)):
                yield from self._commit(worker, served)
            owed -= int(owed)
        run.ended = self.env.now
        self.done += 1
        yield from self._work(worker, cost.turn)
        worker.busy -= 1
        _ring(worker.woken)
        self._tell()  # who leaves the queue says so

    def _work(self, worker: Worker, seconds: float) -> Steps:
        with worker.loop.request() as loop:
            yield loop
            yield self.cores.use(seconds)

    # what it writes

    def _ask(self, worker: Worker, **values: Any) -> Job:
        job = Job(done=self.env.event(), **values)
        worker.jobs.append(job)
        _ring(worker.asked)
        return job

    def _commit(self, worker: Worker, served: float, *, tells: bool = True) -> Steps:
        asked = self.env.now
        yield self._ask(worker, tells=tells, served=served).done
        self.longest_write = max(self.longest_write, self.env.now - asked)

    def _writer(self, worker: Worker) -> Steps:
        """All that waits is one transaction; one with a claim holds the lock of claims to its end."""
        while True:
            if not worker.jobs:
                worker.asked = self.env.event()
                yield worker.asked
            jobs, worker.jobs = worker.jobs, []
            claims = [job for job in jobs if job.claims]
            if claims and self.cost.looks and self.lock.count:
                for job in claims:
                    job.refused = True
                claims = []
            if claims:
                with self.lock.request() as lock:
                    yield lock
                    for job in claims:
                        yield from self._take(job)
                    yield from self._transact(jobs)
            else:
                yield from self._transact(jobs)
            for job in jobs:
                job.done.succeed()

    def _take(self, job: Job) -> Steps:
        self.claims += 1
        yield self.cores.use(between(self.cost.claims, len(self.queue) + self.setting.queued))
        job.run = self.queue.popleft() if self.queue else None

    def _transact(self, jobs: list[Job]) -> Steps:
        if served := sum(job.served for job in jobs):
            yield self.cores.use(served)
        if any(job.tells for job in jobs):
            with self.bell.request() as bell:
                yield bell
                yield self.env.timeout(self.told_disk)
            if self.cost.hearing:
                for worker in self.workers:
                    self.env.process(self._work(worker, self.cost.hearing))
        elif any(not job.claims or job.run for job in jobs):
            yield self.env.timeout(self.disk)

    def _renewals(self, worker: Worker) -> Steps:
        while True:
            yield self.env.timeout(RENEWAL)
            if not worker.busy:
                continue
            asked = self.env.now
            yield from self._commit(worker, self.cost.renewal, tells=False)
            if self.env.now - asked > LEASE - RENEWAL:
                self.lost += worker.busy

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
            looks=self.looks,
            claims=self.claims,
        )


def simulate(setting: Setting, cost: Costs) -> Result:
    """One cluster, from the first run to the last."""
    return Simulation(setting, cost).result()


def between(known: Points, at: float) -> float:
    """The value at a place, straight between what was measured, and straight on beyond it."""
    if len(known) == 1 or at <= known[0][0]:
        return known[0][1]
    place = min(bisect.bisect_left(known, (at, -math.inf)), len(known) - 1)
    (x0, y0), (x1, y1) = known[place - 1], known[place]
    return max(y0 + (y1 - y0) * (at - x0) / (x1 - x0), 0.0)


def _ring(bell: simpy.Event) -> None:
    if not bell.triggered:
        bell.succeed()
