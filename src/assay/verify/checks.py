"""The rules in their order: the first which decides gives a claim its verdict.

On this floor only what stands in the evidence word for word is certified; the other rules can only veto.
"""

from __future__ import annotations

from assay.verify import fields, numbers, quotes, verbatim
from assay.verify.evidence import Check, Evidence

OFF = Check(rule="off", verdict="unchecked", reason="off")
NO_SOURCES = Check(rule="off", verdict="unchecked", reason="no sources")
NO_JUDGE = Check(rule="judge", verdict="unchecked", reason="no judge")
NO_CITATION = Check(rule="citation", verdict="unsupported", reason="no citation")
NO_PASSAGE = Check(rule="citation", verdict="unsupported", reason="what it cites does not exist")


def check(claim: str, evidence: Evidence, marked: bool) -> Check:
    """The verdict on a claim; `marked` says whether it bears markers at all."""
    if not evidence.passages:
        return NO_PASSAGE if marked else NO_CITATION
    passage = verbatim.verbatim(claim, evidence)
    if passage is not None:
        return Check(rule="verbatim", verdict="supported", reason=f"verbatim in {passage.id}")
    return fields.framed(claim, evidence) or _quotations(claim, evidence) or _numbers(claim, evidence) or NO_JUDGE


def _quotations(claim: str, evidence: Evidence) -> Check | None:
    for quote in quotes.quotes(claim, evidence.passages, evidence.names()):
        if not quote.found:
            return _veto("quote", f"the quotation {quote.text[:200]!r} is not in", evidence)
    return None


def _numbers(claim: str, evidence: Evidence) -> Check | None:
    absent = numbers.missing(claim, evidence.texts, evidence.names())
    if not absent:
        return None
    listed = ", ".join(absent)
    return _veto("number", f"the number {listed} is not in" if len(absent) == 1 else f"{listed} are not in", evidence)


def _veto(rule: str, what: str, evidence: Evidence) -> Check:
    where = "the cited passage" if len(evidence.passages) == 1 else "the cited passages"
    return Check(rule="quote" if rule == "quote" else "number", verdict="unsupported", reason=f"{what} {where}")
