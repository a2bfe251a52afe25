"""The questions a run waits with, put to a person."""

from __future__ import annotations

from typing import Literal

import click

from assay import Assay, RunHandle
from assay.cli.display import Display
from assay.cli.exits import Exit
from assay.cli.interrupts import left_by_ctrl_c
from assay.cli.plan_review import review
from assay.cli.run_watch import Output, conclude, watch
from assay.cli.terminal import clean, say
from assay.core.view import RunView

Ask = Literal["never", "optional", "required"]


def asking(wanted: Ask | None, configured: Ask, *, somebody: bool) -> Ask:
    """Whether a run is to wait for answers: where a person is there to give them, or where it must."""
    wish = wanted or configured
    return "required" if wish == "required" or (wish == "optional" and somebody) else "never"


async def converse(
    assay: Assay, run: RunHandle, output: Output, shown: Display | None = None, *, somebody: bool
) -> Exit:
    """Execute `run` to its end; where it asks and `somebody` is there, put its questions and go on.

    Raises:
        click.Abort: the person left; the run waits.
    """
    code = await watch(assay, run, output, shown, asks=somebody)
    while somebody and code == Exit.INPUT_NEEDED:
        if not await put(assay, await assay.view(run.run_id)):
            return await conclude(assay, await assay.view(run.run_id), output)
        code = await watch(assay, await assay.resume(run.run_id), output, asks=somebody)
    return code


async def put(assay: Assay, view: RunView) -> bool:
    """Have a person say what a run waits for; False where it is not to go on, or waits for something else.

    Raises:
        click.Abort: the person left; the run waits.
    """
    if view.waiting_for == "plan":
        return await review(assay, view)
    if view.waiting_for != "answers":
        return False
    await assay.answer(view.run_id, put_questions(view))
    return True


def put_questions(view: RunView) -> list[str]:
    """A person's answers, one prompt each; an empty one leaves the question to the usual reading.

    Raises:
        click.Abort: the person left.
    """
    questions = view.clarification.questions
    say("The question can be read in several ways. Enter alone leaves an answer to the usual reading.")
    try:
        with left_by_ctrl_c():
            return [click.prompt(clean(question), default="", show_default=False, err=True) for question in questions]
    except click.Abort:
        say(f"\nrun {view.run_id} waits; to answer later: assay runs answer {view.run_id}")
        raise
