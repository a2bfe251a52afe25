"""The next actions of the orchestrator and the agents: a small script each, which reads the history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.messages import Request, ToolCall
from assay.core.plan import Plan, PlanStep
from assay.models.extractive.plans import queries
from assay.models.extractive.requests import last, question_of
from assay.models.questions import links
from assay.models.questions.question import ParsedQuestion, analyze
from assay.models.shown_documents.passages import is_row
from assay.models.shown_documents.shelf import ShownSources, SourcePassages, resolve

OPENED = 3
"""The most documents an agent opens, not counting those that the question names."""
MOST_OPENED = 6
MOST_SENT = 8
"""The most agents for the documents that another document names; each takes several if there are more."""
SEARCH_FOR = "Search for: "
"""Begins a line of a task with the queries to search for, separated by `;`."""


class Cycle(msgspec.Struct, frozen=True):
    """The fields of an orchestrator's `rules` message that are read here."""

    cycle: int = 1
    cycles: int = 1
    agents_at_once: int = 3


class BriefMessage(msgspec.Struct, frozen=True):
    """The fields of an agent's `brief` message that are read here."""

    question: str = ""


# the orchestrator


def orchestrate(request: Request) -> tuple[ToolCall, ...]:
    """An agent for each plan step, as many at once as the rules allow; then the report."""
    rules = last(request, "rules", Cycle) or Cycle()
    sent = {_step_of(call) for message in request.messages for call in message.calls if call.name == "research_agent"}
    plan = last(request, "plan", Plan)
    steps = plan.steps if plan else (PlanStep(id=0, title=question_of(request)),)
    todo = [step for step in steps if step.id not in sent and step.status == "pending" and step.type == "research"]
    steered = [(text, 0) for text in _steered(request)]
    if not todo and not steered:
        return (ToolCall(id=f"cycle-{rules.cycle}-report", name="generate_report"),)
    planned = [(_task(step), step.id) for step in todo[: max(1, rules.agents_at_once)]]
    tasks = [*steered, *((_followed(request, todo) if todo else []) or planned)]
    return tuple(
        ToolCall(id=f"cycle-{rules.cycle}-agent-{place}", name="research_agent", arguments={"task": task, "step": step})
        for place, (task, step) in enumerate(tasks, 1)
    )


def _steered(request: Request) -> list[str]:
    """The user's instructions since the last decision, a task for each."""
    told: list[str] = []
    for message in request.messages:
        if message.role == "assistant":
            told.clear()
        elif message.name == "steering":
            told.append(message.text)
    return told


def _followed(request: Request, todo: Sequence[PlanStep]) -> list[tuple[str, int]]:
    """The tasks of a question that leads to other documents: its first step, then one for each document named."""
    hop = links.read(question_of(request))
    if hop is None:
        return []
    if len(todo) > 1:
        return [(_task(todo[0]), todo[0].id)]
    found = links.targets(hop, (message.text for message in request.messages if message.role == "tool"))
    return [(hop.of(group), todo[0].id) for group in grouped(found, MOST_SENT)]


def grouped(names: Sequence[str], most: int) -> list[Sequence[str]]:
    """`names` in at most `most` groups of about equal size, in order."""
    size = -(-len(names) // max(1, most)) or 1
    return [names[start : start + size] for start in range(0, len(names), size)]


def _step_of(call: ToolCall) -> int:
    step = call.arguments.get("step", 0)
    return step if isinstance(step, int) else 0


def _task(step: PlanStep) -> str:
    """A task for a step: the step's title and, on a separate line, the question that it is part of."""
    return step.title if not step.description else f"{step.title}\n{step.description}"


# agents


def task_of(request: Request) -> tuple[ParsedQuestion, ParsedQuestion]:
    """The task of an agent (its first line), and the question that it is part of."""
    tasks = request.named("task")
    brief = last(request, "brief", BriefMessage) or BriefMessage()
    lines = [line.strip() for line in (tasks[0] if tasks else "").splitlines() if line.strip()]
    whole = brief.question or " ".join(lines[1:]) or question_of(request)
    return analyze(lines[0] if lines else whole), analyze(whole or " ".join(lines))


def shelf_of(request: Request) -> ShownSources:
    """Everything that tools have shown in this request's history, and that an earlier agent was shown."""
    shown = (message.text for message in request.messages if message.role == "tool" or message.name == "seen")
    return _shelf(request, shown)


def shelved(request: Request) -> ShownSources:
    """The evidence in a request."""
    return _shelf(request, request.named("evidence"))


def _shelf(request: Request, texts: Iterable[str]) -> ShownSources:
    """The sources shown, with the computations and comparisons over them."""
    rarity = None if isinstance(request.rarity, msgspec.UnsetType) else request.rarity
    return ShownSources(texts, rarity, None if isinstance(request.closeness, msgspec.UnsetType) else request.closeness)


def research(request: Request) -> tuple[ToolCall, ...]:
    """Search, then open the best documents, each by its own call: a call shows a limited amount of text in total.

    Each document is opened by a call of its own, since a call shows only so much however many it opens.
    """
    made = [call for message in request.messages for call in message.calls]
    tools = {tool.name for tool in request.tools}
    task, whole = task_of(request)
    turn = 1 + sum(message.role == "assistant" for message in request.messages)
    if "search" in tools and not any(call.name == "search" for call in made):
        wanted = _named_queries(request) or queries(task.text, whole.text)[:2]
        return tuple(_call(turn, place, "search", {"query": query}) for place, query in enumerate(wanted, 1))
    if "open" in tools and not any(call.name == "open" for call in made):
        shelf = shelf_of(request)
        calls: list[tuple[str, Mapping[str, object]]] = [
            ("open", {"documents": [book.id], "find": task.text}) for book in _worth_opening(task, whole, shelf)
        ]
        if "calculate" in tools and _has_tables(shelf):
            calls.append(("calculate", {"question": task.text}))
        if calls:
            return tuple(_call(turn, place, name, arguments) for place, (name, arguments) in enumerate(calls, 1))
    if "recall" in tools and "search" not in tools and not made:
        return (_call(turn, 1, "recall", {"query": task.text}),)
    return ()


def _has_tables(shelf: ShownSources) -> bool:
    """Whether a table row is among the shown passages, or nothing is shown: then there are few documents to search."""
    return not shelf.books or any(is_row(passage.text) for book in shelf.books for passage in book.passages)


def _named_queries(request: Request) -> tuple[str, ...]:
    """The queries that a task names."""
    lines = (line for task in request.named("task") for line in task.splitlines() if line.startswith(SEARCH_FOR))
    named = (query.strip() for line in lines for query in line.removeprefix(SEARCH_FOR).split(";"))
    return tuple(query for query in named if query)


def _call(turn: int, place: int, name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=f"turn-{turn}-{place}", name=name, arguments=dict(arguments))


def _worth_opening(task: ParsedQuestion, whole: ParsedQuestion, shelf: ShownSources) -> list[SourcePassages]:
    """The documents that the task is about, else those found first."""
    subject = resolve(task, shelf, whole)
    if subject.absent:
        return []
    if subject.books:
        return list(subject.books[:MOST_OPENED])
    return shelf.books[:OPENED]
