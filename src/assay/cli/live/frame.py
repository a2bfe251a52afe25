"""A run at one moment as lines for a terminal: a function of its view, the time and the room there is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from assay.cli.figures import joined, money, tokens
from assay.cli.live.activity import of_lane, of_phase
from assay.cli.live.columns import cut, fill, row, words
from assay.cli.live.times import clock, elapsed
from assay.cli.live.trouble import trouble
from assay.cli.progress import counted
from assay.core.usage import Usage
from assay.core.view import Lane, Phase, RunView

# The agents: two lines for each of the current cycle, one for those before, fewer where the terminal is low.

WIDE = 120
MARKS = {"planned": ("○", "dim"), "running": ("●", "cyan"), "finished": ("✓", "green"), "failed": ("✗", "red")}
NAMED = 6  # mark, number and the spaces about them


def lanes(view: RunView, now: datetime, width: int, height: int) -> list[Text]:
    """The agents in at most `height` lines, those which work now first to stay."""
    shown = [lane for lane in view.lanes if lane.state in MARKS]
    cycle = max((lane.cycle for lane in shown), default=0)
    before = [lane for lane in shown if lane.cycle < cycle]
    current = [lane for lane in shown if lane.cycle == cycle]
    whole = [line for lane in current for line in _lane(view, lane, now, width)]
    brief = [_brief(view, lane, now, width) for lane in current]
    past = [_brief(view, lane, now, width) for lane in before]
    together = [_together(before, width)] if before else []
    for lines in (past + whole, together + whole, together + brief):
        if len(lines) <= height:
            return lines
    return _crowded(view, shown, now, width, height)


def _lane(view: RunView, lane: Lane, now: datetime, width: int) -> list[Text]:
    """Task and time, then what it does and what it spent; one line where there is room for both."""
    time, spent = _time(view, lane, now), _spent(lane.usage)
    if width < WIDE:
        doing = Text.assemble(" " * NAMED, of_lane(lane), no_wrap=True)
        return [row(_named(lane), time, width), row(doing, spent, width)]
    half = (width - 44) // 2
    right = Text.assemble(time, "  ", spent, no_wrap=True) if spent.cell_len else time
    return [row(Text.assemble(fill(_named(lane), half), "  ", of_lane(lane), no_wrap=True), right, width)]


def _brief(view: RunView, lane: Lane, now: datetime, width: int) -> Text:
    """One line: what a working agent does, what the others were for."""
    said = Text.assemble(_number(lane), of_lane(lane), no_wrap=True) if lane.state == "running" else _named(lane)
    return row(said, _time(view, lane, now), width)


def _named(lane: Lane) -> Text:
    return Text.assemble(_number(lane), words(lane.task, "" if lane.state == "running" else "dim"), no_wrap=True)


def _number(lane: Lane) -> Text:
    return Text.assemble(MARKS[lane.state], f" {lane.lane:>2}  ", no_wrap=True)


def _time(view: RunView, lane: Lane, now: datetime) -> Text:
    sources = counted(len(lane.sources), "source")
    return Text(f"{sources:>10}{clock(elapsed(view, lane.started_at, lane.finished_at, now)):>9}", style="dim")


def _spent(usage: Usage) -> Text:
    return Text(joined((tokens(usage), money(usage)), "  "), style="dim")


def _together(before: Sequence[Lane], width: int) -> Text:
    """Agents of earlier cycles, when there is no room for each."""
    spent = sum((lane.usage for lane in before), Usage())
    failed = sum(lane.state == "failed" for lane in before)
    met = counted(sum(len(lane.sources) for lane in before), "source")
    said = joined((f"{counted(len(before), 'agent')} before", f"{failed} failed" if failed else "", met), ", ")
    return row(Text.assemble(MARKS["finished"], f"     {said}", no_wrap=True), _spent(spent), width)


def _crowded(view: RunView, shown: Sequence[Lane], now: datetime, width: int, height: int) -> list[Text]:
    """Too many agents for the terminal: those at work, in their order, and how many more there are."""
    if height < 1:
        return []
    chosen = sorted(shown, key=lambda lane: (lane.state != "running", -lane.lane))[: height - 1]
    lines = [_brief(view, lane, now, width) for lane in sorted(chosen, key=lambda lane: lane.lane)]
    return [*lines, cut(Text(f"      and {counted(len(shown) - len(chosen), 'more agent')}", style="dim"), width)]


# The line of phases: done, current, to come.

ORDER = ("triage", "background", "plan", "research", "write", "verify")
DONE, CURRENT, TO_COME = ("✓", "green"), ("●", "cyan"), ("○", "dim")


def phases(view: RunView, now: datetime, width: int) -> Text:
    """All phases on one line; where they do not fit, the current one and how many there are."""
    known = {phase.name: phase for phase in view.phases if phase.started_at}
    names = [*ORDER, *(name for name in known if name not in ORDER)]
    last = max((place for place, name in enumerate(names) if name in known), default=-1)
    shown = [
        name for place, name in enumerate(names) if name in known or place > last
    ]  # what was left out is not shown
    line = Text("  ", no_wrap=True).join(_phase(name, known.get(name), view, now) for name in shown)
    if line.cell_len <= width or not view.active_phase:
        return cut(line, width)
    current = _phase(view.active_phase, known[view.active_phase], view, now)
    return cut(Text.assemble(current, f" ({shown.index(view.active_phase) + 1} of {len(shown)})", no_wrap=True), width)


def _phase(name: str, phase: Phase | None, view: RunView, now: datetime) -> Text:
    if phase is None:
        return Text.assemble(TO_COME, (f" {name}", "dim"))
    if phase.finished_at:
        return Text.assemble(DONE, " ", words(name))
    since = clock(elapsed(view, phase.started_at, "", now))
    return Text.assemble(CURRENT, " ", words(name, "bold"), f" {since}")


# The end of the report while it is written.

LINES = 3
INDENT = 2


def writing(view: RunView, width: int) -> list[Text]:
    """The last lines of the report, always as many, while its phase lasts; nothing before and after."""
    if view.active_phase != "write" or view.report.state != "writing" or width <= INDENT:
        return []
    tail = view.report.text[-width * (LINES + 1) :]
    wrapped = words(tail, "italic").wrap(Console(width=width), width - INDENT)[-LINES:]
    lines = [Text.assemble(" " * INDENT, line, no_wrap=True) for line in wrapped]
    return lines + [Text()] * (LINES - len(lines))


class Size(NamedTuple):
    """The room there is, in cells."""

    width: int
    height: int


def frame(view: RunView, now: datetime, size: Size, note: str = "") -> list[Text]:
    """The lines, none wider and not more than `size` allows.

    Args:
        note: what is to be said besides, as its last line.
    """
    said = [cut(words(note, "cyan"), size.width)] if note else []
    if not view.run_id:
        return said[: size.height]
    head = [_question(view, now, size.width), phases(view, now, size.width), _progress(view, size.width)]
    head.append(cut(Text.assemble("  ", of_phase(view), no_wrap=True), size.width))
    wrong, tail = trouble(view, size.width), writing(view, size.width)
    room = size.height - len(head) - len(said)
    agents = lanes(view, now, size.width, max(room - len(tail) - len(wrong), room // 2))
    rest = (agents + wrong + tail)[: max(room, 0)]
    return [*head, *rest, *said][: size.height]


def _question(view: RunView, now: datetime, width: int) -> Text:
    took = Text(clock(elapsed(view, view.started_at, view.finished_at, now)), style="bold")
    return row(words(view.question, "bold"), took, width)


def _progress(view: RunView, width: int) -> Text:
    """How far it is: cycle, steps answered, sources, what was spent."""
    total = view.usage.total
    cycle = max((lane.cycle for lane in view.lanes), default=0)
    documents = len({source.document_sha256 for source in view.sources.values()})
    parts = (
        f"cycle {cycle}" if cycle else "",
        _steps(view),
        counted(documents, "source") if documents else "",
        counted(total.searches, "search", "searches") if total.searches else "",
        tokens(total),
        money(total),
    )
    return cut(Text(f"  {joined(parts)}", style="dim", no_wrap=True), width)


def _steps(view: RunView) -> str:
    steps = [part for part in view.coverage if part.step]  # 0 is the question itself
    if steps:
        answered = sum(part.status == "answered" for part in steps)
        return f"{answered} of {counted(len(steps), 'step')} answered"
    return f"a plan of {counted(len(view.plan.steps), 'step')}" if view.plan and view.plan.steps else ""
