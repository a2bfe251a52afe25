"""Critical paths: how long the calls of a run would have taken with nothing between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenario import Node
from simulated_server import Served


def critical_path(calls: Sequence[Served]) -> list[Served]:
    """The critical path of calls as they were made, first to last: from the last answer back, always to the call whose
    end, or one of whose tool calls, was the last thing that came before this one was asked.
    """
    path = [max(calls, key=lambda call: call.end)]
    while (before := _before(calls, path[0].start)) is not None:
        path.insert(0, before)
    return path


def _before(calls: Sequence[Served], start: float) -> Served | None:
    found = [(at, call.key, call) for call in calls for at in (*call.done, call.end) if at <= start]
    at, _, call = max(found, default=(0.0, "", None), key=lambda each: each[:2])
    return None if call is None else Served(call.key, call.start, at, call.done)


def seconds(path: Sequence[Served]) -> float:
    """What a path takes without the gaps."""
    return sum(call.end - call.start for call in path)


def longest(calls: Sequence[Served], needs: Mapping[str, Node]) -> tuple[float, list[str]]:
    """The longest chain of data dependence: seconds, and the calls on it; each call takes what it took.

    Raises:
        KeyError: a call was made which nobody foresaw, or one that was foreseen was not made.
    """
    by_key = {call.key: call for call in calls}
    if unforeseen := by_key.keys() ^ needs.keys():
        raise KeyError(f"foreseen or made, but not both: {sorted(unforeseen)}")
    ends: dict[str, tuple[float, list[str]]] = {}

    def start(key: str) -> tuple[float, list[str]]:
        node = needs[key]
        ready = [released(*need) for need in node.needs]
        choose = min if node.any else max
        return choose(ready, default=(0.0, []), key=lambda each: each[0])

    def released(key: str, place: int) -> tuple[float, list[str]]:
        call = by_key[key]
        begun, path = start(key) if key not in ends else ends[key]
        ends[key] = (begun, path)
        until = call.end if place < 0 else call.done[place]
        return begun + until - call.start, [*path, key]

    return max((released(key, -1) for key in needs), key=lambda each: each[0])
