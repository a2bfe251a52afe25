"""What a judge is asked: the evidence, one sentence, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.claims import Check, Verdict
from assay.core.clean import one_line
from assay.core.messages import Message, Request
from assay.core.sources import sha256
from assay.core.translation import gettext as _
from assay.core.translation import labelled, ngettext, number
from assay.run.prompt_files import prompt
from assay.verify.judge.answers import VERDICT, JudgeAnswer
from assay.verify.judge.exhibit import Exhibit
from assay.verify.judge.masks import ComparedValue, Masked

_AGAIN = "Your last answer could not be used: {defect}. Answer once more, with one call of `verdict`."


class JudgeQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence for a judge; `doubt` says which names it has to hold against each other.

    Of a table row `head` are the cells above.
    """

    masked: Masked
    exhibit: Exhibit
    doubt: str = ""
    head: tuple[str, ...] = ()

    def request(self, tokens: int, defect: str = "") -> Request:
        """The request, for an answer of so many tokens; after one which had a `defect`, the second and last one."""
        messages = [
            Message(role="user", name="evidence", text=self.exhibit.shown),
            Message(role="user", name="sentence", text=self._sentence()),
        ]
        if defect:
            messages.append(Message(role="user", text=_AGAIN.format(defect=defect)))
        return Request(
            task="judge",
            system=prompt("assay.verify", "judge"),
            messages=tuple(messages),
            tools=(VERDICT,),
            tool_choice=VERDICT.name,
            max_tokens=tokens,
            effort="low",
        )

    def key(self, model: str) -> str:
        """What the answer depends on, as a hash; the hidden values are no part of it."""
        parts = (model, prompt("assay.verify", "judge"), self._sentence(), self.exhibit.shown)
        return "judge/" + sha256(msgspec.json.encode(parts))

    def _sentence(self) -> str:
        hidden = [f"{{{each.letter}}} is a {each.kind}" for each in self.masked.hidden]
        told = f"Hidden: {', '.join(hidden)}." if hidden else ""
        row = f"It is a row of a table whose columns are: {one_line(' | '.join(self.head))}" if self.head else ""
        return "\n".join(filter(None, (" ".join(self.masked.text.split()), row, told, self.doubt)))


def doubt(slots: Sequence[ComparedValue]) -> str:
    """What to look at where names differ: whether they mean the same."""
    pairs = [f'"{one_line(slot.text)[:80]}" and "{one_line(slot.said)[:80]}"' for slot in slots if slot.said]
    if not pairs:
        return ""
    return (
        f"Sentence and evidence may name the same differently, or different things: {'; '.join(pairs)}. Look closely."
    )


# From a judge's answer to a claim's verdict: its own ruling, and what the values it found come to.

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
