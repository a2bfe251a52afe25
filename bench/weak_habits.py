"""Habits of weak models, for `habitual_service`: a run's model has one at every call that it concerns."""

from __future__ import annotations

from typing import Any

from habitual_service import FACTS, PROMPTS, PROSE, Asked, Change, ScriptedReply

from assay.run.prompt_files import prompt


def _copied(calls: dict[str, tuple[str, Any]], texts: dict[str, str]) -> Change:
    """Repeats the examples of its prompts, by task: the same call as often as it should call, or a text."""

    def change(said: ScriptedReply, at: Asked) -> ScriptedReply:
        if at.task in calls and said.calls:
            return ScriptedReply(calls=(calls[at.task],) * len(said.calls))
        return ScriptedReply(texts[at.task]) if at.task in texts else said

    return change


def _instead(text: str, *tasks: str) -> Change:
    return lambda said, at: ScriptedReply(text) if at.task in tasks else said


def _example(of: str, begins: str, ends: str) -> str:
    """A part of a prompt on one line."""
    text = " ".join(prompt(*PROMPTS[of]).split())
    start = text.index(begins)
    return text[start : text.index(ends, start) + len(ends)]


def _send_twice(said: ScriptedReply, at: Asked) -> ScriptedReply:
    return said._replace(calls=said.calls * 2) if at.task == "orchestrate" and len(said.calls) > 1 else said


def _send_again(said: ScriptedReply, at: Asked) -> ScriptedReply:
    sent = tuple(("research_agent", {"task": title}) for title in FACTS)
    return ScriptedReply(calls=sent) if at.task == "orchestrate" else said


EXAMPLE_TASK = _example("orchestrate", "Find the range", "date and speed.")
EXAMPLE_PLAN = _example("plan", '{"title"', "]}")
COPIED_SEARCH = ("search", {"query": "Aurora range nautical miles"})
WEAK: dict[str, Change] = {
    "copies tasks": _copied({"orchestrate": ("research_agent", {"task": EXAMPLE_TASK})}, {}),
    "copies queries": _copied(dict.fromkeys(("background", "queries", "research"), COPIED_SEARCH), {}),
    "copies plans": _copied({}, {"plan": EXAMPLE_PLAN}),
    "copies findings": _copied({}, {"find": _example("find", "The builder gives", "at 18 knots.")}),
    "sends each agent twice": _send_twice,
    "sends the same agents again": _send_again,
    "is done at once": lambda said, at: ScriptedReply(calls=(("done", {}),)) if at.task == "research" else said,
    "opens what is not there": _copied({"research": ("open", {"documents": ["S1"]})}, {}),
    "searches for nothing": _copied({task: ("search", {"query": ""}) for task in ("background", "research")}, {}),
    "finds nothing": _instead("Nothing was found.", "find"),
    "answers from memory": _instead("The tide rises about ten metres there. The mistral is a southern wind.", "find"),
    "writes from memory": _instead("The tide rises about ten metres. The mistral is a southern wind.", "write"),
    "repeats its task": lambda said, at: ScriptedReply(at.text[-400:]) if at.task in PROSE else said,
    "repeats a sentence": _instead("The tide rises seven metres. " * 80, *PROSE),
    "says yes": _instead("Yes.", *PROSE, "plan", "reflect"),
}
"""What small models do, by hand."""
