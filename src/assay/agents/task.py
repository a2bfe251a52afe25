"""An agent's input and output: plain data, so that a lane is the same on every replay."""

from __future__ import annotations

import msgspec

from assay.core.phrases import NOTHING
from assay.core.sources import Passage


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
