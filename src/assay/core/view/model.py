"""What a run looks like at one moment: frozen, and all any screen or exporter reads."""

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
    """The root of all parts of a view."""


# What a part of the view has in common with its working copy (`core.view.state`), which inherits it too, is declared
# once, in a struct whose name ends in `Facts`; what the copy builds up piece by piece, the view alone declares.


class ToolUse(View, frozen=True, kw_only=True):
    """A tool call. `summary` is one line for a person, or the reason of a failure; `arguments` JSON text."""

    call: str
    tool: str
    arguments: str = ""
    outcome: Literal["running", "done", "failed"] = "running"
    summary: str = ""


class SearchMade(View, frozen=True, kw_only=True):
    """A search; `shared` says its answer came from the ledger.

    `found` are the addresses of its results, best first, `excluded` those left out, with the reason. `failed` is why
    there was no answer, "" where there was one.
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
    """What happened on one path: thoughts (the last may still grow, then `thinking`), tool calls, searches."""

    thoughts: tuple[str, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    searches: tuple[SearchMade, ...] = ()
    attempts: tuple[Attempt, ...] = ()


class PhaseFacts(msgspec.Struct, kw_only=True):
    """A phase and its times; without `started_at` when an event lies in it which never began."""

    name: str
    started_at: str = ""
    finished_at: str = ""


class Phase(PhaseFacts, frozen=True, kw_only=True):  # type: ignore[misc]
    """A phase with the turns that belong to no agent; `finished_at` is empty while it lasts."""

    turns: tuple[Turn, ...] = ()


class FindingView(View, frozen=True, kw_only=True):
    """An agent's findings with passage markers; `passages` are the ids it cites, known when it is `finished`.

    It cites none where it is `uncited`: the passages are those shown to the agent which are nearest to the text.
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
    """A research agent with what it did and found; `sources` are the ids it was shown, in order."""

    turns: tuple[Turn, ...] = ()
    finding: FindingView = FindingView()
    sources: tuple[str, ...] = ()


class Clarification(View, frozen=True, kw_only=True):
    """Questions to the person who asked, their answers, and what was assumed without them."""

    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


class Reflection(View, frozen=True, kw_only=True):
    """A reflector's decision after a plan step, and why it was not followed where it was not."""

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
    """What is known of the report beside its text. `text_sha256`, `limits` and `stated` (what code says in it, and of
    what kind that is) are known when it is finished.
    """

    title: str = ""
    text_sha256: str = ""
    limits: tuple[str, ...] = ()
    stated: dict[str, Statement] = {}


class Writing(WritingFacts, frozen=True, kw_only=True):  # type: ignore[misc]
    """The report as written, passage markers in it."""

    text: str = ""
    state: Literal["none", "writing", "finished"] = "none"
    revisions: tuple[str, ...] = ()


class RemovedClaim(View, frozen=True, kw_only=True):
    """A sentence that was taken out of the report: what it said and cited last, what was said of it, and before."""

    id: str
    text: str
    why: str
    passages: tuple[str, ...] = ()
    verdict: Verdict = "unchecked"
    reason: str = ""
    versions: tuple[Version, ...] = ()


class Gate(View, frozen=True, kw_only=True):
    """What the final gate said; `summary` is what it counted."""

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
    """What a run spent. The parts add up to the whole; what lies outside phases is under `run`."""

    total: Usage = Usage()
    by_role: dict[str, Usage] = {}
    by_phase: dict[str, Usage] = {}


class Steered(View, frozen=True, kw_only=True):
    """What the owner told the run; `note` is the decision which took it, or why none did."""

    id: str
    text: str
    state: Literal["accepted", "applied", "rejected"] = "accepted"
    note: str = ""


class Pause(View, frozen=True, kw_only=True):
    """A time in which nobody worked on the run: between two processes, or waiting for a person. ISO 8601 UTC."""

    began_at: str
    ended_at: str


class RunFacts(msgspec.Struct, kw_only=True):
    """What is known of a run.

    Times are ISO 8601 UTC, empty when not yet. `mode` and `depth` are the chosen ones after triage, the asked ones
    before. `models` maps a role to the model which last answered for it. `sources`, `passages` and the `surroundings`
    of cited ones are by id, in order of appearance. `documents` counts those in scope, -1 while that is not known.
    `copies` are groups of documents, by hash, which copy one another. `exhausted` is the limit which ended research.
    `graded` says that it was looked at how far the claims answer the question; `passed` that the final gate
    was; `verified`, that every claim holds and one answers the question as well (of an older run the same as `passed`).
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

    `claims` are in the order of the report; `checks` are by claim, those of its present version, `versions` what it
    said before, the oldest first. `expected` are pages which were read before anybody asked for them.
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
        """What was asked, empty before the run exists."""
        return self.brief.question if self.brief else ""

    @property
    def strategy(self) -> str:
        """How research works, empty before the run exists."""
        return self.brief.strategy if self.brief else ""
