"""Work counted instead of timed: how many lines of Assay's own code run. The same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import assay

OURS = assay.__path__[0]


def steps(function: Callable[[], object]) -> int:
    """The lines of Assay's code that `function` runs in this thread; what libraries do inside does not count."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(OURS) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def grows_in_step(work: Callable[[str], object], text: str) -> bool:
    """Whether a text takes no more than twice the work of its half, and a tenth and a little on top."""
    half, whole = (steps(lambda part=part: work(part)) for part in (text[: len(text) // 2], text))  # type: ignore[misc]
    return whole <= 2.2 * half + 1000
