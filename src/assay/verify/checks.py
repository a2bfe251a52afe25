"""The rules in order: the first that decides sets a claim's verdict.

A claim that the evidence states word for word is certified; other rules can only veto. What no rule decides is left to
the weight of words, which calls a claim supported only if that is certain (docs/verification.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile

import msgspec

from assay.core.claims import CHECKS, HOLDING, Check
from assay.core.errors import UnknownName
from assay.core.sources import Passage
from assay.core.tables.rows import format_row
from assay.core.translation import N_, format_number, join_list, ngettext
from assay.core.translation import gettext as _
from assay.verify import rows
from assay.verify.analyzed_text import AnalyzedText, Texts, analyze_text, read_texts
from assay.verify.evidence import RULES, ClaimEvidence, ClaimSlot, SlotFinding, reword_numbers
from assay.verify.number_words import PERCENT_NAME
from assay.verify.rows import check_computed_claim
from assay.verify.rules import (
    denials,
    measured_things,
    names,
    numbers,
    parties,
    polarity,
    quotes,
    relations,
    row_values,
    subjects,
    trends,
)
from assay.verify.verifier.index import index_evidence
from assay.verify.verifier.signs import copied_share
from assay.verify.verifier.verdicts import WeighedClaim, weigh


class AddedCheck(msgspec.Struct, frozen=True):
    """A check of another package. `find` is like `rules.polarity.find`; a check with the name of ours replaces it."""

    name: str
    package: str
    find: Callable[[AnalyzedText, Texts], Iterable[SlotFinding]]

    def findings(self, claim: AnalyzedText, texts: Texts) -> list[SlotFinding]:
        """Its findings, under its name. If it fails, a finding says so, and the claim is unchecked by it."""
        try:
            return [self._own(finding) for finding in self.find(claim, texts)]
        except Exception as fault:  # noqa: BLE001 - another's code: its fault is told, and ends no run
            message = f"{type(fault).__name__}: {fault}"
            return [SlotFinding(rule=self.name, slot=ClaimSlot("", 0, 0), outcome="failed", said=message)]

    def _own(self, finding: SlotFinding) -> SlotFinding:
        plain = msgspec.to_builtins(finding) | {"rule": self.name}
        own_finding = msgspec.convert(plain, SlotFinding)
        if own_finding.outcome == "failed":
            raise ValueError("a check raises an exception if it fails")
        return own_finding


def fault_messages(checks: Sequence[AddedCheck], findings: Iterable[SlotFinding]) -> tuple[str, ...]:
    """Messages about failed checks, each once: its package, its first error and the number of claims."""
    errors_by_rule: dict[str, list[str]] = {}
    for finding in findings:
        if finding.outcome == "failed":
            errors_by_rule.setdefault(finding.rule, []).append(finding.said)
    messages = []
    for check in checks:
        if errors := errors_by_rule.get(check.name):
            claims = "1 claim" if len(errors) == 1 else f"{len(errors)} claims"
            messages.append(
                f"the check {check.name!r} of the package {check.package} failed on {claims}, which it left unchecked: "
                f"{errors[0]}"
            )
    return tuple(messages)


def drop_faults(findings: Iterable[SlotFinding]) -> tuple[SlotFinding, ...]:
    """The findings without the faults of checks, which say nothing about a claim."""
    return tuple(finding for finding in findings if finding.outcome != "failed")


def require_known_checks(checks_off: Iterable[str], added_checks: Iterable[AddedCheck]) -> None:
    """Make sure that there is a check with each name.

    Raises:
        UnknownName: there is none; the message suggests the nearest.
    """
    names = (*CHECKS, *(check.name for check in added_checks))
    for name in checks_off:
        if name not in names:
            raise UnknownName("check", name, names)


OFF = Check(rule="off", verdict="unchecked", reason=N_("off"))
NO_SOURCES = Check(rule="off", verdict="unchecked", reason=N_("no sources"))
NO_JUDGE = Check(rule="judge", verdict="unchecked", reason=N_("no judge"))
HEARSAY = Check(rule="snippet", verdict="unchecked", reason=N_("only a search's summary of the page was read"))
NO_CITATION = Check(rule="citation", verdict="unsupported", reason=N_("no citation"))
NO_SHARED_WORD = Check(rule="citation", verdict="unsupported", reason=N_("the cited document shares no word with it"))
NO_PASSAGE = Check(rule="citation", verdict="unsupported", reason=N_("what it cites does not exist"))

MAX_CLAIM_CHARS = 2_000
"""Code points. A longer text is not a sentence, and comparing its figures would take seconds."""
DOUBTING_RULES = frozenset(("name", "negation", "quantifier"))
"""Rules that are right in two of three objections to a rephrased sentence: they only lower its score."""
COPIED_SHARE = 0.8
"""Such a rule decides if this share of the rest of the sentence is copied: then its objection is to an edit."""


def check_by_code(claim: str, evidence: ClaimEvidence, has_markers: bool, checks_off: Collection[str] = ()) -> Check:
    """The verdict on a claim.

    Args:
        claim: the sentence, without markers.
        evidence: what it cites.
        has_markers: whether it has markers at all.
        checks_off: rules to skip (`findings.RULES`, "verbatim", "field").
    """
    check, findings = apply_rules(claim, evidence, has_markers, checks_off)
    return check or weigh_words(claim, evidence, findings, checks_off)


def lower_hearsay(check: Check, evidence: ClaimEvidence) -> Check:
    """Lower a support that rests only on a search engine's snippet."""
    return HEARSAY if check.verdict in (*HOLDING, "partial") and evidence.is_hearsay else check


