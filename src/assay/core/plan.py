"""What triage decides and what the planner plans."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.brief import SetDepth

Complexity = Literal["simple", "moderate", "complex"]
FollowUp = Literal["new_topic", "clarification", "complex_follow_up"]
StepStatus = Literal["pending", "running", "completed", "partly", "open", "skipped"]
"""`pending`: nobody has worked on it, or who did failed. `completed`: it is answered; `partly`: in part; `open`: it was
worked on, and what was found does not answer it. `skipped`: it was given up."""
CoverageStatus = Literal["answered", "partly", "not"]


class Triage(msgspec.Struct, frozen=True, kw_only=True):
    """How a question is classified; `questions` (at most 3) only when it is ambiguous.

    `restated` is the question in full where it leaned on what was said before in its thread, else empty.
    `assumptions` say how it was read where it can be read in different ways and nobody was asked.
    `whole_collection` says that every document has to be looked at: "list all", "how many", "for each document".
    """

    complexity: Complexity = "moderate"
    follow_up: FollowUp = "new_topic"
    ambiguous: bool = False
    questions: tuple[str, ...] = ()
    depth: SetDepth = "medium"
    reasoning: str = ""
    answer: str | None = None
    restated: str = ""
    whole_collection: bool = False
    assumptions: tuple[str, ...] = ()


class PlanStep(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered step of a plan; `again` is the step it tries once more by other means, 0 for none."""

    id: int
    title: str
    description: str = ""
    type: Literal["research", "analysis"] = "research"
    needs_search: bool = True
    status: StepStatus = "pending"
    finding: str = ""
    again: int = 0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Numbered steps; `iteration` counts the plans of a run from 1."""

    id: str = "plan-1"
    title: str
    thought: str = ""
    iteration: int = 1
    enough_context: bool = False
    steps: tuple[PlanStep, ...] = ()


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said of a proposed plan: the plan they want instead, None where it is good as it is."""

    plan: Plan | None = None


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one part of the question or plan is answered; `step` is a plan step's id, 0 for the question itself.

    `reason` says what is missing, in the words of the model which judged it; "" where code did.
    """

    step: int
    part: str
    status: CoverageStatus
    passages: tuple[str, ...] = ()
    reason: str = ""
