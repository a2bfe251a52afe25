"""Sentences computed from tables, computed again: what a sentence says is held against the table it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

import msgspec

from assay.core.tables.answers import FORMS, GIVEN, UNNAMED, Computed, RowCondition, compute
from assay.core.tables.cells import ReadTable, TableRow
from assay.core.tables.words import Limit
from assay.core.translation import gettext

_LIMIT = re.compile(r"(?P<sign>[<>]) (?P<number>-?\d+(?:\.\d+)?)(?:, |$)")


class _Body(msgspec.Struct, frozen=True):
    """A sentence without its conditions, and these."""

    text: str
    conditions: tuple[str, ...] = ()


def is_computed(sentence: str) -> bool:
    """Whether a sentence has the form of one that states a computation, in the language in force or in English."""
    return any(_match(message, body.text) for _, message in _messages() for body in _bodies(sentence.strip()))


def recomputed(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Whether a sentence says what its computation gives over one of these tables, and what it gives.

    None where the sentence states no computation over a column, or under conditions, which one of the tables has.
    """
    sentence, said = sentence.strip(), ""
    for table in tables:
        for wanted in _wanted(sentence, table):
            answers = compute(table, wanted)
            if any(answer.text == sentence for answer in answers):
                return True, sentence
            said = said or (answers[0].text if answers else "")
    return (False, said) if said else None


def _messages() -> Iterator[tuple[str, str]]:
    """The forms of computations with their messages, in the language in force and in English."""
    for form, (_, message) in FORMS.items():
        if form != "cell":
            for said in dict.fromkeys((gettext(message), message)):
                yield form, said


def _bodies(sentence: str) -> list[_Body]:
    """A sentence as it is, and without the conditions it may end with."""
    found = [_Body(sentence)]
    for message in dict.fromkeys((gettext(GIVEN), GIVEN)):
        for opening in re.finditer(r"\s?[(（]", sentence):
            said, conditions = sentence[: opening.start()], sentence[opening.end() : -1]
            if said and conditions and message.format(said=said, conditions=conditions) == sentence:
                found.append(_Body(said, tuple(conditions.split("; "))))
    return found


def _match(message: str, text: str, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str] | None:
    """The texts in the places of a message; those `known` have to stand just so."""
    parts = re.split(r"\{(\w+)\}", message)
    pattern = "".join(
        re.escape(part) if at % 2 == 0 else f"(?P<{part}>{re.escape(known[part]) if part in known else '.+'})"
        for at, part in enumerate(parts)
    )
    match = re.fullmatch(pattern, text)
    return match.groupdict() if match is not None else None


def _wanted(sentence: str, table: ReadTable) -> Iterator[Computed]:
    """The computations of a table which a sentence may be about."""
    for body in _bodies(sentence):
        given = _given(body.conditions, table)
        if given is None:
            continue
        for form, message in _messages():
            heads = table.heads if "{head}" in message else ("",)
            for column, head in enumerate(heads):
                slots = _match(message, body.text, {"head": head}) if head in body.text else None
                if slots is not None:
                    operation, distinct = FORMS[form][0], form == "distinct"
                    for label in _labels(slots.get("label", ""), table, column):
                        yield Computed(operation=operation, column=column, given=given, label=label, distinct=distinct)


def _labels(label: str, table: ReadTable, column: int) -> Iterator[int]:
    """The columns which may name the rows a sentence names; -1 where it names none."""
    if not label:
        yield -1
        return
    parts = (label, *label.split(", "))
    others = [at for at in range(len(table.heads)) if at != column]
    holding = [at for at in others if not set(parts).isdisjoint(table.column(at))]
    yield from holding or others[:1]


def _given(conditions: Sequence[str], table: ReadTable) -> tuple[RowCondition, ...] | None:
    found: list[RowCondition] = []
    for condition in conditions:
        given = next(_read_condition(condition, table), None)
        if given is None:
            return None
        found.append(given)
    return tuple(found)


def _read_condition(condition: str, table: ReadTable) -> Iterator[RowCondition]:
    for column, head in enumerate(table.heads):
        told = condition if UNNAMED.fullmatch(head) else condition.removeprefix(f"{head}: ")
        if told == condition and not UNNAMED.fullmatch(head):
            continue
        if told and not _LIMIT.sub("", told):
            limits = _LIMIT.finditer(told)
            yield RowCondition(
                column, (), tuple(Limit(1 if m["sign"] == ">" else -1, Decimal(m["number"])) for m in limits)
            )
            return
        values = tuple(told.split(" / "))
        texts = set(table.column(column))
        if all(value in texts for value in values):
            yield RowCondition(column, values)


# cells


def bound(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Whether `HEAD of SUBJECT: VALUE` is what a row says whose other cells are the subject; and what such a row says.

    None where no row of the tables has this subject under this head.
    """
    said = ""
    for table in tables:
        for head, subject, value in _framed(sentence.strip(), table):
            column = table.heads.index(head)
            for row in table.rows:
                if not _is_subject(subject, row, column):
                    continue
                if row.text(column) == value:
                    return True, value
                said = said or row.text(column)
    return (False, said) if said else None


def _framed(sentence: str, table: ReadTable) -> Iterator[tuple[str, str, str]]:
    """Every reading of a sentence as a cell of the table: head, subject, value."""
    _, plain = FORMS["cell"]
    for message in dict.fromkeys((gettext(plain), plain)):
        for head in table.heads:
            if head not in sentence:
                continue
            for colon in re.finditer(r"[:：]\s*", sentence):
                slots = _match(message, sentence, {"head": head, "value": sentence[colon.end() :]})
                if slots is not None:
                    yield head, slots["subject"], slots["value"]


def _is_subject(subject: str, row: TableRow, column: int) -> bool:
    """Whether a subject is made of cells of the row, with commas between them."""
    texts = [cell.text for at, cell in row.cells.items() if at != column and cell.text]

    def made(rest: str) -> bool:
        return rest in texts or any(rest.startswith(f"{text}, ") and made(rest[len(text) + 2 :]) for text in texts)

    return made(subject)
