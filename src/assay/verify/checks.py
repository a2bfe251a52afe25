"""The rules in their order: the first which decides gives a claim its verdict.

What stands in the evidence word for word is certified; the other rules can only veto. What none of them decides is
left to the weight of words, which may call a claim supported only where it is sure (docs/verification.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from assay.core.claims import HOLDING, Check
from assay.verify import direction, fields, names, negation, numbers, qualifiers, quantifiers, quotes, verbatim
from assay.verify.embedded.verdicts import weigh
from assay.verify.evidence import Evidence
from assay.verify.findings import Finding
from assay.verify.reading import Reading, Texts, read, texts

OFF = Check(rule="off", verdict="unchecked", reason="off")
NO_SOURCES = Check(rule="off", verdict="unchecked", reason="no sources")
NO_JUDGE = Check(rule="judge", verdict="unchecked", reason="no judge")
HEARSAY = Check(rule="snippet", verdict="unchecked", reason="only a search's summary of the page was read")
NO_CITATION = Check(rule="citation", verdict="unsupported", reason="no citation")
NO_PASSAGE = Check(rule="citation", verdict="unsupported", reason="what it cites does not exist")

LONGEST = 2_000
"""Code points; what is longer is no sentence, and binding its figures would take seconds."""
TOO_LONG = Check(rule="judge", verdict="unchecked", reason=f"longer than {LONGEST:,} characters")

_FINDERS: tuple[Callable[[Reading, Texts], Iterator[Finding]], ...] = (
    numbers.find,
    names.find,
    negation.find,
    direction.find,
    quantifiers.find,
    qualifiers.find,
)
"""What looks at a claim's words beside its passages, in order."""


def check(claim: str, evidence: Evidence, marked: bool, off: Collection[str] = ()) -> Check:
    """The verdict on a claim.

    Args:
        claim: the sentence, without markers.
        evidence: what it cites.
        marked: whether it bears markers at all.
        off: rules which are not asked (`findings.RULES`, "verbatim", "field").
    """
    return ruled(claim, evidence, marked, off)[0] or weighed(claim, evidence, off)


def firsthand(check: Check, evidence: Evidence) -> Check:
    """What only a search's summary of a page says is not supported yet."""
    return HEARSAY if check.verdict in (*HOLDING, "partial") and evidence.is_hearsay else check


def ruled(
    claim: str, evidence: Evidence, marked: bool, off: Collection[str] = ()
) -> tuple[Check | None, tuple[Finding, ...]]:
    """What the rules say to a claim, None where none of them decides; and what they found on the way."""
    if not evidence.passages:
        return NO_PASSAGE if marked else NO_CITATION, ()
    passage = verbatim.verbatim(claim, evidence) if "verbatim" not in off else None
    if passage is not None:
        return Check(rule="verbatim", verdict="quoted", reason=f"verbatim in {passage.id}"), ()
    if len(claim) > LONGEST:
        return TOO_LONG, ()
    framed = fields.framed(claim, evidence) if "field" not in off else None
    if framed is not None:
        return framed, ()
    findings = examine(claim, evidence, off)
    return veto(findings, evidence), findings


def weighed(claim: str, evidence: Evidence, off: Collection[str] = ()) -> Check:
    """What the words alone tell, where no rule decides."""
    if "lexical" in off:
        return NO_JUDGE
    found = weigh(claim, "\n\n".join((*evidence.names(), *evidence.texts)))
    return Check(
        rule="lexical", verdict=found.verdict, reason=f"lexical, {found.score:.2f}: {'; '.join(found.reasons)}"
    )


def examine(claim: str, evidence: Evidence, off: Collection[str] = ()) -> tuple[Finding, ...]:
    """Everything the deterministic checks find about the slots of a claim; rules in `off` are not asked.

    The same claim and evidence give the same findings; what is found says which slots are stated, too.
    """
    found = list(quotes.find(claim, evidence)) if "quote" not in off else []
    folded, told = read(claim), _texts(evidence)
    for finder in _FINDERS:
        found.extend(finder(folded, told))
    return tuple(finding for finding in found if finding.rule not in off)


def _texts(evidence: Evidence) -> Texts:
    told = ((passage.id, text) for passage in evidence.passages for text in (passage.text, *passage.heading))
    return texts(told, evidence.names())


def veto(findings: Collection[Finding], evidence: Evidence) -> Check | None:
    """The verdict of the first rule which objects: contradicted where the evidence says something else instead."""
    objections = [finding for finding in findings if finding.veto]
    if not objections:
        return None
    same = [finding for finding in objections if finding.rule == objections[0].rule]
    conflict = next((finding for finding in same if finding.outcome == "conflict"), None)
    if conflict is not None:
        reason = f"the claim says {conflict.slot.text!r}, {conflict.passage} says {conflict.said[:200]!r}"
        return Check(rule=conflict.rule, verdict="contradicted", reason=reason)
    return Check(rule=same[0].rule, verdict="unsupported", reason=_absent(same, len(evidence.passages)))


_CALLED = {"quote": "the quotation", "date": "the date", "number": "the number"}


def _absent(findings: list[Finding], passages: int) -> str:
    where = "the cited passage" if passages == 1 else "the cited passages"
    first = findings[0]
    if first.rule == "quote":
        return f"the quotation {first.slot.text[:200]!r} is not in {where}"
    listed = ", ".join(finding.slot.text for finding in findings)
    called = f"{_CALLED.get(first.rule, 'what it says')} {listed} is" if len(findings) == 1 else f"{listed} are"
    return f"{called} not in {where}"
