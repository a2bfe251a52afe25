"""Plan review: the plan is shown, edited in $EDITOR as often as one likes, then approved, or the run is cancelled."""

from __future__ import annotations

import click

from assay import Assay
from assay.cli.interrupts import left_by_ctrl_c
from assay.cli.terminal import clean, harmless, say
from assay.core import plan as plan_form
from assay.core.errors import UsageError
from assay.core.plan import Plan
from assay.core.view import RunView

CHOICES = {"a": "approve", "e": "edit", "c": "cancel"}


async def review(assay: Assay, view: RunView) -> bool:
    """Have a person approve the plan a run waits with; False when they cancelled the run.

    Raises:
        click.Abort: the person left; the run waits.
    """
    try:
        with left_by_ctrl_c():
            plan = chosen(view.plan or Plan(title=""))
    except click.Abort:
        say(f"\nrun {view.run_id} waits; to approve its plan later: assay runs approve {view.run_id}")
        raise
    if plan is None:
        await assay.control(view.run_id, "cancel", wait=10)
        return False
    await assay.approve(view.run_id, None if plan == view.plan else plan)
    return True


def chosen(plan: Plan) -> Plan | None:
    """The plan as a person wants it; None to cancel."""
    text = plan_form.written(plan)
    while True:
        show(plan)
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
        text, plan = edited(text, plan)


def edited(text: str, plan: Plan) -> tuple[str, Plan]:
    """The form after an editor, and the plan in it; the plan before where it cannot be read."""
    try:
        said = click.edit(plan_form.HEADER + text.removeprefix(plan_form.HEADER), extension=".txt", require_save=False)
    except click.ClickException as error:
        say(f"{error.message}; set EDITOR to your editor")
        return text, plan
    try:
        return (said or text), (plan_form.read(said) if said and said.strip() else plan)
    except UsageError as error:
        say(f"the plan cannot be read: {clean(str(error))}; edit it again")
        return said or text, plan


def show(plan: Plan) -> None:
    """The plan on stderr."""
    for line in plan_form.written(plan).splitlines():
        say(harmless(line))
