"""One place in the tree of a run: what steps, calls and waits need to know of where they are."""

from __future__ import annotations

from assay.core.brief import Brief, Role
from assay.core.events import Path
from assay.core.messages import Profile
from assay.core.ports import World
from assay.run.budget import Gate
from assay.run.execution import Execution


class RunPlace:
    """A path, a lane, and the gate whose limits apply there."""

    def __init__(self, execution: Execution, path: Path = (), lane: int = 0, gate: Gate = "work") -> None:
        self.execution, self.path, self.lane, self.gate = execution, path, lane, gate

    @property
    def brief(self) -> Brief:
        return self.execution.brief

    @property
    def run_id(self) -> str:
        return self.execution.run_id

    @property
    def world(self) -> World:
        return self.execution.world

    @property
    def exhausted(self) -> str:
        """The limit which ended research, empty while none has."""
        return self.execution.exhausted

    def profile(self, role: Role) -> Profile:
        """The abilities of the first model of a role."""
        return self.world.models[self.brief.models[role][0]].profile
