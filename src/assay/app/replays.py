"""A run computed again, and its report held against the stored one."""

from __future__ import annotations

import msgspec

from assay.core.events import Envelope
from assay.core.report import build_report
from assay.core.view import fold
from assay.run.replay import Replayed


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay of a run came to.

    `steps` were taken as they are stored, `events` computed again. `differences` say where these differ from the stored
    log; `same_report` whether the report (`assay.report/1`) is the same, byte for byte.
    """

    run_id: str
    steps: int
    events: int
    same_report: bool
    differences: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether all of it is."""
        return self.same_report and not self.differences


def compared(replayed: Replayed, stored: list[Envelope]) -> Replay:
    """What came of a replay, beside the stored log."""
    before, after = (msgspec.json.encode(build_report(fold(log))) for log in (stored, replayed.log))
    return Replay(
        run_id=replayed.run_id,
        steps=replayed.steps,
        events=replayed.events,
        same_report=before == after,
        differences=replayed.differences,
    )
