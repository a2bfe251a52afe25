"""The judge's question: the evidence with its surroundings, one sentence, and nothing else.

Evidence may be hostile. It stands between two lines made of its own hash, which its author cannot know. Sentences that
tell a judge what to answer are left out, since they are not evidence of anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from assay.core.claims import Check, Verdict
from assay.core.clean import HARMFUL, one_line
from assay.core.lazy import regex
from assay.core.messages import Message, Request
from assay.core.sources import Passage, Source, Surroundings, sha256
from assay.core.text import estimate_tokens, sentences, words
from assay.core.translation import format_number, label_text, ngettext
from assay.core.translation import gettext as _
from assay.evidence.segment import segment
from assay.verify.evidence import ClaimEvidence
from assay.verify.judge.answers import VERDICT, JudgeAnswer
from assay.verify.judge.masks import ComparedValue, MaskedClaim

# The evidence: cited passages, fenced, and cut to size.

MAX_EXHIBIT_TOKENS = 2_600
MAX_PASSAGES = 12
MAX_NAME_CHARS = 200
LEFT_OUT = "[left out: a sentence which tells its reader how to judge]"
CUT = "[…]"
INDENT = "\n  "

_VERDICT = r"(?:un)?supported|contradicted|verdict|true|correct|accurate|verified"
_ORDER = (
    r"answer|say|reply|respond|output|return|mark|rate|label|judge|classify|call|report|conclude|declare|set|choose|"
    r"ignore|disregard|forget|treat|consider"
)
_TELLING = regex(
    rf"(?:^|[.!?,:;\n\"'“*>]\s{{0,3}}|\b(?:must|should|please|then|you|now|always)\s)(?:{_ORDER})\b"
    rf"[^.!?\n]{{0,120}}\b(?:{_VERDICT})\b|\bverdict\s{{0,3}}[:=]\s{{0,3}}[\"'“]?(?:{_VERDICT})\b",
    re.IGNORECASE,
)
"""A command about a verdict, at the beginning of a clause."""
_ADDRESSED = regex(
    r"\b(?:claims?|statements?|sentences?|judges?|verdict|evaluator|verifier|fact.?checker|AI|assistant|"
    r"(?:previous|above|prior|earlier|these|your) instructions?)\b",
    re.IGNORECASE,
)
_OURS = regex(r"support|contradict|verdict", re.IGNORECASE)
_REST = 20
"""The most code points besides the command, in a sentence that says nothing else."""


class Exhibit(msgspec.Struct, frozen=True):
    """`text` is what the judge reads; `texts` are its parts as they are in the documents."""

    text: str
    texts: tuple[str, ...]


def build_exhibit(claim: str, evidence: ClaimEvidence, max_tokens: int = MAX_EXHIBIT_TOKENS) -> Exhibit:
    """The evidence for a claim, in at most about `max_tokens` tokens. The same evidence is always shown in the same
    way.
    """
    passages = evidence.passages[:MAX_PASSAGES]
    share = max(1, max_tokens // max(1, len(passages)))
    texts: list[str] = []
    blocks = []
    for number, passage in enumerate(passages, 1):
        source, surroundings = evidence.sources.get(passage.source), evidence.surroundings.get(passage.id)
        lines = list(_block(claim, number, passage, source, surroundings, share))
        texts += [text for _, text in lines]
        blocks.append("\n".join(f"{name}: {INDENT.join(text.splitlines())}" for name, text in lines))
    body = "\n\n".join(blocks)
    fence = sha256(body.encode(errors="replace"))[:16]
    return Exhibit(text=f"{fence}\n{body}\n{fence}", texts=tuple(texts))


def _block(
    claim: str, number: int, passage: Passage, source: Source | None, surroundings: Surroundings | None, share: int
) -> Iterator[tuple[str, str]]:
    """The lines of a passage: what each is, and its text."""
    if source is not None and (name := one_line(source.title or source.url)[:MAX_NAME_CHARS]):
        yield "Document", name
    if passage.label:
        yield "About", one_line(passage.label)[:MAX_NAME_CHARS]
    if passage.lead:
        yield "After", one_line(passage.lead)[:MAX_NAME_CHARS]
    if passage.heading:
        yield "Under the headings", one_line(" > ".join(passage.heading))[:MAX_NAME_CHARS]
    text = _nearest(claim, passage.text, share)
    tokens_left = share - estimate_tokens(text)
    if surroundings is not None and tokens_left > 0:
        before, after = _drop_instructions(surroundings.before), _drop_instructions(surroundings.after)
        if before.strip() and estimate_tokens(before) <= tokens_left // 2:
            yield "Before the passage", before.strip()
        yield f"Passage {number}", _drop_instructions(text)
        if after.strip() and estimate_tokens(after) <= tokens_left // 2:
            yield "After the passage", after.strip()
        return
    yield f"Passage {number}", _drop_instructions(text)


def _drop_instructions(text: str) -> str:
    """The text without invisible characters, and without sentences that tell a judge what to answer."""
    text = HARMFUL.sub("", text)
    pieces, position = [], 0
    for start, end in sentences(text) if _TELLING.search(text) else ():
        if _is_instruction(text[start:end]):
            pieces += [text[position:start], LEFT_OUT]
            position = end
    return "".join((*pieces, text[position:]))


def _is_instruction(sentence: str) -> bool:
    """True if a sentence tells a judge which verdict to give, or is only such a command."""
    match = _TELLING.search(sentence)
    bare = match is not None and _OURS.search(match[0]) and len(sentence) - len(match[0]) < _REST
    return match is not None and (bool(bare) or _ADDRESSED.search(sentence) is not None)


def _nearest(claim: str, text: str, max_tokens: int) -> str:
    """`text`; if it exceeds `max_tokens` tokens, the parts that share most words with the claim, in order."""
    if estimate_tokens(text) <= max_tokens:
        return text
    parts = [span.text for span in segment(text, "plain")] or [text]
    vocabularies = [set(words(part)) for part in parts]
    spread = Counter(word for vocabulary in vocabularies for word in vocabulary)
    claim_words = set(words(claim))
    scores = [sum(1 / spread[word] for word in claim_words & vocabulary) for vocabulary in vocabularies]
    return _join_parts(parts, _best_parts(parts, scores, max_tokens))


def _best_parts(parts: Sequence[str], scores: Sequence[float], max_tokens: int) -> list[int]:
    """The best parts, each with its neighbours, as far as they fit."""
    indices: set[int] = set()
    tokens_left = max_tokens
    for best in sorted(range(len(parts)), key=lambda index: (-scores[index], index)):
        for index in (best, best - 1, best + 1):
            cost = estimate_tokens(parts[index]) + 4 if 0 <= index < len(parts) and index not in indices else 0
            if cost and cost <= tokens_left:
                indices.add(index)
                tokens_left -= cost
        if tokens_left < max_tokens // 20:
            break
    return sorted(indices)


def _join_parts(parts: Sequence[str], indices: Sequence[int]) -> str:
    if not indices:
        return parts[0][:500]
    pieces: list[str] = []
    for position, index in enumerate(indices):
        if position == 0 or indices[position - 1] != index - 1:
            pieces += [CUT] if index else []
        pieces.append(parts[index])
    return "\n".join([*pieces, *([CUT] if indices[-1] < len(parts) - 1 else [])])


_AGAIN = "Your last answer could not be used: {defect}. Answer once more, with one call of `verdict`."


class JudgeQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence for a judge; `doubt` names the names it must compare.

    `head` has the header cells of a table row. `system` is the judge's system prompt.
    """

    claim: MaskedClaim
    exhibit: Exhibit
    system: str
    doubt: str = ""
    head: tuple[str, ...] = ()

    def request(self, tokens: int, defect: str = "") -> Request:
        """The request, for an answer of so many tokens; after a `defect`, the second and last one."""
        messages = [
            Message(role="user", name="evidence", text=self.exhibit.text),
            Message(role="user", name="sentence", text=self._sentence()),
        ]
        if defect:
            messages.append(Message(role="user", text=_AGAIN.format(defect=defect)))
        return Request(
            task="judge",
            system=self.system,
            messages=tuple(messages),
            tools=(VERDICT,),
            tool_choice=VERDICT.name,
            max_tokens=tokens,
            effort="low",
        )

    def key(self, model: str) -> str:
        """A hash of what the answer depends on, without the hidden values."""
        parts = (model, self.system, self._sentence(), self.exhibit.text)
        return "judge/" + sha256(msgspec.json.encode(parts))

    def _sentence(self) -> str:
        hidden = [f"{{{value.letter}}} is a {value.kind}" for value in self.claim.hidden]
        hint = f"Hidden: {', '.join(hidden)}." if hidden else ""
        row = f"It is a row of a table whose columns are: {one_line(' | '.join(self.head))}" if self.head else ""
        return "\n".join(filter(None, (" ".join(self.claim.text.split()), row, hint, self.doubt)))


