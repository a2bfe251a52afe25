"""Whole runs in which a package's text stands in place of a prompt of ours."""

from __future__ import annotations

import msgspec
from research import ONE_STEP, ROSE, TIDE, Sea, first_agent, planned, report_wanted, sends

from assay.core.ports import World
from assay.models.script import Scene, Scripted, says
from assay.phases import prompts
from assay.run.prompt_files import prompt

WRITE = "Write as sailors do."


class Replaced(Sea):
    """A store whose runs have a text for the writer."""

    def world(self, model: Scripted) -> World:
        return msgspec.structs.replace(super().world(model), prompts={"phases.write": WRITE})


def script() -> list[Scene]:
    return [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(ROSE, task="write")]


async def test_the_text_is_what_the_model_is_told_and_others_stay() -> None:
    log = await Replaced().run(script())
    found = {request.task: request.system for request in log.model.requests}
    assert found["write"] == WRITE
    assert found["plan"] in {prompt("assay.phases", name.partition(".")[2]) for name in prompts()}
    assert WRITE not in found["plan"]
