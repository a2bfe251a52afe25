"""The 11,000 documents in a library on disk: shared by the measurements."""

from __future__ import annotations

import os
import time
from pathlib import Path

from assay.core.ports import Clock

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "documents"


class SystemClock(Clock):
    """Real time."""

    def now(self) -> str:
        """ISO 8601 UTC."""
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Nothing here waits."""
        raise NotImplementedError


def machine() -> str:
    """The processor and how many of them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} x {names[0] if names else 'unknown processor'}"