def names_question(slots: Sequence[ComparedValue]) -> str:
    """The question whether different names mean the same."""
    pairs = [f'"{one_line(slot.text)[:80]}" and "{one_line(slot.said)[:80]}"' for slot in slots if slot.said]
    if not pairs:
        return ""
    return (
        f"Sentence and evidence may name the same differently, or different things: {'; '.join(pairs)}. Look closely."
    )


# From a judge's answer to a claim's verdict: its own ruling, and the comparison of its values.

RULE = "judge"
_WORSE: tuple[Verdict, ...] = ("supported", "partial", "unsupported", "contradicted")


def unchecked_claim(reason: str) -> Check:
    """A claim that the judge did not decide."""
    return Check(rule=RULE, verdict="unchecked", reason=reason)


def answer_defect(answer: JudgeAnswer, slots: Sequence[ComparedValue]) -> str:
    """Why an answer cannot be used, in words for the judge; "" if it can.

    A refusal is valid without values; support is not.
    """
    invented = [slot.said for slot in slots if slot.outcome == "invented"]
    if invented:
        return f"the evidence does not have {_quoted_list(invented)}"
    has_missing = any(slot.outcome == "missing" for slot in slots)
    return "values are missing in `slots`" if has_missing and answer.ruling in ("supported", "partial") else ""


