"""The work of agents, for the screen of a run."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.core.markers import strip
from assay.core.translation import N_, gettext
from assay.core.view import Lane, RunView, ToolUse, Turn
from assay.server.page.words import counted

TAIL = 130
"""Characters shown of text in progress."""
MOST_STEPS = 30
"""An active run shows the latest steps of an agent, an ended one all."""


class Doing(msgspec.Struct, frozen=True, kw_only=True):
    """One thing an agent did: a thought, a search, a page it opened, another tool."""

    kind: str
    text: str
    note: str = ""
    failed: bool = False
    going: bool = False


class LaneShown(msgspec.Struct, frozen=True, kw_only=True):
    """An agent on the screen. `now` says in a few words what it is doing.

    `stoppable` says that it is at work, and can be stopped.
    """

    id: str
    number: int
    stoppable: bool
    title: str
    task: str
    state: str
    now: str
    doings: tuple[Doing, ...]
    steps: int
    finding: str
    writing: bool
    sources: int
    error: str


def pipeline_of(view: RunView) -> Iterator[Doing]:
    """Work outside the agents: the first look, and what decided the next step."""
    for phase in view.phases:
        for turn in phase.turns:
            yield from _doings(turn)
    for reflection in view.reflections:
        yield Doing(kind="decision", text=reflection.reasoning or reflection.decision, note=reflection.note)


def lane_of(lane: Lane, *, whole: bool) -> LaneShown:
    """An agent: with all its steps if `whole`, else with the latest."""
    doings: tuple[Doing, ...] = ()
    for turn in reversed(lane.turns):
        doings = (*_doings(turn), *doings)
        if not whole and len(doings) >= MOST_STEPS:
            doings = doings[-MOST_STEPS:]
            break
    return LaneShown(
        id=f"lane-{lane.lane}",
        number=lane.lane,
        stoppable=lane.state == "running" and not whole,
        title=gettext("Agent {number}").format(number=lane.lane),
        task=lane.task,
        state=lane.state,
        now=_now(lane, doings),
        doings=doings,
        steps=sum(len(turn.thoughts) + len(turn.tools) for turn in lane.turns),
        finding=lane.finding.text,
        writing=bool(lane.finding.text) and not lane.finding.finished and lane.state == "running",
        sources=len(lane.sources),
        error=lane.error,
    )


def _now(lane: Lane, doings: tuple[Doing, ...]) -> str:
    if lane.state == "planned":
        return gettext("Waiting for its turn")
    if lane.state == "finished":
        return counted(len(lane.sources), "Finished: {count} source", "Finished: {count} sources")
    if lane.state != "running":
        return gettext("Failed") if lane.state == "failed" else gettext("Given up")
    if lane.finding.text:
        return gettext("Writing: {text}").format(text=strip(lane.finding.text)[-TAIL:].lstrip())
    return doings[-1].text if doings else gettext("Starting")


def _doings(turn: Turn) -> Iterator[Doing]:
    last = len(turn.thoughts) - 1
    for place, thought in enumerate(turn.thoughts):
        yield Doing(kind="thought", text=thought, going=turn.thinking and place == last)
    for tool in turn.tools:
        yield _tool(tool)
    for search in turn.searches:
        if search.failed:
            yield Doing(kind="search", text=f"{search.provider}: {search.query}", note=search.failed, failed=True)


_TOOLS = {
    "search": N_("Searching"),
    "open": N_("Reading"),
    "recall": N_("Looking again"),
    "calculate": N_("Calculating"),
}


def _tool(tool: ToolUse) -> Doing:
    kind = tool.tool if tool.tool in _TOOLS else "tool"
    if tool.outcome == "running":
        return Doing(
            kind=kind, text=f"{gettext(_TOOLS.get(tool.tool, tool.tool))} {_argument(tool.arguments)}", going=True
        )
    return Doing(kind=kind, text=tool.summary or tool.tool, failed=tool.outcome == "failed")


def _argument(arguments: str) -> str:
    """The first text in a call's arguments."""
    try:
        given = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return ""
    values = list(given.values()) if isinstance(given, dict) else [given]
    return next((value for value in values if isinstance(value, str)), "")
