"""The place of an event on a screen: its block, the parallel lane in it, the turn of that lane.

Coordinates follow from an event's path and from `agents.planned`. Every index is assigned in order of first appearance
in the log and never changes, so a live reader and a later one place the same event in the same spot.
"""

from __future__ import annotations

import msgspec

from assay.core.events import AgentsPlanned, Envelope, Path

RESEARCH = "research"
AGENT = "agent-"

BlockKey = tuple[str, ...]
_AGENTS_OF = "agents of cycle"


class Coordinates(msgspec.Struct, frozen=True):
    """Three indices, each counted from 0 without gaps.

    `turn_index` is the block (a phase; in research a cycle's own thinking, or the agents of a cycle), `tab_index` the
    parallel lane in that block, `sub_turn_index` the part of the lane: 0 is its start, then its turns.
    """

    turn_index: int
    tab_index: int
    sub_turn_index: int


def lane_of(path: Path) -> int | None:
    """The lane of a path: 2 for `("research", "agent-2", "turn-3")`, None outside agents."""
    if len(path) < 2 or not path[1].startswith(AGENT):
        return None
    number = path[1].removeprefix(AGENT)
    return int(number) if number.isascii() and number.isdigit() else None


class Placer:
    """Places the events of one run in the order of their numbers."""

    def __init__(self) -> None:
        self._blocks: dict[BlockKey, int] = {}
        self._lanes: dict[int, BlockKey] = {}
        self._tabs: dict[BlockKey, dict[int, int]] = {}
        self._parts: dict[tuple[int, int], dict[str, int]] = {}

    def place(self, envelope: Envelope) -> Coordinates | None:
        """The event's coordinates; None if it belongs to the run or to research as a whole."""
        if envelope.type == AgentsPlanned.kind:
            self._assign_lanes(msgspec.json.decode(envelope.data, type=AgentsPlanned))
        return self._coordinates(envelope.path)

    def agents_of(self, cycle: int) -> tuple[int, int]:
        """The block of the agents of a cycle, and how many of them are planned so far."""
        block = _agents_block(cycle)
        return self._blocks.setdefault(block, len(self._blocks)), len(self._tabs.get(block, ()))

    def _coordinates(self, path: Path) -> Coordinates | None:
        if not path or path == (RESEARCH,):
            return None
        lane = lane_of(path)
        block, tab = (path[: 2 if path[0] == RESEARCH else 1], 0) if lane is None else self._lane_place(lane)
        index = self._blocks.setdefault(block, len(self._blocks))
        parts = self._parts.setdefault((index, tab), {})
        inner = path[2:] if path[0] == RESEARCH or lane is not None else path[1:]
        part = parts.setdefault(inner[0] if inner else "", len(parts))
        return Coordinates(index, tab, part)

    def _assign_lanes(self, event: AgentsPlanned) -> None:
        """Give each newly named lane the next tab of its cycle's block."""
        block = _agents_block(event.cycle)
        for lane in event.lanes:
            self._assign(lane, block)

    def _assign(self, lane: int, block: BlockKey) -> None:
        if lane not in self._lanes:
            self._lanes[lane] = block
            tabs = self._tabs.setdefault(block, {})
            tabs[lane] = len(tabs)

    def _lane_place(self, lane: int) -> tuple[BlockKey, int]:
        self._assign(lane, (RESEARCH, _AGENTS_OF, ""))  # a log that never planned this lane still has a place for it
        block = self._lanes[lane]
        return block, self._tabs[block][lane]


def _agents_block(cycle: int) -> BlockKey:
    return (RESEARCH, _AGENTS_OF, str(cycle))
