"""Conditions on header fields, compared by code: exact, and the same however many documents there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from assay.core.errors import ToolError
from assay.core.text import words
from assay.phases.survey.headers import Header, HeaderField, parts
from assay.verify.amounts import Day, tokens
from assay.verify.plain import plain

Operator = Literal["=", "!=", "~", "<", ">", "<=", ">="]

MOST = 8
ANY = ("*",)
"""Stands for any value: the document has the field."""
_CONDITION = re.compile(
    r"\s*(?P<key>[^=!~<>\n]{1,80}?)\s*(?P<operator>!=|<=|>=|=|~|<|>)\s*(?P<value>\S[^\n]{0,300}?)\s*"
)
_BETWEEN = {
    "<": "before",
    "<=": "at most",
    ">": "after",
    ">=": "at least",
    "~": "contains",
    "!=": "other than",
    "=": "=",
}


class Condition(msgspec.Struct, frozen=True):
    """A header field compared with a value, or with one of several."""

    name: str
    operator: Operator
    values: tuple[str, ...]

    def __str__(self) -> str:
        if self.values == ANY:
            return f"Any {self.name}"
        between = _BETWEEN[self.operator]
        return f"{self.name[:1].upper()}{self.name[1:]} {between} {' or '.join(self.values)}"


def read(texts: Iterable[str]) -> tuple[Condition, ...]:
    """Conditions as a model writes them: `status = Rejected | Withdrawn`, `created < 2001-01-01`, `title ~ typing`.

    Raises:
        ToolError: one cannot be read, or there is none, or there are too many.
    """
    found = tuple(_condition(text) for text in texts)
    if not 1 <= len(found) <= MOST:
        raise ToolError(f"there must be 1 to {MOST} conditions, not {len(found)}")
    return found


def _condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    name = " ".join(words(match["key"])) if match else ""
    values = tuple(value.strip().strip("\"'") for value in match["value"].split("|")) if match else ()
    if match is None or not name or not (values == ANY or all(words(value) for value in values)):
        raise ToolError(f"{text[:200]!r} is no condition; write FIELD = VALUE, with = != ~ < > <= or >= between")
    operators: dict[str, Operator] = {"=": "=", "!=": "!=", "~": "~", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
    return Condition(name, operators[match["operator"]], values)


def matching(header: Header, conditions: Sequence[Condition]) -> tuple[HeaderField, ...] | None:
    """The fields by which a document meets all conditions, None where it does not: a field it lacks meets none.

    That a field has any value at all is told only where nothing else is.
    """
    met: dict[str, HeaderField] = {}
    for condition in conditions:
        field = header.field(condition.name)
        if field is None or not _meets(field.value, condition):
            return None
        met[field.name] = field
    telling = [met[condition.name] for condition in conditions if condition.values != ANY]
    return tuple(dict.fromkeys(telling or met.values()))


def _meets(value: str, condition: Condition) -> bool:
    if condition.values == ANY:
        return condition.operator == "="
    if condition.operator == "!=":
        return not any(_equal(value, wanted) for wanted in condition.values)
    return any(_compared(value, condition.operator, wanted) for wanted in condition.values)


def _compared(value: str, operator: Operator, wanted: str) -> bool:
    if operator == "=":
        return _equal(value, wanted)
    if operator == "~":
        return f" {' '.join(words(wanted))} " in f" {' '.join(words(value))} "
    mine, theirs = _measure(value), _measure(wanted)
    if mine is None or theirs is None or len(mine) != len(theirs):
        return False
    size = next((at for at, part in enumerate(theirs) if part == 0 and len(theirs) == 3), len(theirs))
    one, other = mine[:size], theirs[:size]  # before 2001 means before its first day
    return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[operator]


def _equal(value: str, wanted: str) -> bool:
    other = tuple(words(wanted))
    if other in parts(value):
        return True
    mine, theirs = _measure(value), _measure(wanted)
    return mine is not None and mine == theirs and len(mine) == 3 and all(mine)


def _measure(text: str) -> tuple[float, ...] | None:
    """A date as (year, month, day), 0 for a part not said, or a number alone; None for other texts."""
    folded = plain(text).text
    days = [token for token in tokens(folded) if isinstance(token, Day)]
    if len(days) == 1 and days[0].year:
        return (days[0].year, days[0].month, days[0].day)
    bare = folded.strip()
    if re.fullmatch(r"(?:19|20)\d\d", bare):
        return (float(bare), 0, 0)
    return (float(bare),) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,9})?", bare) else None
