"""Puts the questions of a waiting run to a person, and lets a plan be edited in $EDITOR and approved."""

from __future__ import annotations

from typing import Literal

import click

from assay import Assay, RunHandle
from assay.cli.display import Display
from assay.cli.run_watch import Output, deliver_result, execute_run
from assay.cli.signals import interruptible_prompt
from assay.cli.terminal import Exit, clean, say, strip_controls
from assay.core import plan as plan_form
from assay.core.errors import UsageError
from assay.core.plan import Plan
from assay.core.view import RunView

AskMode = Literal["never", "optional", "required"]


def resolve_ask(option: AskMode | None, setting: AskMode, *, somebody: bool) -> AskMode:
    """Choose if a run waits for answers: if a person can give them, or if it must."""
    mode = option or setting
    return "required" if mode == "required" or (mode == "optional" and somebody) else "never"


async def run_interactively(
    assay: Assay, run: RunHandle, output: Output, display: Display | None = None, *, somebody: bool
) -> Exit:
    """Execute `run` to its end. If it asks and `somebody` is there, put its questions and continue.

    Raises:
        click.Abort: the person left; the run waits.
    """
    code = await execute_run(assay, run, output, display, asks=somebody)
    while somebody and code == Exit.INPUT_NEEDED:
        if not await ask_person(assay, await assay.view(run.run_id)):
            return await deliver_result(assay, await assay.view(run.run_id), output)
        code = await execute_run(assay, await assay.resume(run.run_id), output, asks=somebody)
    return code


async def ask_person(assay: Assay, view: RunView) -> bool:
    """Have a person answer a waiting run; False if it is not to continue, or waits for something else.

    Raises:
        click.Abort: the person left; the run waits.
    """
    if view.waiting_for == "plan":
        return await review_plan(assay, view)
    if view.waiting_for != "answers":
        return False
    await assay.answer(view.run_id, ask_questions(view))
    return True


def ask_questions(view: RunView) -> list[str]:
    """A person's answers, one prompt each; an empty answer keeps the usual interpretation.

    Raises:
        click.Abort: the person left.
    """
    questions = view.clarification.questions
    say("The question can be read in several ways. Enter alone leaves an answer to the usual reading.")
    try:
        with interruptible_prompt():
            return [click.prompt(clean(question), default="", show_default=False, err=True) for question in questions]
    except click.Abort:
        say(f"\nrun {view.run_id} waits; to answer later: assay runs answer {view.run_id}")
        raise


CHOICES = {"a": "approve", "e": "edit", "c": "cancel"}


async def review_plan(assay: Assay, view: RunView) -> bool:
    """Have a person approve the plan of a waiting run; False if they cancelled the run.

    Raises:
        click.Abort: the person left; the run waits.
    """
    try:
        with interruptible_prompt():
            plan = edit_plan(view.plan or Plan(title=""))
    except click.Abort:
        say(f"\nrun {view.run_id} waits; to approve its plan later: assay runs approve {view.run_id}")
        raise
    if plan is None:
        await assay.control(view.run_id, "cancel", wait=10)
        return False
    await assay.approve(view.run_id, None if plan == view.plan else plan)
    return True


def edit_plan(plan: Plan) -> Plan | None:
    """The plan after the person's changes; None to cancel."""
    text = plan_form.format_plan(plan)
    while True:
        print_plan(plan)
        choice = click.prompt(
            "[a]pprove, [e]dit or [c]ancel the run",
            type=click.Choice([*CHOICES, *CHOICES.values()], case_sensitive=False),
            default="a",
            show_choices=False,
            err=True,
        )
        if choice in ("c", "cancel"):
            return None
        if choice in ("a", "approve"):
            return plan
        text, plan = parse_edited_plan(text, plan)


def parse_edited_plan(text: str, plan: Plan) -> tuple[str, Plan]:
    """The form after an editor, and the plan in it; the previous plan if it cannot be read."""
    try:
        edited_text = click.edit(
            plan_form.HEADER + text.removeprefix(plan_form.HEADER), extension=".txt", require_save=False
        )
    except click.ClickException as error:
        say(f"{error.message}; set EDITOR to your editor")
        return text, plan
    try:
        return (edited_text or text), (
            plan_form.read_plan(edited_text) if edited_text and edited_text.strip() else plan
        )
    except UsageError as error:
        say(f"the plan cannot be read: {clean(str(error))}; edit it again")
        return edited_text or text, plan


def print_plan(plan: Plan) -> None:
    """Print the plan on stderr."""
    for line in plan_form.format_plan(plan).splitlines():
        say(strip_controls(line))
