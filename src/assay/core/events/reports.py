"""Events of the report: its text, its claims and their verification."""

from __future__ import annotations

from assay.core.claims import Nearest, Relevance, Side, Summary, Verdict
from assay.core.events.envelope import Event, kind
from assay.core.sources import Passage, Surroundings
from assay.core.translation import Statement
from assay.core.typed_answers import Field


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
