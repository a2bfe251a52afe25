"""Cost and load of a cluster by arithmetic: what so many runs a day ask of workers, database, disks and models.

Constants of the engine are measured (`cluster_constants.json`, written by `python -m bench cluster_measure`); what a
run of research does is a profile, whose figures say where they are from.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from cluster_measure import Constants, Measured

CONSTANTS = Path(__file__).with_name("cluster_constants.json")
DAY = 86_400
RENEWALS = 4
"""Times a second that a worker which has runs renews their leases, all in one transaction."""
SESSIONS = 3
"""Connections of a worker: one which writes, one or more which read, one which listens."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What a run does. `scale` is how much more it leaves than a run of the bench; seconds are waited for a model."""

    name: str
    calls: float
    seconds: float
    tokens: float
    pages: float
    passages: float
    scale: float


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What a day's runs ask for; rates are of an even day, times `peak` where they say so."""

    runs_a_second: float
    runs_at_once: float
    workers: float
    worker_cores: float
    server_cores: float
    commits_a_second: float
    events_a_day: float
    rows_a_day: float
    bytes_a_day: float
    tokens_a_day: float
    pages_a_day: float
    connections: float
    writes_a_second: float


def constants(path: Path = CONSTANTS) -> Constants:
    """What was measured last."""
    return msgspec.json.decode(path.read_bytes(), type=Constants)


def calibration(known: Constants) -> Measured:
    """The one setting on which the simulation is calibrated."""
    return known.settings[0]


def load(known: Constants, profile: Profile, runs_a_day: float, slots: int, peak: float = 2.0) -> Load:
    """The load of a day; `peak` is how much more the fullest hour has than the mean one."""
    of = calibration(known)
    rate = runs_a_day / DAY * peak
    per_run = profile.calls / of.calls
    at_once = rate * profile.seconds
    workers = at_once / slots
    commits = rate * known.telling * per_run + workers * RENEWALS
    rows = sum(known.rows.values()) * profile.scale
    return Load(
        runs_a_second=rate,
        runs_at_once=at_once,
        workers=workers,
        worker_cores=rate * of.cpu * per_run,
        server_cores=rate * of.server_cpu * per_run,
        commits_a_second=commits,
        events_a_day=runs_a_day * known.rows["events"] * profile.scale,
        rows_a_day=runs_a_day * rows,
        bytes_a_day=runs_a_day * sum(known.bytes.values()) * profile.scale,
        tokens_a_day=runs_a_day * profile.tokens,
        pages_a_day=runs_a_day * profile.pages,
        connections=workers * SESSIONS,
        writes_a_second=commits,
    )