def apply_rules(
    claim: str,
    evidence: ClaimEvidence,
    has_markers: bool,
    checks_off: Collection[str] = (),
    added_checks: Sequence[AddedCheck] = (),
) -> tuple[Check | None, tuple[SlotFinding, ...]]:
    """The verdict of the rules, None if none decides, and their findings."""
    if not evidence.passages:
        return NO_PASSAGE if has_markers else NO_CITATION, ()
    passage = quotes.verbatim_passage(claim, evidence) if "verbatim" not in checks_off else None
    if passage is not None:
        reason = _("verbatim in {passage}").format(passage=passage.id)
        return Check(rule="verbatim", verdict="quoted", reason=reason), ()
    if len(claim) > MAX_CLAIM_CHARS:
        reason = _("longer than {count} characters").format(count=format_number(MAX_CLAIM_CHARS))
        return Check(rule="judge", verdict="unchecked", reason=reason), ()
    row_check = rows.check_framed_claim(claim, evidence) if "field" not in checks_off else None
    if row_check is None and "field" not in checks_off:
        row_check = check_computed_claim(claim, evidence) or rows.check_entry_claim(claim, evidence)
    if row_check is not None:
        return row_check, ()
    findings = examine(claim, evidence, checks_off, added_checks)
    return veto(claim, findings, evidence), findings


def weigh_words(
    claim: str, evidence: ClaimEvidence, findings: Collection[SlotFinding] = (), checks_off: Collection[str] = ()
) -> Check:
    """The verdict by the weight of words; `findings` of the rules may lower it."""
    if "lexical" in checks_off:
        return NO_JUDGE
    doubt = objection(findings, evidence)
    weighed = weigh_wordings(claim, findings, _weighable(evidence), is_doubted=doubt is not None)
    pattern = (
        _("compared by words, likely ({score}): {why}")
        if weighed.is_likely
        else _("compared by words, unlikely ({score}): {why}")
    )
    computed = dict.fromkeys(
        f"{finding.slot.text} = {finding.said}" for finding in findings if finding.rule == "derived"
    )
    reasons = _("; ").join((*((doubt.reason,) if doubt else ()), *computed, *weighed.reasons))
    if not weighed.is_compared:
        return Check(rule="lexical", verdict="unchecked", reason=reasons)
    verdict = "unchecked" if computed and weighed.verdict == "supported" else weighed.verdict
    return Check(rule="lexical", verdict=verdict, reason=pattern.format(score=f"{weighed.score:.2f}", why=reasons))


def weigh_wordings(claim: str, findings: Collection[SlotFinding], text: str, *, is_doubted: bool) -> WeighedClaim:
    """Weigh a claim with its numbers as `text` writes them.

    If the text says more there ("24 March 2025" for 2025), the rest may add weight; its lack is no reason against.
    """
    wordings = dict.fromkeys(reword_numbers(claim, findings, adding=adding) for adding in (False, True))
    weighed = [weigh(wording, text, is_doubted=is_doubted) for wording in wordings]
    best = max(weighed, key=lambda each: each.score)
    return msgspec.structs.replace(best, reasons=weighed[0].reasons)


def _weighable(evidence: ClaimEvidence) -> str:
    return "\n\n".join((*evidence.names(), *evidence.texts))


def examine(
    claim: str, evidence: ClaimEvidence, checks_off: Collection[str] = (), added_checks: Sequence[AddedCheck] = ()
) -> tuple[SlotFinding, ...]:
    """Everything the deterministic checks find about the slots of a claim: ours, then `added_checks`.

    Rules in `checks_off` are skipped. The same claim and evidence give the same findings, which include the stated
    slots.
    """
    silent = {*checks_off, *(check.name for check in added_checks)}
    findings = list(quotes.find(claim, evidence)) if "quote" not in silent else []
    reading, texts = analyze_text(claim), _texts(evidence)
    findings.extend(numbers.find(reading, texts, partial(rows.whole_tables, evidence)))
    findings.extend(measured_things.find(reading, texts))
    findings.extend(names.find(reading, texts))
    findings.extend(parties.find(reading, texts))
    findings.extend(relations.find(reading, texts))
    findings.extend(denials.find(reading, texts))
    findings.extend(polarity.find(reading, texts))
    findings.extend(trends.find(reading, evidence))
    findings.extend(row_values.find(reading, rows.cited_tables(evidence), texts))
    findings.extend(subjects.find(reading, texts))
    theirs = (
        finding for check in added_checks if check.name not in checks_off for finding in check.findings(reading, texts)
    )
    return (*(finding for finding in findings if finding.rule not in silent), *theirs)


