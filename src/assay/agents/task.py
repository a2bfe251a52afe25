"""An agent's task and its finding, plain data so that a lane is the same on every replay; and its prompts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Protocol

import msgspec

from assay.core.messages import Message, ToolDefinition
from assay.core.phrases import NOTHING
from assay.core.sources import Passage
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.tools.arguments import define


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The work of an agent that finished earlier."""

    task: str
    searched: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class AgentTask(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's task, with the brief that it never loses.

    `step` is the plan step it serves, 0 for none. `lanes` are those of the ledger it may see besides its own. `earlier`
    has findings that it builds on. `calls` is the number of its tool calls, 0 for no limit. An agent that continues
    others has their lanes in `continued`, and passages they were shown in `seen`. With `analysis` it searches nothing,
    and works on the findings so far. `held` says that there are documents in scope.
    """

    task: str
    question: str
    date: str
    turns: int
    step: int = 0
    language: str = ""
    documents: str = ""
    finished: tuple[Finished, ...] = ()
    lanes: tuple[int, ...] = (0,)
    earlier: str = ""
    calls: int = 0
    continued: tuple[int, ...] = ()
    seen: str = ""
    analysis: bool = False
    held: bool = True

    @property
    def about(self) -> str:
        """The text by which code chooses passages: a task may say too little without its question."""
        return f"{self.task}\n{self.question}"


class AgentBrief(msgspec.Struct, frozen=True, kw_only=True):
    """The `brief` message of an agent, as JSON."""

    question: str
    language: str
    date: str
    documents: str
    finished: tuple[Finished, ...]
    earlier: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's report. `stop`: done, or what ended it early. `continued`: the lanes it continues, oldest first.

    `uncited` says that it cites nothing: its passages are the nearest to its text among those it was shown.
    """

    lane: int
    task: str
    step: int = 0
    text: str = NOTHING
    passages: tuple[Passage, ...] = ()
    stop: str = "done"
    turns: int = 0
    continued: tuple[int, ...] = ()
    uncited: bool = False


def brief(task: AgentTask) -> str:
    """The `brief` message: question, language, date, documents, the work of finished agents."""
    agent_brief = AgentBrief(
        question=task.question,
        language=task.language,
        date=task.date,
        documents=task.documents,
        finished=task.finished,
        earlier=task.earlier,
    )
    return msgspec.json.encode(agent_brief).decode()


# Prompts, and the beginning of every request of an agent.


class Done(msgspec.Struct, frozen=True):
    """`done`: the agent has what its task needs, or cannot find it."""


class Think(msgspec.Struct, frozen=True):
    """`think`: reason before deciding."""

    reasoning: Annotated[str, msgspec.Meta(description="What is known, what is missing, what to do next.")] = ""


DONE = define("done", "End your research: you are asked for your findings next.", Done, control=True)
THINK = define(
    "think", "Reason in writing before you decide. Nothing else happens.", Think, control=True, thought="reasoning"
)
CONTROL = frozenset({DONE.name, THINK.name})


_ITEM = re.compile(r"^- \{([a-z_]+)\} (.*\n(?: .*\n)*)", re.MULTILINE)


def for_tools(text: str, there: Collection[str]) -> str:
    """A prompt without its items about missing tools or places (`- {open} Open the …`, `- {web} …`)."""
    return _ITEM.sub(lambda found: f"- {found[2]}" if found[1] in there else "", text)


class PromptOpening(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of every request of an agent: its system text, and its tools."""

    system: str
    tools: tuple[ToolDefinition, ...]


def opening(run: Run, task: AgentTask, tools: Mapping[str, Tool]) -> PromptOpening:
    """The opening of an agent with `tools`; `think` only if its model does not reason by itself."""
    may_think = run.rules.thoughts and not run.profile("analytical").native_reasoning
    think = (THINK,) if may_think else ()
    definitions = (*(tool.definition for tool in tools.values()), DONE, *think)
    places = {"web": run.brief.scope.web, "documents": task.held}
    there = {tool.name for tool in definitions} | {place for place, held in places.items() if held}
    return PromptOpening(system=for_tools(run.prompt("assay.agents", "research"), there), tools=definitions)


# The rules of a turn as a message: sentences for the model, values for code.


class RuleTexts(Protocol):
    """Plain data that can be stated in sentences."""

    def sentences(self) -> str:
        """The data as English sentences."""
        ...


def rules(data: RuleTexts) -> Message:
    """The `rules` message."""
    return Message(role="user", name="rules", text=data.sentences(), values=msgspec.json.encode(data).decode())


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 step`, `2 steps`, `no steps`."""
    return f"{number or 'no'} {noun if number == 1 else plural or noun + 's'}"


def listed(numbers: tuple[int, ...]) -> str:
    """Numbers as in a sentence: `2`, `2 and 3`, `2, 3 and 5`."""
    *before, last = map(str, numbers)
    return f"{', '.join(before)} and {last}" if before else last
