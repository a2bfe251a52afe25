"""Lines for a terminal that show a run at one moment: a function of its view, the time and the space available."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from assay.cli.english import english_view
from assay.cli.figures import (
    describe_call,
    elapsed_seconds,
    format_cost,
    format_duration,
    format_tokens,
    join_nonempty,
    problem_lines,
)
from assay.cli.terminal import clean
from assay.core.claims import VERDICTS
from assay.core.milestones import pluralize
from assay.core.phrases import stop_reason_phrase
from assay.core.usage import Usage
from assay.core.view import Lane, Phase, RunView, ToolUse, Turn

# Lines of fixed width: the left part yields to the right part.


GAP = 2


def harmless_text(text: str, style: str = "") -> Text:
    """Text that others wrote, on one line and harmless."""
    return Text(clean(text), style=style, no_wrap=True)


def aligned_line(left: Text, right: Text, width: int) -> Text:
    """One line of at most `width` cells; `right` ends at the edge, and is omitted if it takes more than half."""
    if not right.cell_len or right.cell_len + GAP > width / 2:
        return truncate(left, width)
    left = truncate(left, width - right.cell_len - GAP)
    space = width - left.cell_len - right.cell_len
    return Text.assemble(left, " " * space, right, no_wrap=True)


def truncate(text: Text, width: int) -> Text:
    """`text` in at most `width` cells, ending in an ellipsis if it was cut."""
    text = text.copy()
    text.truncate(max(width, 0), overflow="ellipsis")
    return text


def pad(text: Text, width: int) -> Text:
    """`text` in exactly `width` cells."""
    text = truncate(text, width)
    text.pad_right(width - text.cell_len)
    return text


# What an agent or a phase is doing now, in one line that stays the same while text streams.


STARTING = {
    "triage": "classifying the question",
    "background": "a first look",
    "plan": "planning",
    "research": "deciding what to research",
    "write": "writing the report",
    "verify": "finding the claims",
}


def lane_activity(lane: Lane) -> Text:
    """The agent's last tool call, search or thought, or how it ended."""
    if lane.state == "failed":
        return harmless_text(f"failed: {lane.error}", "red")
    if lane.state == "finished":
        return harmless_text(_report_line(lane), "dim")
    if lane.state == "planned":
        return harmless_text("waits for its turn", "dim")
    if lane.finding.text and not lane.finding.finished:
        return harmless_text("writes what it found")
    return turns_activity(lane.turns) or harmless_text("starts")


def _report_line(lane: Lane) -> str:
    ending = "" if lane.stop in ("", "done") else f"; ended early: {stop_reason_phrase(lane.stop)}"
    cited = "nothing" if lane.finding.uncited else pluralize(len(lane.finding.passages), "passage")
    return f"reported: {cited} cited{ending}"


def phase_activity(view: RunView) -> Text:
    """The activity outside the agents."""
    if view.status == "waiting":
        plan = view.waiting_for == "plan"
        request = view.plan.title if plan and view.plan else " ".join(view.clarification.questions)
        return harmless_text(
            f"waits for {'its plan to be approved' if plan else view.waiting_for}: {request}", "yellow"
        )
    if view.status == "paused":
        return harmless_text("paused", "yellow")
    name = view.active_phase
    if name == "verify" and view.claims:
        return harmless_text(claim_counts(view))
    if name == "write" and view.report.text:
        progress = f"writing the report: {pluralize(len(view.report.text.split()), 'word')}"
        return harmless_text(join_nonempty((progress, claim_counts(view)), "; "))
    if name == "plan" and view.plan_text:
        return harmless_text(f"planning: {view.plan_text.strip().splitlines()[-1]}")
    if active := sum(lane.state == "running" for lane in view.lanes):
        return harmless_text(f"{pluralize(active, 'agent')} at work")
    turns = next((phase.turns for phase in view.phases if phase.name == name), ())
    return turns_activity(turns) or harmless_text(STARTING.get(name, name))


def claim_counts(view: RunView) -> str:
    """Counts of claims: `12 claims: 9 quoted, 1 contradicted, 2 being checked`; nothing before the first claim."""
    verdicts = Counter(claim.verdict for claim in view.claims if view.checks.get(claim.id))
    pending = len(view.claims) - verdicts.total()
    counts = [f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict]]
    counts += [f"{pending} being checked"] if pending else []
    return f"{pluralize(len(view.claims), 'claim')}: {', '.join(counts)}" if counts else ""


def turns_activity(turns: Sequence[Turn]) -> Text | None:
    """The running tools, else the thought, else the last activity; None if there is nothing yet."""
    running = [use for turn in turns for use in turn.tools if use.outcome == "running"]
    if running:
        suffix = f" (and {len(running) - 1} more)" if len(running) > 1 else ""
        return harmless_text(f"{describe_call(running[-1])}{suffix}")
    if turns and turns[-1].thinking:
        return harmless_text(f"thinks: {turns[-1].thoughts[-1]}")
    for turn in reversed(turns):  # each tool call has a path of its own, and so has a provider's search below it
        if turn.tools:
            return _tool_result(turn.tools[-1])
        if turn.thoughts:
            return harmless_text(f"thought: {turn.thoughts[-1]}")
    return None


