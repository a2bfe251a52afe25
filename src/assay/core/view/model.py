"""A run at one moment: frozen, and everything that a screen or exporter reads."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from assay.core.brief import Brief
from assay.core.claims import Check, Claim, Conflict, Summary, Verdict, Version
from assay.core.events import Excluded, Path
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import RunStatus
from assay.core.sources import Passage, Source, Surroundings
from assay.core.translation import Statement
from assay.core.typed_answers import Field
from assay.core.usage import Usage

LaneState = Literal["planned", "running", "finished", "failed", "abandoned"]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of all parts of a view."""


# Fields that a part shares with its working copy (`core.view.state`) are declared once, in a struct whose name ends in
# `Facts`; those that the copy builds piece by piece are declared in the view only.


class ToolUse(View, frozen=True, kw_only=True):
    """A tool call. `summary` is one line for a person, or the reason of a failure; `arguments` JSON text."""

    call: str
    tool: str
    arguments: str = ""
    outcome: Literal["running", "done", "failed"] = "running"
    summary: str = ""


class SearchMade(View, frozen=True, kw_only=True):
    """A search; `shared` says that its answer came from the ledger.

    `found` has the addresses of its results, best first, `excluded` those left out, with the reason. `failed` is why
    there was no answer, "" if there was one.
    """

    query: str
    provider: str
    results: int
    shared: bool = False
    found: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    failed: str = ""


class Attempt(View, frozen=True, kw_only=True):
    """One attempt at a model call; `outcome` is ok or the error."""

    role: str
    task: str
    model: str
    attempt: int
    outcome: str


class TurnFacts(msgspec.Struct, kw_only=True):
    """The path of a turn, and whether its last thought may still grow."""

    path: Path
    thinking: bool = False


