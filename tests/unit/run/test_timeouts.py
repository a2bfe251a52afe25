"""How long a model may keep a run waiting is the brief's, and the brief's is the settings'."""

from __future__ import annotations

import pytest
from research import Sea, within
from runtime import ASK

from assay.core.brief import Timeouts
from assay.core.messages import Request
from assay.models.script import Scripted, says
from assay.run.run import Run
from assay.run.sent_request import add_timeouts
from assay.services.briefs import make_brief
from assay.settings import load

TIMES = Timeouts(first_token=1.0, tokens=2.0, report=3.0, total=4.0)


@pytest.mark.parametrize(("task", "between"), [("write", 3.0), ("find", 3.0), ("analyze", 3.0), ("plan", 2.0)])
def test_long_replies_have_a_time_of_their_own(task: str, between: float) -> None:
    asked = add_timeouts(Request(task=task, system="", messages=()), TIMES)  # type: ignore[arg-type]
    assert (asked.first_token, asked.timeout, asked.total) == (1.0, between, 4.0)


def test_without_a_word_a_request_has_the_times_it_would_have_had() -> None:
    assert add_timeouts(ASK, Timeouts()) == ASK


async def test_the_model_is_asked_with_the_times_of_the_brief() -> None:
    model = Scripted([says("ok")])

    async def body(run: Run) -> None:
        await run.ask("complex", ASK)

    await within(Sea(), body, timeouts=TIMES, models={"scripted": model})
    (asked,) = model.requests
    assert (asked.first_token, asked.timeout, asked.total) == (1.0, 2.0, 4.0)


def test_the_brief_takes_them_from_the_settings() -> None:
    settings = load(timeouts={"first_token": 300, "report": 900})
    assert make_brief("Why?", settings, {}).timeouts == Timeouts(first_token=300.0, report=900.0)
