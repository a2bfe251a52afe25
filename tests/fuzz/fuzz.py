"""Everything which reads foreign bytes, given bytes nobody wrote: `make fuzz`.

python tests/fuzz/fuzz.py --seconds 60             each target some seconds, a minute in all
python tests/fuzz/fuzz.py --seconds 7200 --seed 3  two hours
python tests/fuzz/fuzz.py html draft               some targets

What crashes, what takes longer than it may, and what ends the process is kept in `--keep`, a file each. Targets work in
processes of their own, so that a reader in C which crashes is found like any other.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import mmap
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation import LONGEST, mutated
from targets import ENDS, Target, targets

from assay.cli.verify import OutOfTime, time_limit

PATIENCE = 3.0
"""Seconds of computing for `LONGEST` bytes: far above what any reader takes, so that what is slow grows too fast."""
MEMORY = 3 << 30
BATCH = 400


@dataclass
class Campaign:
    """What was done, and what was found, by its kind and place."""

    keep: Path
    executions: int = 0
    findings: dict[str, Path] = field(default_factory=dict)

    def found(self, target: str, what: str, data: bytes) -> None:
        """Keep the first bytes which led to it."""
        if f"{target}: {what}" not in self.findings:
            path = self.keep / f"{target.replace(' ', '-')}-{hashlib.sha256(data).hexdigest()[:12]}"
            path.write_bytes(data)
            self.findings[f"{target}: {what}"] = path
            print(f"{target}: {what} ({path})", flush=True)


def once(target: Target, data: bytes, patience: float = PATIENCE) -> str:
    """What is wrong when a target is given these bytes; "" for nothing."""
    try:
        with time_limit(patience):
            target.work(data)
    except (*ENDS, *target.allowed):
        return ""
    except OutOfTime:
        return "takes too long"
    except MemoryError:
        return "takes too much memory"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
    return ""


def batch(campaign: Campaign, name: str, seed: int, seconds: float, count: int = BATCH) -> None:
    """Some executions of one target, in a process of its own."""
    with mmap.mmap(-1, LONGEST + 16) as shared, tempfile.TemporaryFile("w+") as file:
        child = os.fork()
        if not child:
            _work(name, seed, seconds, count, shared, file.fileno())
        _, status = os.waitpid(child, 0)
        size, done = int.from_bytes(shared[:8], "little"), int.from_bytes(shared[8:16], "little")
        campaign.executions += done
        file.seek(0)
        for line in file.read().splitlines():
            what, _, data = line.rpartition("\t")
            campaign.found(name, what, bytes.fromhex(data))
        if status:
            campaign.found(name, f"the process ended with {status}", bytes(shared[16 : 16 + size]))


def _work(name: str, seed: int, seconds: float, count: int, shared: mmap.mmap, descriptor: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(int(seconds) + 60)
    faulthandler.disable()
    target, dice, until = targets()[name], random.Random(f"{name} {seed}"), time.monotonic() + seconds
    known = set[str]()
    for done in range(1, count + 1):
        data = mutated(target.seeds, dice)
        shared[:8], shared[16 : 16 + len(data)] = len(data).to_bytes(8, "little"), data
        what = once(target, data)
        shared[8:16] = done.to_bytes(8, "little")
        if what and what not in known:
            known.add(what)
            os.write(descriptor, f"{what}\t{data.hex()}\n".encode())
        if time.monotonic() > until:
            break
    os._exit(0)


def main() -> int:
    """Say how many executions there were, and what they found."""
    words = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    words.add_argument("names", nargs="*", help="targets (all)")
    words.add_argument("--seconds", type=float, default=60)
    words.add_argument("--seed", type=int, default=int(time.time()))
    words.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    given = words.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASSAY_CONFIG"] = str(Path(folder) / "config.toml")
        names, campaign = given.names or list(targets()), Campaign(given.keep)
        for name in names:
            for seed in targets()[name].seeds:
                once(targets()[name], seed)  # imports what it needs, once for all its processes
        began, at = time.monotonic(), 0
        while time.monotonic() - began < given.seconds:
            share = max(0.5, min(10.0, given.seconds / len(names)))
            batch(campaign, names[at % len(names)], given.seed + at // len(names), share)
            at += 1
    took = time.monotonic() - began
    print(f"{campaign.executions:,} executions of {len(names)} targets in {took:,.0f} s (seed {given.seed})")
    print(f"{len(campaign.findings)} findings")
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    sys.exit(main())
