"""A cluster simulated: `python -m bench cluster_sim [--plots docs/images]`.

The constants were measured with one worker (`bench/cluster_measure.py`); what was measured with others checks the
simulation (`cluster_events.py`), and then it goes where no machine here can.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import msgspec
from cluster_events import LEASE, RENEWAL, Costs, Points, Result, Setting, simulate
from cluster_measure import Constants, Measured
from cluster_model import Profile, calibration, constants, load
from cluster_plots import lines, write_svg

QUIET_CPU = 0.09
"""Seconds of a core which a run of the bench takes of its worker on a machine that is little used (docs/workers.md)."""
MOST_OTHERS, MOST_TURN = 200.0, 5.0
"""How far the calibration goes: others who want cores, seconds of a core from one run to the next."""
ROUNDS, HALVINGS = 2, 12


def calibrated(known: Constants) -> Costs:
    """The constants of the engine on the machine as it was measured, by the first setting alone.

    How many others wanted its cores follows from how long a run took, and what a slot takes from one run to the next
    from how long all of them took.
    """
    of = calibration(known)
    renewed = of.duration / RENEWAL / of.slots * known.renewal
    own = 1 - (renewed + known.telling * known.hearing) / (of.cpu + of.server_cpu)
    cost = Costs(
        work=of.cpu * own,
        served=of.server_cpu * own,
        turn=0.0,
        commits=known.telling,
        claims=points(known.claims),
        notify=points(known.commits),
        queueing=known.queueing,
        looks=known.looks if known.looked else 0.0,
        renewal=known.renewal,
        hearing=known.hearing,
        cores=known.cores,
    )
    for _ in range(ROUNDS):
        cost = solved(cost, "others", MOST_OTHERS, lambda result: result.duration < of.duration, alike(of))
        cost = solved(cost, "turn", MOST_TURN, lambda result: result.span < of.span, alike(of))
    return cost


def solved(cost: Costs, name: str, most: float, less: Callable[[Result], bool], setting: Setting) -> Costs:
    """The same with so much of one thing that a simulation of the setting gives no `less` any more."""
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = msgspec.structs.replace(cost, **{name: middle})
        low, high = (middle, high) if less(simulate(setting, tried)) else (low, middle)
    return msgspec.structs.replace(cost, **{name: low})


def loaded(cost: Costs, times: float) -> Costs:
    """The same beside so many times the others."""
    return msgspec.structs.replace(cost, others=cost.others * times)


def quiet(known: Constants) -> Costs:
    """The same on machines with cores enough: a second of a core takes a second, and does what it does there."""
    of = calibration(known)
    part = min(QUIET_CPU / of.cpu, 1.0)
    (at, first), *more = points(known.commits)
    return Costs(
        work=of.cpu * part,
        served=of.server_cpu * part,
        turn=0.0,
        commits=known.telling,
        claims=tuple((at, took * part) for at, took in points(known.claims)),
        looks=known.looks * part,
        renewal=known.renewal * part,
        notify=((at, first), *((at, first + (took - first) * part) for at, took in more)),
    )


def points(measured: dict[str, float]) -> Points:
    return tuple(sorted((float(at), value) for at, value in measured.items()))


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
    cost, first = calibrated(known), calibration(known)
    return [(each, simulate(alike(each), loaded(cost, each.load / first.load))) for each in known.settings]


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


def locked(cost: Costs) -> Costs:
    """The same engine as it was before: every look is under the lock."""
    return msgspec.structs.replace(cost, looks=0.0)


def grouped(cost: Costs) -> Costs:
    """The same engine with what docs/scale.md proposes first: notifications in groups, apart from commits."""
    return msgspec.structs.replace(cost, notify=((0.0, cost.notify[0][1] / 20),))


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
    cost = quiet(known)
    ways = {
        "looks under the lock": (locked(cost), FLEETS),
        "as it is": (cost, FLEETS),
        "notifications in groups": (grouped(cost), FLEETS[:-1]),  # with more, so many look that it takes too long
    }
    writes: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for name, (way, fleets) in ways.items():
        for workers in fleets:
            result = simulate(fleet(workers), way)
            writes[name].append((workers, max(result.longest_write, 0.001)))
            print(
                f"{name}: {workers} workers, {workers * SLOTS * 0.75 / RESEARCH.seconds:.2f} runs a second: start after"
                f" {result.wait:.2f} s, longest write {result.longest_write:.2f} s, leases lost {result.lost},"
                f" {result.looks / HORIZON:.0f} looks and {result.claims / HORIZON:.0f} claims a second",
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
