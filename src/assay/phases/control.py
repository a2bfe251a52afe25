"""Control tools: definitions whose calls are signals to a phase, never actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from assay.core.messages import ToolCall, ToolDefinition
from assay.core.plan import Complexity, FollowUp
from assay.tools.arguments import define

Meta = msgspec.Meta


class Answer(msgspec.Struct, frozen=True):
    """`answer`: nothing has to be looked up."""

    text: Annotated[str, Meta(description="The whole answer.")] = ""


class GeneratePlan(msgspec.Struct, frozen=True):
    """`generate_plan`: research it."""

    reasoning: Annotated[str, Meta(description="What is asked, and why it is as complex as you say.")] = ""
    complexity: Annotated[Complexity, Meta(description="How much there is to find out.")] = "moderate"
    depth: Annotated[
        Literal["", "light", "medium", "extended"], Meta(description="How far to go; follows complexity when absent.")
    ] = ""
    follow_up: Annotated[
        Literal["", FollowUp], Meta(description="How it relates to what was said before; leave out where nothing was.")
    ] = ""
    restated: Annotated[
        str, Meta(description="The whole question, where it cannot be understood without what was said before.")
    ] = ""
    whole_collection: Annotated[
        bool, Meta(description="Whether every document in scope has to be looked at: list all, how many, for each.")
    ] = False
    assumptions: Annotated[
        tuple[str, ...], Meta(description="How you read the question where it can be read in different ways.")
    ] = ()


class ResearchAgent(msgspec.Struct, frozen=True):
    """`research_agent`: send an agent."""

    task: Annotated[
        str,
        Meta(description="The whole task: what to find, about what, which names and dates; the agent sees no more."),
    ]
    step: Annotated[int, Meta(description="The number of the plan step it serves.")] = 0
    continues: Annotated[str, Meta(description="The number of an agent whose work it carries on.")] = ""
    after: Annotated[
        tuple[int, ...],
        Meta(description="The calls before it in this reply, from 1, whose findings it needs."),
    ] = ()


class GenerateReport(msgspec.Struct, frozen=True):
    """`generate_report`: research is done."""


ANSWER = define(
    "answer",
    "Answer at once. Only for greetings, thanks, and requests about this conversation that need no facts.",
    Answer,
    control=True,
)
GENERATE_PLAN = define(
    "generate_plan", "Have the question researched.", GeneratePlan, control=True, required=("reasoning",)
)
RESEARCH_AGENT = define(
    "research_agent",
    "Send a research agent to work on one task. Several calls at once work in parallel. Its findings come back.",
    ResearchAgent,
    control=True,
)
GENERATE_REPORT = define(
    "generate_report", "End research and have the report written from the findings.", GenerateReport, control=True
)

TRIAGE = (ANSWER, GENERATE_PLAN)


def names(tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    """The tools' names."""
    return tuple(tool.name for tool in tools)


def first(calls: Sequence[ToolCall], name: str) -> ToolCall | None:
    """The first call of a tool; None if there is none."""
    return next((call for call in calls if call.name == name), None)