class Turn(TurnFacts, frozen=True, kw_only=True):  # type: ignore[misc]  # msgspec can freeze what it inherits
    """The events of one path: thoughts (the last may still grow, then `thinking`), tool calls, searches."""

    thoughts: tuple[str, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    searches: tuple[SearchMade, ...] = ()
    attempts: tuple[Attempt, ...] = ()


class PhaseFacts(msgspec.Struct, kw_only=True):
    """A phase and its times; without `started_at` if it has events but never began."""

    name: str
    started_at: str = ""
    finished_at: str = ""


class Phase(PhaseFacts, frozen=True, kw_only=True):  # type: ignore[misc]
    """A phase with the turns that belong to no agent; `finished_at` is empty until it ends."""

    turns: tuple[Turn, ...] = ()


class FindingView(View, frozen=True, kw_only=True):
    """An agent's findings with passage markers; `passages` are the ids it cites, known when it is `finished`.

    If it is `uncited` it cites none: the passages are those shown to the agent that are nearest to the text.
    """

    text: str = ""
    passages: tuple[str, ...] = ()
    dropped_markers: int = 0
    finished: bool = False
    uncited: bool = False


class LaneFacts(msgspec.Struct, kw_only=True):
    """A research agent. `step` is the plan step it serves (0: none).

    Times are ISO 8601 UTC, empty when not yet; `usage` is what its steps spent.
    """

    lane: int
    cycle: int = 0
    task: str = ""
    step: int = 0
    state: LaneState = "planned"
    stop: str = ""
    error: str = ""
    started_at: str = ""
    finished_at: str = ""
    usage: Usage = Usage()


class Lane(LaneFacts, frozen=True, kw_only=True):  # type: ignore[misc]
    """A research agent with its work and findings; `sources` are the ids it was shown, in order."""

    turns: tuple[Turn, ...] = ()
    finding: FindingView = FindingView()
    sources: tuple[str, ...] = ()


class Clarification(View, frozen=True, kw_only=True):
    """Questions to the user, their answers, and the assumptions made without them."""

    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


class Reflection(View, frozen=True, kw_only=True):
    """A reflector's decision after a plan step, and why it was not followed, if so."""

    decision: str
    reasoning: str = ""
    step: int = 0
    changes: tuple[str, ...] = ()
    note: str = ""


class Unreadable(View, frozen=True, kw_only=True):
    """A document or page that could not be read."""

    url: str
    reason: str


class WritingFacts(msgspec.Struct, kw_only=True):
    """The report without its text.

    `text_sha256`, `limits` and `stated` (code's own sentences in it, and their kinds) are known when it is finished.
    """

    title: str = ""
    text_sha256: str = ""
    limits: tuple[str, ...] = ()
    stated: dict[str, Statement] = {}


class Writing(WritingFacts, frozen=True, kw_only=True):  # type: ignore[misc]
    """The report as written, with passage markers."""

    text: str = ""
    state: Literal["none", "writing", "finished"] = "none"
    revisions: tuple[str, ...] = ()


class RemovedClaim(View, frozen=True, kw_only=True):
    """A sentence that was removed from the report: its last text and citations, its checks, and earlier versions."""

    id: str
    text: str
    why: str
    passages: tuple[str, ...] = ()
    verdict: Verdict = "unchecked"
    reason: str = ""
    versions: tuple[Version, ...] = ()


class Gate(View, frozen=True, kw_only=True):
    """The result of the final gate; `summary` has its counts."""

    summary: Summary
    passed: bool
    problems: tuple[str, ...] = ()


class Low(View, frozen=True, kw_only=True):
    """A limit of which 80 % is used."""

    measure: str
    used: float
    limit: float


class RunWarning(View, frozen=True, kw_only=True):
    """Something a reader should know that did not stop the run."""

    message: str
    detail: dict[str, Any] = {}


class Spending(View, frozen=True, kw_only=True):
    """The usage of a run. The parts add up to the whole; what is outside phases is under `run`."""

    total: Usage = Usage()
    by_role: dict[str, Usage] = {}
    by_phase: dict[str, Usage] = {}


class Steered(View, frozen=True, kw_only=True):
    """An instruction of the owner; `note` is the decision that took it into account, or why none did."""

    id: str
    text: str
    state: Literal["accepted", "applied", "rejected"] = "accepted"
    note: str = ""


class Pause(View, frozen=True, kw_only=True):
    """A time in which nobody worked on the run: between two processes, or waiting for a person. ISO 8601 UTC."""

    began_at: str
    ended_at: str


class RunFacts(msgspec.Struct, kw_only=True):
    """The state of a run.

    Times are ISO 8601 UTC, empty if not yet. `mode` and `depth` are the chosen ones after triage, the requested ones
    before. `models` maps a role to the model that last answered for it. `sources`, `passages` and the `surroundings` of
    cited ones are by id, in order of appearance. `documents` counts those in scope, -1 until known. `copies` are groups
    of documents, by hash, that copy one another. `exhausted` is the limit that ended research. `graded` says that the
    claims were compared with the question, `passed` that the final gate passed, `verified` that every claim holds and
    one answers the question (for an older run the same as `passed`). A waiting or paused run was active until
    `last_at`.
    """

    run_id: str = ""
    last_seq: int = 0
    brief: Brief | None = None
    status: RunStatus = "created"
    waiting_for: str = ""
    stop_reason: str = ""
    exhausted: str = ""
    error: str = ""
    verified: bool = False
    passed: bool = False
    mode: str = ""
    depth: str = ""
    models: dict[str, str] = {}
    created_at: str = ""
    started_at: str = ""
    finished_at: str = ""
    last_at: str = ""
    triage: Triage | None = None
    clarification: Clarification = Clarification()
    plan: Plan | None = None
    plan_approved_by: str = ""
    coverage: tuple[Coverage, ...] = ()
    sources: dict[str, Source] = {}
    passages: dict[str, Passage] = {}
    surroundings: dict[str, Surroundings] = {}
    documents: int = -1
    copies: tuple[tuple[str, ...], ...] = ()
    fields: tuple[Field, ...] = ()
    gate: Gate | None = None
    graded: bool = False
    restarts: int = 0


class RunView(RunFacts, frozen=True, kw_only=True):  # type: ignore[misc]
    """A run after its events up to `last_seq`.

    `claims` are in the order of the report; `checks` are by claim, for its present version, `versions` its earlier
    versions, oldest first. `expected` are pages that were read ahead.
    """

    phases: tuple[Phase, ...] = ()
    active_phase: str = ""
    plan_text: str = ""
    lanes: tuple[Lane, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    steering: tuple[Steered, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    expected: tuple[str, ...] = ()
    report: Writing = Writing()
    claims: tuple[Claim, ...] = ()
    checks: dict[str, tuple[Check, ...]] = {}
    versions: dict[str, tuple[Version, ...]] = {}
    removed: tuple[RemovedClaim, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    summary: Summary = Summary()
    usage: Spending = Spending()
    low: tuple[Low, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    pauses: tuple[Pause, ...] = ()

    @property
    def question(self) -> str:
        """The question, empty before the run exists."""
        return self.brief.question if self.brief else ""

    @property
    def strategy(self) -> str:
        """The strategy, empty before the run exists."""
        return self.brief.strategy if self.brief else ""
