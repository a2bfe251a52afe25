"""Whole runs side by side: what is said at each place but for times, and runs that die at a write and are taken up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from research import Sea
from runtime import Dying, fixed, outcome, taken_up

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.usage import Usage
from assay.core.view import fold_events
from assay.models.script import Scripted

TIMES = {"seconds", "active_seconds", "elapsed", "first_token", "fetched_at", "speculation"}


def plain(value: Any) -> Any:
    """Plain data without times."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if name not in TIMES}
    return [plain(each) for each in value] if isinstance(value, list) else value


def by_place(log: Sequence[e.Envelope]) -> Mapping[tuple[str, ...], list[Any]]:
    """What is said at each place, in order, without what is counted as done for nothing and what was taken back."""
    found: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    events = [(each, e.decode(each)) for each in log]
    dropped = {seq for _, event in events if isinstance(event, e.StepRestarted) for seq in event.dropped}
    for each, event in events:
        if each.seq in dropped or isinstance(event, e.StepRestarted | e.RunResumed | e.RunStarted):
            continue
        if isinstance(event, e.ClaimFound | e.ClaimChecked | e.ClaimRemoved):
            continue  # logged beside the writer's stream or after it, as time allows; the claims are compared
        if isinstance(event, e.ReportDelta | e.FindingDelta):
            # how a text is cut is a matter of time
            streamed = found[*each.path, event.kind]
            streamed[:] = ["".join((*streamed, event.text))]
            continue
        if not (isinstance(event, e.UsageUpdated) and event.role == "ahead"):
            found[each.path].append([each.type, plain(msgspec.json.decode(each.data))])
    return found


def unasked(log: Sequence[e.Envelope]) -> Usage:
    events = map(e.decode, log)
    return sum((each.usage for each in events if isinstance(each, e.UsageUpdated) and each.role == "ahead"), Usage())


def assert_same(one: Sequence[e.Envelope], other: Sequence[e.Envelope]) -> None:
    there, here = by_place(one), by_place(other)
    assert there.keys() == here.keys()
    for path in there:
        assert there[path] == here[path], path
    assert fold_events(one).report == fold_events(other).report
    assert fold_events(one).claims == fold_events(other).claims


async def died_and_resumed(sea: Sea, model: Scripted, made: Brief, last: int) -> list[e.Envelope]:
    """The log of a run that died at its `last`-th write and was taken up by another process."""

    handle = sea.engine(Dying(sea.journal, last), holder="one", ttl=0.05).start(fixed(made, sea.world(model)))
    await outcome(handle)
    await taken_up(sea.engine(holder="two"), handle.run_id, sea.world(model))
    return await sea.journal.events(handle.run_id)
