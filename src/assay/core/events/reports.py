"""Events of the report: its text, its claims and what verification says of them."""

from __future__ import annotations

from assay.core.claims import Summary, Verdict
from assay.core.events.envelope import Event, kind
from assay.core.sources import Passage, Surroundings


@kind("report.started")
class ReportStarted(Event, frozen=True):
    """The writer began; `title` may be empty."""

    title: str = ""


@kind("report.delta")
class ReportDelta(Event, frozen=True):
    """More of the report as written, with passage markers."""

    text: str


@kind("report.revised")
class ReportRevised(Event, frozen=True):
    """The report's whole text after a revision, with passage markers; replaces what was streamed."""

    text: str
    why: str


@kind("report.finished")
class ReportFinished(Event, frozen=True):
    """The report is final: `text_sha256` is of the text as written; `limits` say what the reader must know."""

    text_sha256: str
    limits: tuple[str, ...] = ()


@kind("claim.found")
class ClaimFound(Event, frozen=True):
    """A factual sentence; `start` and `end` are code points into the report as written; `passages` what it cites."""

    id: str
    text: str
    start: int
    end: int
    passages: tuple[Passage, ...] = ()


@kind("claim.checked")
class ClaimChecked(Event, frozen=True):
    """A check's result on a claim: the rule (or judge), its verdict and why. The last one stands."""

    id: str
    rule: str
    verdict: Verdict
    reason: str = ""


@kind("claim.revised")
class ClaimRevised(Event, frozen=True):
    """A claim's sentence was replaced."""

    id: str
    before: str
    after: str
    why: str


@kind("claim.removed")
class ClaimRemoved(Event, frozen=True):
    """A claim's sentence was taken out of the report."""

    id: str
    why: str


@kind("citations.located")
class CitationsLocated(Event, frozen=True):
    """The passages the report cites were found in their stored documents, with what stands around them there."""

    passages: tuple[Surroundings, ...]


@kind("conflict.found")
class ConflictFound(Event, frozen=True):
    """Two sources disagree."""

    text: str
    passages: tuple[str, ...]


@kind("verify.summary")
class VerifySummary(Event, frozen=True):
    """Counts over all claims, and whether the final gate passed (`problems` say why not)."""

    summary: Summary
    passed: bool
    problems: tuple[str, ...] = ()
