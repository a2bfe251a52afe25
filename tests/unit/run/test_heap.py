"""Free memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.run.process import resident_bytes

FRAGMENTED = """
import asyncio
from assay.run.process import HEAP, resident_bytes
HEAP.grown_bytes()
blocks = [b"x" * (60_000 + i) for i in range(1_000)]
kept = blocks[::20]
del blocks
full, grown = resident_bytes(), HEAP.grown_bytes()
async def main():
    HEAP.release_memory_soon()
asyncio.run(main())  # waits for the thread
print(grown, full - resident_bytes(), HEAP.grown_bytes())
"""


@pytest.mark.skipif(not resident_bytes(), reason="this system does not say how much memory a process has")
def test_free_memory_between_blocks_in_use_goes_back() -> None:
    done = subprocess.run([sys.executable, "-c", FRAGMENTED], capture_output=True, text=True, timeout=300, check=True)
    grown, given, left = map(int, done.stdout.split())
    assert grown > 50_000_000
    assert given > 40_000_000
    assert left < 1_000_000


QUIET = """
import asyncio, sys
from assay.run.process import HEAP, resident_bytes
async def main():
    HEAP.release_memory_soon()
asyncio.run(main())
print(sorted({"ctypes"} & set(sys.modules)))
"""


def test_a_process_that_has_not_grown_is_left_alone() -> None:
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[]\n"
