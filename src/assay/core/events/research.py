"""Events of research and of the report: agents, calls, searches, sources, findings; text, claims and verdicts."""

from __future__ import annotations

import msgspec

from assay.core.claims import Nearest, Relevance, Side, Summary, Verdict
from assay.core.events.envelope import Event, kind
from assay.core.sources import Notice, Passage, Source, Surroundings
from assay.core.translation import Statement
from assay.core.typed_answers import Field
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
    `documents` has the SHA-256 of each result that is a stored document, "" for a page of the web that is not read yet.
    """

    query: str
    provider: str
    results: int
    shared: bool = False
    found: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def found_ids(self) -> list[tuple[str, str]]:
        """The address of each result with the id that citations have for it: its SHA-256, or the address again."""
        hashes = self.documents or ("",) * len(self.found)
        return [(url, sha256 or url) for url, sha256 in zip(self.found, hashes, strict=False)]


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


@kind("report.started")
class ReportStarted(Event, frozen=True):
    """The writer began, or begins again: the text so far is dropped, with its claims. `title` may be empty."""

    title: str = ""


@kind("report.delta")
class ReportDelta(Event, frozen=True):
    """More of the report as written, with passage markers."""

    text: str


@kind("report.revised")
class ReportRevised(Event, frozen=True):
    """The report's whole text after a revision, with passage markers; replaces what was streamed.

    `spans` maps the ids of claims found so far to their new places, in code points `[start, end)` of the new text; a
    claim that is missing was removed.
    """

    text: str
    why: str
    spans: dict[str, tuple[int, int]] = {}


@kind("report.finished")
class ReportFinished(Event, frozen=True):
    """The report is final: `text_sha256` is that of the text as written; `limits` say what the reader must know.

    `stated` lists the sentences and headings that code put into the text, without markup, and the kind of each.
    """

    text_sha256: str
    limits: tuple[str, ...] = ()
    stated: dict[str, Statement] = {}


@kind("claim.found")
class ClaimFound(Event, frozen=True):
    """A factual sentence; `start` and `end` are code points into the report as written; `passages` are those it cites.

    It may be found while the report streams. A second event for the same claim replaces its citations, and the claim is
    checked again. An `inherited` citation is that of the next cited sentence in its paragraph: the claim has no marker.
    """

    id: str
    text: str
    start: int
    end: int
    passages: tuple[Passage, ...] = ()
    inherited: bool = False


@kind("claim.checked")
class ClaimChecked(Event, frozen=True):
    """The result of checking a claim: the rule (or judge), its verdict and why. The last one counts.

    `against` are passages that contradict it; `nearest` is the cited passage that says most of it, if the claim does
    not hold.
    """

    id: str
    rule: str
    verdict: Verdict
    reason: str = ""
    against: tuple[Passage, ...] = ()
    nearest: Nearest | None = None


@kind("claims.graded")
class ClaimsGraded(Event, frozen=True):
    """How far each claim of the final text answers the question, by id; "" if unknown."""

    relevance: dict[str, Relevance]


@kind("claim.revised")
class ClaimRevised(Event, frozen=True):
    """A claim's sentence or its citations were replaced; the text follows with the next `report.revised`.

    `passages` are the new citations. Earlier results for the sentence no longer apply.
    """

    id: str
    before: str
    after: str
    why: str
    passages: tuple[Passage, ...] = ()


@kind("claim.removed")
class ClaimRemoved(Event, frozen=True):
    """A claim's sentence was removed from the report; the text follows with the next `report.revised`."""

    id: str
    why: str


@kind("citations.located")
class CitationsLocated(Event, frozen=True):
    """The passages that the report cites were found in their stored documents, with the text around them."""

    passages: tuple[Surroundings, ...]


@kind("copies.found")
class CopiesFound(Event, frozen=True):
    """Documents that copy one another, by hash: each group counts as one source."""

    groups: tuple[tuple[str, ...], ...]


@kind("conflict.found")
class ConflictFound(Event, frozen=True):
    """Sources disagree: `text` says how in one line, `sides` what each says, `passages` are those of the sides."""

    text: str
    subject: str = ""
    measure: str = ""
    sides: tuple[Side, ...] = ()
    passages: tuple[Passage, ...] = ()


@kind("verify.summary")
class VerifySummary(Event, frozen=True):
    """Counts over all claims, and whether the final gate passed (`problems` say why not)."""

    summary: Summary
    passed: bool
    problems: tuple[str, ...] = ()


# Events of typed answers.


@kind("fields.filled")
class FieldsFilled(Event, frozen=True):
    """Every field of the schema, in order: filled from passages, or empty with the reason."""

    fields: tuple[Field, ...]
