"""Events of research: agents, thinking, model and tool calls, sources, findings, coverage."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.events.envelope import Event, kind
from assay.core.plan import Coverage
from assay.core.sources import Notice, Passage, Source
from assay.core.usage import Usage


@kind("agents.planned")
class AgentsPlanned(Event, frozen=True):
    """The number of lanes of this cycle so far; always logged before the first event of any of them."""

    cycle: int
    lanes: tuple[int, ...]


@kind("agent.started")
class AgentStarted(Event, frozen=True):
    """A research agent took up its task; `step` is the plan step it serves, 0 when none is named."""

    lane: int
    task: str
    step: int = 0


@kind("agent.finished")
class AgentFinished(Event, frozen=True):
    """An agent reported. `stop` is done, or the limit that ended it."""

    lane: int
    stop: str = "done"
    turns: int = 0


@kind("agent.failed")
class AgentFailed(Event, frozen=True):
    """An agent failed; the others go on, and the orchestrator is told."""

    lane: int
    error: str


@kind("agent.abandoned")
class AgentAbandoned(Event, frozen=True):
    """An agent started from a stream that was cut and repeated differently; it only counts in usage."""

    lane: int


@kind("tools.ignored")
class ToolsIgnored(Event, frozen=True):
    """A model was told to call a tool, reminded, and called none; perhaps it cannot.

    `task` is the task of the request, `model` the model's name; `lane` is the research agent's, 0 if there is none.
    """

    model: str
    task: str
    lane: int = 0


@kind("think.started")
class ThinkStarted(Event, frozen=True):
    """A model began to reason (native reasoning and the think tool alike)."""


@kind("think.delta")
class ThinkDelta(Event, frozen=True):
    """More of a model's reasoning."""

    text: str


@kind("think.finished")
class ThinkFinished(Event, frozen=True):
    """A model's complete reasoning."""

    text: str


@kind("model.attempted")
class ModelAttempted(Event, frozen=True):
    """One attempt at a model call; `outcome` is ok or the error."""

    role: str
    task: str
    model: str
    attempt: int
    outcome: str
    usage: Usage = Usage()


@kind("tool.started")
class ToolStarted(Event, frozen=True):
    """A tool call began; `call` is its id in the model's reply, `arguments` JSON text."""

    call: str
    tool: str
    arguments: str


@kind("tool.finished")
class ToolFinished(Event, frozen=True):
    """A tool call ended; `summary` is one line for a person."""

    call: str
    tool: str
    summary: str


@kind("tool.failed")
class ToolFailed(Event, frozen=True):
    """A tool call failed; the model is told `reason`."""

    call: str
    tool: str
    reason: str


class Excluded(msgspec.Struct, frozen=True):
    """A page that a search found and that is shown to nobody, and why."""

    url: str
    reason: str


@kind("scope.counted")
class ScopeCounted(Event, frozen=True):
    """The number of documents in the scope of the run."""

    documents: int


@kind("search.performed")
class SearchPerformed(Event, frozen=True):
    """A search ran. `shared` says its answer came from the ledger at no cost.

    `found` has the addresses of its results, best first; `excluded` those left out by the rules of the run.
    """

    query: str
    provider: str
    results: int
    shared: bool = False
    found: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()


@kind("search.failed")
class SearchFailed(Event, frozen=True):
    """A search provider gave no answer."""

    query: str
    provider: str
    reason: str


@kind("search.expected")
class SearchExpected(Event, frozen=True):
    """A query was sent ahead, because somebody will probably ask it."""

    query: str
    provider: str


@kind("source.added")
class SourceAdded(Event, frozen=True):
    """A lane met a document for the first time."""

    source: Source


@kind("source.reused")
class SourceReused(Event, frozen=True):
    """A lane was shown a document it, or another lane, already had."""

    source: str


@kind("source.expected")
class SourceExpected(Event, frozen=True):
    """Pages are read ahead, because somebody will probably ask for them."""

    urls: tuple[str, ...]


@kind("source.failed")
class SourceFailed(Event, frozen=True):
    """A document or page could not be read."""

    url: str
    reason: str


@kind("source.noted")
class SourceNoted(Event, frozen=True):
    """Notices about a source were found: that it was retracted, or corrected."""

    source: str
    notices: tuple[Notice, ...]


@kind("finding.started")
class FindingStarted(Event, frozen=True):
    """An agent writes its findings."""

    lane: int


@kind("finding.delta")
class FindingDelta(Event, frozen=True):
    """More of an agent's findings."""

    lane: int
    text: str


@kind("finding.added")
class FindingAdded(Event, frozen=True):
    """An agent's report, with the passages it cites.

    `uncited` says that it cites none: then the passages are those nearest to its text among those it was shown.
    """

    lane: int
    task: str
    text: str
    passages: tuple[Passage, ...] = ()
    dropped_markers: int = 0
    uncited: bool = False


@kind("reflect.decided")
class ReflectDecided(Event, frozen=True):
    """The reflector's decision after plan step `step`: continue, adjust (change the plan as `changes` say) or complete.

    `note` says why research continued as planned: a rule did not allow the decision, or there was none.
    """

    decision: Literal["continue", "adjust", "complete"]
    reasoning: str = ""
    step: int = 0
    changes: tuple[str, ...] = ()
    note: str = ""


@kind("coverage.assessed")
class CoverageAssessed(Event, frozen=True):
    """The coverage of the question, each plan step and each part of the question: answered, partly, not.

    `when` is "before" the report is written, based on the findings, or "after" verification, based on the report.
    """

    coverage: tuple[Coverage, ...]
    when: Literal["before", "after"] = "before"
