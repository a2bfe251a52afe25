"""Reads a judge's answer: a call of `verdict`, or a reply without one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec

from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.messages import Reply
from assay.run.call_repair import json_values, read_calls
from assay.tools.arguments import define

# Reads a verdict from the text a judge wrote instead of a call.

Ruling = Literal["supported", "partial", "unsupported", "contradicted", "unknown"]
RULINGS: tuple[Ruling, ...] = get_args(Ruling)
MAX_REPLY_CHARS = 4_000
"""Code points read of a reply: of a longer one the beginning and the end, where verdicts are."""
SHORT = 60
"""Words of a reply that may have a verdict inside a sentence; in a longer one it must be labelled."""
_BEFORE = 4
"""Words before a verdict that may change it."""
_WORD = regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NAMED = regex(
    r"(?:verdict|ruling|judge?ment|answer|conclusion|label|result|classification|rating)\b[\s*_`\"'”]{0,4}"
    r"(?:is|was|=|:|-|–|—)[\s*_`\"'“:]{0,6}(?P<said>[^\n.;,]{1,60})",
    re.IGNORECASE,
)
_JOINED = regex(r"\b(un)-(?=support)", re.IGNORECASE)
_STEMS: dict[str, Ruling] = {
    "unsupported": "unsupported",
    "partial": "partial",
    **dict.fromkeys("supported supports support".split(), "supported"),
    **dict.fromkeys("contradicted contradicts contradict contradictory refuted refutes".split(), "contradicted"),
    **dict.fromkeys("unknown undecidable undetermined".split(), "unknown"),
}
_DENYING = frozenset("not no never cannot without neither nor isn't doesn't don't wasn't aren't can't won't".split())
_PARTLY = frozenset("partially partly partial somewhat half".split())
_WHOLLY = frozenset("fully entirely completely wholly totally".split())
_OPEN = frozenset("if whether would could should might may or unless were either seems appears unclear".split())


def read_ruling(text: str) -> Ruling | None:
    """The one verdict in `text`; None if there is none, if there are several, or if it is left open."""
    text = _JOINED.sub(r"\1", text.replace("’", "'").replace("_", " "))
    if len(text) > MAX_REPLY_CHARS:
        text = f"{text[: MAX_REPLY_CHARS // 2]}\n{text[-MAX_REPLY_CHARS // 2 :]}"
    named_rulings = [ruling for match in _NAMED.finditer(text) for ruling in _rulings(match["said"])]
    alone = [ruling for line in text.splitlines() if len(_WORD.findall(line)) <= 3 for ruling in _rulings(line)]
    if not (named_rulings or alone) and len(_WORD.findall(text)) > SHORT:
        return None
    verdicts = {*named_rulings, *alone, *_rulings(text)}
    return next(iter(verdicts)) if len(verdicts) == 1 else None


def _rulings(text: str) -> Iterator[Ruling | None]:
    """The meaning of each verdict word with the words before it; None if it is left open."""
    for sentence in re.split(r"(?<=[.!?\n])", text):
        words = [match[0].lower() for match in _WORD.finditer(sentence)]
        is_question = sentence.rstrip().endswith("?")
        last = -1
        for index, word in enumerate(words):
            ruling = _STEMS.get(word)
            if ruling is None or (
                word == "partial" and index + 1 < len(words) and words[index + 1].startswith("support")
            ):
                continue
            adjusted = _adjust_verdict(
                ruling, words[max(last + 1, index - _BEFORE) : index], words[index + 1 : index + 3]
            )
            last = index
            if is_question or (
                adjusted and _OPEN & {*words[max(0, index - _BEFORE) : index], *words[index + 1 : index + 2]}
            ):
                yield None
            elif adjusted:
                yield adjusted


def _adjust_verdict(ruling: Ruling, before: list[str], after: list[str]) -> Ruling | None:
    """A verdict as changed by the words around it; None if nothing of it is left."""
    is_denied = any(word in _DENYING for word in before)
    partly = any(word in _PARTLY for word in before) or after == ["in", "part"]
    if not is_denied:
        return "partial" if partly and ruling == "supported" else ruling
    if ruling == "supported":
        return "partial" if partly or any(word in _WHOLLY for word in before) else "unsupported"
    return None


Meta = msgspec.Meta
MAX_REASON_CHARS = 300
MAX_VALUE_CHARS = 200
MAX_SLOTS = 64


class JudgedValue(msgspec.Struct, frozen=True):
    """A value that the evidence gives for a hidden one, as the judge copied it."""

    slot: Annotated[str, Meta(description="The letter of the hidden value: A for {A}.")] = ""
    value: Annotated[
        str,
        Meta(description="What the evidence gives in its place, copied from it; 'not stated' where it gives nothing."),
    ] = ""


class VerdictCall(msgspec.Struct, frozen=True):
    """`verdict`: the judge's answer."""

    slots: Annotated[
        list[JudgedValue], Meta(description="An entry for every hidden value; empty where none is hidden.")
    ]
    reason: Annotated[str, Meta(description="Why, in one short sentence.")]
    verdict: Annotated[Ruling, Meta(description="What the evidence says to the sentence.")]


