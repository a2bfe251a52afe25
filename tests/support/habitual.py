"""Whole runs in which a model keeps one habit throughout, in both strategies."""

from __future__ import annotations

from collections.abc import Sequence

from research import MISTRAL, PLAN, TIDE, agent, planned, report_wanted, sends
from stepwise import decides

from assay.core.messages import Reply
from assay.models.script import Scene, says

STRATEGIES = ("orchestrated", "reflective")
ROSE, BLEW = "The tide at Brest rises seven metres", "The mistral blows from the north-west"


def found(habit: str) -> tuple[str, str]:
    """The findings of two agents; `habit` is how a model writes an id, ID in its place."""
    return f"{ROSE} {habit.replace('ID', 'S1001.1')}.", f"{BLEW} {habit.replace('ID', 'S2001.1')}."


def written(habit: str) -> str:
    """The report."""
    one, two = found(habit)
    return f"{one}\n\n## Winds\n\n{two}"


def researched(strategy: str, first: Sequence[Scene], second: Sequence[Scene], plan: str = PLAN) -> list[Scene]:
    """Everything before the report: two agents, or two steps, which search and then report as the scenes say."""
    opening = planned(plan, depth="medium")
    tasks = (TIDE, MISTRAL) if strategy == "orchestrated" else ("Tide at Brest", "Winds of the mistral")
    one, two = (
        [*agent(task, query, "")[:2], *(_about(scene, task) for scene in scenes)]
        for task, query, scenes in zip(tasks, ("tide Brest", "mistral"), (first, second), strict=True)
    )
    if strategy == "orchestrated":
        return [*opening, sends(*tasks), *one, *two, report_wanted()]
    return [*opening, *one, decides("continue", "Known."), *two, decides("continue", "Known.")]


def _about(scene: Scene, task: str) -> Scene:
    assert scene.task == "find"
    return Scene(answer=scene.answer, task="find", contains=task)


def reports(text: str, stop: str = "end") -> Scene:
    """An agent's findings."""
    return Scene(answer=Reply(text=text, stop=stop), task="find")  # type: ignore[arg-type]


def writes(text: str, stop: str = "end") -> Scene:
    """The writer's report."""
    return Scene(answer=Reply(text=text, stop=stop), task="write")  # type: ignore[arg-type]


def habitual(strategy: str, habit: str) -> list[Scene]:
    """A run whose model cites in one way throughout."""
    one, two = found(habit)
    return [*researched(strategy, [reports(one)], [reports(two)]), says(written(habit), task="write")]