def answer_check(answer: JudgeAnswer, slots: Sequence[ComparedValue]) -> Check:
    """The verdict; `slots` are without defect."""
    if answer.ruling == "unknown":
        return unchecked_claim(_labelled_reason(_("the judge could not tell"), answer))
    different = [slot for slot in slots if slot.outcome == "other"]
    absent = [slot for slot in slots if slot.outcome == "not stated"]
    if different:
        reason = _("; ").join(
            _("the claim says {claimed}, the evidence {said}").format(claimed=repr(slot.text), said=repr(slot.said))
            for slot in different
        )
        # Evidence about something else has other values, and contradicts nothing.
        verdict: Verdict = "unsupported" if answer.ruling == "unsupported" else "contradicted"
        return Check(rule=RULE, verdict=verdict, reason=reason)
    if absent:
        is_partial = len(absent) < len(slots)
        verdict = max(answer.ruling, "partial" if is_partial else "unsupported", key=_WORSE.index)
        names = _quoted_list([slot.text for slot in absent])
        absence = _("the evidence does not state {values}").format(values=names)
        return Check(rule=RULE, verdict=verdict, reason=_labelled_reason(absence, answer))
    same_count = len([slot for slot in slots if slot.outcome == "same"])
    text = ngettext(
        "{count} value found the same without being shown",
        "{count} values found the same without being shown",
        same_count,
    )
    agreement = text.format(count=format_number(same_count)) if same_count else ""
    return Check(rule=RULE, verdict=answer.ruling, reason=_("; ").join(filter(None, (answer.reason, agreement))))


def _quoted_list(values: Sequence[str]) -> str:
    return ", ".join(repr(value) for value in values[:6])


def _labelled_reason(label: str, answer: JudgeAnswer) -> str:
    return label_text(label, answer.reason) if answer.reason else label
