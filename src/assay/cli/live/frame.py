"""A run at one moment as lines for a terminal: a function of its view, the time and the room there is."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from rich.text import Text

from assay.cli.figures import joined, money, tokens
from assay.cli.live.activity import of_phase
from assay.cli.live.columns import cut, row, words
from assay.cli.live.lanes import lanes
from assay.cli.live.phases import phases
from assay.cli.live.report_tail import writing
from assay.cli.live.times import clock, elapsed
from assay.cli.live.trouble import trouble
from assay.cli.progress import counted
from assay.core.view import RunView


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
