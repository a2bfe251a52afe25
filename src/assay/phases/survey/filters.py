"""Conditions on header fields, compared by code: exact, and the same however many documents there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import msgspec

from assay.core.errors import ToolError
from assay.core.messages import ToolDefinition
from assay.core.text import words
from assay.phases.survey.headers import Header, HeaderField, parts
from assay.tools.arguments import define
from assay.verify.amounts import Day, tokens
from assay.verify.analyzed_text import plain

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


# Control tools of a survey: how to go over all documents, and the rows a batch of them gives.

Meta = msgspec.Meta


class FilterDocuments(msgspec.Struct, frozen=True):
    """`filter_documents`: code compares header fields."""

    where: Annotated[
        list[str],
        Meta(
            description="Conditions which must all hold, each FIELD OPERATOR VALUE: 'status = Rejected | Withdrawn', "
            "'created < 2001-01-01', 'title ~ typing' (~: has these words), 'pep = *' (has the field). "
            "Operators: = != ~ < > <= >=."
        ),
    ]
    show: Annotated[list[str], Meta(description="Other fields the question asks for, by their keys.")] = []


class FindPhrase(msgspec.Struct, frozen=True):
    """`find_phrase`: code looks for words in all texts."""

    phrases: Annotated[
        list[str], Meta(description="Words or names as they stand in a text; a document with any of them counts.")
    ]
    together: Annotated[bool, Meta(description="True where a document has to have all of them.")] = False


class ReadDocuments(msgspec.Struct, frozen=True):
    """`read_documents`: a model reads every document."""

    look_for: Annotated[str, Meta(description="What to look for in each document, in one sentence with all its terms.")]


class CountDocuments(msgspec.Struct, frozen=True):
    """`count_documents`: code counts and names every document."""

    show: Annotated[list[str], Meta(description="Header fields the question asks for, by their keys.")] = []


FILTER = define(
    "filter_documents",
    "Every document whose header fields meet conditions. Exact and cheap: use it wherever header fields decide.",
    FilterDocuments,
    control=True,
)
FIND = define(
    "find_phrase",
    "Every document whose text has given words. Exact and cheap: use it for questions of what mentions something.",
    FindPhrase,
    control=True,
)
READ = define(
    "read_documents",
    "Have every document read, in batches, and what each says listed. For all that only reading decides.",
    ReadDocuments,
    control=True,
)
COUNT = define(
    "count_documents",
    "Count and name all documents. Only where the question asks how many there are, or which, and sets no condition.",
    CountDocuments,
    control=True,
)
WAYS = (FILTER, FIND, READ, COUNT)
ROWS = ToolDefinition(
    name="report_rows",
    description="Report what these documents say to the question: one row for each thing found, none where none is.",
    parameters={
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {
                            "type": "string",
                            "description": "What the document says, in one short sentence that names what it is about.",
                        },
                        "passages": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Ids of the passages which say it, as S3.17.",
                        },
                    },
                    "required": ["text", "passages"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["rows"],
        "additionalProperties": False,
    },
    control=True,
)
