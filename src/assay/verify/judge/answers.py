"""What a judge answered: a call of `verdict`, or what can be read of a reply without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from assay.core.clean import one_line
from assay.core.messages import Reply
from assay.run.call_repair import json_values, mend
from assay.tools.arguments import define
from assay.verify.judge.prose import RULINGS, Ruling, ruling_in

Meta = msgspec.Meta
LONGEST_REASON = 300
LONGEST_VALUE = 200
MOST_GIVEN = 64


class JudgedValue(msgspec.Struct, frozen=True):
    """A value the evidence gives for a hidden one, as the judge copied it."""

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
    """A judge's answer as it was read."""

    ruling: Ruling
    reason: str = ""
    slots: tuple[JudgedValue, ...] = ()


def read(reply: Reply) -> JudgeAnswer | None:
    """The answer a reply gives; None where it gives none, or more than one verdict."""
    calls = [call for call in mend(reply, {VERDICT.name}) if call.name == VERDICT.name]
    if calls:
        return _one(_of_arguments(call.arguments) for call in calls if not call.malformed)
    objects = [value for value in json_values(reply.text) if isinstance(value, dict) and _told(value)]
    if objects:
        return _one(map(_of_arguments, objects))
    ruling = ruling_in(reply.text)
    return JudgeAnswer(ruling=ruling, reason=_short(reply.text, LONGEST_REASON)) if ruling else None


def _one(answers: Iterator[JudgeAnswer | None]) -> JudgeAnswer | None:
    """The first, where all give the same verdict."""
    found = list(answers)
    agreed = len({answer.ruling if answer else None for answer in found}) == 1
    return found[0] if agreed else None


def _told(value: Mapping[str, Any]) -> object:
    return next((value[name] for name in ("verdict", "ruling", "label", "answer") if name in value), None)


def _of_arguments(arguments: Mapping[str, Any]) -> JudgeAnswer | None:
    told = _told(arguments)
    plain = told.strip().lower() if isinstance(told, str) else ""
    ruling = next((each for each in RULINGS if each == plain), None) or ruling_in(plain)
    if ruling is None:
        return None
    reason = arguments.get("reason", "")
    return JudgeAnswer(
        ruling=ruling,
        reason=_short(reason, LONGEST_REASON) if isinstance(reason, str) else "",
        slots=tuple(_slots(arguments.get("slots"))),
    )


def _slots(value: object) -> Iterator[JudgedValue]:
    """Entries as they are asked for, or an object of letters and values; what is neither is passed over."""
    pairs: list[tuple[object, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(each.get("slot"), each.get("value")) for each in value if isinstance(each, dict)]
    for slot, said in pairs[:MOST_GIVEN]:
        for one in said if isinstance(said, list) else [said]:
            text = "" if one is None else str(one) if isinstance(one, str | int | float) else None
            if isinstance(slot, str) and text is not None:
                yield JudgedValue(slot=slot.strip(" {}[]()\"'").upper(), value=_short(text, LONGEST_VALUE))


def _short(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"
