"""A run whose models, documents and failures hold what no log and no trace may tell."""

from __future__ import annotations

from typing import Any

from research import ONE_STEP, Log, Sea, agent, planned, report_wanted, sends

from assay.core.events import RunCompleted
from assay.core.messages import Price, Profile
from assay.core.ports import Watch, World
from assay.models.script import Scripted, fails, says

SECRET = "sk-planted-0123456789abcdef"
PLANTED = "zebrafinch"
"""A word of the document, the question, the task, the findings and the report."""
TIDES = f"# Tides of the {PLANTED}\n\nThe tide at Brest rises seven metres for the {PLANTED}.\n"
TASK = f"Find how far the tide of the {PLANTED} rises"
LARGE = Profile(name="acme:large", price=Price(input=1.0, output=2.0))
FOUND = f"The tide at Brest rises seven metres for the {PLANTED}. [S1001.1]"


class Watched(Sea):
    """The documents, and who watches the runs over them."""

    def __init__(self, watch: Watch) -> None:
        super().__init__({f"{PLANTED}.md": TIDES})
        self.watch = watch

    def world(self, model: Scripted) -> World:
        world = super().world(model)
        return type(world)(**{name: getattr(world, name) for name in world.__struct_fields__} | {"watch": self.watch})


def leaking_model() -> Scripted:
    """A run with one agent; the writer's first attempt fails, and the service repeats key and text."""
    failing = fails(f"401: key {SECRET} was refused for {PLANTED}", task="write")
    scenes = [*planned(ONE_STEP), sends(TASK), *agent(TASK, f"tide {PLANTED}", FOUND), report_wanted(), failing]
    return Scripted([*scenes, says(FOUND, task="write")], profile=LARGE)


async def watched_run(watch: Watch, **changes: Any) -> Log:
    """The run, told to `watch`."""
    log: Log = await Watched(watch).run(
        leaking_model(), question=f"How far does the tide rise for the {PLANTED}?", **changes
    )
    assert log.last(RunCompleted).stop_reason == "done"
    assert PLANTED in log.text
    return log
