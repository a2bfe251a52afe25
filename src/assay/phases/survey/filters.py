"""Header fields of documents, and conditions on them, which code compares exactly over any number of documents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from assay.core.clean import one_line
from assay.core.errors import ToolError
from assay.core.lazy import regex
from assay.core.messages import ToolDefinition, object_schema
from assay.core.sources import Document, Passage, PassageSpan
from assay.core.text import words
from assay.evidence.segment import segment
from assay.tools.arguments import define
from assay.verify.amounts import Day, tokens
from assay.verify.analyzed_text import fold_text
from assay.verify.evidence import read_field

# Header fields: metadata above a document's text, and which fields a collection has.

HEADER_BYTES = (1_500, 6_000, 40_000)
"""How many bytes of a text may contain its header; more are read if it has not ended by then."""
NO_HEADER = ("rows", "code")
"""Kinds of texts without a header: their first lines are rows or code."""
MAX_PASSAGES_ABOVE, MAX_FIELDS = 2, 40
"""The most passages above a header (a title), and the most fields in it."""
MAX_KEYS, MAX_VALUES, MAX_DISTINCT_VALUES = 30, 40, 80
"""The most keys and values shown to a model. If a key has more than `MAX_DISTINCT_VALUES` different values, none are
listed, unless half of the documents have the most common ones."""
SERIES_LETTERS = 8
_EMPTY = regex(r"\s*(?:[-*+]\s+)?[^\W\d_][^:.!?\n]{0,60}:\W*")
"""A key without a value."""
_SENTENCE = regex(r"[.!?;,]\s")


class HeaderField(msgspec.Struct, frozen=True):
    """A header field: its key as written and as words joined by spaces, its value on one line, its passage."""

    key: str
    name: str
    value: str
    span: PassageSpan


class Header:
    """The header of a document; `fields` is empty if it has none."""

    def __init__(self, document: Document, fields: Sequence[HeaderField]) -> None:
        self.document, self.fields = document, tuple(fields)

    def find_field(self, *names: str) -> HeaderField | None:
        """The first field with one of these names."""
        return next((field for field in self.fields if field.name in names), None)

    @cached_property
    def number(self) -> HeaderField | None:
        """The field with the document's number in its series: `PEP: 6`."""
        short = (f for f in self.fields[:6] if len(f.key) <= SERIES_LETTERS and f.key.isalpha())
        return next((field for field in short if field.value.isdecimal() and len(field.value) <= 6), None)

    @cached_property
    def naming_fields(self) -> tuple[HeaderField, ...]:
        """The fields that name the document."""
        return tuple(field for field in (self.number, self.find_field("title", "name")) if field is not None)

    @cached_property
    def display_name(self) -> str:
        """The document's name: `PEP 6 (Bug Fix Releases)`, else its title or file name."""
        title = self.find_field("title", "name")
        name = one_line(title.value if title else self.document.title or self.document.name or self.document.url)
        if self.number is None:
            return name
        digits = self.number.value.lstrip("0") or "0"
        series = f"{self.number.key.upper()}-{digits}" if self.number.key.islower() else f"{self.number.key} {digits}"
        return f"{series} ({name})"


class KeyCount(msgspec.Struct, frozen=True, kw_only=True):
    """A key of header fields: how many documents have it, and how many have each value, most common first."""

    key: str
    documents: int
    values: dict[str, int] = {}
    different: int = 0


def read_header(document: Document, text: bytes) -> Header:
    """The header of a document: the fields above its first prose, below a heading or two."""
    fields: list[HeaderField] = []
    for size in HEADER_BYTES if document.syntax not in NO_HEADER else ():
        fields, header_ended = _fields(text, _first_passages(text[:size], len(text) > size, document))
        if header_ended or len(text) <= size:
            break
    return Header(document, fields)


def _fields(text: bytes, spans: Sequence[PassageSpan]) -> tuple[list[HeaderField], bool]:
    """The fields among the first passages, and whether the header ended before they did."""
    fields: dict[str, HeaderField] = {}
    for index, span in enumerate(spans):
        field = _field(span)
        if field is not None:
            fields.setdefault(field.name, field)
        elif _continues_header(text, span) and fields:
            continue
        elif fields or index >= MAX_PASSAGES_ABOVE or span.kind != "heading":
            return list(fields.values()), True
        if len(fields) == MAX_FIELDS:
            return list(fields.values()), True
    return list(fields.values()), False