def _tool_result(use: ToolUse) -> Text:
    if use.outcome == "failed":
        return harmless_text(f"{describe_call(use)} failed: {use.summary}", "red")
    return harmless_text(f"{describe_call(use)}: {use.summary}")


# Problems so far: one line per kind, with their number and the last one.


def problem_texts(view: RunView, width: int) -> list[Text]:
    """At most one line for each kind of problem, always in the same order."""
    return [
        truncate(Text.assemble(("! ", "yellow"), harmless_text(message, "yellow"), no_wrap=True), width)
        for message in problem_lines(english_view(view))
    ]


# The agents: two lines for each in the current cycle, one for earlier ones, fewer on a low terminal.

WIDE = 120
MARKS = {"planned": ("○", "dim"), "running": ("●", "cyan"), "finished": ("✓", "green"), "failed": ("✗", "red")}
NAMED = 6  # mark, number and the spaces around them


def lane_lines(view: RunView, now: datetime, width: int, height: int) -> list[Text]:
    """The agents in at most `height` lines; those at work are the last to be dropped."""
    lanes = [lane for lane in view.lanes if lane.state in MARKS]
    cycle = max((lane.cycle for lane in lanes), default=0)
    before = [lane for lane in lanes if lane.cycle < cycle]
    current = [lane for lane in lanes if lane.cycle == cycle]
    full = [line for lane in current for line in _lane(view, lane, now, width)]
    brief = [_short_lane_line(view, lane, now, width) for lane in current]
    past = [_short_lane_line(view, lane, now, width) for lane in before]
    together = [_merged_lanes_line(before, width)] if before else []
    for lines in (past + full, together + full, together + brief):
        if len(lines) <= height:
            return lines
    return _crowded_lines(view, lanes, now, width, height)


def _lane(view: RunView, lane: Lane, now: datetime, width: int) -> list[Text]:
    """Task and time, then activity and cost; one line if there is room for both."""
    time, usage = _time(view, lane, now), _usage_line(lane.usage)
    if width < WIDE:
        activity = Text.assemble(" " * NAMED, lane_activity(lane), no_wrap=True)
        return [aligned_line(_lane_label(lane), time, width), aligned_line(activity, usage, width)]
    half = (width - 44) // 2
    right = Text.assemble(time, "  ", usage, no_wrap=True) if usage.cell_len else time
    return [
        aligned_line(Text.assemble(pad(_lane_label(lane), half), "  ", lane_activity(lane), no_wrap=True), right, width)
    ]


def _short_lane_line(view: RunView, lane: Lane, now: datetime, width: int) -> Text:
    """One line: a working agent's activity, or the task of any other."""
    label = (
        Text.assemble(_number(lane), lane_activity(lane), no_wrap=True)
        if lane.state == "running"
        else _lane_label(lane)
    )
    return aligned_line(label, _time(view, lane, now), width)


def _lane_label(lane: Lane) -> Text:
    return Text.assemble(
        _number(lane), harmless_text(lane.task, "" if lane.state == "running" else "dim"), no_wrap=True
    )


def _number(lane: Lane) -> Text:
    return Text.assemble(MARKS[lane.state], f" {lane.lane:>2}  ", no_wrap=True)


def _time(view: RunView, lane: Lane, now: datetime) -> Text:
    sources = pluralize(len(lane.sources), "source")
    return Text(
        f"{sources:>10}{format_duration(elapsed_seconds(view, lane.started_at, lane.finished_at, now)):>9}", style="dim"
    )


def _usage_line(usage: Usage) -> Text:
    return Text(join_nonempty((format_tokens(usage), format_cost(usage)), "  "), style="dim")


def _merged_lanes_line(before: Sequence[Lane], width: int) -> Text:
    """Agents of earlier cycles, if there is no room for each."""
    usage = sum((lane.usage for lane in before), Usage())
    failed = sum(lane.state == "failed" for lane in before)
    sources = pluralize(sum(len(lane.sources) for lane in before), "source")
    text = join_nonempty(
        (f"{pluralize(len(before), 'agent')} before", f"{failed} failed" if failed else "", sources), ", "
    )
    return aligned_line(Text.assemble(MARKS["finished"], f"     {text}", no_wrap=True), _usage_line(usage), width)


