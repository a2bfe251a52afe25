"""The cost of starting a command: processor time of whole processes, and how many modules they load.

python bench/startup.py [--rounds 5]

Times are user and system time, the least of all rounds, since other work on the machine only adds to them; modules are
loaded as compiled, as an installed package's are. What the
library takes until the first step of a run, and until a killed run goes on, is by the clock: the median. The imports
of two libraries are measured too, so that figures of two machines can be compared, and that of the settings.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus import machine

PYTHON = sys.executable
TEXT = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n"
QUESTION = "How far does the tide at Brest rise?"
LIBRARY = """
import asyncio, os, sys
from assay import Assay

async def main(home, text, question, until):
    async with Assay(home=home) as library:
        resumed = until == "run.resumed"
        run = await library.resume("last") if resumed else library.start(question, sources=[text], depth="light")
        async for event in run.events():
            if event.type == until:
                os._exit(0)  # as a process that was killed: its run is there to be resumed

asyncio.run(main(*sys.argv[1:]))
"""
"""A program that uses the library until an event of the run, and then ends at once."""
STEPS = {
    "import assay, a run, its first step": "phase.started",
    "the same until it searches": "search.performed",
    "import assay, a run resumed after a kill": "run.resumed",
}
COUNTED = "import sys; from assay.cli.main import main; main(sys.argv[1:]); print(len(sys.modules), file=sys.stderr)"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}, least of {rounds}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "tides.md").write_text(TEXT)
        run = [QUESTION, "--in", str(place / "tides.md"), "--offline", "-q", "--depth", "light"]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env = kept | {"ASSAY_HOME": str(place / "home"), "ASSAY_CONFIG": str(place / "none.toml")}
        _seconds([PYTHON, "-m", "assay", *run], env)  # makes the home, and compiles what is not compiled yet
        listed = (["--help"], ["config", "list"], ["runs", "list"], ["runs", "show", "last"], ["claims", "last"])
        for command in (*listed, ["docs", "list"], run):
            least = min(_seconds([PYTHON, "-m", "assay", *command], env) for _ in range(rounds))
            print(
                f"{least:6.2f} s  {_modules(command, env):5d} modules  assay {' '.join(command[:2])[:40]}", flush=True
            )
        for name, until in STEPS.items():
            command = [PYTHON, "-c", LIBRARY, str(place / "home"), str(place / "tides.md"), QUESTION, until]
            walls = sorted(_wall(command, env) for _ in range(rounds))
            print(f"{walls[rounds // 2]:6.2f} s by the clock ({walls[0]:.2f}-{walls[-1]:.2f})  {name}", flush=True)
        for code in ("pass", "import sqlalchemy", "import assay.settings", "import asyncio"):
            print(f"{min(_seconds([PYTHON, '-c', code], env) for _ in range(rounds)):6.2f} s  python -c {code!r}")
    return 0


def _seconds(command: Sequence[str], env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _wall(command: Sequence[str], env: dict[str, str]) -> float:
    begun = time.perf_counter()
    _seconds(command, env)
    return time.perf_counter() - begun


def _modules(command: Sequence[str], env: dict[str, str]) -> int:
    done = subprocess.run(
        [PYTHON, "-c", COUNTED, *command],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=True,
    )
    return int(done.stderr.split()[-1])


if __name__ == "__main__":
    sys.exit(main())