def _first_passages(text: bytes, is_longer: bool, document: Document) -> tuple[PassageSpan, ...]:
    """The passages of a text's beginning; a longer text is cut between two blocks, so they equal those of the whole."""
    head = text.decode(errors="ignore")
    if is_longer:
        head = head[: max(head.rfind("\n\n"), head.rfind("\n\f"), 0)]
    return segment(head, document.syntax)


def _continues_header(text: bytes, span: PassageSpan) -> bool:
    """True if a header continues after a passage that is no field: a key without a value, or more of a long value."""
    line = text.rfind(b"\n", 0, span.start) + 1
    indented = text[line : line + 1].isspace() and not text[:line].endswith((b"\n\n", b"\n\r\n"))
    return indented or _EMPTY.fullmatch(span.text) is not None


def _field(span: PassageSpan) -> HeaderField | None:
    passage_field = read_field(_passage(span))
    if passage_field is None:
        return None
    key = span.text.partition(":")[0].strip(" \t-*+_:")
    if _SENTENCE.search(key):
        return None
    return HeaderField(key, " ".join(passage_field.name), one_line(passage_field.value).strip("\"'*"), span)


def _passage(span: PassageSpan) -> Passage:
    """The span as a passage without a source, only for reading."""
    return Passage(
        id="S0.0", source="S0", document_sha256="", start=span.start, end=span.end, text=span.text, text_sha256=""
    )


def count_keys(headers: Iterable[Header]) -> tuple[KeyCount, ...]:
    """The keys and their values, most common keys first; values are listed for keys that sort documents."""
    keys: Counter[str] = Counter()
    spellings: dict[str, str] = {}
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for header in headers:
        for field in header.fields:
            keys[field.name] += 1
            spellings.setdefault(field.name, field.key)
            values[field.name][field.value] += 1
    return tuple(_key_count(spellings[name], count, values[name]) for name, count in keys.most_common(MAX_KEYS))


def _key_count(key: str, documents: int, values: Counter[str]) -> KeyCount:
    commonest = dict(values.most_common(MAX_VALUES))
    is_category = len(values) <= MAX_DISTINCT_VALUES or 2 * sum(commonest.values()) >= documents
    return KeyCount(key=key, documents=documents, values=commonest if is_category else {}, different=len(values))


def value_parts(value: str) -> tuple[tuple[str, ...], ...]:
    """A value, and each element of a list value, as words."""
    value_words = tuple(words(value))
    pieces = [tuple(words(piece)) for piece in value.replace(";", ",").split(",")]
    return tuple(dict.fromkeys([value_words, *(piece for piece in pieces if piece)]))


Operator = Literal["=", "!=", "~", "<", ">", "<=", ">="]
MAX_CONDITIONS = 8
ANY = ("*",)
"""Any value: the document has the field."""
_CONDITION = regex(r"\s*(?P<key>[^=!~<>\n]{1,80}?)\s*(?P<operator>!=|<=|>=|=|~|<|>)\s*(?P<value>\S[^\n]{0,300}?)\s*")
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
        operator_text = _BETWEEN[self.operator]
        return f"{self.name[:1].upper()}{self.name[1:]} {operator_text} {' or '.join(self.values)}"


def read_conditions(texts: Iterable[str]) -> tuple[Condition, ...]:
    """Conditions as a model writes them: `status = Rejected | Withdrawn`, `created < 2001-01-01`, `title ~ typing`.

    Raises:
        ToolError: one cannot be read, or there is none, or there are too many.
    """
    conditions = tuple(_condition(text) for text in texts)
    if not 1 <= len(conditions) <= MAX_CONDITIONS:
        raise ToolError(f"there must be 1 to {MAX_CONDITIONS} conditions, not {len(conditions)}")
    return conditions


def _condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    name = " ".join(words(match["key"])) if match else ""
    values = tuple(value.strip().strip("\"'") for value in match["value"].split("|")) if match else ()
    if match is None or not name or not (values == ANY or all(words(value) for value in values)):
        raise ToolError(f"{text[:200]!r} is not a condition; write FIELD = VALUE, with = != ~ < > <= or >= between")
    return Condition(name, msgspec.convert(match["operator"], Operator), values)


