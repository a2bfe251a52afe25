"""A process made ready: what a run needs is loaded before it begins, and what holds the loop up is told."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay import Assay
from assay.settings import load

RUN = """
import asyncio, sys
from assay import Assay
from assay.settings import load
async def main():
    async with Assay(load(search={"offline": True})) as assay:
        await assay.ready()
        before = set(sys.modules)
        await assay.start("How far does the tide at Brest rise?", sources=[sys.argv[1]]).report()
        print(*sorted(name for name in set(sys.modules) - before if name.startswith("assay.")))
        print(*sorted({"charset_normalizer", "lxml", "sqlalchemy", "trafilatura"} & set(sys.modules)))
asyncio.run(main())
"""


def test_a_run_loads_little_of_assay_after_it_and_nothing_that_only_readers_of_pages_need(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n")
    command = [sys.executable, "-c", RUN, str(tmp_path / "tides.md")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    of_assay, for_pages = done.stdout.splitlines()
    loaded = of_assay.split()
    assert not [name for name in loaded if name.startswith(("assay.phases", "assay.run", "assay.verify"))], loaded
    assert not for_pages  # what only the processes that read pages need, and the database: 11 MB


WORKER = """
import ctypes, gc, sys
from assay.cli.main import main
ended = main(["worker", "--until-empty", "--home", sys.argv[1]])
print(ended, gc.get_freeze_count() > 50_000)
of_runs = {"assay.phases.pipeline", "assay.verify.pipeline", "assay.services.worlds", "tantivy"}
print(*sorted(of_runs & set(sys.modules)))
print(*sorted({"charset_normalizer", "lxml", "trafilatura"} & set(sys.modules)))
sys.stdout.flush()
libc = ctypes.CDLL(None)
if hasattr(libc, "malloc_info"):  # of glibc: what each arena of the heap holds
    libc.fdopen.restype = ctypes.c_void_p
    out = ctypes.c_void_p(libc.fdopen(1, b"w"))
    libc.malloc_info(0, out)
    libc.fflush(out)
"""


def test_a_worker_is_ready_before_it_takes_a_run(tmp_path: Path) -> None:
    """The queue is empty: nothing is loaded because of a run."""
    command = [sys.executable, "-c", WORKER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    ended, of_runs, for_pages, *heap = done.stdout.splitlines()
    assert ended == "0 True"
    assert of_runs.split() == ["assay.phases.pipeline", "assay.services.worlds", "assay.verify.pipeline", "tantivy"]
    assert not for_pages
    if heap:
        assert 1 <= sum(line.startswith("<heap nr=") for line in heap) <= 2  # shared by all its threads


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no processor time of threads here")
async def test_what_holds_up_the_loop_is_on_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with Assay(load(log={"stalls": 50})) as assay:
        await assay.ready()
        await assay.ready()  # once is enough
        with caplog.at_level(logging.WARNING):
            until = time.thread_time() + 0.3
            while time.thread_time() < until:
                pass
            await asyncio.sleep(0.1)
    found = [record.getMessage() for record in caplog.records if "held up" in record.getMessage()]
    assert len(found) == 1
    assert "test_ready.py" in found[0]
