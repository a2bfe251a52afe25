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
LONGEST = 4_000
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
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    named = [each for found in _NAMED.finditer(text) for each in _rulings(found["said"])]
    alone = [each for line in text.splitlines() if len(_WORD.findall(line)) <= 3 for each in _rulings(line)]
    if not (named or alone) and len(_WORD.findall(text)) > SHORT:
        return None
    verdicts = {*named, *alone, *_rulings(text)}
    return next(iter(verdicts)) if len(verdicts) == 1 else None


def _rulings(text: str) -> Iterator[Ruling | None]:
    """The meaning of each verdict word with the words before it; None if it is left open."""
    for sentence in re.split(r"(?<=[.!?\n])", text):
        words = [match[0].lower() for match in _WORD.finditer(sentence)]
        asked = sentence.rstrip().endswith("?")
        last = -1
        for at, word in enumerate(words):
            meant = _STEMS.get(word)
            if meant is None or (word == "partial" and at + 1 < len(words) and words[at + 1].startswith("support")):
                continue
            ruled = _adjust_verdict(meant, words[max(last + 1, at - _BEFORE) : at], words[at + 1 : at + 3])
            last = at
            if asked or (ruled and _OPEN & {*words[max(0, at - _BEFORE) : at], *words[at + 1 : at + 2]}):
                yield None
            elif ruled:
                yield ruled


def _adjust_verdict(meant: Ruling, before: list[str], after: list[str]) -> Ruling | None:
    """A verdict as changed by the words around it; None if nothing of it is left."""
    denied = any(word in _DENYING for word in before)
    partly = any(word in _PARTLY for word in before) or after == ["in", "part"]
    if not denied:
        return "partial" if partly and meant == "supported" else meant
    if meant == "supported":
        return "partial" if partly or any(word in _WHOLLY for word in before) else "unsupported"
    return None


Meta = msgspec.Meta
LONGEST_REASON = 300
LONGEST_VALUE = 200
MOST_GIVEN = 64


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
    return JudgeAnswer(ruling=ruling, reason=_short(reply.text, LONGEST_REASON)) if ruling else None


def _single_answer(answers: Iterator[JudgeAnswer | None]) -> JudgeAnswer | None:
    """The first, if all give the same verdict."""
    found = list(answers)
    agreed = len({answer.ruling if answer else None for answer in found}) == 1
    return found[0] if agreed else None


def _verdict_value(value: Mapping[str, Any]) -> object:
    return next((value[name] for name in ("verdict", "ruling", "label", "answer") if name in value), None)


def _read_arguments(arguments: Mapping[str, Any]) -> JudgeAnswer | None:
    verdict = _verdict_value(arguments)
    plain = verdict.strip().lower() if isinstance(verdict, str) else ""
    ruling = next((each for each in RULINGS if each == plain), None) or read_ruling(plain)
    if ruling is None:
        return None
    reason = arguments.get("reason", "")
    return JudgeAnswer(
        ruling=ruling,
        reason=_short(reason, LONGEST_REASON) if isinstance(reason, str) else "",
        slots=tuple(_slots(arguments.get("slots"))),
    )


def _slots(value: object) -> Iterator[JudgedValue]:
    """Entries in the requested form, or an object of letters and values; others are skipped."""
    pairs: list[tuple[object, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(each.get("slot"), each.get("value")) for each in value if isinstance(each, dict)]
    for slot, ruling in pairs[:MOST_GIVEN]:
        for one in ruling if isinstance(ruling, list) else [ruling]:
            text = "" if one is None else str(one) if isinstance(one, str | int | float) else None
            if isinstance(slot, str) and text is not None:
                yield JudgedValue(slot=slot.strip(" {}[]()\"'").upper(), value=_short(text, LONGEST_VALUE))


def _short(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"
