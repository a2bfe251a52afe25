"""What an agent, or a phase, is doing now: in one line that stays the same while text streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from rich.text import Text

from assay.cli.figures import joined
from assay.cli.live.columns import words
from assay.cli.progress import counted
from assay.core.claims import VERDICTS
from assay.core.phrases import in_words
from assay.core.view import Lane, RunView, ToolUse, Turn

STARTING = {
    "triage": "classifying the question",
    "background": "a first look",
    "plan": "planning",
    "research": "deciding what to research",
    "write": "writing the report",
    "verify": "finding the claims",
}


def of_lane(lane: Lane) -> Text:
    """The agent's last tool call, search or thought, or how it ended."""
    if lane.state == "failed":
        return words(f"failed: {lane.error}", "red")
    if lane.state == "finished":
        return words(_reported(lane), "dim")
    if lane.state == "planned":
        return words("waits for its turn", "dim")
    if lane.finding.text and not lane.finding.finished:
        return words("writes what it found")
    return of_turns(lane.turns) or words("starts")


def _reported(lane: Lane) -> str:
    stopped = "" if lane.stop in ("", "done") else f"; ended early: {in_words(lane.stop)}"
    cited = "nothing" if lane.finding.uncited else counted(len(lane.finding.passages), "passage")
    return f"reported: {cited} cited{stopped}"


def of_phase(view: RunView) -> Text:
    """What happens outside the agents."""
    if view.status == "waiting":
        plan = view.waiting_for == "plan"
        asked = view.plan.title if plan and view.plan else " ".join(view.clarification.questions)
        return words(f"waits for {'its plan to be approved' if plan else view.waiting_for}: {asked}", "yellow")
    if view.status == "paused":
        return words("paused", "yellow")
    name = view.active_phase
    if name == "verify" and view.claims:
        return words(claims(view))
    if name == "write" and view.report.text:
        written = f"writing the report: {counted(len(view.report.text.split()), 'word')}"
        return words(joined((written, claims(view)), "; "))
    if name == "plan" and view.plan_text:
        return words(f"planning: {view.plan_text.strip().splitlines()[-1]}")
    if working := sum(lane.state == "running" for lane in view.lanes):
        return words(f"{counted(working, 'agent')} at work")
    turns = next((phase.turns for phase in view.phases if phase.name == name), ())
    return of_turns(turns) or words(STARTING.get(name, name))


def claims(view: RunView) -> str:
    """`12 claims: 9 quoted, 1 contradicted, 2 being checked`; nothing while none was found."""
    verdicts = Counter(claim.verdict for claim in view.claims if view.checks.get(claim.id))
    waiting = len(view.claims) - verdicts.total()
    counts = [f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict]]
    counts += [f"{waiting} being checked"] if waiting else []
    return f"{counted(len(view.claims), 'claim')}: {', '.join(counts)}" if counts else ""


def of_turns(turns: Sequence[Turn]) -> Text | None:
    """The running tools, else the thought, else what came last; None when there is nothing yet."""
    running = [use for turn in turns for use in turn.tools if use.outcome == "running"]
    if running:
        more = f" (and {len(running) - 1} more)" if len(running) > 1 else ""
        return words(f"{called(running[-1])}{more}")
    if turns and turns[-1].thinking:
        return words(f"thinks: {turns[-1].thoughts[-1]}")
    for turn in reversed(turns):  # each tool call has a path of its own, and so has a provider's search below it
        if turn.tools:
            return _ended(turn.tools[-1])
        if turn.thoughts:
            return words(f"thought: {turn.thoughts[-1]}")
    return None


def _ended(use: ToolUse) -> Text:
    if use.outcome == "failed":
        return words(f"{called(use)} failed: {use.summary}", "red")
    return words(f"{called(use)}: {use.summary}")


def called(use: ToolUse) -> str:
    """A tool call as a person would say it: `search mistral wind`."""
    return f"{use.tool} {_arguments(use.arguments)}".strip()


def _arguments(arguments: str) -> str:
    """The values in JSON text that a model wrote; what is no object stays as it is."""
    try:
        values = msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError):
        return arguments
    return ", ".join(_said(value) for value in values.values() if value not in ("", None))


def _said(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
