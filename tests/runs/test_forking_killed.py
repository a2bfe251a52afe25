"""A fork whose process is killed with a real signal goes on where it was, its parent gone: nothing is asked twice."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path

import forking_process
import pytest
import warm

from assay import Assay, settings
from assay.core.brief import ForkPoint
from assay.core.report import Report

TEXT = "# Velden\n\nThe charter of Velden was written by Mara Lind in 1741. It has 12 articles.\n"
QUESTION = "Who wrote the charter of Velden?"
SECONDS = 300
KILLS = 2
"""Points at which each fork is killed, spread over all its writes."""


def execute(home: Path, run_id: str, log: Path, kill_at: int = 0) -> bool:
    """Whether the process came to its end."""
    code = warm.call(forking_process.execute, str(home), run_id, str(log), kill_at).wait(SECONDS)
    assert code in (0, -signal.SIGKILL), code
    return code == 0


async def unexecuted_fork(home: Path, strategy: str, point: ForkPoint) -> str:
    """A fork nobody has executed yet, its parent deleted."""
    (home.parent / "velden.md").write_text(TEXT)
    async with Assay(settings.load(), home=home) as assay:
        run = assay.start(QUESTION, sources=home.parent / "velden.md", depth="light", strategy=strategy)
        await run.report()
        run_id = await assay.fork(run.run_id, point)
        await assay.delete(run.run_id)
    return run_id


async def ended(home: Path, run_id: str) -> tuple[Report, list[int]]:
    async with Assay(settings.load(), home=home) as assay:
        report = await (await assay.resume(run_id)).report()
        assert (await assay.replay(run_id)).is_same
        return report, [envelope.seq for envelope in await assay.events(run_id)]


@pytest.mark.campaign
@pytest.mark.parametrize(("strategy", "point"), [("orchestrated", "research"), ("reflective", "plan")])
async def test_killed_at_many_points(tmp_path: Path, strategy: str, point: ForkPoint) -> None:
    await killed(tmp_path, strategy, point, KILLS)


async def test_killed_and_taken_up_again(tmp_path: Path) -> None:
    await killed(tmp_path, "orchestrated", "write", 1)


async def killed(tmp_path: Path, strategy: str, point: ForkPoint, kills: int) -> None:
    home, log = tmp_path / "home", tmp_path / "calls"
    run_id = await unexecuted_fork(home, strategy, point)
    straight = tmp_path / "straight"
    shutil.copytree(home, straight)
    assert execute(straight, run_id, log)
    *calls, last = log.read_text().splitlines()
    whole, _ = await ended(straight, run_id)
    commits = int(last.removeprefix("commits "))
    for kill_at in range(max(1, commits // (kills + 1)), commits + 1, max(1, commits // kills)):
        again, noted = tmp_path / f"home-{kill_at}", tmp_path / f"calls-{kill_at}"
        shutil.copytree(home, again)
        noted.touch()
        assert not execute(again, run_id, noted, kill_at)
        assert execute(again, run_id, noted)
        report, seqs = await ended(again, run_id)
        assert (report.markdown, report.summary) == (whole.markdown, whole.summary)
        assert seqs == list(range(1, len(seqs) + 1))
        repeated = Counter(noted.read_text().splitlines()[:-1]) - Counter(calls)
        assert repeated.total() <= 2, f"killed at write {kill_at}: {repeated}"  # the calls in flight then
