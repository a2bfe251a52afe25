"""What a judge is asked: the evidence, one sentence, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.clean import one_line
from assay.core.messages import Message, Request
from assay.core.sources import sha256
from assay.run.prompt_files import prompt
from assay.verify.judge.answers import VERDICT
from assay.verify.judge.exhibit import Exhibit
from assay.verify.judge.masks import Masked
from assay.verify.judge.value_comparison import ComparedValue

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
