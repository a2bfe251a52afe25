"""Events of money, time, control and the journal itself."""

from __future__ import annotations

from typing import Any

from assay.core.events.envelope import Event, kind
from assay.core.usage import Usage


@kind("usage.updated")
class UsageUpdated(Event, frozen=True):
    """What one step spent, by role and phase; the fold adds them up."""

    role: str
    usage: Usage


@kind("budget.low")
class BudgetLow(Event, frozen=True):
    """80 % of a limit is used."""

    measure: str
    used: float
    limit: float


@kind("control.accepted")
class ControlAccepted(Event, frozen=True):
    """A control request (finish, cancel, pause, steer) was stored; `id` names it, `text` is what a steer says."""

    action: str
    id: str = ""
    text: str = ""


@kind("control.applied")
class ControlApplied(Event, frozen=True):
    """A control request took effect; `where` is the place of the decision which a steer was told to."""

    action: str
    where: str = ""
    id: str = ""


@kind("control.rejected")
class ControlRejected(Event, frozen=True):
    """A control request could not take effect."""

    action: str
    why: str
    id: str = ""


@kind("step.restarted")
class StepRestarted(Event, frozen=True):
    """A step is done again after its process died; the events numbered `dropped` were an earlier attempt's."""

    step: str
    attempt: int
    dropped: tuple[int, ...]


@kind("step.diverged")
class StepDiverged(Event, frozen=True):
    """A stored step's input is not what it was, so it was done again."""

    step: str


@kind("warning")
class Warned(Event, frozen=True):
    """Something a reader should know that did not stop the run."""

    message: str
    detail: dict[str, Any] = {}
