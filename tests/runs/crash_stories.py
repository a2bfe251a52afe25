"""The runs of the crash campaign: both strategies, by the built-in model and by a writer who lies and is repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from research import agent, planned, report_wanted, sends
from stepwise import decides, steps

from assay import plugins
from assay.core.messages import Price, Profile, Reply, ToolCall
from assay.core.ports import Access, Model
from assay.models.script import Scene, Scripted, says

PLAIN = Profile(name="plain", price=Price(input=1.0, output=2.0), deterministic=True)
"""Not asked to judge or to revise: claims are weighed by their words, and repaired by code alone."""
CLEVER = msgspec.structs.replace(PLAIN, name="clever", deterministic=False)
TASKS = ("Find whom the harbour of Brest employs", "Find when the harbour of Brest was dug")
QUERY = "harbour Brest employs closes dug"
HARBOUR = {
    "harbour.md": "# The harbour of Brest\n\nThe harbour of Brest employs 400 people.\n\n"
    "The harbour of Brest closes at 9.\n\nThe harbour of Brest was dug in 1631.\n",
    "noise.md": "# Bread\n\nBread is baked from flour and water. Salt is added later.\n",
}
REPORT = (
    "The harbour of Brest employs 400 people. [S1001.1]\n\n## Hours\n\n"
    "The harbour of Brest closes at 9. [S1001.1]\n\n"
    "- The harbour of Brest was dug in 1931. [S1001.3]\n- The harbour of Brest employs 900 people. [S1001.1]\n"
    "- The harbour of Lorient is larger than it by far. [S1001.2]\n"
)
DENIED = ToolCall(id="call-0", name="verdict", arguments={"slots": [], "reason": "no", "verdict": "unsupported"})
TOWNS = {
    "velden.md": "# Velden\n\nThe charter of Velden was written by Mara Lind in 1741. It has 12 articles.\n\n"
    "The town kept the charter in the chapel until 1903.\n",
    "aru.md": "# Aru\n\nThe lighthouse of Aru was finished on 3 May 1862. It is 41 metres high.\n\n"
    "Its keeper was Jon Brae. The lamp burns oil.\n",
    "noise.md": HARBOUR["noise.md"],
}


JUDGED = '{"parts": [{"part": 1, "status": "answered"}, {"part": 2, "status": "answered"}]}'


@dataclass(frozen=True)
class Story:
    """A run which comes to the same report whenever it is begun: its documents, its model, its strategy."""

    question: str
    documents: dict[str, str]
    strategy: str
    make: Callable[[], Model]
    depth: str = "light"


def builtin() -> Model:
    """The built-in model."""
    model: Model = plugins.load("models", "extractive")("quoting", Access())
    return model


def found(lane: int) -> list[Scene]:
    """An agent of this lane searches once and reports."""
    return agent(TASKS[lane - 1], QUERY, f"The harbour of Brest employs 400 people. [S{lane}001.1]")


def liar(profile: Profile, *middle: Scene) -> Callable[[], Model]:
    """A writer who lies: sentences are revised and taken out. Every scene may be asked for again."""
    scenes = [
        *planned(steps(*TASKS)),
        *middle,
        *found(1),
        *found(2),
        says(JUDGED, task="assess"),
        says(REPORT, task="write"),
        says("The harbour of Brest was dug in 1631. [S1001.3]", task="revise", contains="1931"),
        says("NOTHING", task="revise"),
        Scene(answer=Reply(calls=(DENIED,), stop="calls"), task="judge"),
    ]
    again = [msgspec.structs.replace(scene, repeat=True) for scene in scenes]
    return lambda: Scripted(again, profile=profile, chunk=60)


WHO = "Who wrote the charter of Velden, and when was the lighthouse of Aru finished?"
DOES = "What does the harbour of Brest do?"
STORIES = {
    "orchestrated": Story(WHO, TOWNS, "orchestrated", builtin, "medium"),
    "reflective": Story(WHO, TOWNS, "reflective", builtin, "medium"),
    "orchestrated, repaired": Story(
        DOES, HARBOUR, "orchestrated", liar(PLAIN, sends(*TASKS, turn=0), report_wanted(turn=1)), "light"
    ),
    "reflective, repaired": Story(
        DOES, HARBOUR, "reflective", liar(CLEVER, decides("continue", "It goes on.")), "medium"
    ),
}