def _crowded_lines(view: RunView, lanes: Sequence[Lane], now: datetime, width: int, height: int) -> list[Text]:
    """More agents than the terminal can show: those at work, in order, and the number of the others."""
    if height < 1:
        return []
    visible_lanes = sorted(lanes, key=lambda lane: (lane.state != "running", -lane.lane))[: height - 1]
    lines = [_short_lane_line(view, lane, now, width) for lane in sorted(visible_lanes, key=lambda lane: lane.lane)]
    return [
        *lines,
        truncate(Text(f"      and {pluralize(len(lanes) - len(visible_lanes), 'more agent')}", style="dim"), width),
    ]


# The line of phases: done, current, to come.

ORDER = ("triage", "background", "plan", "research", "write", "verify")
DONE, CURRENT, TO_COME = ("✓", "green"), ("●", "cyan"), ("○", "dim")


def phases_line(view: RunView, now: datetime, width: int) -> Text:
    """All phases on one line; if they do not fit, the current one and the number of phases."""
    phases = {phase.name: phase for phase in view.phases if phase.started_at}
    names = [*ORDER, *(name for name in phases if name not in ORDER)]
    last = max((index for index, name in enumerate(names) if name in phases), default=-1)
    visible_names = [
        name for index, name in enumerate(names) if name in phases or index > last
    ]  # skipped phases are not shown
    line = Text("  ", no_wrap=True).join(_phase(name, phases.get(name), view, now) for name in visible_names)
    if line.cell_len <= width or not view.active_phase:
        return truncate(line, width)
    current = _phase(view.active_phase, phases[view.active_phase], view, now)
    return truncate(
        Text.assemble(
            current, f" ({visible_names.index(view.active_phase) + 1} of {len(visible_names)})", no_wrap=True
        ),
        width,
    )


def _phase(name: str, phase: Phase | None, view: RunView, now: datetime) -> Text:
    if phase is None:
        return Text.assemble(TO_COME, (f" {name}", "dim"))
    if phase.finished_at:
        return Text.assemble(DONE, " ", harmless_text(name))
    since = format_duration(elapsed_seconds(view, phase.started_at, "", now))
    return Text.assemble(CURRENT, " ", harmless_text(name, "bold"), f" {since}")


# The end of the report while it is written.

LINES = 3
INDENT = 2


def report_tail(view: RunView, width: int) -> list[Text]:
    """The last lines of the report, always the same number, during its phase; nothing before and after."""
    if view.active_phase != "write" or view.report.state != "writing" or width <= INDENT:
        return []
    tail = view.report.text[-width * (LINES + 1) :]
    wrapped_lines = harmless_text(tail, "italic").wrap(Console(width=width), width - INDENT)[-LINES:]
    lines = [Text.assemble(" " * INDENT, line, no_wrap=True) for line in wrapped_lines]
    return lines + [Text()] * (LINES - len(lines))


class Size(NamedTuple):
    """The space available, in cells."""

    width: int
    height: int


def frame_lines(view: RunView, now: datetime, size: Size, note: str = "") -> list[Text]:
    """The lines, within the width and height of `size`.

    Args:
        note: an additional last line.
    """
    lines = [truncate(harmless_text(note, "cyan"), size.width)] if note else []
    if not view.run_id:
        return lines[: size.height]
    head = [_question(view, now, size.width), phases_line(view, now, size.width), _progress(view, size.width)]
    head.append(truncate(Text.assemble("  ", phase_activity(view), no_wrap=True), size.width))
    wrong, tail = problem_texts(view, size.width), report_tail(view, size.width)
    room = size.height - len(head) - len(lines)
    agents = lane_lines(view, now, size.width, max(room - len(tail) - len(wrong), room // 2))
    body = (agents + wrong + tail)[: max(room, 0)]
    return [*head, *body, *lines][: size.height]


def _question(view: RunView, now: datetime, width: int) -> Text:
    duration = Text(format_duration(elapsed_seconds(view, view.started_at, view.finished_at, now)), style="bold")
    return aligned_line(harmless_text(view.question, "bold"), duration, width)


def _progress(view: RunView, width: int) -> Text:
    """The progress: cycle, steps answered, sources, cost."""
    total = view.usage.total
    cycle = max((lane.cycle for lane in view.lanes), default=0)
    documents = len({source.document_sha256 for source in view.sources.values()})
    parts = (
        f"cycle {cycle}" if cycle else "",
        _steps(view),
        pluralize(documents, "source") if documents else "",
        pluralize(total.searches, "search", "searches") if total.searches else "",
        format_tokens(total),
        format_cost(total),
    )
    return truncate(Text(f"  {join_nonempty(parts)}", style="dim", no_wrap=True), width)


def _steps(view: RunView) -> str:
    steps = [part for part in view.coverage if part.step]  # 0 is the question itself
    if steps:
        answered = sum(part.status == "answered" for part in steps)
        return f"{answered} of {pluralize(len(steps), 'step')} answered"
    return f"a plan of {pluralize(len(view.plan.steps), 'step')}" if view.plan and view.plan.steps else ""