def matching_fields(header: Header, conditions: Sequence[Condition]) -> tuple[HeaderField, ...] | None:
    """The fields with which a document meets all conditions; None if it does not. A missing field meets no condition.

    A field that only has to exist is returned if there are no others.
    """
    matched: dict[str, HeaderField] = {}
    for condition in conditions:
        field = header.find_field(condition.name)
        if field is None or not _meets(field.value, condition):
            return None
        matched[field.name] = field
    value_fields = [matched[condition.name] for condition in conditions if condition.values != ANY]
    return tuple(dict.fromkeys(value_fields or matched.values()))


def _meets(value: str, condition: Condition) -> bool:
    if condition.values == ANY:
        return condition.operator == "="
    if condition.operator == "!=":
        return not any(_is_equal(value, expected) for expected in condition.values)
    return any(_compare_values(value, condition.operator, expected) for expected in condition.values)


def _compare_values(value: str, operator: Operator, expected: str) -> bool:
    if operator == "=":
        return _is_equal(value, expected)
    if operator == "~":
        return f" {' '.join(words(expected))} " in f" {' '.join(words(value))} "
    mine, theirs = _comparable_value(value), _comparable_value(expected)
    if mine is None or theirs is None or len(mine) != len(theirs):
        return False
    size = next((index for index, part in enumerate(theirs) if part == 0 and len(theirs) == 3), len(theirs))
    left, right = mine[:size], theirs[:size]  # before 2001 means before its first day
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def _is_equal(value: str, expected: str) -> bool:
    expected_words = tuple(words(expected))
    if expected_words in value_parts(value):
        return True
    mine, theirs = _comparable_value(value), _comparable_value(expected)
    return mine is not None and mine == theirs and len(mine) == 3 and all(mine)


def _comparable_value(text: str) -> tuple[float, ...] | None:
    """A date as (year, month, day), 0 for missing parts, or a lone number; None for other texts."""
    folded_text = fold_text(text).text
    days = [token for token in tokens(folded_text) if isinstance(token, Day)]
    if len(days) == 1 and days[0].year:
        return (days[0].year, days[0].month, days[0].day)
    bare = folded_text.strip()
    if re.fullmatch(r"(?:19|20)\d\d", bare):
        return (float(bare), 0, 0)
    return (float(bare),) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,9})?", bare) else None


# Control tools of a survey: how to go over all documents, and the rows of a batch.

Meta = msgspec.Meta


class FilterDocuments(msgspec.Struct, frozen=True):
    """`filter_documents`: code compares header fields."""

    where: Annotated[
        list[str],
        Meta(
            description="Conditions that must all hold, each FIELD OPERATOR VALUE: 'status = Rejected | Withdrawn', "
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


FILTER_TOOL = define(
    "filter_documents",
    "Every document whose header fields meet conditions. Exact and cheap: use it wherever header fields decide.",
    FilterDocuments,
    control=True,
)
FIND_TOOL = define(
    "find_phrase",
    "Every document whose text has given words. Exact and cheap: use it for questions of what mentions something.",
    FindPhrase,
    control=True,
)
READ_TOOL = define(
    "read_documents",
    "Have every document read, in batches, and what each says listed. For all that only reading decides.",
    ReadDocuments,
    control=True,
)
COUNT_TOOL = define(
    "count_documents",
    "Count and name all documents. Only where the question asks how many there are, or which, and sets no condition.",
    CountDocuments,
    control=True,
)
SURVEY_TOOLS = (FILTER_TOOL, FIND_TOOL, READ_TOOL, COUNT_TOOL)
_ROW = object_schema(
    {
        "text": {
            "type": "string",
            "description": "What the document says, in one short sentence that names what it is about.",
        },
        "passages": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of the passages which say it, as S3.17.",
        },
    }
)
ROWS_TOOL = ToolDefinition(
    name="report_rows",
    description="Report what these documents say to the question: one row for each thing found, none where none is.",
    parameters=object_schema({"rows": {"type": "array", "items": _ROW}}),
    control=True,
)
