"""Commands which write, killed at random moments; test_commands_killed.py takes a sample.

python tests/runs/campaign_commands.py --kills 300
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from killed_commands import COMMANDS, Rehearsal


def main() -> int:
    """Kill, check, repeat, compare; print what went wrong."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("names", nargs="*", help="commands (all)")
    words.add_argument("--kills", type=int, default=300)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    dice, names = random.Random(given.seed), given.names or list(COMMANDS)
    began, kills, wrong = time.monotonic(), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        scenes = {name: Rehearsal(name, Path(folder) / name.replace(" ", "-")) for name in names}
        for at in range(given.kills):
            name, share = names[at % len(names)], dice.random()
            problem = scenes[name].killed(share)
            kills[name] += 1
            if problem:
                wrong.append(f"{name}, killed after {share:.2f} of its time (kill {at}): {problem}")
                print(wrong[-1], flush=True)
    text = ", ".join(f"{name} {count}" for name, count in kills.items())
    print(f"{sum(kills.values())} kills in {time.monotonic() - began:.0f} s ({text}): {len(wrong)} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
