"""A process which executes a run under a short lease, to be stopped and woken; run by test_control_processes.py."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from assay import Assay
from assay.core.errors import AssayError

TTL = 1.0


async def resume(home: Path, run_id: str) -> None:
    """Take the run up; what ended it is printed."""
    async with Assay(home=home) as assay:
        assay._context.engine.leases.ttl = TTL
        run = await assay.resume(run_id)
        print("holding", flush=True)
        try:
            view = await run.view()
            print(view.status, flush=True)
        except AssayError as error:
            print(f"{type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    asyncio.run(resume(Path(sys.argv[1]), sys.argv[2]))
