"""From a judge's answer to a claim's verdict: its own ruling, and what the values it found come to."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.claims import Check, Verdict
from assay.core.translation import gettext as _
from assay.core.translation import labelled, ngettext, number
from assay.verify.judge.answers import JudgeAnswer
from assay.verify.judge.value_comparison import ComparedValue

RULE = "judge"
_WORSE: tuple[Verdict, ...] = ("supported", "partial", "unsupported", "contradicted")


def unchecked(reason: str) -> Check:
    """A claim the judge did not decide."""
    return Check(rule=RULE, verdict="unchecked", reason=reason)


def defect(answer: JudgeAnswer, slots: Sequence[ComparedValue]) -> str:
    """Why an answer cannot be used, in words for who gave it; "" where it can.

    A refusal stands without values; support does not.
    """
    invented = [slot.said for slot in slots if slot.outcome == "invented"]
    if invented:
        return f"the evidence does not have {_listed(invented)}"
    missing = any(slot.outcome == "missing" for slot in slots)
    return "values are missing in `slots`" if missing and answer.ruling in ("supported", "partial") else ""


def ruled(answer: JudgeAnswer, slots: Sequence[ComparedValue]) -> Check:
    """The verdict; `slots` are without defect."""
    if answer.ruling == "unknown":
        return unchecked(_told(_("the judge could not tell"), answer))
    others = [slot for slot in slots if slot.outcome == "other"]
    absent = [slot for slot in slots if slot.outcome == "not stated"]
    if others:
        said = _("; ").join(
            _("the claim says {claimed}, the evidence {said}").format(claimed=repr(slot.text), said=repr(slot.said))
            for slot in others
        )
        # Evidence on another matter has other values, and contradicts nothing.
        verdict: Verdict = "unsupported" if answer.ruling == "unsupported" else "contradicted"
        return Check(rule=RULE, verdict=verdict, reason=said)
    if absent:
        some = len(absent) < len(slots)
        verdict = max(answer.ruling, "partial" if some else "unsupported", key=_WORSE.index)
        named = _listed([slot.text for slot in absent])
        lacking = _("the evidence does not state {values}").format(values=named)
        return Check(rule=RULE, verdict=verdict, reason=_told(lacking, answer))
    found = len([slot for slot in slots if slot.outcome == "same"])
    told = ngettext(
        "{count} value found the same without being shown", "{count} values found the same without being shown", found
    )
    agreed = told.format(count=number(found)) if found else ""
    return Check(rule=RULE, verdict=answer.ruling, reason=_("; ").join(filter(None, (answer.reason, agreed))))


def _listed(values: Sequence[str]) -> str:
    return ", ".join(repr(value) for value in values[:6])


def _told(what: str, answer: JudgeAnswer) -> str:
    return labelled(what, answer.reason) if answer.reason else what
