"""Scenes of reflective runs: steps done by agents, decisions of the reflector, plans changed."""

from __future__ import annotations

import json
from typing import Any

from research import BLEW, ROSE, agent, planned

from assay.core.messages import Request
from assay.models.script import Scene, calls, says

SAID = "It rises seven metres. [S1001.1]"
TITLES = ("Tide at Brest", "Winds of the mistral", "Tide at Genoa", "Moon")


def steps(*titles: str, **changed: Any) -> str:
    """A plan with these steps, the last with other fields where some are given."""
    made: list[dict[str, Any]] = [{"title": title} for title in titles]
    made[-1] |= changed
    return json.dumps({"title": "Brest", "steps": made})


def again(*made: dict[str, Any], thought: str = "other steps", **fields: Any) -> Scene:
    """The planner's answer at a change of plan."""
    return says(json.dumps({"title": "Brest", "thought": thought, "steps": list(made), **fields}), task="plan")


def opening(plan: str, depth: str = "medium") -> list[Scene]:
    """Triage, background and a first plan."""
    return planned(plan, depth=depth)


def decides(decision: str, reasoning: str = "", *changes: str, **scene: Any) -> Scene:
    """The reflector's decision."""
    found = {"reasoning": reasoning, "decision": decision, "changes": list(changes)}
    return says(json.dumps(found), task="reflect", **scene)


def step(title: str, finding: str = "Nothing about this was found.", query: str = "tide Brest") -> list[Scene]:
    """A step done by an agent which searches once."""
    return agent(title, query, finding)


def tide() -> list[Scene]:
    return step(TITLES[0], ROSE)


def winds() -> list[Scene]:
    return step(TITLES[1], BLEW, "mistral")


def requests(model: Any, task: str) -> list[Request]:
    """The requests of one task, in order."""
    return [request for request in model.requests if request.task == task]


def two_steps() -> list[Scene]:
    """A whole run of two steps which the reflector lets go on."""
    first = decides("continue", "The tide is known.")
    written = says("It rises seven metres. [S1001.1]", task="write")
    return [*opening(steps(*TITLES[:2])), *tide(), first, *winds(), decides("continue", "Both are known."), written]


def changed_plan() -> list[Scene]:
    """A whole run whose first step finds nothing, is tried again by a changed plan, and is complete then."""
    return [
        *opening(steps(*TITLES[:2]), depth="light"),
        *classic(TITLES[0], ("surge",)),
        decides("adjust", "Nothing under that word.", "search for tide"),
        again({"title": "Tide by another word", "again": 1}, {"title": TITLES[1]}),
        *classic("Tide by another word", ("tide Brest",), "The tide at Brest rises seven metres. [S2001.1]"),
        decides("complete", "The question is answered."),
        says("It rises seven metres. [S2001.1]", task="write"),
    ]


def classic(title: str, queries: tuple[str, ...], finding: str = "Nothing about this was found.") -> list[Scene]:
    """A step of a light run: one call for the queries, one for the findings."""
    wanted = [("search", {"query": query}) for query in queries]
    return [calls(*wanted, task="research", contains=title), says(finding, task="find", contains=title)]