def _texts(evidence: ClaimEvidence) -> Texts:
    pairs = (
        (passage.id, text)
        for passage in evidence.passages
        for text in (*_passage_texts(passage, evidence), *passage.above)
    )
    return read_texts(pairs, evidence.names())


def _passage_texts(passage: Passage, evidence: ClaimEvidence) -> Iterator[str]:
    """The text of a passage; rows of a table in words, if all are: only its header says what its numbers are."""
    own_lines = [line.strip() for line in passage.text.strip().splitlines()]
    if not own_lines or not own_lines[0].startswith("|"):
        yield passage.text
        return
    surroundings = evidence.surroundings.get(passage.id)
    lines = [line.strip() for line in (surroundings.before if surroundings else "").splitlines()]
    above = [*takewhile(lambda line: line.startswith("|"), reversed(lines)), passage.label]
    head = next((line for line in reversed(above) if line), "")
    row_texts = [format_row(row, head or own_lines[0]) for row in (own_lines if head else own_lines[1:])]
    if not all(row_texts) or not row_texts:
        yield passage.text
    if all(row_texts) or PERCENT_NAME.search(head or own_lines[0]):
        yield from filter(None, row_texts)


def veto(claim: str, findings: Collection[SlotFinding], evidence: ClaimEvidence) -> Check | None:
    """The verdict of the first rule that objects and may decide; None leaves it to the words or a judge.

    Rules in `DOUBTING_RULES` decide only about a sentence that is copied except for what they object to. If a fiscal
    year stands for a calendar year, the claim is unchecked.
    """
    objections = [finding for finding in findings if finding.veto]
    firm = [finding for finding in objections if finding.certain or finding.rule not in DOUBTING_RULES]
    if firm or not objections:
        return objection(firm, evidence) or _unclear_year(findings)
    slots = [finding.slot.text for finding in objections]
    is_copied = copied_share(claim, index_evidence(_weighable(evidence)), slots) >= COPIED_SHARE
    return objection(objections, evidence) if is_copied else _unclear_year(findings)


def _unclear_year(findings: Iterable[SlotFinding]) -> Check | None:
    """The verdict on a calendar year for which the evidence has a fiscal year, or the reverse."""
    for finding in findings:
        if finding.rule == "date" and finding.outcome == "conflict" and not finding.veto:
            return Check(rule=finding.rule, verdict="unchecked", reason=_conflict_reason(finding))
    return None


def objection(findings: Collection[SlotFinding], evidence: ClaimEvidence) -> Check | None:
    """The verdict of the first rule that objects: contradicted if the evidence says something else instead."""
    objections = [finding for finding in findings if finding.veto]
    if not objections:
        return None
    same = [finding for finding in objections if finding.rule == objections[0].rule]
    conflict = next((finding for finding in same if finding.outcome == "conflict"), None)
    if conflict is not None:
        reason = _name_check(conflict.rule, _conflict_reason(conflict))
        return Check(rule=conflict.rule, verdict="contradicted", reason=reason)
    reason = _absence_reason(same, len(evidence.passages))
    return Check(rule=same[0].rule, verdict="unsupported", reason=_name_check(same[0].rule, reason))


def _conflict_reason(conflict: SlotFinding) -> str:
    return _("the claim says {claimed}, {passage} says {said}").format(
        claimed=repr(conflict.slot.text), passage=conflict.passage, said=repr(conflict.said[:200])
    )


def _name_check(rule: str, reason: str) -> str:
    """A reason, with the name of its check if that is not ours."""
    return reason if rule in RULES else f"{rule}: {reason}"


LACKING = N_("{what} is not in {where}")
_LACKING = {"date": N_("the date {what} is not in {where}"), "number": N_("the number {what} is not in {where}")}


def _absence_reason(findings: list[SlotFinding], passages: int) -> str:
    first, said = findings[0], list(dict.fromkeys(finding.slot.text for finding in findings))
    if first.rule == "quote":
        pattern, subject = _("the quotation {what} is not in {where}"), repr(first.slot.text[:200])
    elif len(said) == 1:
        pattern, subject = _(_LACKING.get(first.rule, LACKING)), first.slot.text
    else:
        pattern, subject = _("{what} are not in {where}"), join_list(said)
    where = ngettext("the cited passage", "the cited passages", passages)
    return pattern.format(what=subject, where=where)
