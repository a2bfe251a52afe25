"""The line of phases: done, current, to come."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text

from assay.cli.live.columns import cut, words
from assay.cli.live.times import clock, elapsed
from assay.core.view import Phase, RunView

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
