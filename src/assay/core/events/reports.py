"""Events of the report: its text, its claims and what verification says of them."""

from __future__ import annotations

from assay.core.claims import Nearest, Relevance, Side, Summary, Verdict
from assay.core.events.envelope import Event, kind
from assay.core.sources import Passage, Surroundings
from assay.core.translation import Statement
from assay.core.typed_answers import Field


@kind("report.started")
class ReportStarted(Event, frozen=True):
    """The writer began, or begins anew: the text so far is taken back, with its claims. `title` may be empty."""

    title: str = ""


@kind("report.delta")
class ReportDelta(Event, frozen=True):
    """More of the report as written, with passage markers."""

    text: str


@kind("report.revised")
class ReportRevised(Event, frozen=True):
    """The report's whole text after a revision, with passage markers; replaces what was streamed.

    `spans` are the new places of the claims found so far, in code points `[start, end)` of the new text, by id; a claim
    which is not among them is in the text no more.
    """

    text: str
    why: str
    spans: dict[str, tuple[int, int]] = {}


@kind("report.finished")
class ReportFinished(Event, frozen=True):
    """The report is final: `text_sha256` is of the text as written; `limits` say what the reader must know.

    `stated` are the sentences and headings of the text which code put there, without markup, and of what kind each is.
    """

    text_sha256: str
    limits: tuple[str, ...] = ()
    stated: dict[str, Statement] = {}


@kind("claim.found")
class ClaimFound(Event, frozen=True):
    """A factual sentence; `start` and `end` are code points into the report as written; `passages` what it cites.

    It may be found while the report still streams. Said again, it cites something else now, and is checked anew.
    An `inherited` citation is that of the next sentence of its paragraph which has one: the claim bears no marker.
    """

    id: str
    text: str
    start: int
    end: int
    passages: tuple[Passage, ...] = ()
    inherited: bool = False


@kind("claim.checked")
class ClaimChecked(Event, frozen=True):
    """A check's result on a claim: the rule (or judge), its verdict and why. The last one stands.

    `against` are passages which were found to speak against it; `nearest` is the cited passage which says most of it,
    where it does not hold.
    """

    id: str
    rule: str
    verdict: Verdict
    reason: str = ""
    against: tuple[Passage, ...] = ()
    nearest: Nearest | None = None


@kind("claims.graded")
class ClaimsGraded(Event, frozen=True):
    """How far the claims of the final text answer the question, by id; "" where that could not be told."""

    relevance: dict[str, Relevance]


@kind("claim.revised")
class ClaimRevised(Event, frozen=True):
    """A claim's sentence, or what it cites, was replaced; the text follows with the next `report.revised`.

    `passages` are what it cites now. What was said of the sentence before holds for it no more.
    """

    id: str
    before: str
    after: str
    why: str
    passages: tuple[Passage, ...] = ()


@kind("claim.removed")
class ClaimRemoved(Event, frozen=True):
    """A claim's sentence was taken out of the report; the text follows with the next `report.revised`."""

    id: str
    why: str


@kind("citations.located")
class CitationsLocated(Event, frozen=True):
    """The passages the report cites were found in their stored documents, with what stands around them there."""

    passages: tuple[Surroundings, ...]


@kind("copies.found")
class CopiesFound(Event, frozen=True):
    """Documents which copy one another, by their hash: each group counts as one source."""

    groups: tuple[tuple[str, ...], ...]


@kind("conflict.found")
class ConflictFound(Event, frozen=True):
    """Sources disagree: `text` says how on one line, `sides` what each says, `passages` are those of the sides."""

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
    """Every field of the schema, in its order: filled from passages, or empty with the reason."""

    fields: tuple[Field, ...]
