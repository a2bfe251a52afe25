"""The time of `assay` from the shell: whole processes over the 11,000 documents, which its home already has.

python bench/runs.py [--rounds 5] [--home DIR]      the data are read from $ASSAY_DATA, else from ../shared/data
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus import DATA, machine

ASSAY = (sys.executable, "-m", "assay")
QUESTIONS = (
    "When was PEP 484 created?",
    "Who is the author of EIP-1559?",
    "What is the status of KEP-1880?",
    "What are the main limitations of dataclasses in PEP 557?",
    "How does Rust RFC 2094 change borrow checking?",
)
AIMS = {"light": 3.0, "medium": 8.0}
LONGEST = 600.0


def main() -> int:
    """Print the figures; 2 when the data are not there."""
    options = _options()
    _table("assay --help", [_seconds([*ASSAY, "--help"]) for _ in range(2 * options.rounds)], 0.3)
    if not DATA.is_dir():
        print(f"no data in {DATA}: set ASSAY_DATA", file=sys.stderr)
        return 2
    files = sorted(map(str, DATA.glob("*.jsonl.gz")))
    with tempfile.TemporaryDirectory() as folder:
        home = options.home or Path(folder)
        first = _seconds(_command(QUESTIONS[0], files, home, "light"))
        print(f"first run of this home, including reading and indexing if needed: {first:.1f} s")
        for depth, aim in AIMS.items():
            asked = [QUESTIONS[number % len(QUESTIONS)] for number in range(options.rounds)]
            _table(f"--depth {depth}", [_seconds(_command(each, files, home, depth)) for each in asked], aim)
    print(machine())
    return 0


def _command(question: str, files: Sequence[str], home: Path, depth: str) -> list[str]:
    return [*ASSAY, question, "--in", *files, "--home", str(home), "--depth", depth, "--yes"]


def _seconds(command: Sequence[str]) -> float:
    """Wall time from starting the process to its end; 5 and 6 are runs with a report that found little."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 5, 6):
        raise SystemExit(f"{' '.join(command)[:300]} gave {done.returncode}:\n{done.stderr[-2000:]}")
    return seconds


def _table(name: str, seconds: Sequence[float], aim: float) -> None:
    median = statistics.median(seconds)
    print(
        f"{name:<16} median {median:.2f} s ({min(seconds):.2f}-{max(seconds):.2f}) of {len(seconds)}, "
        f"aim {aim:g} s: {'met' if median <= aim else 'missed'}",
        flush=True,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--home", type=Path, help="a home with the documents; without it, a new one is filled first")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
