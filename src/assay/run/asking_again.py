"""A run that failed because no model answered is resumed: the models are asked again, for a failure is no result."""

from __future__ import annotations

import msgspec

from assay.core.errors import ModelFailed
from assay.core.events import RunFailed, decode
from assay.core.ports import Memory, StepRecord
from assay.run.earlier_course import EarlierCourse, base_key, dropped_numbers
from assay.run.execution import Execution
from assay.run.steps import FAILED_TAG, StoredFailure

NO_MODEL = "no_model"
"""The stop reason of a run that failed because no model answered."""


async def ask_again(execution: Execution, memory: Memory) -> None:
    """Forget the failures of models before the run failed, if it did because of them and is not merely replayed."""
    failed = max((key.seq for key in memory.events if key.key.startswith(f"{RunFailed.kind}-")), default=0)
    if not failed or not execution.redo:
        return
    log = {envelope.seq: envelope for envelope in await execution.journal.events(execution.run_id)}
    end = decode(log[failed])
    if not isinstance(end, RunFailed) or end.stop_reason != NO_MODEL:
        return
    later_steps = {key.step for key in memory.events if key.seq > failed}
    execution.steps = {
        key: step for key, step in execution.steps.items() if key in later_steps or not _has_no_answer(step)
    }
    dropped = dropped_numbers(log)
    numbers = {base: key.seq for key in memory.events if (base := base_key(key))}
    events = {base: log[seq] for base, seq in numbers.items() if seq not in dropped}
    execution.earlier = EarlierCourse(execution.lease.fence, events, frozenset(numbers))


def _has_no_answer(step: StepRecord) -> bool:
    return step.tag == FAILED_TAG and msgspec.json.decode(step.data, type=StoredFailure).kind == ModelFailed.kind
