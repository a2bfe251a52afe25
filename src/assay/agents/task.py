"""What an agent is given and what it gives back: plain data, so a lane is the same on every replay."""

from __future__ import annotations

import msgspec

from assay.core.phrases import NOTHING
from assay.core.sources import Passage


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent that finished earlier did."""

    task: str
    searched: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class AgentTask(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's task and the brief it cannot lose.

    `step` is the plan step it serves, 0 for none. `lanes` are those it may see of the ledger beside its own.
    `earlier` is what was found before and it builds on. `calls` are the tool calls it may make, 0 for no limit.
    An agent that goes on from others has their lanes in `continued`, and in `seen` passages they were shown. One with
    `analysis` searches nothing: it works on what was found so far. `held` says that there are documents in scope.
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
        """What passages are chosen by where code has to choose: a task may say too little without its question."""
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
    """What an agent reports. `stop`: done, or what ended it early. `continued`: lanes it went on from, oldest first.

    `uncited` says that it cites nothing: its passages are those it was shown which are nearest to its text.
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
    """The `brief` message: question, language, date, documents, what finished agents did."""
    said = AgentBrief(
        question=task.question,
        language=task.language,
        date=task.date,
        documents=task.documents,
        finished=task.finished,
        earlier=task.earlier,
    )
    return msgspec.json.encode(said).decode()
