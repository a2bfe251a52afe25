"""The working copy of a view, the handlers that change it, and its conversion to a frozen view.

An event kind without a handler changes nothing a reader sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from assay.core import events as e
from assay.core.claims import Check, Claim, Conflict, Version, summarize
from assay.core.coordinates import lane_of
from assay.core.events import ControlAccepted, ControlRejected, Envelope, Path, RunResumed, RunWaiting
from assay.core.ports import FINAL
from assay.core.sources import Passage, sha256
from assay.core.usage import Usage
from assay.core.view import model


def shared_fields(state: msgspec.Struct, facts: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields that a working copy shares with its view, by name; dictionaries are copied."""
    fields = ((name, getattr(state, name)) for name in facts.__struct_fields__)
    return {name: dict(value) if isinstance(value, dict) else value for name, value in fields}


class TurnState(model.TurnFacts, kw_only=True):
    """A turn in progress; thoughts are stored as pieces until they are read."""

    thoughts: list[list[str]] = []
    tools: dict[str, model.ToolUse] = {}
    searches: list[model.SearchMade] = []
    attempts: list[model.Attempt] = []

    def view(self) -> model.Turn:
        return model.Turn(
            **shared_fields(self, model.TurnFacts),
            thoughts=tuple("".join(pieces) for pieces in self.thoughts),
            tools=tuple(self.tools.values()),
            searches=tuple(self.searches),
            attempts=tuple(self.attempts),
        )


class PhaseState(model.PhaseFacts, kw_only=True):
    """A phase in progress."""

    turns: dict[Path, TurnState] = {}

    def view(self) -> model.Phase:
        turns = tuple(turn.view() for turn in self.turns.values())
        return model.Phase(**shared_fields(self, model.PhaseFacts), turns=turns)


class LaneState(model.LaneFacts, kw_only=True):
    """An agent in progress."""

    turns: dict[Path, TurnState] = {}
    findings: list[str] = []
    passages: tuple[str, ...] = ()
    dropped_markers: int = 0
    reported: bool = False
    uncited: bool = False
    sources: dict[str, None] = {}

    def view(self) -> model.Lane:
        return model.Lane(
            **shared_fields(self, model.LaneFacts),
            turns=tuple(turn.view() for turn in self.turns.values()),
            finding=model.FindingView(
                text="".join(self.findings),
                passages=self.passages,
                dropped_markers=self.dropped_markers,
                finished=self.reported,
                uncited=self.uncited,
            ),
            sources=tuple(self.sources),
        )


class WritingState(model.WritingFacts, kw_only=True):
    """The report in progress."""

    pieces: list[str] = []
    started: bool = False
    revisions: list[str] = []

    def is_whole(self) -> bool:
        """True if the text matches the hash in its last event."""
        text = "".join(self.pieces).encode("utf-8", "surrogatepass")
        return not self.text_sha256 or sha256(text) == self.text_sha256

    def view(self) -> model.Writing:
        """The report so far."""
        return model.Writing(
            **shared_fields(self, model.WritingFacts),
            text="".join(self.pieces),
            state="finished" if self.text_sha256 else "writing" if self.started else "none",
            revisions=tuple(self.revisions),
        )


_MESSAGES = (ControlAccepted.kind, ControlRejected.kind)


