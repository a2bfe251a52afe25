"""The agents: two lines for each of the current cycle, one for those before, fewer where the terminal is low."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from assay.cli.figures import joined, money, tokens
from assay.cli.live.activity import of_lane
from assay.cli.live.columns import cut, fill, row, words
from assay.cli.live.times import clock, elapsed
from assay.cli.progress import counted
from assay.core.usage import Usage
from assay.core.view import Lane, RunView

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
