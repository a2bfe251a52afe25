"""What went wrong so far: one line a kind, with how often and the last of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from assay.cli.live.activity import called
from assay.cli.live.columns import cut, words
from assay.core.phrases import in_words
from assay.core.view import RunView, Turn


def trouble(view: RunView, width: int) -> list[Text]:
    """At most one line for each kind of trouble, always in the same order."""
    return [cut(Text.assemble(("! ", "yellow"), words(said, "yellow"), no_wrap=True), width) for said in troubles(view)]


def troubles(view: RunView) -> Iterator[str]:
    """The kinds of trouble there were, each in a sentence."""
    turns = [turn for lane in view.lanes for turn in lane.turns] + [t for phase in view.phases for t in phase.turns]
    if view.exhausted:
        yield f"research ends: {in_words(view.exhausted)}"
    elif view.low:
        low = view.low[-1]
        yield f"80 % of the limit on {low.measure} is used ({low.used:g} of {low.limit:g})"
    yield from _counted(_agents(view), "agent failed", "agents failed")
    yield from _counted(_models(turns), "model call failed", "model calls failed")
    yield from _counted(_tools(turns), "tool call failed", "tool calls failed")
    unreadable = [f"{each.url}: {each.reason}" for each in view.unreadable]
    yield from _counted(unreadable, "document could not be read", "documents could not be read")
    yield from _counted([warning.message for warning in view.warnings], "warning", "warnings")


def _agents(view: RunView) -> list[str]:
    return [f"agent {lane.lane}: {lane.error}" for lane in view.lanes if lane.state == "failed"]


def _models(turns: Sequence[Turn]) -> list[str]:
    attempts = [attempt for turn in turns for attempt in turn.attempts]
    return [f"{each.model}: {each.outcome}" for each in attempts if each.outcome != "ok"]


def _tools(turns: Sequence[Turn]) -> list[str]:
    uses = [use for turn in turns for use in turn.tools]
    return [f"{called(use)}: {use.summary}" for use in uses if use.outcome == "failed"]


def _counted(happened: Sequence[str], one: str, several: str) -> Iterator[str]:
    if len(happened) == 1:
        yield f"{one}: {happened[0]}"
    elif happened:
        yield f"{len(happened)} {several}; the last: {happened[-1]}"