class ViewState(model.RunFacts, kw_only=True):
    """A run in progress."""

    phases: dict[str, PhaseState] = {}
    plan_pieces: list[str] = []
    lanes: dict[int, LaneState] = {}
    reflections: list[model.Reflection] = []
    steering: list[model.Steered] = []
    unreadable: list[model.Unreadable] = []
    expected: list[str] = []
    writing: WritingState = msgspec.field(default_factory=WritingState)
    claims: dict[str, Claim] = {}
    checks: dict[str, list[Check]] = {}
    versions: dict[str, list[Version]] = {}
    removed: list[model.RemovedClaim] = []
    conflicts: list[Conflict] = []
    total: Usage = Usage()
    by_role: dict[str, Usage] = {}
    by_phase: dict[str, Usage] = {}
    low: list[model.Low] = []
    warnings: list[model.RunWarning] = []
    pauses: list[model.Pause] = []
    last_kind: str = ""

    def count_event(self, envelope: Envelope) -> None:
        self.last_seq = envelope.seq
        self.run_id = self.run_id or envelope.run_id

    def record_time(self, envelope: Envelope) -> None:
        """Record the time of a relevant event; before some of them nobody worked on the run.

        Messages to a run that rests do not end its rest.
        """
        if self.status in ("waiting", "paused") and envelope.type in _MESSAGES:
            return
        if self.last_at and (envelope.type == RunResumed.kind or self.last_kind == RunWaiting.kind):
            self.pauses.append(model.Pause(began_at=self.last_at, ended_at=envelope.at))
        self.last_kind, self.last_at = envelope.type, envelope.at

    def lane(self, number: int) -> LaneState:
        """The agent with this number, existing or new."""
        if number not in self.lanes:
            self.lanes[number] = LaneState(lane=number)
        return self.lanes[number]

    def phase(self, name: str) -> PhaseState:
        """The phase with this name, existing or new."""
        if name not in self.phases:
            self.phases[name] = PhaseState(name=name)
        return self.phases[name]

    def turn(self, envelope: Envelope) -> TurnState:
        """The turn an event belongs to: its agent's, else its phase's."""
        path, number = envelope.path, lane_of(envelope.path)
        turns = self.phase(path[0] if path else "run").turns if number is None else self.lane(number).turns
        if path not in turns:
            turns[path] = TurnState(path=path)
        return turns[path]

    def add_passages(self, passages: tuple[Passage, ...]) -> tuple[str, ...]:
        """Store passages and return their ids."""
        for passage in passages:
            self.passages.setdefault(passage.id, passage)
        return tuple(passage.id for passage in passages)

    def drop_claim(self, claim: str) -> None:
        """Drop a claim that is no longer in the text, which was begun again or put into its form."""
        self.claims.pop(claim, None)
        self.checks.pop(claim, None)
        self.versions.pop(claim, None)

    def view(self) -> model.RunView:
        """The run so far."""
        claims = tuple(sorted(self.claims.values(), key=lambda claim: (claim.start, claim.end)))
        dropped_markers = self.gate.summary.dropped_markers if self.gate else 0
        return model.RunView(
            **shared_fields(self, model.RunFacts),
            phases=tuple(phase.view() for phase in self.phases.values()),
            active_phase=self._active_phase(),
            plan_text="".join(self.plan_pieces),
            lanes=tuple(lane.view() for _, lane in sorted(self.lanes.items())),
            reflections=tuple(self.reflections),
            steering=tuple(self.steering),
            unreadable=tuple(self.unreadable),
            expected=tuple(self.expected),
            report=self.writing.view(),
            claims=claims,
            checks={id: tuple(checks) for id, checks in self.checks.items()},
            versions={id: tuple(versions) for id, versions in self.versions.items()},
            removed=tuple(self.removed),
            conflicts=tuple(self.conflicts),
            summary=summarize(claims, dropped_markers),
            usage=model.Spending(total=self.total, by_role=dict(self.by_role), by_phase=dict(self.by_phase)),
            low=tuple(self.low),
            warnings=tuple(self.warnings),
            pauses=tuple(self.pauses),
        )

    def _active_phase(self) -> str:
        open = [phase.name for phase in self.phases.values() if phase.started_at and not phase.finished_at]
        return open[-1] if open and self.status not in FINAL else ""


Handler = Callable[[ViewState, e.Envelope, Any], None]
HANDLERS: dict[str, Handler] = {}

H = TypeVar("H", bound=Handler)


def on(*kinds: type[e.Event]) -> Callable[[H], H]:
    """Register the handler of these kinds."""

    def register(handler: H) -> H:
        HANDLERS.update(dict.fromkeys((kind.kind for kind in kinds), handler))
        return handler

    return register