VERDICT = define("verdict", "Give your verdict on the sentence.", VerdictCall, control=True)


class JudgeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's answer, parsed."""

    ruling: Ruling
    reason: str = ""
    slots: tuple[JudgedValue, ...] = ()


def read_answer(reply: Reply) -> JudgeAnswer | None:
    """The answer in a reply; None if there is none, or more than one verdict."""
    calls = [call for call in read_calls(reply, {VERDICT.name}) if call.name == VERDICT.name]
    if calls:
        return _single_answer(_read_arguments(call.arguments) for call in calls if not call.malformed)
    objects = [value for value in json_values(reply.text) if isinstance(value, dict) and _verdict_value(value)]
    if objects:
        return _single_answer(map(_read_arguments, objects))
    ruling = read_ruling(reply.text)
    return JudgeAnswer(ruling=ruling, reason=_short(reply.text, MAX_REASON_CHARS)) if ruling else None


def _single_answer(answers: Iterator[JudgeAnswer | None]) -> JudgeAnswer | None:
    """The first, if all give the same verdict."""
    parsed_answers = list(answers)
    is_unanimous = len({answer.ruling if answer else None for answer in parsed_answers}) == 1
    return parsed_answers[0] if is_unanimous else None


def _verdict_value(value: Mapping[str, Any]) -> object:
    return next((value[name] for name in ("verdict", "ruling", "label", "answer") if name in value), None)


def _read_arguments(arguments: Mapping[str, Any]) -> JudgeAnswer | None:
    verdict = _verdict_value(arguments)
    plain = verdict.strip().lower() if isinstance(verdict, str) else ""
    ruling = next((name for name in RULINGS if name == plain), None) or read_ruling(plain)
    if ruling is None:
        return None
    reason = arguments.get("reason", "")
    return JudgeAnswer(
        ruling=ruling,
        reason=_short(reason, MAX_REASON_CHARS) if isinstance(reason, str) else "",
        slots=tuple(_slots(arguments.get("slots"))),
    )


def _slots(value: object) -> Iterator[JudgedValue]:
    """Entries in the requested form, or an object of letters and values; others are skipped."""
    pairs: list[tuple[object, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(entry.get("slot"), entry.get("value")) for entry in value if isinstance(entry, dict)]
    for slot, answer in pairs[:MAX_SLOTS]:
        for item in answer if isinstance(answer, list) else [answer]:
            text = "" if item is None else str(item) if isinstance(item, str | int | float) else None
            if isinstance(slot, str) and text is not None:
                yield JudgedValue(slot=slot.strip(" {}[]()\"'").upper(), value=_short(text, MAX_VALUE_CHARS))


def _short(text: str, max_chars: int) -> str:
    line = one_line(text)
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"
